//! Applies the rows of logs to a [`State`], block by block.
//!
//! Input: the bytes of a log and the positions of its blocks. Does not know which logs there are.
//!
//! One thread checks and decompresses blocks and parses their rows while another applies the rows before
//! them. At most [`PIECES_AHEAD_MAX`] pieces wait between the two, and their bytes are limited too (see
//! `unpack.rs`). With one thread allowed, it does both in turn.

mod row_place;
mod unpack;

use crate::error::{Error, Result};
use crate::file::block::BlockPlace;
use crate::state::{ApplyError, State};
use std::path::Path;
use std::thread;
use unpack::{Cutter, Ends, OneThread, OtherThread, Piece};

pub use unpack::{PIECES_AHEAD_MAX, RowEnd, TRANSACTION_ROWS_MAX};
use work::Progress;

/// A log to apply.
#[derive(Clone, Copy, Debug)]
pub struct LogFile<'a> {
    /// Its path, for errors.
    pub path: &'a Path,
    /// The log's bytes.
    pub bytes: &'a [u8],
    /// Where to end, if not at the end of the last block.
    pub end: Option<RowEnd>,
}

/// Applies the rows of these blocks of a log, in order, on `thread_count` threads, of which at most two are
/// used. `progress` counts blocks and their stored bytes.
///
/// # Errors
/// Damage, including a transaction of more than [`TRANSACTION_ROWS_MAX`] rows; a row that does not fit those
/// before it, unless the state leaves out such rows.
pub fn apply_log(
    log: LogFile,
    blocks: impl Iterator<Item = BlockPlace> + Send,
    state: &mut State,
    thread_count: usize,
    progress: &dyn Progress,
) -> Result<()> {
    if thread_count <= 1 {
        let mut outcome = Ok(());
        let carry_out = |piece: &Piece| {
            outcome = carry_out_piece(log.path, piece, state, progress);
            outcome.is_ok()
        };
        Cutter::new(OneThread(carry_out), log.end).unpack_all(log.bytes, blocks);
        return outcome;
    }
    let (sink, ends) = OtherThread::new();
    let cutter = Cutter::new(sink, log.end);
    thread::scope(|scope| {
        scope.spawn(move || cutter.unpack_all(log.bytes, blocks));
        carry_out(log.path, ends, state, progress)
    })
}

/// Applies pieces and returns them for reuse. Closes both channels when it returns, because the other thread
/// may wait at either.
fn carry_out(path: &Path, ends: Ends, state: &mut State, progress: &dyn Progress) -> Result<()> {
    let (receive, give_back) = ends;
    for piece in receive {
        carry_out_piece(path, &piece, state, progress)?;
        // The other thread may have ended already.
        let _ = give_back.send(piece);
    }
    Ok(())
}

fn carry_out_piece(path: &Path, piece: &Piece, state: &mut State, progress: &dyn Progress) -> Result<()> {
    let rows = piece.rows.iter().map(|row| Ok(row.row(&piece.bytes)));
    state.apply_rows(rows.chain(piece.damage.map(Err))).map_err(|trouble| error(trouble, path))?;
    // A block counts as done with its last piece.
    progress.add(u64::from(piece.stored_bytes > 0), piece.stored_bytes as u64);
    Ok(progress.check()?)
}

fn error(trouble: ApplyError, path: &Path) -> Error {
    match trouble {
        ApplyError::Damage(damage) => damage.in_file(path, 0),
        ApplyError::Rejected(rejected_row) => {
            Error::Row { path: path.to_owned(), lsn: rejected_row.lsn, what: rejected_row.what }
        }
    }
}
