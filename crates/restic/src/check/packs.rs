//! Compares the packs that index files name with the packs that are stored.
//!
//! Output: faults and hints. Reads no pack.

use super::report::{CheckReport, Hint};
use crate::blob_index::PackSummary;
use crate::encoding::id::Id;
use crate::error::Error;
use crate::file_name::{FileKind, FileName};
use crate::remedy::Remedy;
use std::collections::{HashMap, HashSet};

/// Adds what differs to `report`.
pub(super) fn compare(packs: &[PackSummary], stored: &HashMap<Id, u64>, report: &mut CheckReport) {
    let (mut mixed, mut named_twice) = (0, 0);
    for pack in packs {
        let file = FileName { kind: FileKind::Pack, id: pack.id };
        match stored.get(&pack.id) {
            None => report.faults.push(Error::damage(file, "it is missing, but index files name it")),
            Some(&size) if size != pack.size_bytes => {
                let what = format!("it has {size} bytes, but index files say {}", pack.size_bytes);
                report.faults.push(Error::damage(file, what));
            }
            Some(_) => {}
        }
        if pack.is_split {
            report.faults.push(Error::damage(file, "no index file has all of its blobs"));
        }
        mixed += u64::from(pack.data_count > 0 && pack.tree_count > 0);
        named_twice += u64::from(pack.file_count > 1);
    }
    let named: HashSet<Id> = packs.iter().map(|pack| pack.id).collect();
    let unnamed = stored.keys().filter(|id| !named.contains(id)).count();
    let mut hint = |count: u64, what: &str, remedy: Option<Remedy>| {
        if count > 0 {
            let packs = if count == 1 { "1 pack is".to_owned() } else { format!("{count} packs are") };
            report.hints.push(Hint { what: format!("{packs} {what}"), remedy });
        }
    };
    hint(
        unnamed as u64,
        "in no index file: a backup was interrupted or is running. If nothing is missing, \
         a prune removes what is not needed; otherwise a rebuilt index has what they hold",
        Some(Remedy::RepairIndex),
    );
    hint(
        mixed,
        "of trees and data together, as old versions of restic wrote them; prune separates them",
        None,
    );
    hint(named_twice, "in several index files", None);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(number: u8) -> PackSummary {
        PackSummary {
            id: Id([number; 32]),
            size_bytes: 100,
            data_count: 2,
            file_count: 1,
            ..Default::default()
        }
    }

    fn compared(packs: &[PackSummary], stored: &[(u8, u64)]) -> (Vec<String>, Vec<String>) {
        let stored = stored.iter().map(|&(number, size)| (Id([number; 32]), size)).collect();
        let mut report = CheckReport::default();
        compare(packs, &stored, &mut report);
        let hints = report.hints.iter().map(ToString::to_string).collect();
        (report.faults.iter().map(ToString::to_string).collect(), hints)
    }

    #[test]
    fn what_is_as_it_should_be_is_not_mentioned() {
        assert_eq!(compared(&[pack(1), pack(2)], &[(1, 100), (2, 100)]), (vec![], vec![]));
    }

    #[test]
    fn missing_cut_and_split_packs_are_faults() {
        let split = PackSummary { is_split: true, ..pack(3) };
        let (faults, hints) = compared(&[pack(1), pack(2), split], &[(2, 99), (3, 100)]);
        let name = |number: u8| FileName { kind: FileKind::Pack, id: Id([number; 32]) };
        assert_eq!(
            faults,
            [
                format!("{} is damaged: it is missing, but index files name it", name(1)),
                format!("{} is damaged: it has 99 bytes, but index files say 100", name(2)),
                format!("{} is damaged: no index file has all of its blobs", name(3)),
            ]
        );
        assert!(hints.is_empty());
    }

    #[test]
    fn untidy_packs_are_hints() {
        let mixed = PackSummary { tree_count: 1, ..pack(1) };
        let twice = PackSummary { file_count: 2, ..pack(2) };
        let (faults, hints) = compared(&[mixed, twice], &[(1, 100), (2, 100), (7, 5), (8, 5)]);
        assert!(faults.is_empty());
        assert!(
            hints[0].starts_with("2 packs are in no index file")
                && hints[1].starts_with("1 pack is of trees")
        );
        assert!(hints[2] == "1 pack is in several index files" && hints.len() == 3, "{hints:?}");
    }
}
