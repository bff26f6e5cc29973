//! Says which symbolic links of a Maildir are followed: those that lead to mail, or stay in their folder.
//!
//! In: a link, and its folder. Out: whether what it leads to may be read. Whoever packs a Maildir chooses its
//! links. Without this rule one could lead to a private key, which would then be indexed, shown and backed up
//! as if it were mail.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::path::Path;

/// Says whether a link among the messages of `folder` leads to a file in a `cur` or `new`, or below the folder.
/// Links to nowhere do not.
pub(crate) fn leads_to_message(folder: &Path, link: &Path) -> bool {
    leads(folder, link, |file| file.parent().is_some_and(is_place))
}

/// Says the same of a link in the place of a folder's own `cur` or `new`, which must lead to such a directory.
pub(crate) fn leads_to_place(folder: &Path, link: &Path) -> bool {
    leads(folder, link, is_place)
}

/// Says whether a link leads to something below `folder`.
pub fn stays_in(folder: &Path, link: &Path) -> bool {
    leads(folder, link, |_| false)
}

fn leads(folder: &Path, link: &Path, is_mail: impl Fn(&Path) -> bool) -> bool {
    let Ok(target) = link.canonicalize() else { return false };
    is_mail(&target) || folder.canonicalize().is_ok_and(|folder| target.starts_with(folder))
}

fn is_place(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name == "cur" || name == "new")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_lead_to_mail_or_stay() {
        let top = tempfile::tempdir().unwrap();
        let at = |path: &str| top.path().join(path);
        for directory in ["m/cur", "m/.git/annex", "other/cur", "private"] {
            fs::create_dir_all(at(directory)).unwrap();
        }
        for file in ["m/.git/annex/1", "other/cur/1", "private/key"] {
            fs::write(at(file), "x").unwrap();
        }
        let link = at("m/cur/link");
        for (target, [message, place, stays]) in [
            ("../.git/annex/1", [true, true, true]),
            ("../../other/cur/1", [true, false, false]),
            ("../../other/cur", [false, true, false]),
            ("../../private/key", [false; 3]),
            ("../../private", [false; 3]),
            ("../../other/cur/../../private/key", [false; 3]),
            ("nowhere", [false; 3]),
            ("link", [false; 3]),
        ] {
            symlink(target, &link).unwrap();
            let folder = at("m");
            assert_eq!(leads_to_message(&folder, &link), message, "{target}");
            assert_eq!(leads_to_place(&folder, &link), place, "{target}");
            assert_eq!(stays_in(&folder, &link), stays, "{target}");
            fs::remove_file(&link).unwrap();
        }
    }
}
