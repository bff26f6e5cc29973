//! Runs a piece of work with a fault at every operation, and checks every outcome.
//!
//! Input: a disk to start from, the work, and a check of the resulting disks. Output: how much was tried, or
//! a panic that names the operation and the failed check. Does not know what the work is.

use super::{Refusal, SimDisk};
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// How many of the last operations the message of a failed check shows.
const SHOWN_COUNT: usize = 40;

/// How much a driver tried, so that a test can make sure that it was enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// Operations of the work when nothing goes wrong.
    pub operation_count: usize,
    /// Disks that were checked.
    pub checked_count: usize,
}

/// What the work has acknowledged, and what it has begun: the model with which the check compares a disk.
/// Clones share the same model.
#[derive(Debug)]
pub struct Acknowledged<A> {
    model: Arc<Mutex<A>>,
    /// The thread that is recording.
    recorder: Arc<Mutex<Option<ThreadId>>>,
}

impl<A> Acknowledged<A> {
    /// Returns a new model.
    pub fn new(model: A) -> Acknowledged<A> {
        Acknowledged { model: Arc::new(Mutex::new(model)), recorder: Arc::default() }
    }

    /// Lets `change` record something. It must not use the disk: a crash could not see a model that is being
    /// changed.
    pub fn record<T>(&self, change: impl FnOnce(&mut A) -> T) -> T {
        let mut model = locked(&self.model);
        *locked(&self.recorder) = Some(thread::current().id());
        let value = change(&mut model);
        *locked(&self.recorder) = None;
        value
    }

    /// Calls `look` with the current model, while nobody can record. Read the disk that is compared with the
    /// model inside `look`: otherwise another thread might continue and record something that this disk
    /// cannot have.
    fn hold<T>(&self, look: impl FnOnce(&A) -> T) -> T {
        let is_recording = *locked(&self.recorder) == Some(thread::current().id());
        assert!(!is_recording, "record() uses the disk");
        look(&locked(&self.model))
    }
}

impl<A> Clone for Acknowledged<A> {
    fn clone(&self) -> Acknowledged<A> {
        Acknowledged { model: Arc::clone(&self.model), recorder: Arc::clone(&self.recorder) }
    }
}

/// A failed check must not hide its message behind that of a poisoned lock.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Crashes `work` in the middle of each of its operations and after the last one. Calls `check` with every
/// disk that may be found then, and with the model of that moment.
///
/// The work runs once, on a fork of `start`, and is interrupted at each operation that changes anything.
/// Nothing that it does after a crash can change the disk of that crash, so running it again for every crash
/// would show the same, at the square of the cost. The work records in the model what it is about to do
/// before it does it, and what is acknowledged after that. `check` opens the disk that it gets, which nobody
/// else uses. It panics if something acknowledged is missing, or if something is incomplete or was never
/// begun. To crash the work of `check` as well, call this function in it with its disk as `start`.
///
/// # Panics
/// If a check panics or the work fails. The place is printed on standard error.
pub fn crash_at_every_operation<A, E>(
    start: &SimDisk,
    acknowledged: A,
    work: impl FnOnce(&SimDisk, &Acknowledged<A>) -> Result<(), E>,
    check: impl Fn(&SimDisk, &A) + Send + Sync + 'static,
) -> Runs
where
    A: Send + 'static,
    E: Debug,
{
    let disk = start.fork();
    let model = Acknowledged::new(acknowledged);
    let checked_count = Arc::new(AtomicUsize::new(0));
    let check_images = {
        let (model, checked_count) = (model.clone(), Arc::clone(&checked_count));
        Arc::new(move |number: usize, disk: &SimDisk| {
            let count = check_images(disk, &model, &check, |lost| {
                explain(disk, &format!("after a crash at operation {number}, of which is left: {lost}"))
            });
            checked_count.fetch_add(count, Ordering::Relaxed);
        })
    };
    disk.observe({
        let check_images = Arc::clone(&check_images);
        move |number, disk| check_images(number, disk)
    });
    work(&disk, &model).expect("the work succeeds when nothing goes wrong");
    disk.observe_no_more();
    let operation_count = disk.operation_count();
    check_images(operation_count, &disk);
    Runs { operation_count, checked_count: checked_count.load(Ordering::Relaxed) }
}

/// Runs `work` again for each of its operations with that operation refused: alone, with all later ones, and
/// on a disk that is full from then on. Then the disk works again, and `check` is called with every disk that
/// may be found if the machine crashes right then. One of them is the disk as it is.
///
/// The model is as for [`crash_at_every_operation`]. Each run begins with a clone of it. After an error the
/// work may continue or give up.
///
/// # Panics
/// If a check panics, or the work fails although nothing was refused. The place is printed on standard error.
pub fn fail_at_every_operation<A, E>(
    start: &SimDisk,
    acknowledged: A,
    work: impl Fn(&SimDisk, &Acknowledged<A>) -> Result<(), E>,
    check: impl Fn(&SimDisk, &A),
) -> Runs
where
    A: Clone,
    E: Debug,
{
    let disk = start.fork();
    work(&disk, &Acknowledged::new(acknowledged.clone())).expect("the work succeeds when nothing goes wrong");
    let trace = disk.trace();
    let mut checked_count = 0;
    for (number, operation) in trace.iter().enumerate() {
        for (refusal, is_lasting) in
            [(Refusal::Broken, false), (Refusal::Broken, true), (Refusal::Full, true)]
        {
            if refusal == Refusal::Full && !operation.needs_space() {
                continue;
            }
            let disk = start.fork();
            match is_lasting {
                true => disk.refuse_from(number, refusal),
                false => disk.refuse_at(number, refusal),
            }
            let model = Acknowledged::new(acknowledged.clone());
            let lasting = if is_lasting { " and all later ones" } else { "" };
            let what = format!("after operation {number}{lasting} was refused ({refusal:?})");
            let in_work = Explained(|| explain(&disk, &format!("{what}, in the work itself")));
            // An error is expected. The disk that it left is checked.
            let _ = work(&disk, &model);
            drop(in_work);
            checked_count += check_images(&disk, &model, &check, |lost| {
                explain(&disk, &format!("{what} and the machine crashed, of which is left: {lost}"))
            });
        }
    }
    Runs { operation_count: trace.len(), checked_count }
}

/// Runs `work` again for each of its operations, including reads, and runs `other` right before that
/// operation, as another process might. `work` checks its own outcome: it is a reader beside a writer, or a
/// writer beside a merge.
///
/// # Panics
/// If `work` or `other` panics. The place is printed on standard error.
pub fn interrupt_at_every_operation(
    start: &SimDisk,
    work: impl Fn(&SimDisk),
    other: impl Fn(&SimDisk) + Clone + Send + 'static,
) -> Runs {
    let alone = start.fork();
    work(&alone);
    let operation_count = alone.operation_count();
    for number in 0..operation_count {
        let disk = start.fork();
        let _explained = Explained(|| explain(&disk, &format!("interrupted before operation {number}")));
        disk.interrupt_at(number, {
            let (other, disk) = (other.clone(), disk.clone());
            move || other(&disk)
        });
        work(&disk);
    }
    Runs { operation_count, checked_count: operation_count }
}

/// Checks all images of `disk`, and returns how many there are.
fn check_images<A>(
    disk: &SimDisk,
    model: &Acknowledged<A>,
    check: &impl Fn(&SimDisk, &A),
    explain: impl Fn(&str) -> String,
) -> usize {
    model.hold(|model| {
        let images = disk.images();
        for image in &images {
            let found = files(&image.disk);
            let _explained = Explained(|| format!("{}\nfound:\n{found}", explain(image.description)));
            check(&image.disk, model);
        }
        images.len()
    })
}

/// Prints a message if a panic leaves its scope.
struct Explained<F: Fn() -> String>(F);

impl<F: Fn() -> String> Drop for Explained<F> {
    #[expect(clippy::print_stderr, reason = "beside the panic's own message, which knows nothing of disks")]
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", (self.0)());
        }
    }
}

/// Returns the sentence for a failed check.
fn explain(disk: &SimDisk, what: &str) -> String {
    let trace = disk.trace();
    let first = trace.len().saturating_sub(SHOWN_COUNT);
    let mut text = format!("this failed {what}; the last operations were\n");
    for (number, operation) in trace.iter().enumerate().skip(first) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {number} {operation}");
    }
    text
}

/// Lists the files of a disk with their lengths.
fn files(disk: &SimDisk) -> String {
    let inner = disk.inner();
    let line = |path: &std::path::PathBuf| {
        format!("  {}: {} bytes\n", path.display(), inner.state.read(path).map_or(0, <[u8]>::len))
    };
    inner.state.files().iter().map(line).collect()
}
