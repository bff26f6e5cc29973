//! Watches a set of directories with inotify(7), and waits for what happens in them.
//!
//! Input: directories, each with what is of interest. Output: reports. A directory is watched by its inode:
//! if another one takes its path, the set must be covered again.

use crate::alarm::Alarms;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Room for about a thousand events.
const BUFFER_BYTES: usize = 64 << 10;

/// What is of interest in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interest {
    /// Names that appear and disappear, and whose permissions change.
    Names,
    /// These, and files that were written.
    NamesAndContents,
}

/// How a set of directories is covered.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// How many directories are watched.
    pub watched_count: usize,
    /// How many are not, because there may be no more watches.
    pub left_out_count: usize,
}

/// Why nothing can be watched.
#[derive(Debug)]
pub enum Refused {
    /// The user has as many instances of inotify as `fs.inotify.max_user_instances` allows.
    Instances,
    /// Another reason.
    Other(io::Error),
}

/// A name in a directory that something happened to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The directory.
    pub directory: PathBuf,
    /// What is of interest there.
    pub interest: Interest,
    /// The name.
    pub name: Vec<u8>,
    /// Whether it is a directory.
    pub is_directory: bool,
}

/// What happened since the last report.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Names that appeared, disappeared, were written or got other permissions, in the order of events. One
    /// may be there several times.
    pub entries: Vec<Entry>,
    /// Watched directories that were removed, moved or unmounted.
    pub gone: Vec<PathBuf>,
    /// Whether events were lost, a file system was mounted or unmounted, or the machine was suspended:
    /// anything may have changed.
    pub is_uncertain: bool,
}

impl Report {
    /// Returns whether nothing happened.
    pub fn is_empty(&self) -> bool {
        *self == Report::default()
    }
}

/// Watches directories.
pub struct Watcher {
    inotify: OwnedFd,
    alarms: Alarms,
    /// The paths of each watched directory, which may have several by symbolic links.
    directories: HashMap<i32, Vec<(PathBuf, Interest)>>,
    buffer: Box<[MaybeUninit<u8>]>,
}

impl Watcher {
    /// Starts without any directory.
    ///
    /// # Errors
    /// The kernel gives no instance of inotify.
    pub fn new() -> Result<Watcher, Refused> {
        let inotify = match inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK) {
            Ok(inotify) => inotify,
            Err(Errno::MFILE) => return Err(Refused::Instances),
            Err(error) => return Err(Refused::Other(error.into())),
        };
        let buffer = vec![MaybeUninit::uninit(); BUFFER_BYTES].into_boxed_slice();
        Ok(Watcher { inotify, alarms: Alarms::new(), directories: HashMap::new(), buffer })
    }

    /// Watches these directories, and no others. One that is not there, or cannot be read, is not watched:
    /// the one above it tells when it appears.
    ///
    /// What happens in a directory is reported from here on, so list it afterwards.
    ///
    /// # Errors
    /// The kernel refuses for another reason than the number of watches.
    pub fn cover(
        &mut self,
        directories: impl IntoIterator<Item = (PathBuf, Interest)>,
    ) -> io::Result<Covered> {
        let mut covered = Covered::default();
        let mut now: HashMap<i32, Vec<(PathBuf, Interest)>> = HashMap::new();
        for (path, interest) in directories {
            match inotify::add_watch(&self.inotify, &path, flags(interest)) {
                Ok(descriptor) => {
                    now.entry(descriptor).or_default().push((path, interest));
                }
                Err(Errno::NOSPC) => covered.left_out_count += 1,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP | Errno::NAMETOOLONG) => {}
                Err(error) => return Err(error.into()),
            }
        }
        for descriptor in self.directories.keys().filter(|descriptor| !now.contains_key(descriptor)) {
            // Its directory may be gone, and the watch with it.
            let _ = inotify::remove_watch(&self.inotify, *descriptor);
        }
        self.directories = now;
        covered.watched_count = self.directories.len();
        Ok(covered)
    }

    /// Watches one directory, and no others, and reports each single write to its files: for whoever reads a
    /// file that grows.
    ///
    /// # Errors
    /// The kernel refuses, or there is no such directory.
    pub fn cover_writes(&mut self, directory: &Path) -> io::Result<()> {
        self.cover([])?;
        let interest = Interest::NamesAndContents;
        let watch = flags(interest) | WatchFlags::MODIFY;
        let descriptor = inotify::add_watch(&self.inotify, directory, watch)?;
        self.directories.insert(descriptor, vec![(directory.to_owned(), interest)]);
        Ok(())
    }

    /// Waits until something happens, for at most `timeout`. Returns an empty report when the time is up, or
    /// after a signal.
    ///
    /// # Errors
    /// The kernel refuses to wait.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<Report> {
        let mut report = Report::default();
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let mut waits = vec![PollFd::new(&self.inotify, PollFlags::IN)];
        self.alarms.add_to(&mut waits);
        match poll(&mut waits, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(report),
            Err(error) => return Err(error.into()),
        }
        let is_alarmed = waits.iter().skip(1).any(|wait| !wait.revents().is_empty());
        drop(waits);
        if is_alarmed {
            self.alarms.set_clock();
            report.is_uncertain = true;
        }
        self.read(&mut report)?;
        Ok(report)
    }

    /// Reads all events that are there.
    fn read(&mut self, report: &mut Report) -> io::Result<()> {
        let Watcher { inotify, directories, buffer, .. } = self;
        let mut reader = Reader::new(&*inotify, buffer);
        loop {
            match reader.next() {
                Ok(event) => note(&event, directories, report),
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Watcher")
            .field("directories", &self.directories.len())
            .finish_non_exhaustive()
    }
}

fn flags(interest: Interest) -> WatchFlags {
    // ATTRIB: what could not be read may be readable now. MASK_ADD: a directory may be there twice.
    let names = WatchFlags::CREATE
        | WatchFlags::ATTRIB
        | WatchFlags::MASK_ADD
        | WatchFlags::DELETE
        | WatchFlags::MOVE
        | WatchFlags::DELETE_SELF
        | WatchFlags::MOVE_SELF
        | WatchFlags::ONLYDIR;
    match interest {
        Interest::Names => names,
        Interest::NamesAndContents => names | WatchFlags::CLOSE_WRITE,
    }
}

fn note(
    event: &inotify::Event<'_>,
    directories: &mut HashMap<i32, Vec<(PathBuf, Interest)>>,
    report: &mut Report,
) {
    let events = event.events();
    if events.contains(ReadFlags::QUEUE_OVERFLOW) {
        report.is_uncertain = true;
    }
    let paths = directories.get(&event.wd()).map(Vec::as_slice).unwrap_or_default();
    if events.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF | ReadFlags::UNMOUNT) {
        report.gone.extend(paths.iter().map(|(path, _)| path.clone()));
    } else if let Some(name) = event.file_name() {
        let is_directory = events.contains(ReadFlags::ISDIR);
        let name = name.to_bytes();
        report.entries.extend(paths.iter().map(|(directory, interest)| Entry {
            directory: directory.clone(),
            interest: *interest,
            name: name.to_vec(),
            is_directory,
        }));
    }
    if events.contains(ReadFlags::IGNORED) {
        // The kernel has removed the watch, and may give its number to another one.
        directories.remove(&event.wd());
    }
}

/// Returns how many directories one user may watch, if the kernel says so.
pub fn watches_max() -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc/sys/fs/inotify/max_user_watches")).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    const LONG: Option<Duration> = Some(Duration::from_secs(20));

    /// Waits until `count` entries are reported, and returns all names.
    fn names(watcher: &mut Watcher, count: usize) -> Vec<String> {
        let mut names = Vec::new();
        while names.len() < count {
            let report = watcher.wait(LONG).unwrap();
            assert!(!report.is_empty(), "only {names:?} came");
            names.extend(report.entries.iter().map(|entry| {
                let directory = entry.directory.file_name().unwrap().to_string_lossy();
                let kind = if entry.is_directory { "/" } else { "" };
                format!("{directory}/{}{kind}", String::from_utf8_lossy(&entry.name))
            }));
        }
        names
    }

    #[test]
    fn names_are_reported_where_they_appear_and_disappear() {
        let place = tempfile::tempdir().unwrap();
        let [one, two, other] = ["one", "two", "other"].map(|name| place.path().join(name));
        [&one, &two, &other].into_iter().for_each(|path| fs::create_dir(path).unwrap());
        let mut watcher = Watcher::new().unwrap();
        let interest = Interest::Names;
        let wanted = [(one.clone(), interest), (two.clone(), interest), (place.path().join("no"), interest)];
        assert_eq!(watcher.cover(wanted).unwrap(), Covered { watched_count: 2, left_out_count: 0 });
        fs::write(other.join("unseen"), "").unwrap();
        fs::write(one.join("a"), "").unwrap();
        fs::rename(one.join("a"), two.join("b")).unwrap();
        fs::create_dir(two.join("c")).unwrap();
        fs::remove_file(two.join("b")).unwrap();
        assert_eq!(names(&mut watcher, 5), ["one/a", "one/a", "two/b", "two/c/", "two/b"][..].to_vec());
    }

    #[test]
    fn a_directory_with_two_paths_is_reported_under_both() {
        let place = tempfile::tempdir().unwrap();
        let [directory, link] = ["directory", "link"].map(|name| place.path().join(name));
        fs::create_dir(&directory).unwrap();
        std::os::unix::fs::symlink("directory", &link).unwrap();
        let mut watcher = Watcher::new().unwrap();
        watcher.cover([(directory.clone(), Interest::Names), (link, Interest::NamesAndContents)]).unwrap();
        fs::create_dir(directory.join("a")).unwrap();
        assert_eq!(names(&mut watcher, 2), ["directory/a/", "link/a/"]);
        // So are permissions.
        fs::set_permissions(directory.join("a"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
            .unwrap();
        assert_eq!(names(&mut watcher, 2), ["directory/a/", "link/a/"]);
    }

    #[test]
    fn what_was_written_is_reported_if_that_is_of_interest() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("a");
        fs::write(&file, "1").unwrap();
        let mut watcher = Watcher::new().unwrap();
        watcher.cover([(place.path().to_owned(), Interest::Names)]).unwrap();
        fs::write(&file, "2").unwrap();
        assert!(watcher.wait(Some(Duration::ZERO)).unwrap().is_empty());
        watcher.cover([(place.path().to_owned(), Interest::NamesAndContents)]).unwrap();
        fs::write(&file, "3").unwrap();
        assert_eq!(names(&mut watcher, 1).len(), 1);
    }

    #[test]
    fn each_write_is_reported_if_that_is_of_interest() {
        let place = tempfile::tempdir().unwrap();
        let mut file = fs::File::create(place.path().join("a")).unwrap();
        let mut watcher = Watcher::new().unwrap();
        watcher.cover([(place.path().to_owned(), Interest::NamesAndContents)]).unwrap();
        file.write_all(b"1").unwrap();
        assert!(watcher.wait(Some(Duration::ZERO)).unwrap().is_empty());
        watcher.cover_writes(place.path()).unwrap();
        file.write_all(b"2").unwrap();
        assert_eq!(names(&mut watcher, 1).len(), 1);
        assert!(watcher.cover_writes(&place.path().join("no")).is_err());
    }

    #[test]
    fn a_directory_that_goes_is_reported_and_another_one_in_its_place_is_covered_again() {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("directory");
        fs::create_dir(&directory).unwrap();
        let mut watcher = Watcher::new().unwrap();
        let cover = |watcher: &mut Watcher| {
            watcher.cover([(directory.clone(), Interest::Names)]).unwrap().watched_count
        };
        assert_eq!(cover(&mut watcher), 1);
        fs::rename(&directory, place.path().join("moved")).unwrap();
        assert_eq!(watcher.wait(LONG).unwrap().gone, [directory.as_path()]);
        fs::create_dir(&directory).unwrap();
        assert_eq!(cover(&mut watcher), 1);
        fs::write(place.path().join("moved/unseen"), "").unwrap();
        fs::write(directory.join("a"), "").unwrap();
        assert_eq!(names(&mut watcher, 1), ["directory/a"]);
        fs::remove_dir_all(&directory).unwrap();
        let mut gone = Vec::new();
        while gone.is_empty() {
            gone.extend(watcher.wait(LONG).unwrap().gone);
        }
        assert_eq!(gone, [directory.as_path()]);
        assert_eq!(cover(&mut watcher), 0);
    }

    #[test]
    fn more_events_than_the_kernel_keeps_make_it_uncertain() {
        let place = tempfile::tempdir().unwrap();
        let mut watcher = Watcher::new().unwrap();
        watcher.cover([(place.path().to_owned(), Interest::Names)]).unwrap();
        let max = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
        let max: usize = max.trim().parse().unwrap();
        // The kernel joins equal events that follow each other, so there are two files.
        for _ in 0..=max / 4 {
            let files = ["a", "b"].map(|name| place.path().join(name));
            files.iter().for_each(|file| fs::write(file, "").unwrap());
            files.iter().for_each(|file| fs::remove_file(file).unwrap());
        }
        assert!(watcher.wait(LONG).unwrap().is_uncertain);
        assert!(!watcher.wait(Some(Duration::ZERO)).unwrap().is_uncertain);
    }
}
