//! Opens the store of the mail tables, or creates it.
//!
//! Input: an environment. Output: snapshots and writers, and the mail part of their commit. Must not know
//! what is written.

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::first;
use crate::state::{self, ATTACHMENT, Root, State, Unusable};
use crate::tables::{HeaderCodec, schemas};
use crate::text;
use disk::Wait;
use std::path::{Path, PathBuf};
use std::time::Duration;
use store::{Form, Limits, Options, Snapshot, Writer};
use work::Progress;

/// Tells backup programs that the directory can be rebuilt. See https://bford.info/cachedir/.
pub(crate) const CACHE_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55\n# This directory is made \
    from mail by pneu and may be deleted.\n";
pub(crate) const CACHE_TAG_NAME: &str = "CACHEDIR.TAG";

/// Opens the newest commit for reading.
///
/// # Errors
/// [`Error::NoIndex`] if there is none; damage; a newer version.
pub(crate) fn snapshot(environment: &Environment) -> Result<Snapshot> {
    let directory = environment.index_directory();
    match environment.opened.open(&environment.disk, &directory) {
        Err(error) if error.is_not_found() => Err(Error::NoIndex { path: directory }),
        other => Ok(other?),
    }
}

/// Opens the newest commit, creating an empty store with this codec if there is none.
///
/// # Errors
/// Damage, a newer version, a data directory that cannot be written.
pub(crate) fn create_or_open(environment: &Environment, codec: HeaderCodec) -> Result<Snapshot> {
    match snapshot(environment) {
        Err(Error::NoIndex { .. }) => {}
        other => {
            let snapshot = other?;
            state(&snapshot, &environment.index_directory())?;
            return Ok(snapshot);
        }
    }
    let directory = environment.index_directory();
    environment.disk.create_directory(&environment.text_directory())?;
    first::begin(environment)?;
    let options = options(environment, Wait::Block);
    let writer = Writer::open_or_create(&environment.disk, &directory, &schemas(codec), options)?;
    tag(environment)?;
    Ok(writer.snapshot()?)
}

/// Writes the cache tag if it is missing or different. The caller holds the writer's lock.
fn tag(environment: &Environment) -> Result<()> {
    let directory = environment.index_directory();
    match environment.disk.read(&directory.join(CACHE_TAG_NAME)) {
        Ok(bytes) if bytes == CACHE_TAG => Ok(()),
        Err(error) if !error.is_not_found() => Err(error.into()),
        _ => Ok(disk::publish(environment.disk.as_ref(), &directory, CACHE_TAG_NAME, CACHE_TAG)?),
    }
}

/// The place of a lock file beside the segments of the text index. Their directory is created if it is
/// missing: while all text lies in the commits it is empty, and some copies of a data directory leave out
/// what is empty.
///
/// # Errors
/// A directory that cannot be written.
pub(crate) fn text_lock(environment: &Environment, name: &str) -> Result<PathBuf> {
    let directory = environment.text_directory();
    match environment.disk.mode(&directory) {
        Err(error) if error.is_not_found() => environment.disk.create_directory(&directory)?,
        other => _ = other?,
    }
    Ok(directory.join(name))
}

/// Bytes of a journal until its rows become segments. Every program that opens the index reads all of it:
/// 1 MiB takes about as long as all else.
const JOURNAL_BYTES: u64 = 1 << 17;

/// How often the lock is tried before the observer is told that another process has it, and how long it takes
/// until the next time. Nobody has it for long, so there is rarely anything to tell; and a process that waits
/// ends at a Ctrl-C, whatever it has done so far.
const TRIES: (usize, Duration) = (50, Duration::from_millis(5));

/// Takes the writer's lock: see [`until_free`].
///
/// # Errors
/// [`Error::Interrupted`]; damage, a newer version, a directory that cannot be written.
pub(crate) fn writer(environment: &Environment, observer: &dyn Progress) -> Result<Writer> {
    let directory = environment.index_directory();
    let take = |wait| Writer::open(&environment.disk, &directory, options(environment, wait));
    let writer = until_free(environment, observer, take)?;
    tag(environment)?;
    Ok(writer)
}

/// Takes a lock. If another process holds it, waits, and after a moment tells the observer which one that is.
/// From then on the environment stops the wait, or the observer gives up.
///
/// # Errors
/// [`store::Error::Cancelled`]; those of `take`.
pub(crate) fn until_free<T>(
    environment: &Environment,
    observer: &dyn Progress,
    mut take: impl FnMut(Wait) -> store::Result<T>,
) -> store::Result<T> {
    let mut left = TRIES.0;
    loop {
        match take(Wait::Refuse) {
            Err(store::Error::Io(disk::Error::Locked { .. })) if left > 0 => {
                left -= 1;
                std::thread::sleep(TRIES.1);
            }
            Err(store::Error::Io(disk::Error::Locked { holder, .. })) => {
                observer.waiting(&holder);
                let cancel = &environment.context.cancel;
                let is_stopped = || cancel.is_cancelled() || observer.gives_up();
                let taken = store::until_free_or(&is_stopped, take)?;
                // The process works again.
                observer.is_cancelled();
                return Ok(taken);
            }
            other => return other,
        }
    }
}

/// Returns the mail part of a commit.
///
/// # Errors
/// Damage, a newer version.
pub(crate) fn state(snapshot: &Snapshot, directory: &Path) -> Result<State> {
    // A store that was created but never written to has no attachment.
    let Some(bytes) = snapshot.attachment(ATTACHMENT) else { return Ok(State::default()) };
    let attached = |slot| snapshot.shared_attachment(&text::slot_name(slot));
    state::decode(bytes, snapshot.version().sequence, &attached).map_err(|unusable| match unusable {
        Unusable::Damaged => Error::Damaged { path: directory.to_owned(), what: "the state of the index" },
        Unusable::Version(found) => {
            Error::Version { path: directory.to_owned(), found, newest: state::VERSION }
        }
    })
}

/// Returns the roots of the last pass.
///
/// # Errors
/// [`Error::NoIndex`] if there is no index; damage; a newer version.
pub fn roots(environment: &Environment) -> Result<Vec<Root>> {
    Ok(state(&snapshot(environment)?, &environment.index_directory())?.roots)
}

/// Returns the store options for writing.
pub(crate) fn options(environment: &Environment, wait: Wait) -> Options {
    Options {
        holder: environment.holder.clone(),
        wait,
        seed: environment.seed,
        known: environment.opened.last(&environment.index_directory()),
        limits: Limits { journal_bytes: JOURNAL_BYTES, ..Limits::default() },
        form: Form::Packed,
        ..Options::default()
    }
}
