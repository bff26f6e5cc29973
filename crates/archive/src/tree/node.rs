//! What a tree says of one file.
//!
//! Must not know JSON, nor how files are read.

use crate::id::Id;
use crate::time::Time;
use std::borrow::Cow;

/// The kinds of files that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A file with content.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device of blocks.
    BlockDevice,
    /// A device of characters.
    CharacterDevice,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// Something that only its own system knows.
    Irregular,
}

/// Each kind with its name in trees.
const KINDS: [(NodeKind, &str); 8] = [
    (NodeKind::File, "file"),
    (NodeKind::Directory, "dir"),
    (NodeKind::Symlink, "symlink"),
    (NodeKind::BlockDevice, "dev"),
    (NodeKind::CharacterDevice, "chardev"),
    (NodeKind::Fifo, "fifo"),
    (NodeKind::Socket, "socket"),
    (NodeKind::Irregular, "irregular"),
];

impl NodeKind {
    /// Returns the name that trees have for it.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// Returns the kind of that name.
    pub fn of_name(name: &[u8]) -> Option<NodeKind> {
        KINDS.iter().find(|(_, known)| known.as_bytes() == name).map(|(kind, _)| *kind)
    }
}

/// One file of a directory, with all that restic keeps of it. Names are those that the disk has, byte by byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Its name in its directory.
    pub name: Cow<'a, [u8]>,
    /// Its kind.
    pub kind: NodeKind,
    /// Rights and kind, as Go counts them: see [`go_mode`](super::go_mode).
    pub mode: u32,
    /// When its content last changed.
    pub modified: Time,
    /// When it was last read; unless asked otherwise restic writes the time of the last change here.
    pub accessed: Time,
    /// When anything about it last changed.
    pub changed: Time,
    /// The number of its owner.
    pub uid: u32,
    /// The number of its group.
    pub gid: u32,
    /// Its owner's name; empty if nobody knows.
    pub user: Cow<'a, str>,
    /// Its group's name; empty if nobody knows.
    pub group: Cow<'a, str>,
    /// Its inode; 0 if there is none.
    pub inode: u64,
    /// The device that it lies on; 0 if nobody knows.
    pub device_id: u64,
    /// How many bytes a file has; 0 for all others.
    pub size: u64,
    /// How many names it has; 0 for directories.
    pub links: u64,
    /// What a symbolic link holds.
    pub link_target: Cow<'a, [u8]>,
    /// Its extended attributes, as the disk lists them.
    pub extended_attributes: Vec<ExtendedAttribute<'a>>,
    /// What else its system knows of it: a JSON object as it stands in the tree, or nothing.
    pub generic_attributes: Cow<'a, str>,
    /// Which device a device is; 0 for all others.
    pub device: u64,
    /// The blobs that make a file's content; none of them for an empty file. `None` for all that is no file.
    pub content: Option<Cow<'a, [Id]>>,
    /// A directory's own tree.
    pub subtree: Option<Id>,
    /// What went wrong when it was read; empty if nothing did.
    pub error: Cow<'a, str>,
}

/// One extended attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedAttribute<'a> {
    /// Its name.
    pub name: Cow<'a, [u8]>,
    /// Its value; `None` if it could not be read.
    pub value: Option<Cow<'a, [u8]>>,
}

impl<'a> Node<'a> {
    /// Returns a node of which no more is known.
    pub fn new(name: impl Into<Cow<'a, [u8]>>, kind: NodeKind) -> Node<'a> {
        Node {
            name: name.into(),
            kind,
            mode: 0,
            modified: Time::default(),
            accessed: Time::default(),
            changed: Time::default(),
            uid: 0,
            gid: 0,
            user: Cow::Borrowed(""),
            group: Cow::Borrowed(""),
            inode: 0,
            device_id: 0,
            size: 0,
            links: 0,
            link_target: Cow::Borrowed(&[]),
            extended_attributes: Vec::new(),
            generic_attributes: Cow::Borrowed(""),
            device: 0,
            content: None,
            subtree: None,
            error: Cow::Borrowed(""),
        }
    }

    /// Returns the same, free of what it was read from.
    pub fn into_owned(self) -> Node<'static> {
        let attributes = self.extended_attributes.into_iter().map(ExtendedAttribute::into_owned);
        Node {
            name: owned(self.name),
            user: owned(self.user),
            group: owned(self.group),
            link_target: owned(self.link_target),
            extended_attributes: attributes.collect(),
            generic_attributes: owned(self.generic_attributes),
            content: self.content.map(owned),
            error: owned(self.error),
            kind: self.kind,
            mode: self.mode,
            modified: self.modified,
            accessed: self.accessed,
            changed: self.changed,
            uid: self.uid,
            gid: self.gid,
            inode: self.inode,
            device_id: self.device_id,
            size: self.size,
            links: self.links,
            device: self.device,
            subtree: self.subtree,
        }
    }
}

impl ExtendedAttribute<'_> {
    fn into_owned(self) -> ExtendedAttribute<'static> {
        ExtendedAttribute { name: owned(self.name), value: self.value.map(owned) }
    }
}

fn owned<T: ToOwned + ?Sized + 'static>(text: Cow<'_, T>) -> Cow<'static, T> {
    Cow::Owned(text.into_owned())
}

/// The longest name: no system that anybody backs up allows for more than a thousand bytes.
pub(crate) const NAME_BYTES_MAX: usize = 4_096;

/// Says why no file of a directory can have that name; a program that made one would write elsewhere. `None` if one can.
pub(crate) fn name_fault(name: &[u8]) -> Option<&'static str> {
    match name {
        b"" => Some("the name is empty"),
        b"." | b".." => Some("the name stands for another directory"),
        _ if name.contains(&b'/') => Some("the name holds a slash"),
        _ if name.contains(&0) => Some("the name holds a zero byte"),
        _ if name.len() > NAME_BYTES_MAX => Some("the name is longer than any system allows for"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names_of_their_own() {
        for (kind, name) in KINDS {
            assert_eq!((kind.name(), NodeKind::of_name(name.as_bytes())), (name, Some(kind)));
        }
        assert_eq!((NodeKind::of_name(b""), NodeKind::of_name(b"door")), (None, None));
    }

    #[test]
    fn names_that_lead_elsewhere() {
        for name in [&b""[..], b".", b"..", b"/", b"a/b", b"a\0"] {
            assert!(name_fault(name).is_some(), "{name:?}");
        }
        assert!(name_fault(&[b'a'; NAME_BYTES_MAX + 1]).is_some());
        for name in [&[b'a'; NAME_BYTES_MAX][..], b"a", b"...", b".a", b"\\", b"\xff\n"] {
            assert_eq!(name_fault(name), None, "{name:?}");
        }
    }
}
