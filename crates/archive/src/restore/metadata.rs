//! Owner, mode, attributes and times of what was restored, as far as this process may set them.
//!
//! Comes in: an open file or directory, or a name, and what it was. Must not know contents.
//!
//! Only a system's administrator may give files away; for anybody else they stay their own, and then no mode may let others act as their
//! owner. The owner comes first, since a change of owner takes such modes away; times come last, since all else would change them.

use crate::time::Time;
use crate::tree::{Node, rights};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Gid, Mode, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// Set-user-id and set-group-id.
const ACTS_AS_OWNER: u32 = 0o6000;

/// Sets all of an open file or directory.
pub(super) fn apply(file: impl AsFd, node: &Node<'_>) -> io::Result<()> {
    let file = file.as_fd();
    let is_given = may_fail(rustix::fs::fchown(file, owner(node).0, owner(node).1))?;
    rustix::fs::fchmod(file, mode(node, is_given))?;
    for attribute in &node.extended_attributes {
        let name = OsStr::from_bytes(&attribute.name);
        if let Some(value) = &attribute.value {
            may_fail(rustix::fs::fsetxattr(file, name, value, XattrFlags::empty()))?;
        }
    }
    Ok(rustix::fs::futimens(file, &times(node))?)
}

/// Sets all of a pipe or device called `name`, which is not opened: a pipe would wait for a reader, a device might act.
pub(super) fn apply_to_special(directory: &OwnedFd, name: &[u8], node: &Node<'_>) -> io::Result<()> {
    let is_given = apply_owner_to_name(directory, name, node)?;
    let path = OsStr::from_bytes(name);
    rustix::fs::chmodat(directory, path, mode(node, is_given), AtFlags::empty())?;
    apply_times_to_name(directory, name, node)
}

/// Sets what a symbolic link called `name` has of its own.
pub(super) fn apply_to_link(directory: &OwnedFd, name: &[u8], node: &Node<'_>) -> io::Result<()> {
    apply_owner_to_name(directory, name, node)?;
    apply_times_to_name(directory, name, node)
}

fn apply_owner_to_name(directory: &OwnedFd, name: &[u8], node: &Node<'_>) -> io::Result<bool> {
    let (user, group) = owner(node);
    let name = OsStr::from_bytes(name);
    may_fail(rustix::fs::chownat(directory, name, user, group, AtFlags::SYMLINK_NOFOLLOW))
}

fn apply_times_to_name(directory: &OwnedFd, name: &[u8], node: &Node<'_>) -> io::Result<()> {
    let name = OsStr::from_bytes(name);
    Ok(rustix::fs::utimensat(directory, name, &times(node), AtFlags::SYMLINK_NOFOLLOW)?)
}

fn owner(node: &Node<'_>) -> (Option<Uid>, Option<Gid>) {
    (Some(Uid::from_raw(node.uid)), Some(Gid::from_raw(node.gid)))
}

fn mode(node: &Node<'_>, is_given: bool) -> Mode {
    let bits = rights(node.mode);
    Mode::from_raw_mode(if is_given { bits } else { bits & !ACTS_AS_OWNER })
}

fn times(node: &Node<'_>) -> Timestamps {
    Timestamps { last_access: timespec(&node.accessed), last_modification: timespec(&node.modified) }
}

fn timespec(time: &Time) -> Timespec {
    Timespec { tv_sec: time.seconds(), tv_nsec: time.nanoseconds().into() }
}

/// Says whether it was allowed; what was refused for another reason is an error.
fn may_fail(result: rustix::io::Result<()>) -> io::Result<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(Errno::PERM | Errno::ACCESS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
