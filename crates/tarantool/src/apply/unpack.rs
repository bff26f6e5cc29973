//! Cuts blocks into pieces of rows, for the thread that applies them.
//!
//! Input: the bytes of a log, where its blocks are, and used pieces. Output: pieces, through a [`Sink`]. Does
//! not know what rows do.
//!
//! The size that a block claims does not limit memory: a few bytes can decompress to 2 GiB, and two bytes
//! can encode a row. So a piece ends within a block as soon as it is full, by bytes or by rows. No piece is
//! made while too many bytes wait. Memory that was needed only once is released. A piece never ends within
//! a transaction, since its rows would have to be copied one by one until the transaction ends. The number
//! of rows of a transaction is limited instead.

use super::row_place::RowPlace;
use crate::error::Damage;
use crate::file::block::{BlockPlace, Unpacker};
use crate::file::row::rows;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Pieces of a log that are decompressed in advance.
pub const PIECES_AHEAD_MAX: usize = 8;
/// Most rows of one transaction. The program that wrote the transaction had all of its rows in memory at
/// once, and so must this one: each row takes about 300 bytes besides its content.
pub const TRANSACTION_ROWS_MAX: usize = 1 << 22;
/// Bytes of pieces that are made in advance, not counting the last one: a piece may be a single row.
const BYTES_AHEAD_MAX: usize = 16 << 20;
/// A piece with this many bytes of rows is full.
const PIECE_BYTES: usize = 128 << 10;
/// A piece with this many rows is full. Besides its bytes each row takes a [`RowPlace`], which may be much
/// larger. Usual rows never reach this limit.
const PIECE_ROWS: usize = 8 << 10;
/// A piece is reused if it has at most this many bytes of memory.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// A place between rows of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowEnd {
    /// The offset of the block.
    pub block_offset: usize,
    /// How many of its rows come before the place.
    pub row_count: usize,
}

/// The rows of some blocks, or of a part of one.
#[derive(Default)]
pub(super) struct Piece {
    pub(super) bytes: Vec<u8>,
    pub(super) rows: Vec<RowPlace>,
    /// Stored bytes of the blocks that end in it.
    pub(super) stored_bytes: usize,
    /// The damage after these rows.
    pub(super) damage: Option<Damage>,
}

/// Receives full pieces and returns used ones. To stop, a receiver drops both ends of its channels.
pub(super) type Ends = (Receiver<Piece>, Sender<Piece>);

/// Takes full pieces.
pub(super) trait Sink {
    /// Takes a piece, and returns an empty one; `None` if pieces are no longer accepted.
    fn take(&mut self, piece: Piece) -> Option<Piece>;
}

/// Passes pieces to another thread.
pub(super) struct OtherThread {
    send: SyncSender<Piece>,
    used: Receiver<Piece>,
    /// Bytes of the pieces that were not returned yet.
    ahead_bytes: usize,
}

impl OtherThread {
    pub(super) fn new() -> (OtherThread, Ends) {
        let (send, receive) = sync_channel(PIECES_AHEAD_MAX);
        let (give_back, used) = channel();
        (OtherThread { send, used, ahead_bytes: 0 }, (receive, give_back))
    }
}

impl Sink for OtherThread {
    /// Waits while too many bytes are in advance.
    fn take(&mut self, piece: Piece) -> Option<Piece> {
        self.ahead_bytes += piece.used_bytes();
        self.send.send(piece).ok()?;
        let mut done = self.used.try_recv().ok();
        loop {
            self.ahead_bytes -= done.as_ref().map_or(0, Piece::used_bytes);
            if self.ahead_bytes < BYTES_AHEAD_MAX {
                break;
            }
            done = Some(self.used.recv().ok()?);
        }
        Some(done.map(Piece::emptied).unwrap_or_default())
    }
}

/// Applies pieces at once, on the thread that made them. The function returns whether to continue.
pub(super) struct OneThread<F>(pub(super) F);

impl<F: FnMut(&Piece) -> bool> Sink for OneThread<F> {
    fn take(&mut self, piece: Piece) -> Option<Piece> {
        (self.0)(&piece).then(|| piece.emptied())
    }
}

/// Makes pieces of blocks.
pub(super) struct Cutter<S> {
    sink: S,
    piece: Piece,
    /// Rows after the end of the last transaction.
    open_row_count: usize,
    /// Where to end, if not at the end of the last block.
    end: Option<RowEnd>,
}

/// Why no more pieces are made.
enum Stop {
    Damage(Damage),
    /// The receiver takes no more.
    Unwanted,
}

impl<S: Sink> Cutter<S> {
    pub(super) fn new(sink: S, end: Option<RowEnd>) -> Cutter<S> {
        Cutter { sink, piece: Piece::default(), open_row_count: 0, end }
    }

    /// Unpacks blocks into pieces, until there are no more, one is damaged, or the receiver takes no more.
    pub(super) fn unpack_all(mut self, bytes: &[u8], blocks: impl Iterator<Item = BlockPlace>) {
        let mut unpacker = Unpacker::default();
        for place in blocks {
            let taken = match unpacker.unpack(bytes, &place) {
                Ok(payload) => self.take(self.wanted(payload, &place), &place),
                Err(damage) => Err(Stop::Damage(damage)),
            };
            self.piece.stored_bytes += place.payload.len();
            let done = taken.and_then(|()| if self.piece.is_full(0) { self.hand_over() } else { Ok(()) });
            match done {
                Ok(()) => {}
                Err(Stop::Unwanted) => return,
                Err(Stop::Damage(damage)) => {
                    self.piece.damage = Some(damage);
                    break;
                }
            }
        }
        // If it is not taken, the receiver has found an error.
        let _ = self.sink.take(self.piece);
    }

    /// Returns the rows of a block that come before the end. Damage among them ends them, too, and is found
    /// when they are taken.
    fn wanted<'p>(&self, payload: &'p [u8], place: &BlockPlace) -> &'p [u8] {
        let Some(end) = self.end.filter(|end| end.block_offset == place.offset) else { return payload };
        let mut rows = rows(payload);
        if end.row_count > 0 && rows.by_ref().take(end.row_count).any(|row| row.is_err()) {
            return payload;
        }
        payload.get(..rows.offset()).unwrap_or(payload)
    }

    /// Takes the rows of a block, up to the first that is damaged.
    fn take(&mut self, payload: &[u8], place: &BlockPlace) -> Result<(), Stop> {
        let mut rest = payload;
        loop {
            let taken = self.piece.push(rest, &mut self.open_row_count);
            // An offset in decompressed bytes is of no use to a person who looks into the file, so the
            // block's offset is reported.
            let taken = taken.map_err(|damage| Stop::Damage(Damage { offset: place.offset, ..damage }))?;
            rest = rest.get(taken..).unwrap_or_default();
            if rest.is_empty() {
                return Ok(());
            }
            self.hand_over()?;
        }
    }

    /// Hands the piece over and begins another one.
    fn hand_over(&mut self) -> Result<(), Stop> {
        let piece = std::mem::take(&mut self.piece);
        self.piece = self.sink.take(piece).ok_or(Stop::Unwanted)?;
        Ok(())
    }
}

impl Piece {
    /// Adds rows from the beginning of `payload`, until they end or until the piece is full and a transaction
    /// ends. Returns how many bytes they take.
    fn push(&mut self, payload: &[u8], open_row_count: &mut usize) -> Result<usize, Damage> {
        let begin = self.bytes.len();
        let mut rows = rows(payload);
        let mut taken = 0;
        let end = loop {
            let row = match rows.next() {
                None => break Ok(()),
                Some(Err(damage)) => break Err(damage),
                Some(Ok(row)) => row,
            };
            *open_row_count = if row.is_commit { 0 } else { *open_row_count + 1 };
            if *open_row_count > TRANSACTION_ROWS_MAX {
                break Err(Damage::new(taken, "a transaction has over 4,194,304 rows"));
            }
            self.rows.push(RowPlace::new(&row, payload, begin));
            taken = rows.offset();
            if row.is_commit && self.is_full(taken) {
                break Ok(());
            }
        };
        self.bytes.extend_from_slice(payload.get(..taken).unwrap_or_default());
        end.map(|()| taken)
    }

    /// Returns whether the piece must be handed over if it gets `more` bytes.
    fn is_full(&self, more: usize) -> bool {
        self.bytes.len() + more >= PIECE_BYTES || self.rows.len() >= PIECE_ROWS
    }

    fn used_bytes(&self) -> usize {
        self.bytes.len() + self.rows.len() * size_of::<RowPlace>()
    }

    /// Clears the piece and keeps its memory, unless that is large.
    fn emptied(mut self) -> Piece {
        if self.bytes.capacity() + self.rows.capacity() * size_of::<RowPlace>() > KEPT_BYTES_MAX {
            return Piece::default();
        }
        self.bytes.clear();
        self.rows.clear();
        Piece { stored_bytes: 0, damage: None, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::block::checksum;
    use std::thread;

    /// A row that does nothing: the shortest there is.
    const SHORT: [u8; 3] = [0x81, 0x00, 0x0c];
    /// A row of transaction 0 that is not its last, and one that is.
    const OPEN: [u8; 5] = [0x82, 0x00, 0x0c, 0x08, 0x00];
    const LAST: [u8; 7] = [0x83, 0x00, 0x0c, 0x08, 0x00, 0x09, 0x01];

    fn place(payload: &[u8]) -> BlockPlace {
        BlockPlace { offset: 0, payload: 0..payload.len(), is_compressed: false, checksum: checksum(payload) }
    }

    fn new() -> (Cutter<OtherThread>, Ends) {
        let (sink, ends) = OtherThread::new();
        (Cutter::new(sink, None), ends)
    }

    /// Cuts a block repeatedly, and passes each piece to `each` and back.
    fn cut(cutter: (Cutter<OtherThread>, Ends), payload: &[u8], times: usize, mut each: impl FnMut(&Piece)) {
        let (cutter, (receive, give_back)) = cutter;
        thread::scope(|scope| {
            scope.spawn(move || cutter.unpack_all(payload, std::iter::repeat_n(place(payload), times)));
            for piece in receive {
                each(&piece);
                let _ = give_back.send(piece);
            }
        });
    }

    #[test]
    fn a_block_of_many_short_rows_comes_in_pieces() {
        let payload = SHORT.repeat(100_000);
        let (mut row_counts, mut stored_bytes, mut held_bytes) = (Vec::new(), 0, 0);
        cut(new(), &payload, 2, |piece| {
            assert!(piece.damage.is_none());
            assert_eq!(piece.bytes.len(), piece.rows.len() * SHORT.len());
            row_counts.push(piece.rows.len());
            stored_bytes += piece.stored_bytes;
            held_bytes =
                held_bytes.max(piece.bytes.capacity() + piece.rows.capacity() * size_of::<RowPlace>());
        });
        assert_eq!(row_counts.iter().sum::<usize>(), 200_000);
        assert_eq!(row_counts.iter().max(), Some(&PIECE_ROWS));
        assert_eq!(stored_bytes, 2 * payload.len());
        assert!(held_bytes <= KEPT_BYTES_MAX, "{held_bytes}");
    }

    #[test]
    fn a_block_of_long_rows_comes_in_pieces() {
        // An insert with a tuple of 1,000 bytes.
        let row = [&[0x81, 0x00, 0x02, 0x81, 0x21, 0xc5, 0x03, 0xe8][..], &[7; 1000]].concat();
        let mut lengths = Vec::new();
        cut(new(), &row.repeat(1000), 1, |piece| {
            let mut tuples = piece.rows.iter().map(|place| place.row(&piece.bytes).body.tuple);
            assert!(tuples.all(|tuple| tuple == Some(&row[5..])));
            lengths.push(piece.bytes.len());
        });
        assert_eq!(lengths.iter().sum::<usize>(), 1000 * row.len());
        assert!(lengths.iter().all(|&length| length < PIECE_BYTES + row.len()), "{lengths:?}");
    }

    #[test]
    fn a_transaction_is_not_cut_and_has_a_limit() {
        let count = 3 * PIECE_ROWS;
        let payload = [&OPEN.repeat(count)[..], &LAST, &SHORT.repeat(5)].concat();
        let mut row_counts = Vec::new();
        cut(new(), &payload, 1, |piece| row_counts.push(piece.rows.len()));
        assert_eq!(row_counts, [count + 1, 5]);

        let damage = |open_row_count: usize| {
            let mut found = None;
            let (mut cutter, ends) = new();
            cutter.open_row_count = open_row_count;
            cut((cutter, ends), &payload, 1, |piece| found = found.or(piece.damage));
            found.map(|damage| damage.what)
        };
        assert_eq!(damage(TRANSACTION_ROWS_MAX - count), None);
        assert_eq!(damage(TRANSACTION_ROWS_MAX - count + 1), Some("a transaction has over 4,194,304 rows"));
    }

    #[test]
    fn no_piece_is_made_while_too_many_bytes_are_ahead() {
        let length = u32::try_from(BYTES_AHEAD_MAX / 4).expect("it is short");
        let mut payload = vec![0x81, 0x00, 0x02, 0x81, 0x21, 0xc6];
        payload.extend(length.to_be_bytes());
        payload.resize(payload.len() + length as usize, 7);
        let (cutter, (receive, give_back)) = new();
        // No piece will be returned: it must stop instead of waiting.
        drop(give_back);
        cutter.unpack_all(&payload, std::iter::repeat_n(place(&payload), PIECES_AHEAD_MAX - 1));
        assert_eq!(receive.iter().count(), 4);
        // All pieces are made if all are returned.
        let mut count = 0;
        cut(new(), &payload, PIECES_AHEAD_MAX - 1, |piece| count += piece.rows.len());
        assert_eq!(count, PIECES_AHEAD_MAX - 1);
    }

    #[test]
    fn much_memory_is_not_kept() {
        let kept = |bytes: usize, rows: usize| {
            let piece = Piece {
                bytes: Vec::with_capacity(bytes),
                rows: Vec::with_capacity(rows),
                stored_bytes: 1,
                damage: None,
            };
            let emptied = piece.emptied();
            assert_eq!(emptied.stored_bytes, 0);
            (emptied.bytes.capacity() > 0, emptied.rows.capacity() > 0)
        };
        assert_eq!(kept(2 * PIECE_BYTES, PIECE_ROWS), (true, true));
        assert_eq!(kept(KEPT_BYTES_MAX + 1, 1), (false, false));
        assert_eq!(kept(1, KEPT_BYTES_MAX / size_of::<RowPlace>() + 1), (false, false));
    }
}
