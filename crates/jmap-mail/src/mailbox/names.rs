//! The tree of mailboxes: the parent of each folder, and its name there.
//!
//! Input: roots, paths and ids of folders. Output: for each folder its parent and its name there.
//! No sibling has that name.
//! In Maildir++ dots separate (`.Archive.2024`), elsewhere slashes. A folder whose parent is missing lies
//! below the next one that is there, and its name keeps the rest. Of several roots, folders lie below their
//! root's own folder, or have the root's name before theirs. A name is Net-Unicode (RFC 5198), without marks
//! that turn text around, and not long. Knows no counts.

use crate::email::nfc;
use crate::ids;
use crate::session::MAILBOX_NAME_BYTES_MAX;
use jmap::Id;
use pneu::{IndexedFolder, KeptFolder};
use printable::sanitise::one_line;
use std::collections::{HashMap, HashSet};

/// The name of the folder that is the only root.
const INBOX: &str = "Inbox";

/// Where a folder is in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) id: Id,
    pub(crate) parent: Option<Id>,
    pub(crate) name: String,
}

/// Returns the place of each folder, in their order.
pub(super) fn places(folders: &[IndexedFolder], kept: &[KeptFolder], root_count: usize) -> Vec<Place> {
    let has_several = root_count > 1;
    let mut ids: HashMap<(&str, Vec<&[u8]>), Id> = HashMap::new();
    for (folder, kept) in folders.iter().zip(kept) {
        let key = (folder.root.as_str(), parts(&folder.path));
        ids.entry(key).or_insert_with(|| ids::mailbox(kept));
    }
    let mut taken = HashSet::new();
    let place = |(folder, kept): (&IndexedFolder, &KeptFolder)| {
        let parts = parts(&folder.path);
        let id = ids::mailbox(kept);
        // The folder that is the only root is beside the others, not above them.
        let least = usize::from(!has_several);
        let above = (least..parts.len()).rev().find_map(|count| {
            let key = (folder.root.as_str(), parts.get(..count)?.to_vec());
            Some((ids.get(&key)?.clone(), count))
        });
        let (parent, begin) = above.map_or((None, 0), |(parent, count)| (Some(parent), count));
        let mut names: Vec<String> = parts.iter().skip(begin).map(|part| readable(part)).collect();
        match (&parent, has_several) {
            (None, true) => names.insert(0, folder.root.clone()),
            (None, false) if parts.is_empty() => names.push(INBOX.to_owned()),
            _ => {}
        }
        let name = free_name(names.join("/"), (&parent, folder, &id), &mut taken);
        Place { id, parent, name }
    };
    folders.iter().zip(kept).map(place).collect()
}

/// Returns a name that no sibling has: the folder's own, or with its name on disk, or with its id.
fn free_name(
    name: String,
    (parent, folder, id): (&Option<Id>, &IndexedFolder, &Id),
    taken: &mut HashSet<(Option<Id>, String)>,
) -> String {
    let on_disk = net_unicode(&format!("{name} ({})", folder.place.disk_name), "");
    let with_id = net_unicode(&name, &format!(" ({id})"));
    let mut choice = [net_unicode(&name, ""), on_disk, with_id.clone()].into_iter();
    let free = choice.find(|name| !name.is_empty() && taken.insert((parent.clone(), name.clone())));
    free.unwrap_or(with_id)
}

/// Returns a text as a name may be, cut so that there is room for an end.
fn net_unicode(text: &str, end: &str) -> String {
    let mut name = nfc(one_line(text).into_owned());
    name.truncate(name.floor_char_boundary(MAILBOX_NAME_BYTES_MAX.saturating_sub(end.len())));
    name + end
}

/// Returns the parts of a path; none for a root.
fn parts(path: &[u8]) -> Vec<&[u8]> {
    let dotted = path.strip_prefix(b".").filter(|rest| !rest.contains(&b'/'));
    let (path, separator) = dotted.map_or((path, b'/'), |rest| (rest, b'.'));
    path.split(|byte| *byte == separator).filter(|part| !part.is_empty()).collect()
}

/// Returns a part of a path as it is shown.
fn readable(part: &[u8]) -> String {
    mail::readable_folder(part).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pneu::FolderPlace;
    use std::path::Path;

    /// Returns the paths of mailboxes in the tree, of folders of roots.
    fn tree(folders: &[(&str, &str)], root_count: usize) -> Vec<String> {
        let folder = |(root, path): &(&str, &str)| IndexedFolder {
            number: 1,
            root: (*root).to_owned(),
            path: path.as_bytes().to_vec(),
            place: FolderPlace::below(Path::new("/r"), path.as_bytes()),
        };
        let folders: Vec<IndexedFolder> = folders.iter().map(folder).collect();
        let kept: Vec<KeptFolder> = (0..)
            .zip(&folders)
            .map(|(number, _)| KeptFolder { id: [number; 16], sort_order: None, is_subscribed: true })
            .collect();
        let places = places(&folders, &kept, root_count);
        let shown = |place: &Place| {
            let above = places.iter().find(|other| Some(&other.id) == place.parent.as_ref());
            format!("{}[{}]", above.map_or("", |above| &above.name), place.name)
        };
        places.iter().map(shown).collect()
    }

    #[test]
    fn dots_and_slashes_make_a_tree() {
        let dotted = [("m", ""), ("m", ".Archive"), ("m", ".Archive.2024"), ("m", ".Entw&APw-rfe")];
        assert_eq!(tree(&dotted, 1), ["[Inbox]", "[Archive]", "Archive[2024]", "[Entwürfe]"]);
        let slashes = [("m", "lists"), ("m", "lists/rust"), ("m", "lists/v.1"), ("m", "a/.b.c")];
        assert_eq!(tree(&slashes, 1), ["[lists]", "lists[rust]", "lists[v.1]", "[a/.b.c]"]);
        assert_eq!(tree(&[("m", ".a/v.1"), ("m", ".a")], 1), ["[.a/v.1]", "[a]"]);
    }

    #[test]
    fn a_missing_parent_is_no_mailbox() {
        assert_eq!(tree(&[("m", ".a.b.c")], 1), ["[a/b/c]"]);
        assert_eq!(tree(&[("m", ".a"), ("m", ".a.b.c")], 1), ["[a]", "a[b/c]"]);
        assert_eq!(tree(&[("m", "a"), ("m", "a/b"), ("m", "a/b/c")], 1), ["[a]", "a[b]", "b[c]"]);
    }

    #[test]
    fn folders_of_several_roots_lie_below_their_root() {
        let folders = [("home", ""), ("home", "Sent"), ("work", "Sent"), ("work", "Sent/old")];
        assert_eq!(tree(&folders, 2), ["[home]", "home[Sent]", "[work/Sent]", "work/Sent[old]"]);
    }

    #[test]
    fn names_are_short_and_have_no_harmful_characters() {
        let long = "ü".repeat(200);
        let folders = ["a\u{1b}[31mb\u{202e}c", "u\u{308}", &long, &format!("{long}x"), &format!("{long}y")];
        let names = tree(&folders.map(|path| ("m", path)), 1);
        assert_eq!(names[..2], ["[a\u{fffd}[31mb\u{fffd}c]", "[\u{fc}]"]);
        for name in &names {
            assert!(name.len() <= MAILBOX_NAME_BYTES_MAX + 2, "{name}");
        }
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), folders.len());
    }

    #[test]
    fn siblings_have_different_names() {
        let folders = [("m", ""), ("m", "Inbox"), ("m", ".a.b"), ("m", "a/b"), ("m", "a//b")];
        let expected = ["[Inbox]", "[Inbox (/Inbox)]", "[a/b]", "[a/b (/a/b)]"];
        assert_eq!(tree(&folders, 1)[..4], expected);
        for root in ["m", ""] {
            assert!(tree(&[(root, "."), (root, "..")], 2).iter().all(|name| name != "[]"));
        }
    }
}
