//! Keeps files in the page cache: processes map them until they are told to end.
//!
//! Input: paths. Output: their files in memory, for as long as [`CachedFiles`] is kept. Does not know who
//! reads them.
//!
//! Some systems drop pages that were not read for a minute (Linux does with DAMON's proactive reclaim), and
//! some programs need longer to read all files once. Mapped pages stay.

use anyhow::{Context, Result, ensure};
use disk::{Disk, RealDisk};
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// How many files one process maps: the system allows 65,530 maps (vm.max_map_count).
const MAPS_EACH: usize = 50_000;
/// The smallest page size.
const PAGE_BYTES: usize = 4096;
/// The line with which a process reports that it has mapped all files.
const HELD: &str = "held\n";

/// The processes that hold files; they end when it is dropped.
pub struct CachedFiles {
    holders: Vec<Child>,
}

impl CachedFiles {
    /// Reads files into memory, and keeps them there. They may be renamed and removed, but not be written to.
    ///
    /// # Errors
    /// If one cannot be mapped.
    pub fn files(files: &[PathBuf]) -> Result<CachedFiles> {
        let mut held = CachedFiles { holders: Vec::new() };
        for files in files.chunks(MAPS_EACH) {
            held.holders.push(holder(files)?);
        }
        for holder in &mut held.holders {
            let mut said = String::new();
            let output = holder.stdout.as_mut().context("it has an output")?;
            BufReader::new(output).read_line(&mut said)?;
            ensure!(said == HELD, "files could not be held in memory");
        }
        Ok(held)
    }
}

impl Drop for CachedFiles {
    fn drop(&mut self) {
        for holder in &mut self.holders {
            // This closes its input, so it ends. There is nobody to report a failure to.
            drop(holder.stdin.take());
            holder.wait().ok();
        }
    }
}

/// Starts a process that holds these files, and tells it which.
fn holder(files: &[PathBuf]) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    let mut child = command.arg("hold").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let input = child.stdin.as_mut().context("it has an input")?;
    write_paths(&mut BufWriter::new(input), files)?;
    Ok(child)
}

/// Writes paths, a zero byte after each, and an empty one at the end.
fn write_paths(out: &mut impl Write, files: &[PathBuf]) -> io::Result<()> {
    for file in files {
        out.write_all(file.as_os_str().as_bytes())?;
        out.write_all(&[0])?;
    }
    out.write_all(&[0])?;
    out.flush()
}

/// Maps the files that standard input names, says so, and keeps them until the input ends.
///
/// # Errors
/// If one cannot be mapped.
pub fn hold() -> Result<()> {
    hold_until_end(&mut io::stdin().lock(), &mut io::stdout())
}

fn hold_until_end(input: &mut impl BufRead, output: &mut impl Write) -> Result<()> {
    let mut maps = Vec::new();
    let mut path = Vec::new();
    loop {
        path.clear();
        ensure!(input.read_until(0, &mut path)? > 0, "the list of files has no end");
        path.pop();
        if path.is_empty() {
            break;
        }
        let map = RealDisk.map(Path::new(OsStr::from_bytes(&path)))?;
        // A page is mapped when it is read.
        std::hint::black_box(map.iter().step_by(PAGE_BYTES).fold(0_u8, |sum, byte| sum ^ byte));
        maps.push(map);
    }
    output.write_all(HELD.as_bytes())?;
    output.flush()?;
    io::copy(input, &mut io::sink())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;

    /// An input that records, at its end, what is mapped then.
    struct LookAtEnd(String);

    impl Read for LookAtEnd {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            self.0 = fs::read_to_string("/proc/self/maps")?;
            Ok(0)
        }
    }

    #[test]
    fn files_are_mapped_until_the_input_ends() {
        let place = tempfile::tempdir().unwrap();
        let files = ["one", "two", "nothing"].map(|name| place.path().join(name));
        for file in &files {
            fs::write(file, file.file_name().unwrap().as_bytes()).unwrap();
        }
        fs::write(&files[2], "").unwrap();
        let mut list = Vec::new();
        write_paths(&mut list, &files).unwrap();
        let mut end = LookAtEnd(String::new());
        let mut said = Vec::new();
        hold_until_end(&mut BufReader::new(list.as_slice().chain(&mut end)), &mut said).unwrap();
        assert_eq!(said, HELD.as_bytes());
        for file in &files[..2] {
            assert!(end.0.contains(file.to_str().unwrap()), "{}", file.display());
        }
        let after = fs::read_to_string("/proc/self/maps").unwrap();
        assert!(!after.contains(files[0].to_str().unwrap()));
    }

    #[test]
    fn a_missing_file_and_a_list_without_an_end_are_errors() {
        let place = tempfile::tempdir().unwrap();
        let mut list = Vec::new();
        let there = place.path().join("there");
        fs::write(&there, "there").unwrap();
        write_paths(&mut list, &[there, place.path().join("missing")]).unwrap();
        let first = list.iter().position(|&byte| byte == 0).unwrap() + 1;
        let mut said = Vec::new();
        assert!(hold_until_end(&mut list.as_slice(), &mut said).is_err());
        assert!(hold_until_end(&mut &list[..first], &mut said).is_err());
        assert_eq!(said, b"");
    }
}
