//! Carries out logs on a [`State`], one block after the other.
//!
//! Comes in: a log's bytes and where its blocks lie. Goes out: nothing; the state changes. Must not know which logs there are.
//!
//! Blocks are checked, decompressed and taken apart into rows on one core while another carries out those before. At most
//! [`PIECES_AHEAD_MAX`] pieces of some blocks are made ahead, and not many bytes of them (`apply/unpack.rs`).

mod place;
mod unpack;

use crate::block::BlockPlace;
use crate::error::{Error, Result};
use crate::state::{State, Trouble};
use std::path::Path;
use std::thread;
use unpack::{Cutter, Ends};

pub use unpack::TRANSACTION_ROWS_MAX;

/// Pieces of a log that are decompressed before they are needed.
pub const PIECES_AHEAD_MAX: usize = 8;

/// A log to carry out.
#[derive(Clone, Copy, Debug)]
pub struct LogFile<'a> {
    /// Its path, for errors.
    pub path: &'a Path,
    /// All of it.
    pub bytes: &'a [u8],
}

/// Carries out the rows of these blocks of a log, in their order. `progress` is told of stored bytes as they are done.
///
/// # Errors
/// Damage, which a transaction of more than [`TRANSACTION_ROWS_MAX`] rows is, too; a row that does not fit those before it, unless the
/// state leaves those out.
pub fn apply_log(
    log: LogFile,
    blocks: impl Iterator<Item = BlockPlace> + Send,
    state: &mut State,
    progress: &dyn Fn(usize),
) -> Result<()> {
    let (cutter, ends) = Cutter::new();
    thread::scope(|scope| {
        scope.spawn(move || cutter.unpack_all(log.bytes, blocks));
        carry_out(log.path, ends, state, progress)
    })
}

/// Carries out pieces and gives them back. Drops both ends when it returns: the other side waits at either.
fn carry_out(path: &Path, ends: Ends, state: &mut State, progress: &dyn Fn(usize)) -> Result<()> {
    let (receive, give_back) = ends;
    for piece in receive {
        let rows = piece.rows.iter().map(|row| Ok(row.row(&piece.bytes)));
        state.apply_rows(rows.chain(piece.damage.map(Err))).map_err(|trouble| error(trouble, path))?;
        progress(piece.stored_bytes);
        // The other side may be done already.
        let _ = give_back.send(piece);
    }
    Ok(())
}

fn error(trouble: Trouble, path: &Path) -> Error {
    match trouble {
        Trouble::Damage(damage) => damage.in_file(path, 0),
        Trouble::Misfit(misfit) => Error::Row { path: path.to_owned(), lsn: misfit.lsn, what: misfit.what },
    }
}
