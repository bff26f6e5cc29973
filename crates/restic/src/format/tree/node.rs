//! A node: what a tree records of one file or directory.
//!
//! Does not depend on JSON or on how files are read.

use crate::encoding::id::Id;
use crate::encoding::time::Time;
use std::borrow::Cow;

/// The kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A file with content.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharacterDevice,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A kind that only its own system knows.
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

/// One file of a directory, with everything that restic records of it. Names are the bytes that the disk has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Its name in its directory.
    pub name: Cow<'a, [u8]>,
    /// Its kind.
    pub kind: NodeKind,
    /// Permissions and kind in Go's encoding: see [`go_mode`](super::go_mode).
    pub mode: u32,
    /// When its content last changed.
    pub modified: Time,
    /// When it was last read; by default restic writes the time of the last change here.
    pub accessed: Time,
    /// When its content or metadata last changed.
    pub changed: Time,
    /// The number of its owner.
    pub uid: u32,
    /// The number of its group.
    pub gid: u32,
    /// Its owner's name; empty if unknown.
    pub user: Cow<'a, str>,
    /// Its group's name; empty if unknown.
    pub group: Cow<'a, str>,
    /// Its inode; 0 if there is none.
    pub inode: u64,
    /// The device that it lies on; 0 if unknown.
    pub device_id: u64,
    /// A file's size in bytes; 0 for everything else.
    pub size: u64,
    /// The number of hard links; 0 for directories.
    pub links: u64,
    /// The target of a symbolic link.
    pub link_target: Cow<'a, [u8]>,
    /// Its extended attributes, as the disk lists them.
    pub extended_attributes: Vec<ExtendedAttribute<'a>>,
    /// Further attributes of its system: a JSON object as it is in the tree, or empty.
    pub generic_attributes: Cow<'a, str>,
    /// The device number of a device; 0 for everything else.
    pub device: u64,
    /// The blobs of a file's content; an empty list for an empty file. `None` for everything that is not a
    /// file.
    pub content: Option<Cow<'a, [Id]>>,
    /// A directory's own tree.
    pub subtree: Option<Id>,
    /// The error that occurred when it was read; empty if none did.
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
    /// Returns a node with a name and a kind only.
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

    /// Returns the same node, with owned data.
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

/// Says why no file of a directory can have that name; a program that made one would write elsewhere. `None`
/// if one can.
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
