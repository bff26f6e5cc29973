//! Carries out logs on a [`State`], one block after the other.
//!
//! Comes in: a log's bytes and where its blocks lie. Goes out: nothing; the state changes. Must not know which logs there are.
//!
//! Blocks are checked and decompressed on one core while another carries out the rows of those before. At most
//! [`PIECES_AHEAD_MAX`] pieces of some blocks are decompressed ahead.

use crate::block::{BlockPlace, Unpacker};
use crate::error::{Damage, Error, Result};
use crate::state::{State, Trouble};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

/// Pieces of a log that are decompressed before they are needed.
pub const PIECES_AHEAD_MAX: usize = 8;
/// Bytes of rows that are handed over at once: a block may be a single row.
const PIECE_BYTES: usize = 128 << 10;

/// A log to carry out.
#[derive(Clone, Copy, Debug)]
pub struct LogFile<'a> {
    /// Its path, for errors.
    pub path: &'a Path,
    /// All of it.
    pub bytes: &'a [u8],
}

/// The rows of some blocks.
#[derive(Default)]
struct Piece {
    rows: Vec<u8>,
    /// Where in `rows` each block begins, and where in the file.
    blocks: Vec<(usize, usize)>,
    stored_bytes: usize,
    /// What is wrong with the block behind them.
    damage: Option<Damage>,
}

/// Carries out the rows of these blocks of a log, in their order. `progress` is told of stored bytes as they are done.
///
/// # Errors
/// Damage; a row that does not fit those before it, unless the state leaves those out.
pub fn apply_log(
    log: LogFile,
    blocks: impl Iterator<Item = BlockPlace> + Send,
    state: &mut State,
    progress: &dyn Fn(usize),
) -> Result<()> {
    let (send, receive) = sync_channel(PIECES_AHEAD_MAX);
    let (give_back, used) = channel();
    thread::scope(|scope| {
        scope.spawn(move || unpack_all(log.bytes, blocks, &send, &used));
        for piece in receive {
            state.apply(&piece.rows).map_err(|trouble| piece.error(trouble, log.path))?;
            if let Some(damage) = piece.damage {
                return Err(damage.in_file(log.path, 0));
            }
            progress(piece.stored_bytes);
            // The other side may be done already.
            let _ = give_back.send(piece);
        }
        Ok(())
    })
}

/// Unpacks blocks into pieces that come back, until there are no more or nobody takes them.
fn unpack_all(
    bytes: &[u8],
    blocks: impl Iterator<Item = BlockPlace>,
    send: &SyncSender<Piece>,
    used: &Receiver<Piece>,
) {
    let mut unpacker = Unpacker::default();
    let mut piece = Piece::default();
    for place in blocks {
        match unpacker.unpack(bytes, &place) {
            Ok(rows) => piece.push(rows, &place),
            Err(damage) => piece.damage = Some(damage),
        }
        if piece.rows.len() >= PIECE_BYTES || piece.damage.is_some() {
            let is_last = piece.damage.is_some();
            let next = used.try_recv().map(Piece::emptied).unwrap_or_default();
            if send.send(std::mem::replace(&mut piece, next)).is_err() || is_last {
                return;
            }
        }
    }
    // If nobody takes it, the other side has found something wrong.
    let _ = send.send(piece);
}

impl Piece {
    fn push(&mut self, rows: &[u8], place: &BlockPlace) {
        self.blocks.push((self.rows.len(), place.offset));
        self.rows.extend_from_slice(rows);
        self.stored_bytes += place.payload.len();
    }

    /// Keeps only the memory.
    fn emptied(mut self) -> Piece {
        self.rows.clear();
        self.blocks.clear();
        Piece { stored_bytes: 0, damage: None, ..self }
    }

    fn error(&self, trouble: Trouble, path: &Path) -> Error {
        match trouble {
            // A place among decompressed bytes means nothing to whoever looks into the file: the block's does.
            Trouble::Damage(damage) => {
                let behind = self.blocks.partition_point(|&(begin, _)| begin <= damage.offset);
                let offset = self.blocks[..behind].last().map_or(0, |&(_, offset)| offset);
                Damage { offset, ..damage }.in_file(path, 0)
            }
            Trouble::Misfit(misfit) => {
                Error::Row { path: path.to_owned(), lsn: misfit.lsn, what: misfit.what }
            }
        }
    }
}
