//! Finds roots that are one directory, or of which one lies in the other, by whatever links they are reached.
//!
//! Input: roots. Output: which root each one overlaps with. Their messages would be indexed twice. Compares
//! devices and inodes, since paths say nothing: links and mounts lead to one directory in several ways. Does
//! not know what is in a root.

use crate::state::Root;
use std::path::Path;

/// A directory, whatever it is called: its device and its inode there.
type Identity = (u64, u64);

/// Returns, for each root, the first root before it that is the same directory, or of which one lies in the
/// other. Roots that are not there overlap with none.
pub fn overlaps(roots: &[Root]) -> Vec<Option<usize>> {
    if roots.len() < 2 {
        return vec![None; roots.len()];
    }
    let ways: Vec<Vec<Identity>> = roots.iter().map(|root| way_up(&root.path)).collect();
    let lies_in = |one: &[Identity], other: &[Identity]| other.first().is_some_and(|it| one.contains(it));
    let overlap = |(place, one): (usize, &Vec<Identity>)| {
        ways.iter().take(place).position(|other| lies_in(one, other) || lies_in(other, one))
    };
    ways.iter().enumerate().map(overlap).collect()
}

/// Returns a directory and all those above it whose folders may include it. Empty if it is not there.
fn way_up(path: &Path) -> Vec<Identity> {
    let Ok(real) = path.canonicalize() else { return Vec::new() };
    let identity = |path: &Path| mail::stat_directory(path).map(|stamp| (stamp.device, stamp.inode)).ok();
    // If the directory itself cannot be looked at, those above it must not stand in for it.
    let Some(own) = identity(&real) else { return Vec::new() };
    let mut way = vec![own];
    for above in real.ancestors().skip(1) {
        way.extend(identity(above));
        // No folder is looked for below the directories of messages.
        if above.file_name().is_some_and(|name| ["cur", "new", "tmp"].iter().any(|place| name == *place)) {
            break;
        }
    }
    way
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn roots_overlap_by_any_way_to_them() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        ["a/b", "aa", "c"].iter().for_each(|name| std::fs::create_dir_all(at(name)).unwrap());
        symlink(at("a"), at("same")).unwrap();
        symlink(at("a/b"), at("inner")).unwrap();
        symlink(place.path(), at("outer")).unwrap();
        let of = |names: &[&str]| {
            let roots: Vec<Root> =
                names.iter().map(|name| Root { name: (*name).into(), path: at(name) }).collect();
            overlaps(&roots)
        };
        assert_eq!(of(&["a"]), [None]);
        assert_eq!(of(&["a", "aa", "c", "gone"]), [None; 4]);
        assert_eq!(of(&["gone", "gone"]), [None; 2], "what is not there is no directory");
        assert_eq!(of(&["c", "a", "same"]), [None, None, Some(1)]);
        assert_eq!(of(&["same", "c", "a"]), [None, None, Some(0)]);
        assert_eq!(of(&["a", "inner"]), [None, Some(0)]);
        assert_eq!(of(&["inner", "a"]), [None, Some(0)], "the later one is the outer one");
        assert_eq!(of(&["aa", "c", "outer"]), [None, None, Some(0)]);
    }
}
