//! Carries out logs on a [`State`], one block after the other.
//!
//! Comes in: a log's bytes and where its blocks lie. Goes out: nothing; the state changes. Must not know which logs there are.
//!
//! Blocks are checked, decompressed and taken apart into rows on one core while another carries out those before. At most
//! [`PIECES_AHEAD_MAX`] pieces of some blocks are made ahead.

mod place;

use crate::block::{BlockPlace, Unpacker};
use crate::error::{Damage, Error, Result};
use crate::row::rows;
use crate::state::{State, Trouble};
use place::RowPlace;
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
    bytes: Vec<u8>,
    rows: Vec<RowPlace>,
    stored_bytes: usize,
    /// What is wrong behind them.
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
            let rows = piece.rows.iter().map(|row| Ok(row.row(&piece.bytes)));
            state
                .apply_rows(rows.chain(piece.damage.map(Err)))
                .map_err(|trouble| error(trouble, log.path))?;
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
        // A place among decompressed bytes means nothing to whoever looks into the file: the block's does.
        let at_block = |damage| Damage { offset: place.offset, ..damage };
        let taken = unpacker.unpack(bytes, &place).and_then(|payload| piece.push(payload).map_err(at_block));
        piece.damage = taken.err();
        piece.stored_bytes += place.payload.len();
        if piece.bytes.len() >= PIECE_BYTES || piece.damage.is_some() {
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
    /// Adds the rows of a block, as far as they are rows.
    fn push(&mut self, payload: &[u8]) -> std::result::Result<(), Damage> {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(payload);
        for row in rows(payload) {
            self.rows.push(RowPlace::new(&row?, payload, begin));
        }
        Ok(())
    }

    /// Keeps only the memory.
    fn emptied(mut self) -> Piece {
        self.bytes.clear();
        self.rows.clear();
        Piece { stored_bytes: 0, damage: None, ..self }
    }
}

fn error(trouble: Trouble, path: &Path) -> Error {
    match trouble {
        Trouble::Damage(damage) => damage.in_file(path, 0),
        Trouble::Misfit(misfit) => Error::Row { path: path.to_owned(), lsn: misfit.lsn, what: misfit.what },
    }
}
