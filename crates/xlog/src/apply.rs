//! Carries out logs on a [`State`], one block after the other.
//!
//! Comes in: a log's bytes and where its blocks lie. Goes out: nothing; the state changes. Must not know which logs there are.
//!
//! Blocks are checked and decompressed on one core while another carries out the rows of those before. At most
//! [`BLOCKS_AHEAD_MAX`] of them are decompressed ahead.

use crate::block::{BlockPlace, Unpacker};
use crate::error::{Damage, Error, Result};
use crate::state::{State, Trouble};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

/// Blocks that are decompressed before they are needed.
pub const BLOCKS_AHEAD_MAX: usize = 16;

/// A log to carry out.
#[derive(Clone, Copy, Debug)]
pub struct LogFile<'a> {
    /// Its path, for errors.
    pub path: &'a Path,
    /// All of it.
    pub bytes: &'a [u8],
}

/// What a block was decompressed to.
type Unpacked = (BlockPlace, std::result::Result<Vec<u8>, Damage>);

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
    let (send, receive) = sync_channel(BLOCKS_AHEAD_MAX);
    let (give_back, used) = channel();
    thread::scope(|scope| {
        scope.spawn(move || unpack_all(log.bytes, blocks, &send, &used));
        for (place, payload) in receive {
            let payload = payload.map_err(|damage| damage.in_file(log.path, 0))?;
            state.apply(&payload).map_err(|trouble| error(trouble, log.path, &place))?;
            progress(place.payload.len());
            // The other side may be done already.
            let _ = give_back.send(payload);
        }
        Ok(())
    })
}

/// Unpacks blocks into buffers that come back, until there are no more or nobody takes them.
fn unpack_all(
    bytes: &[u8],
    blocks: impl Iterator<Item = BlockPlace>,
    send: &SyncSender<Unpacked>,
    used: &Receiver<Vec<u8>>,
) {
    let mut unpacker = Unpacker::default();
    for place in blocks {
        let unpacked = unpacker.unpack(bytes, &place).map(|payload| {
            let mut buffer = used.try_recv().unwrap_or_default();
            buffer.clear();
            buffer.extend_from_slice(payload);
            buffer
        });
        if send.send((place, unpacked)).is_err() {
            return;
        }
    }
}

fn error(trouble: Trouble, path: &Path, place: &BlockPlace) -> Error {
    match trouble {
        // A place among decompressed bytes means nothing to whoever looks into the file.
        Trouble::Damage(damage) => Damage { offset: place.offset, ..damage }.in_file(path, 0),
        Trouble::Misfit(misfit) => Error::Row { path: path.to_owned(), lsn: misfit.lsn, what: misfit.what },
    }
}
