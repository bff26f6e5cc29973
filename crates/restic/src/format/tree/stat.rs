//! Makes a node from what `stat` says of a file.
//!
//! Output: a node without content. All fields are as restic writes them without options: the access time
//! equals the modification time (otherwise each backup would write all trees anew), times are in this
//! machine's zone, and directories have neither size nor links.

use super::node::{ExtendedAttribute, Node, NodeKind};
use crate::encoding::time::Time;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::io::Errno;
use std::borrow::Cow;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What a disk says of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStat {
    /// Kind and rights, as the system counts them.
    pub st_mode: u32,
    /// The device that it lies on.
    pub device_id: u64,
    /// Its inode there.
    pub inode: u64,
    /// How many names it has.
    pub links: u64,
    /// The number of its owner.
    pub uid: u32,
    /// The number of its group.
    pub gid: u32,
    /// How many bytes it has.
    pub size: u64,
    /// Which device a device is.
    pub device: u64,
    /// When its content last changed, in seconds since 1970 and nanoseconds from there.
    pub modified: (i64, u32),
    /// When anything about it last changed, likewise.
    pub changed: (i64, u32),
}

impl FileStat {
    /// Returns what there is in `metadata`.
    pub fn of(metadata: &Metadata) -> FileStat {
        let below_a_second = |ns: i64| u32::try_from(ns).unwrap_or(0);
        FileStat {
            st_mode: metadata.mode(),
            device_id: metadata.dev(),
            inode: metadata.ino(),
            links: metadata.nlink(),
            uid: metadata.uid(),
            gid: metadata.gid(),
            size: metadata.size(),
            device: metadata.rdev(),
            modified: (metadata.mtime(), below_a_second(metadata.mtime_nsec())),
            changed: (metadata.ctime(), below_a_second(metadata.ctime_nsec())),
        }
    }
}

/// Of which files the device is kept that they lie on. Its number may change whenever a disk is mounted: then
/// all trees become new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceIds {
    /// Of all, as restic does.
    OfAll,
    /// Of files with several names, which are the same file only on the same device: restic with
    /// RESTIC_FEATURES=device-id-for-hardlinks.
    OfHardLinks,
}

/// What is the same for all files of a backup.
#[derive(Clone, Debug)]
pub struct StatStyle {
    /// The zone that times are written in.
    pub zone: TimeZone,
    /// Of which files the device is kept.
    pub device_ids: DeviceIds,
}

/// Returns the node of a file. Content, subtree, a link's target and extended attributes are to be filled in.
///
/// Empty names of an owner are left out. `None` if the system has a kind of files that trees have no name
/// for.
pub fn stat_node<'a>(
    name: &'a [u8],
    stat: &FileStat,
    (user, group): (&'a str, &'a str),
    style: &StatStyle,
) -> Option<Node<'a>> {
    let kind = kind(stat.st_mode)?;
    let is_device = matches!(kind, NodeKind::BlockDevice | NodeKind::CharacterDevice);
    let has_links = is_device || matches!(kind, NodeKind::File | NodeKind::Symlink);
    let modified = time(stat.modified, &style.zone);
    let mut node = Node {
        mode: go_mode(stat.st_mode),
        modified,
        accessed: modified,
        changed: time(stat.changed, &style.zone),
        uid: stat.uid,
        gid: stat.gid,
        user: Cow::Borrowed(user),
        group: Cow::Borrowed(group),
        inode: stat.inode,
        device_id: stat.device_id,
        size: if kind == NodeKind::File { stat.size } else { 0 },
        links: if has_links { stat.links } else { 0 },
        device: if is_device { stat.device } else { 0 },
        ..Node::new(name, kind)
    };
    let has_one_name = node.links == 1 || kind == NodeKind::Directory;
    if style.device_ids == DeviceIds::OfHardLinks && has_one_name {
        node.device_id = 0;
    }
    Some(node)
}

fn time((seconds, nanoseconds): (i64, u32), zone: &TimeZone) -> Time {
    let offset = Timestamp::from_second(seconds).map_or(0, |timestamp| zone.to_offset(timestamp).seconds());
    Time::new(seconds, nanoseconds, offset)
}

/// Where the kind of a file stands in what the system says.
const ST_KIND: u32 = 0o170_000;

/// Each kind as the system counts it, and as Go does.
const KINDS: [(u32, NodeKind, u32); 7] = [
    (0o100_000, NodeKind::File, 0),
    (0o040_000, NodeKind::Directory, 1 << 31),
    (0o120_000, NodeKind::Symlink, 1 << 27),
    (0o060_000, NodeKind::BlockDevice, 1 << 26),
    (0o020_000, NodeKind::CharacterDevice, 1 << 26 | 1 << 21),
    (0o010_000, NodeKind::Fifo, 1 << 25),
    (0o140_000, NodeKind::Socket, 1 << 24),
];

/// Each right beyond reading, writing and running, as the system counts it, and as Go does.
const SPECIAL: [(u32, u32); 3] = [(0o4000, 1 << 23), (0o2000, 1 << 22), (0o1000, 1 << 20)];

/// Rights that both count the same.
const PLAIN: u32 = 0o777;

fn kind(st_mode: u32) -> Option<NodeKind> {
    KINDS.iter().find(|(st, _, _)| *st == st_mode & ST_KIND).map(|(_, kind, _)| *kind)
}

/// Returns kind and rights as trees have them, which is as Go counts them, from what the system says.
pub fn go_mode(st_mode: u32) -> u32 {
    let kind = KINDS.iter().find(|(st, _, _)| *st == st_mode & ST_KIND).map_or(0, |(_, _, go)| *go);
    let special = SPECIAL.iter().filter(|(st, _)| st_mode & st != 0);
    special.fold(st_mode & PLAIN | kind, |mode, (_, go)| mode | go)
}

/// Returns the rights alone, as the system counts them, from what a tree says.
pub fn rights(go_mode: u32) -> u32 {
    let special = SPECIAL.iter().filter(|(_, go)| go_mode & go != 0);
    special.fold(go_mode & PLAIN, |rights, (st, _)| rights | st)
}

/// Enough for the names and values that nearly all files have.
const BYTES_AT_FIRST: usize = 1024;
/// No system gives more.
const BYTES_MAX: usize = 65_536;

/// Reads a file's extended attributes, in the order of the disk; of a link itself, not of where it leads. A
/// disk without any has none.
///
/// # Errors
/// Disk errors.
pub fn extended_attributes(path: &Path) -> io::Result<Vec<ExtendedAttribute<'static>>> {
    let Some(names) = read_attribute(|buffer| rustix::fs::llistxattr(path, buffer))? else {
        return Ok(Vec::new());
    };
    let names = names.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    names
        .map(|name| {
            let value = read_attribute(|buffer| rustix::fs::lgetxattr(path, name, buffer))?;
            Ok(ExtendedAttribute { name: Cow::Owned(name.to_vec()), value: value.map(Cow::Owned) })
        })
        .collect()
}

/// Calls `read` with more and more room; `None` if there is nothing of the kind.
fn read_attribute(read: impl Fn(&mut [u8]) -> rustix::io::Result<usize>) -> io::Result<Option<Vec<u8>>> {
    let mut small = [0; BYTES_AT_FIRST];
    match read(&mut small) {
        Ok(length) => return Ok(Some(small[..length].to_vec())),
        Err(Errno::NOTSUP | Errno::NODATA) => return Ok(None),
        Err(Errno::RANGE) => {}
        Err(error) => return Err(error.into()),
    }
    let mut large = vec![0; BYTES_MAX];
    let length = read(&mut large)?;
    large.truncate(length);
    Ok(Some(large))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(device_ids: DeviceIds) -> StatStyle {
        StatStyle { zone: TimeZone::fixed(jiff::tz::offset(1)), device_ids }
    }

    const STAT: FileStat = FileStat {
        st_mode: 0o100_644,
        device_id: 5,
        inode: 6,
        links: 1,
        uid: 7,
        gid: 8,
        size: 9,
        device: 10,
        modified: (11, 12),
        changed: (13, 14),
    };

    #[test]
    fn modes_there_and_back() {
        for (st, kind_found, go) in KINDS {
            assert_eq!((go_mode(st | 0o7777), kind(st)), (go | 0o777 | 0b1101 << 20, Some(kind_found)));
            assert_eq!(rights(go_mode(st | 0o5751)), 0o5751);
        }
        assert_eq!(
            (go_mode(0o100_644), go_mode(0o040_755), go_mode(0o104_755)),
            (420, 2_147_484_141, 8_389_101)
        );
        assert_eq!((go_mode(0o041_777), kind(0o050_000)), (2_148_532_735, None));
    }

    #[test]
    fn kinds_say_what_restic_says_of_them() {
        let style = style(DeviceIds::OfAll);
        let node =
            |st_mode: u32| stat_node(b"a", &FileStat { st_mode, ..STAT }, ("ana", ""), &style).unwrap();
        let numbers = |node: Node<'_>| (node.size, node.links, node.device, node.device_id);
        let file = node(0o100_644);
        assert_eq!((file.modified, file.accessed), (Time::new(11, 12, 3600), Time::new(11, 12, 3600)));
        assert_eq!((file.changed, &*file.user, &*file.group), (Time::new(13, 14, 3600), "ana", ""));
        assert_eq!((file.uid, file.gid, file.inode, file.content.is_none()), (7, 8, 6, true));
        assert_eq!(numbers(file), (9, 1, 0, 5));
        assert_eq!(numbers(node(0o040_755)), (0, 0, 0, 5));
        assert_eq!(numbers(node(0o120_777)), (0, 1, 0, 5));
        assert_eq!(numbers(node(0o060_600)), (0, 1, 10, 5));
        assert_eq!(numbers(node(0o020_600)), (0, 1, 10, 5));
        assert_eq!(numbers(node(0o010_600)), (0, 0, 0, 5));
    }

    #[test]
    fn devices_of_hard_links_alone() {
        let style = style(DeviceIds::OfHardLinks);
        let device_id = |st_mode: u32, links: u64| {
            stat_node(b"a", &FileStat { st_mode, links, ..STAT }, ("", ""), &style).unwrap().device_id
        };
        assert_eq!((device_id(0o100_644, 1), device_id(0o100_644, 2), device_id(0o040_755, 2)), (0, 5, 0));
    }

    #[test]
    fn a_file_of_this_disk() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        std::fs::write(&path, "12345").unwrap();
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        let stat = FileStat::of(&metadata);
        assert_eq!((stat.size, stat.links, kind(stat.st_mode)), (5, 1, Some(NodeKind::File)));
        assert_eq!(stat.modified.0, metadata.mtime());
        assert_eq!(
            extended_attributes(&directory.path().join("b")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn extended_attributes_of_any_size() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        std::fs::write(&path, "").unwrap();
        assert_eq!(extended_attributes(&path).unwrap(), []);
        let large = vec![7; 3000];
        let wanted = [(&b"user.small"[..], &b"\xff\0"[..]), (b"user.none", b""), (b"user.large", &large)];
        for (name, value) in wanted {
            match rustix::fs::setxattr(&path, name, value, rustix::fs::XattrFlags::empty()) {
                // A disk without attributes has nothing to read.
                Err(Errno::NOTSUP) => return,
                set => set.unwrap(),
            }
        }
        let found = extended_attributes(&path).unwrap();
        assert_eq!(found.len(), wanted.len());
        for (name, value) in wanted {
            let attribute = found.iter().find(|attribute| *attribute.name == *name).unwrap();
            assert_eq!(attribute.value.as_deref(), Some(value));
        }
    }
}
