//! The bare walk: the least work of every program that reads a Maildir.
//!
//! Input: a directory. Output: the number of files: by getdents64 alone, with a statx of each, or with each
//! read; or the number of directories with messages, with a statx of each. Knows nothing else about Maildirs.

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, StatxFlags};
use std::collections::VecDeque;
use std::ffi::CStr;
use std::fs::File;
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Condvar, Mutex, PoisonError};
use std::{ffi::OsStr, thread};

/// More threads are not faster.
const BUFFER_BYTES: usize = 32 << 10;

/// How to walk.
#[derive(Args)]
pub struct WalkArguments {
    directory: PathBuf,
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// What is read of each file.
    #[arg(long, value_enum, default_value_t = Look::Names)]
    look: Look,
}

/// What is read of each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Look {
    /// Its name.
    Names,
    /// Its size and times too.
    Stats,
    /// Its content.
    Contents,
    /// Nothing: only the times of directories with messages are read.
    Directories,
}

/// Directories that have messages, or will have them.
const MESSAGES: [&[u8]; 3] = [b"cur", b"new", b"tmp"];

/// Directories not yet read, and how many are being read.
struct Queue {
    waiting: VecDeque<PathBuf>,
    open: usize,
}

/// Returns a command that runs this program as a walk.
///
/// # Errors
/// If the path of this program is unknown.
pub fn command(directory: &Path, threads: usize, look: Look) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("walk").arg(directory).arg(format!("--threads={threads}"));
    let look = look.to_possible_value().context("each has a name")?;
    command.arg(format!("--look={}", look.get_name()));
    Ok(command)
}

/// Walks and prints how many files there are.
///
/// # Errors
/// If a directory cannot be read.
#[expect(clippy::print_stdout, reason = "the count is this errand's answer")]
pub fn walk(arguments: &WalkArguments) -> Result<()> {
    let files = count(&arguments.directory, arguments.threads, arguments.look)?;
    println!("{files}");
    Ok(())
}

fn count(directory: &Path, threads: usize, look: Look) -> Result<u64> {
    let queue = Mutex::new(Queue { waiting: VecDeque::from([directory.to_owned()]), open: 0 });
    let changed = Condvar::new();
    thread::scope(|scope| {
        let work = || work(&queue, &changed, look);
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a walking thread does not panic")).sum()
    })
}

/// Reads directories until none is left and none is being read by another thread.
fn work(queue: &Mutex<Queue>, changed: &Condvar, look: Look) -> Result<u64> {
    let mut files = 0;
    let mut buffer = vec![MaybeUninit::uninit(); BUFFER_BYTES];
    loop {
        let locked = queue.lock().unwrap_or_else(PoisonError::into_inner);
        // An idle thread sleeps, so that CPU time is only that of the walk.
        let mut locked = changed
            .wait_while(locked, |queue| queue.waiting.is_empty() && queue.open > 0)
            .unwrap_or_else(PoisonError::into_inner);
        let Some(directory) = locked.waiting.pop_front() else { return Ok(files) };
        locked.open += 1;
        drop(locked);
        let mut below = Vec::new();
        let read = list(&directory, look, &mut buffer, &mut below);
        let mut locked = queue.lock().unwrap_or_else(PoisonError::into_inner);
        locked.open -= 1;
        locked.waiting.extend(below);
        drop(locked);
        changed.notify_all();
        files += read.with_context(|| format!("cannot read {}", directory.display()))?;
    }
}

fn list(
    directory: &Path,
    look: Look,
    buffer: &mut [MaybeUninit<u8>],
    below: &mut Vec<PathBuf>,
) -> rustix::io::Result<u64> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let descriptor = rustix::fs::openat(CWD, directory, flags, Mode::empty())?;
    let mut entries = RawDir::new(&descriptor, buffer);
    let mut files = 0;
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if entry.file_type() != FileType::Directory {
            files += 1;
            match look {
                Look::Names | Look::Directories => {}
                Look::Stats => stat(&descriptor, entry.file_name())?,
                Look::Contents => read(&descriptor, entry.file_name())?,
            }
        } else if look == Look::Directories && MESSAGES.contains(&entry.file_name().to_bytes()) {
            files += 1;
            stat(&descriptor, entry.file_name())?;
        } else if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            below.push(directory.join(OsStr::from_bytes(entry.file_name().to_bytes())));
        }
    }
    Ok(files)
}

fn stat(directory: &rustix::fd::OwnedFd, name: &CStr) -> rustix::io::Result<()> {
    rustix::fs::statx(directory, name, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BASIC_STATS)?;
    Ok(())
}

fn read(directory: &rustix::fd::OwnedFd, name: &CStr) -> rustix::io::Result<()> {
    let mut file =
        File::from(rustix::fs::openat(directory, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?);
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)
        .map_err(|error| rustix::io::Errno::from_io_error(&error).unwrap_or(rustix::io::Errno::IO))?;
    std::hint::black_box(bytes);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn every_file_is_counted_once_on_any_number_of_threads() {
        let root = tempfile::tempdir().unwrap();
        for directory in ["", "a", "a/b", "c"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
            for name in ["1", "2", "3"] {
                fs::write(root.path().join(directory).join(name), "").unwrap();
            }
        }
        for (threads, look) in [(1, Look::Names), (2, Look::Stats), (3, Look::Contents)] {
            assert_eq!(count(root.path(), threads, look).unwrap(), 12);
        }
        assert!(count(&root.path().join("none"), 2, Look::Names).is_err());
        fs::create_dir_all(root.path().join("a/cur")).unwrap();
        fs::write(root.path().join("a/cur/1"), "").unwrap();
        assert_eq!(count(root.path(), 2, Look::Directories).unwrap(), 13, "what is in it is not looked at");
    }
}
