//! Waits for what is written to a log, and prints it.
//!
//! The kernel reports each write in the directory of the log. Where it does not, as on network file systems,
//! the log is looked at once a second.

use crate::rows_output::{Notices, RowsOutput};
use crate::session::Session;
use anyhow::{Context, Result, anyhow};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use tarantool::cat::{Followed, Growing, Printer};
use terminal::exit::Outcome;
use terminal::signals::Signals;
use watch::Watcher;

/// The longest time between two looks at the log.
const LOOK: Duration = Duration::from_secs(1);

/// What is followed, and where its rows go.
pub(crate) struct Follow<'a> {
    pub(crate) session: &'a Session,
    pub(crate) path: PathBuf,
    pub(crate) printer: &'a mut Printer,
    pub(crate) output: &'a mut RowsOutput,
}

/// A signal asks for an end while rows are printed.
#[derive(Debug)]
struct Asked;

impl std::fmt::Display for Asked {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("interrupted")
    }
}

impl std::error::Error for Asked {}

/// Prints a log and what is written to it, then the logs after it, until a signal asks for an end.
///
/// # Errors
/// The log cannot be read, or the output cannot be written.
pub(crate) fn follow(what: Follow, notices: &mut Notices) -> Result<Outcome> {
    let signals = Signals::get().context("signals cannot be handled")?;
    let mut watcher = watcher(&what.path)?;
    let mut growing = Growing::new(what.path);
    let disk = what.session.disk.as_ref();
    loop {
        let mut put = |bytes: &[u8]| {
            if signals.is_asked() {
                return Err(anyhow!(Asked));
            }
            what.output.put(bytes)
        };
        let mut tell = |path: &Path, notice| notices.tell(path, &notice);
        let followed = match growing.go_on(disk, what.printer, &mut put, &mut tell) {
            Ok(followed) => followed?,
            Err(error) if error.is::<Asked>() => return Ok(Outcome::Interrupted),
            Err(error) => return Err(error),
        };
        what.output.flush()?;
        if signals.is_asked() {
            return Ok(Outcome::Interrupted);
        }
        if followed == Followed::Waits {
            // While it waits, a signal ends the process at once: everything is written.
            signals.waits();
            wait(watcher.as_mut())?;
            signals.works();
        }
    }
}

/// Watches the directory of a log, if the kernel can.
fn watcher(path: &Path) -> Result<Option<Watcher>> {
    let Ok(mut watcher) = Watcher::new() else { return Ok(None) };
    let directory = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory.to_owned(),
        _ => PathBuf::from("."),
    };
    watcher.cover_writes(&directory).context("the directory cannot be watched")?;
    Ok(Some(watcher))
}

fn wait(watcher: Option<&mut Watcher>) -> Result<()> {
    match watcher {
        Some(watcher) => {
            watcher.wait(Some(LOOK)).context("waiting for writes failed")?;
        }
        None => thread::sleep(LOOK),
    }
    Ok(())
}
