//! Files that change while they are read, played by a script.
//!
//! Comes in: what the file holds at each call. Goes out: how often it was read, and what was taken for its content. This file must not
//! know the disk.

use super::*;
use std::cell::Cell;

/// A file whose content is `contents[n]` after n calls to `stat`, and the last one from then on; written only where it differs.
/// Gives at most `step` bytes a call.
struct Script {
    contents: &'static [&'static str],
    stats: Cell<usize>,
    reads: Cell<usize>,
    step: usize,
}

impl Script {
    fn new(contents: &'static [&'static str], step: usize) -> Script {
        Script { contents, stats: Cell::new(0), reads: Cell::new(0), step }
    }

    fn moment(&self) -> usize {
        self.stats.get().min(self.contents.len() - 1)
    }

    fn calls(&self) -> i64 {
        i64::try_from(self.stats.get()).unwrap()
    }

    /// Reads the file; what was read, and how many calls that took.
    fn read(&self, limit_bytes: usize) -> Option<(String, usize)> {
        let mut buffer = Vec::new();
        let first = self.stat().unwrap();
        let stat = read_unchanged(self, first, limit_bytes, &mut buffer).unwrap()?;
        let text = String::from_utf8(buffer).unwrap();
        let content = self.contents[usize::try_from(stat.mtime_ns).unwrap()];
        assert_eq!(
            stat.ctime_ns,
            self.calls() - 2,
            "the stat is not the one from before the content was read"
        );
        assert_eq!(text, content[..content.len().min(limit_bytes)], "the stat is of another content");
        Some((text, self.reads.get()))
    }
}

impl Source for &Script {
    fn stat(self) -> io::Result<FileStat> {
        let moment = self.moment();
        self.stats.set(self.stats.get() + 1);
        let content = self.contents[moment];
        let written = self.contents[..moment]
            .iter()
            .rposition(|before| *before != content)
            .map_or(0, |index| index + 1);
        let mtime_ns = i64::try_from(written).unwrap();
        let ctime_ns = self.calls() - 1;
        Ok(FileStat { size_bytes: size(content.len()), mtime_ns, ctime_ns, ..FileStat::default() })
    }

    fn read_at(self, buffer: &mut Vec<u8>, offset: u64) -> io::Result<usize> {
        self.reads.set(self.reads.get() + 1);
        let content = &self.contents[self.moment()].as_bytes();
        let rest = content.get(usize::try_from(offset).unwrap()..).unwrap_or_default();
        let room = buffer.capacity() - buffer.len();
        assert!(room > 0, "no room to see the end of the file");
        let count = rest.len().min(room).min(self.step);
        buffer.extend_from_slice(&rest[..count]);
        Ok(count)
    }
}

fn read(contents: &'static [&'static str], step: usize, limit_bytes: usize) -> Option<(String, usize)> {
    Script::new(contents, step).read(limit_bytes)
}

#[test]
fn a_quiet_file_is_read_by_one_call() {
    assert_eq!(read(&["quiet"], 100, 100), Some(("quiet".into(), 1)));
    assert_eq!(read(&[""], 100, 100), Some((String::new(), 1)));
    assert_eq!(read(&["quiet"], 100, 5), Some(("quiet".into(), 1)));
}

#[test]
fn short_reads_go_on() {
    assert_eq!(read(&["quiet"], 2, 100), Some(("quiet".into(), 3)));
}

#[test]
fn only_the_limit_is_read() {
    assert_eq!(read(&["a long message"], 100, 6), Some(("a long".into(), 1)));
    assert_eq!(read(&["a long message"], 1, 6), Some(("a long".into(), 6)));
    assert_eq!(read(&["a long message"], 1, 0), Some((String::new(), 1)));
}

#[test]
fn a_file_that_changes_is_read_again() {
    assert_eq!(
        read(&["first", "first", "other"], 100, 100),
        Some(("first".into(), 1)),
        "changed after it was read"
    );
    assert_eq!(read(&["first", "other"], 100, 100), Some(("other".into(), 2)));
    assert_eq!(read(&["short", "much longer"], 100, 100), Some(("much longer".into(), 2)));
    assert_eq!(
        read(&["much longer", "short"], 100, 100),
        Some(("short".into(), 3)),
        "two calls see the early end"
    );
    assert_eq!(read(&["much longer", ""], 100, 100), Some((String::new(), 2)));
    assert_eq!(read(&["abcdef", "xxxdefgh"], 100, 3), Some(("xxx".into(), 2)), "changed beyond the limit");
}

#[test]
fn a_file_that_never_rests_is_given_up() {
    assert_eq!(read(&["a", "b", "c", "d", "e", "e"], 100, 100), None);
    assert_eq!(read(&["a", "b", "c", "d", "d"], 100, 100), Some(("d".into(), 4)));
}

#[test]
fn a_large_message_gives_its_memory_back() {
    let mut buffer = Vec::new();
    prepare(&mut buffer, KEPT_BYTES_MAX + 1).unwrap();
    prepare(&mut buffer, KEPT_BYTES_MAX + 1).unwrap();
    assert!(buffer.capacity() > KEPT_BYTES_MAX);
    prepare(&mut buffer, 10).unwrap();
    assert!(buffer.capacity() < 100);
    prepare(&mut buffer, 1000).unwrap();
    prepare(&mut buffer, 10).unwrap();
    assert!(buffer.capacity() >= 1000, "small buffers are kept");
}
