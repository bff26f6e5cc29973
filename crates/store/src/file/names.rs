//! The names of the files in a store's directory (docs/FORMAT.md, "The directory").
//!
//! Input: numbers, or a name. Output: names, or what a name means. Does not depend on the content of files.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The manifest's name.
pub const MANIFEST: &str = "manifest";
/// The name under which a manifest is written before it is published.
pub(crate) const MANIFEST_BESIDE: &str = "manifest.new";
/// The directory of the second copy, if the store keeps one.
pub(crate) const SECOND: &str = "copy";
/// The suffix of files that are not published yet.
const BESIDE: &str = ".new";
/// The name of the writer's lock.
pub(crate) const LOCK: &str = "lock";
/// The name of the lock of which everyone has a share who writes files that no manifest names yet, without
/// the writer's lock. Whoever holds the whole lock, besides the writer's, may remove such files.
pub(crate) const MERGE_LOCK: &str = "merge.lock";
/// The name of the lock of which only a merge takes hold, so that there is one merge at a time.
pub(crate) const MERGER_LOCK: &str = "merger.lock";

/// The random part of the name of a sealed file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FileNumber(pub(crate) u64);

impl FileNumber {
    pub(crate) fn segment(self) -> String {
        format!("{:016x}.seg", self.0)
    }

    pub(crate) fn dead(self) -> String {
        format!("{:016x}.dead", self.0)
    }
}

impl fmt::Debug for FileNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

/// Returns the name of the journal of manifest number `manifest`.
pub(crate) fn journal(manifest: u64) -> String {
    format!("journal-{manifest}")
}

/// Returns whether a file of this name belongs to the store and may be removed if no manifest names it.
/// False for locks and for files of other programs.
pub(crate) fn is_removable(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    if name == MANIFEST_BESIDE {
        return true;
    }
    let name = name.strip_suffix(BESIDE).unwrap_or(name);
    let is_number = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if let Some(number) = name.strip_prefix("journal-") {
        return !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    }
    name.strip_suffix(".seg").or_else(|| name.strip_suffix(".dead")).is_some_and(is_number)
}

/// Returns whether a file of this name in a store's directory belongs to the store.
pub fn is_store_file(name: &str) -> bool {
    [MANIFEST, LOCK, MERGE_LOCK, MERGER_LOCK].contains(&name) || is_removable(name.as_ref())
}

/// The process that makes names. Two that may run at the same time never make the same names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Maker {
    /// The holder of the writer's lock.
    Writer = 1,
    /// The holder of the lock of merges.
    Merge = 2,
    /// Whoever prepares a commit.
    Preparation = 3,
}

/// Makes numbers for new files. The same seed, manifest and existing names give the same numbers.
#[derive(Debug)]
pub(crate) struct Namer {
    seed: u64,
    count: u64,
    taken: HashSet<OsString>,
}

impl Namer {
    /// Returns a generator of numbers that no file in `taken` has.
    pub(crate) fn new(seed: u64, maker: Maker, manifest: u64, taken: Vec<OsString>) -> Namer {
        let seed = xxh3_64_with_seed(&[manifest.to_le_bytes(), (maker as u64).to_le_bytes()].concat(), seed);
        Namer { seed, count: 0, taken: taken.into_iter().collect() }
    }

    /// Returns an unused number and marks it as used.
    pub(crate) fn next(&mut self) -> FileNumber {
        loop {
            self.count += 1;
            let number = FileNumber(xxh3_64_with_seed(&self.count.to_le_bytes(), self.seed));
            let (segment, dead) = (OsString::from(number.segment()), OsString::from(number.dead()));
            // A crash leaves files that no manifest names, and the same seed would make their names again.
            if !self.taken.contains(&segment) && !self.taken.contains(&dead) {
                return number;
            }
        }
    }

    /// Returns a random number that identifies one journal.
    pub(crate) fn identity(&mut self) -> u64 {
        self.count += 1;
        xxh3_64_with_seed(&self.count.to_le_bytes(), !self.seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_files_are_removable() {
        let ours = [
            "journal-7",
            "manifest.new",
            "00000000000000ff.seg",
            "0123456789abcdef.dead",
            "journal-7.new",
            "0123456789abcdef.seg.new",
        ];
        assert!(ours.iter().all(|name| is_removable(name.as_ref())));
        assert!(
            ours.iter()
                .chain(&["manifest", "lock", "merge.lock", "merger.lock"])
                .all(|name| is_store_file(name))
        );
        assert!(!["notes.seg", "copy", "queries", ""].iter().any(|name| is_store_file(name)));
        let others = [
            "manifest",
            "lock",
            "lock.new",
            "copy",
            "merge.lock",
            "merger.lock",
            "journal-",
            "journal-x",
            "notes.seg",
            "0123456789abcdef.txt",
            "",
        ];
        assert!(others.iter().all(|name| !is_removable(name.as_ref())));
    }

    #[test]
    fn numbers_repeat_with_the_seed_and_avoid_what_is_there() {
        let numbers = |taken| {
            let mut namer = Namer::new(1, Maker::Writer, 5, taken);
            [namer.next(), namer.next()]
        };
        let [first, second] = numbers(vec![]);
        assert_eq!(numbers(vec![]), [first, second]);
        assert_eq!(numbers(vec![first.dead().into()])[0], second);
        assert_ne!(Namer::new(1, Maker::Merge, 5, vec![]).next(), first);
        assert_ne!(Namer::new(1, Maker::Writer, 6, vec![]).next(), first);
        assert_ne!(Namer::new(2, Maker::Writer, 5, vec![]).next(), first);
    }
}
