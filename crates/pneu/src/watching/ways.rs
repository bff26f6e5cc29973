//! Finds the names that lead to a directory: those in its path, and those in the targets of the symbolic
//! links on the way.
//!
//! Input: a path. Output: paths. If any of them comes to lead elsewhere, so does the path. Reads links, and
//! nothing else.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// How many links are followed, as in the kernel.
const LINK_COUNT_MAX: usize = 40;

/// Adds the names that lead to `path`, which is absolute. Of a name that is not there, those after it are
/// added as they are written.
pub(super) fn add_ways(path: &Path, ways: &mut BTreeSet<PathBuf>) {
    let mut left = parts_of(path);
    let mut place = PathBuf::from("/");
    let mut link_count = 0;
    while let Some(part) = left.pop() {
        match part {
            Part::Up => _ = place.pop(),
            Part::Root => place = PathBuf::from("/"),
            Part::Name(name) => {
                place.push(name);
                ways.insert(place.clone());
                if link_count < LINK_COUNT_MAX
                    && let Ok(target) = place.read_link()
                {
                    link_count += 1;
                    place.pop();
                    left.extend(parts_of(&target));
                }
            }
        }
    }
}

enum Part {
    Root,
    Up,
    Name(OsString),
}

/// Returns the parts of a path, the last one first.
fn parts_of(path: &Path) -> Vec<Part> {
    let part = |component| match component {
        Component::RootDir => Some(Part::Root),
        Component::ParentDir => Some(Part::Up),
        Component::Normal(name) => Some(Part::Name(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_lead_on_from_where_they_are() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let at = |path: &str| place.join(path);
        std::fs::create_dir_all(at("disk/v1/mail")).unwrap();
        std::fs::create_dir(at("home")).unwrap();
        symlink("v1", at("disk/now")).unwrap();
        symlink("../disk/./now", at("home/ana")).unwrap();
        symlink(at("disk"), at("absolute")).unwrap();
        symlink("circle", at("circle")).unwrap();
        let ways = |path: &str| {
            let mut ways = BTreeSet::new();
            add_ways(&at(path), &mut ways);
            let below = ways.iter().filter_map(|way| way.strip_prefix(&place).ok());
            below.map(|way| way.display().to_string()).filter(|way| !way.is_empty()).collect::<Vec<_>>()
        };
        assert_eq!(
            ways("home/ana/mail"),
            ["disk", "disk/now", "disk/v1", "disk/v1/mail", "home", "home/ana"]
        );
        assert_eq!(ways("absolute/v1"), ["absolute", "disk", "disk/v1"]);
        assert_eq!(ways("missing/x"), ["missing", "missing/x"]);
        assert_eq!(ways("circle/x"), ["circle", "circle/x"]);
    }
}
