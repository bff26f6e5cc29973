//! Looks at the files of all directories before the repository is open: its key alone takes a tenth of a
//! second of one core.
//!
//! Input: the index, and tables of earlier backups. Output: which files are as their rows there have them,
//! in one byte for each. Opens no file, and decides nothing else: whatever was not seen is looked at later.
//! Which repository the tables belong to is not known yet. So those that were written last are taken, and
//! what was seen counts only if they turn out to be the right ones, and the newest.

use crate::blobs::entry::Stat;
use crate::cache::{Cache, CachedFile, newest_cache};
use crate::error::Result;
use crate::paths::{child, plain};
use crate::roots::resolved_folders;
use crate::write::context::{look, open};
use crate::write::seen::{Seen, SeenFiles, Sight};
use index::{Environment, Inventory, Subdirectory};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use work::Progress;

/// What was seen counts only if the backup begins this soon. Waiting for a lock may take hours.
const AGE_NS_MAX: i64 = 10 * 1_000_000_000;
/// Files between two looks at whether to go on.
const CHECK_COUNT: usize = 256;

/// A look at all files that is under way on threads of its own. It ends when this is dropped.
#[derive(Debug)]
pub struct LookAhead {
    shared: Arc<Shared>,
    threads: Threads,
    begun_ns: i64,
}

/// What the threads share.
struct Shared {
    inventory: Arc<Inventory>,
    cache: Arc<Cache>,
    /// The directory of the tables.
    place: PathBuf,
    tasks: Vec<Task>,
    next: AtomicUsize,
    is_over: AtomicBool,
    seen: Mutex<SeenFiles>,
}

/// A directory with messages.
struct Task {
    /// The folder, by its index in the inventory.
    folder: usize,
    subdirectory: Subdirectory,
    path: Vec<u8>,
}

/// The threads. They are stopped when this is dropped.
#[derive(Debug)]
struct Threads {
    shared: Arc<Shared>,
    handles: Vec<JoinHandle<()>>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Shared").field("place", &self.place).finish_non_exhaustive()
    }
}

impl LookAhead {
    /// Begins to look, on as many threads as may compute: until [`backup_after`](crate::backup_after) looks
    /// at the rest, its caller and itself mostly wait for a disk. Returns `None` if there is no index, or
    /// nothing to compare with.
    pub fn begin(environment: &Environment) -> Option<LookAhead> {
        let begun_ns = environment.context.now_ns();
        let (place, cache) = newest_cache(&environment.disk, &environment.data)?;
        let inventory = Arc::new(Inventory::open(environment).ok()?);
        let tasks = tasks(&inventory, &cache);
        let shared = Arc::new(Shared {
            inventory,
            cache,
            place,
            tasks,
            next: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
            seen: Mutex::default(),
        });
        let mut threads = Threads { shared: Arc::clone(&shared), handles: Vec::new() };
        for _ in 0..environment.context.threads.count() {
            let of_thread = Arc::clone(&shared);
            let begun =
                std::thread::Builder::new().name("look".to_owned()).spawn(move || of_thread.work(&|| false));
            // Without a thread, the caller does everything.
            threads.handles.extend(begun);
        }
        Some(LookAhead { shared, threads, begun_ns })
    }

    /// Returns itself if it began a moment ago.
    pub(crate) fn recent(self, environment: &Environment) -> Option<LookAhead> {
        let age_ns = environment.context.now_ns().saturating_sub(self.begun_ns);
        (0..=AGE_NS_MAX).contains(&age_ns).then_some(self)
    }

    /// Returns the index whose files it looks at.
    pub(crate) fn inventory(&self) -> Arc<Inventory> {
        Arc::clone(&self.shared.inventory)
    }

    /// Returns the tables, if they lie in `place` and nobody has written to them since.
    pub(crate) fn cache_in(&self, place: &Path) -> Option<Arc<Cache>> {
        let is_it = self.shared.place == place && self.shared.cache.is_newest();
        is_it.then(|| Arc::clone(&self.shared.cache))
    }

    /// Looks at the rest on this thread too, and returns what was seen.
    ///
    /// # Errors
    /// [`Error::Interrupted`](crate::Error::Interrupted).
    pub(crate) fn finish(self, progress: &dyn Progress) -> Result<SeenFiles> {
        let LookAhead { shared, mut threads, .. } = self;
        shared.work(&|| progress.is_cancelled());
        progress.check()?;
        threads.join();
        Ok(std::mem::take(&mut *shared.seen.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Threads {
    fn join(&mut self) {
        for handle in self.handles.drain(..) {
            // What a thread that panicked has not seen is looked at later.
            _ = handle.join();
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.join();
    }
}

/// Returns the directories with messages that the tables have, the largest first, so that no thread begins a
/// large one when the others are done.
fn tasks(inventory: &Inventory, cache: &Cache) -> Vec<Task> {
    let mut tasks = Vec::new();
    for (folder, directory) in resolved_folders(inventory).iter().enumerate() {
        let Some(path) = plain(directory) else { continue };
        for subdirectory in Subdirectory::ALL {
            let path = child(&path, subdirectory.name().as_bytes());
            let count = cache.file_count_max(&path).unwrap_or(0);
            if count > 0 {
                tasks.push((count, Task { folder, subdirectory, path }));
            }
        }
    }
    tasks.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    tasks.into_iter().map(|(_, task)| task).collect()
}

impl Shared {
    /// Looks at one directory after another, until `is_stopped` or the owner says to stop.
    fn work(&self, is_stopped: &dyn Fn() -> bool) {
        let is_over = || self.is_over.load(Ordering::Relaxed) || is_stopped();
        while !is_over()
            && let Some(task) = self.tasks.get(self.next.fetch_add(1, Ordering::Relaxed))
        {
            // The backup meets the same damage, and says so.
            if let Ok(Some(seen)) = self.look_at(task, &is_over) {
                let mut all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
                all.insert(task.path.clone(), seen);
            }
        }
    }

    /// Looks at the files that both the tables and the index have in a directory.
    fn look_at(&self, task: &Task, is_over: &dyn Fn() -> bool) -> Result<Option<Seen>> {
        let Some(folder) = self.inventory.folders().get(task.folder) else { return Ok(None) };
        let files = self.cache.directory(&task.path)?.files;
        let listed = self.inventory.listed(folder, task.subdirectory)?;
        let directory = open(Path::new(OsStr::from_bytes(&task.path)))?;
        let Ok(own) = rustix::fs::fstat(&directory) else { return Ok(None) };
        let mut seen = Seen::new(own.st_dev, files.len());
        let (listed_count, mut same_count) = (listed.len(), 0);
        let mut listed = listed.iter().map(|file| file.name).peekable();
        for (place, file) in files.iter().enumerate() {
            if place.is_multiple_of(CHECK_COUNT) && is_over() {
                break;
            }
            while listed.next_if(|name| *name < file.name).is_some() {}
            if listed.next_if(|name| *name == file.name).is_some() {
                let sight = sight(file, look(&directory, file.name), own.st_dev)?;
                same_count += usize::from(sight != Sight::Unknown);
                seen.set(place, sight);
            }
        }
        seen.is_unchanged = same_count == files.len() && same_count == listed_count;
        Ok(Some(seen))
    }
}

/// Returns what a look at a file says of it.
fn sight(file: &CachedFile<'_>, looked: rustix::io::Result<Option<Stat>>, device: u64) -> Result<Sight> {
    Ok(match looked {
        Ok(Some(stat)) if file.is_as(&stat)? => {
            if (stat.link_count, stat.device) == (1, device) {
                Sight::SameAlone
            } else {
                Sight::Same
            }
        }
        // The code that stores it looks again, and says what is wrong.
        Ok(_) | Err(_) => Sight::Unknown,
    })
}
