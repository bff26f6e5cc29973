//! A storage that repeats failed operations of another storage.
//!
//! Whatever fails with [`Error::Passing`] is tried again after longer and longer waits. It becomes
//! [`Error::Storage`] after too long a time, or [`Error::Interrupted`] when the user asks to stop.
//!
//! Every operation of a storage may be repeated: a file's name comes from its content, so a write whose
//! answer was lost writes the same bytes again, and removing a missing file is no error. Any other error is
//! returned at once, because waiting does not help against a missing file, a refused key or a full local
//! disk.

use super::Storage;
use crate::encoding::id::Id;
use crate::error::{Error, Result};
use crate::file_name::{FileKind, FileName};
use crate::surroundings::Surroundings;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use std::time::Duration;
use work::Context;

/// The first wait; each further one is twice as long, up to [`WAIT_MAX`].
const WAIT_MIN: Duration = Duration::from_secs(1);
/// The longest wait, so that work goes on soon after the storage is back.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// The last attempt begins after this long. As restic's: most restarts of a server are shorter, and locks
/// last longer.
const TOTAL_MAX: Duration = Duration::from_secs(15 * 60);

/// How often a wait checks whether the user wants to stop.
const ASK: Duration = Duration::from_millis(200);

/// Is told in a sentence why there is a wait.
pub type Told = Arc<dyn Fn(&str) + Send + Sync>;

/// A storage that is asked again when it fails for reasons that may pass.
pub struct Retry<S> {
    inner: S,
    context: Context,
    sleep: fn(Duration),
    told: Told,
}

impl<S: Storage> Retry<S> {
    /// Makes a storage patient. `told` hears of each failure that is followed by a wait.
    pub fn new(inner: S, surroundings: &Surroundings, told: Told) -> Retry<S> {
        let Surroundings { sleep, .. } = *surroundings;
        Retry { inner, context: surroundings.context.clone(), sleep, told }
    }

    /// Returns what `attempt` returns, at last.
    fn patiently<T>(&self, attempt: impl Fn() -> Result<T>) -> Result<T> {
        let begin_ns = self.context.now_ns();
        let mut waited = Duration::ZERO;
        let mut number = 0;
        loop {
            let (action, address, what) = match attempt() {
                Err(Error::Passing { action, address, what }) => (action, address, what),
                other => return other,
            };
            // A clock that is set back must not make it endless.
            let passed_ns = u64::try_from(self.context.now_ns().saturating_sub(begin_ns)).unwrap_or(0);
            let passed = waited.max(Duration::from_nanos(passed_ns));
            let wait = wait_after(number).min(TOTAL_MAX.saturating_sub(passed));
            if wait.is_zero() {
                let what = format!("{what}; tried {} in {}", times(number + 1), minutes(passed));
                return Err(Error::Storage { action, address, what });
            }
            // After the user asked to stop, nothing is repeated and no wait is reported.
            self.go_on()?;
            (self.told)(&format!(
                "cannot {action} at {address}: {what}; trying again in {} s",
                wait.as_secs()
            ));
            self.wait(wait)?;
            waited += wait;
            number += 1;
        }
    }
}

impl<S> Retry<S> {
    /// Waits until the time is over or the user asks to stop.
    fn wait(&self, time: Duration) -> Result<()> {
        let mut left = time;
        while !left.is_zero() {
            let slice = left.min(ASK);
            (self.sleep)(slice);
            left -= slice;
            self.go_on()?;
        }
        Ok(())
    }

    fn go_on(&self) -> Result<()> {
        if self.context.cancel.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Returns how long to wait after the attempt `number`, counted from 0.
fn wait_after(number: u32) -> Duration {
    WAIT_MAX.min(WAIT_MIN.saturating_mul(2_u32.saturating_pow(number)))
}

fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn minutes(passed: Duration) -> String {
    match passed.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds => format!("{} minutes", seconds / 60),
    }
}

impl<S: Storage> Storage for Retry<S> {
    fn address(&self) -> String {
        self.inner.address()
    }

    fn create(&self) -> Result<()> {
        self.patiently(|| self.inner.create())
    }

    fn list(&self, kind: FileKind) -> Result<Vec<(Id, u64)>> {
        self.patiently(|| self.inner.list(kind))
    }

    fn read(&self, name: FileName) -> Result<Vec<u8>> {
        self.patiently(|| self.inner.read(name))
    }

    fn read_range(&self, name: FileName, offset: u64, length: u32) -> Result<Vec<u8>> {
        self.patiently(|| self.inner.read_range(name, offset, length))
    }

    fn size(&self, name: FileName) -> Result<Option<u64>> {
        self.patiently(|| self.inner.size(name))
    }

    fn write(&self, name: FileName, bytes: &[u8]) -> Result<()> {
        self.patiently(|| self.inner.write(name, bytes))
    }

    fn remove(&self, name: FileName) -> Result<()> {
        self.patiently(|| self.inner.remove(name))
    }

    fn settle_time(&self) -> Duration {
        self.inner.settle_time()
    }

    fn write_while(&self, name: FileName, bytes: &[u8], may_still: &dyn Fn() -> Result<()>) -> Result<()> {
        self.patiently(|| self.inner.write_while(name, bytes, may_still))
    }

    fn remove_while(&self, name: FileName, may_still: &dyn Fn() -> Result<()>) -> Result<()> {
        self.patiently(|| self.inner.remove_while(name, may_still))
    }

    fn unfinished_count(&self) -> Result<u64> {
        self.patiently(|| self.inner.unfinished_count())
    }

    fn remove_unfinished(&self) -> Result<u64> {
        self.patiently(|| self.inner.remove_unfinished())
    }
}

impl<S: Debug> Debug for Retry<S> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Retry").field(&self.inner).finish()
    }
}
