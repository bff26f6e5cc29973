//! The order in which new files are read: the newest mail first, so that a first index can soon be searched
//! for it.
//!
//! Input: files of a plan, by folder. Output: the same files in another order. Looks at names, and asks for a
//! file's time only if its name has none. What is read does not depend on the order.
//!
//! - Most programs begin a name with the time of delivery. All folders are ordered by it together.
//! - A name by mbsync has the time of the first sync, and the number of the message in its folder on the
//!   server (`,U=`). The highest numbers are the newest. Which folder has the newer one is not known, so the
//!   newest of each folder come first, then the second of each, and so on.
//!
//! If there are both kinds, each is spread evenly over the whole.
//!
//! Within [`NEIGHBOURS`] files the order is that of their inodes, in which a disk finds them fastest.

use crate::pass::plan::Candidate;
use rayon::prelude::*;
use std::cmp::Reverse;

/// Files whose order among each other does not matter.
const NEIGHBOURS: usize = 512;

/// Sorts files. `modified_seconds` returns when a file was last written.
pub(in crate::pass) fn newest_first(
    read: &mut Vec<Candidate>,
    modified_seconds: impl Fn(&Candidate) -> Option<i64> + Sync,
) {
    let files = std::mem::take(read);
    let (mut numbered, mut timed): (Vec<_>, Vec<_>) = files
        .into_par_iter()
        .map(|file| match mail::name_uid(&file.found.name) {
            Some(uid) => (Some(uid), 0, file),
            None => {
                let seconds = mail::name_seconds(&file.found.name).or_else(|| modified_seconds(&file));
                (None, seconds.unwrap_or(i64::MIN), file)
            }
        })
        .partition(|(uid, ..)| uid.is_some());
    timed.par_sort_by_key(|(_, seconds, _)| Reverse(*seconds));
    numbered.par_sort_by_key(|(uid, _, file)| (file.found.folder, Reverse(*uid)));
    let mut ranks = Vec::with_capacity(numbered.len());
    let (mut folder, mut rank) = (usize::MAX, 0_usize);
    for (.., file) in &numbered {
        rank = if file.found.folder == folder { rank + 1 } else { 0 };
        folder = file.found.folder;
        ranks.push(rank);
    }
    let mut numbered: Vec<_> = ranks.into_iter().zip(numbered).collect();
    numbered.par_sort_by_key(|(rank, _)| *rank);
    let (timed_count, numbered_count) = (timed.len(), numbered.len());
    let mut timed = timed.into_iter().map(|(.., file)| file).peekable();
    let mut numbered = numbered.into_iter().map(|(_, (.., file))| file).peekable();
    let (mut taken_timed, mut taken_numbered) = (0_u128, 0_u128);
    while timed.peek().is_some() || numbered.peek().is_some() {
        // Compares taken_timed / timed_count with taken_numbered / numbered_count.
        let is_timed_due = taken_timed * numbered_count as u128 <= taken_numbered * timed_count as u128;
        let next = if numbered.peek().is_none() || (is_timed_due && timed.peek().is_some()) {
            taken_timed += 1;
            timed.next()
        } else {
            taken_numbered += 1;
            numbered.next()
        };
        read.extend(next);
    }
    read.par_chunks_mut(NEIGHBOURS).for_each(|files| files.sort_by_key(|file| file.found.inode));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pass::scan::Found;
    use crate::rows::Subdirectory;

    fn ordered(files: &[(usize, &str)]) -> Vec<String> {
        let file = |&(folder, name): &(usize, &str)| Candidate {
            found: Found { folder, subdirectory: Subdirectory::Cur, name: name.into(), inode: 1 },
            replaces: None,
        };
        let mut read: Vec<Candidate> = files.iter().map(file).collect();
        // The time of a file without a time in its name is its length.
        newest_first(&mut read, |file| i64::try_from(file.found.name.len()).ok());
        read.into_iter().map(|file| String::from_utf8(file.found.name).unwrap()).collect()
    }

    #[test]
    fn times_in_names_order_all_folders_together() {
        let files =
            [(0, "1500000000.a"), (0, "1700000000.b"), (1, "1600000000.c"), (1, "none"), (2, "no time")];
        let expected = ["1700000000.b", "1600000000.c", "1500000000.a", "no time", "none"];
        assert_eq!(ordered(&files), expected);
    }

    #[test]
    fn numbers_of_a_server_order_each_folder_and_folders_take_turns() {
        let files = [
            (0, "1700000000_1.1.h,U=7:2,S"),
            (0, "1700000000_2.1.h,U=9:2,S"),
            (0, "1700000000_3.1.h,U=10:2,S"),
            (4, "1700000000_4.1.h,U=2:2,"),
            (4, "1700000000_5.1.h,U=1:2,"),
        ];
        let numbers: Vec<String> =
            ordered(&files).iter().map(|name| name[name.find("U=").unwrap()..].to_owned()).collect();
        assert_eq!(numbers, ["U=10:2,S", "U=2:2,", "U=9:2,S", "U=1:2,", "U=7:2,S"]);
    }

    #[test]
    fn both_kinds_are_spread_evenly() {
        let mut files: Vec<(usize, String)> = (0..4).map(|n| (0, format!("160000000{n}.x"))).collect();
        files.extend((0..8).map(|n| (1, format!("1700000000_{n}.1.h,U={n}:2,"))));
        let files: Vec<(usize, &str)> = files.iter().map(|(folder, name)| (*folder, name.as_str())).collect();
        let kinds: String =
            ordered(&files).iter().map(|name| if name.contains(",U=") { 'n' } else { 't' }).collect();
        assert_eq!(kinds, "tnntnntnntnn");
        assert_eq!(ordered(&[]), [""; 0]);
    }
}
