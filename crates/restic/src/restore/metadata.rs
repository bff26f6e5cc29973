//! Sets owner, mode, attributes and times of restored files, as far as this process may.
//!
//! Only root may give files away. For other users files stay their own, and then no mode may let others act
//! as their owner. Metadata that cannot be set never costs the content: it is reported, and the rest is set.
//! The owner is set first, because a change of owner clears such modes. Times are set last, because
//! everything else would change them.

use crate::encoding::time::Time;
use crate::format::tree::{Node, rights};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Gid, Mode, Timespec, Timestamps, Uid, XattrFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// Set-user-id and set-group-id.
const ACTS_AS_OWNER: u32 = 0o6000;
/// No user and no group has this number.
const NOBODY: u32 = u32::MAX;

/// Sets all metadata of an open file or directory. Returns the first failure, except those that only an
/// administrator could avoid.
pub(super) fn apply(file: impl AsFd, node: &Node<'_>) -> Option<io::Error> {
    let file = file.as_fd();
    let mut first = None;
    let is_given = may_fail(rustix::fs::fchown(file, owner(node).0, owner(node).1), &mut first);
    must(rustix::fs::fchmod(file, mode(node, is_given)), &mut first);
    for attribute in &node.extended_attributes {
        let name = OsStr::from_bytes(&attribute.name);
        if let Some(value) = &attribute.value {
            may_fail(rustix::fs::fsetxattr(file, name, value, XattrFlags::empty()), &mut first);
        }
    }
    must(rustix::fs::futimens(file, &times(node)), &mut first);
    first
}

/// Sets all of a pipe or device called `name`, which is not opened: a pipe would wait for a reader, a device
/// might act. Returns as [`apply`].
pub(super) fn apply_to_special(directory: &OwnedFd, name: &[u8], node: &Node<'_>) -> Option<io::Error> {
    let mut first = None;
    let name = OsStr::from_bytes(name);
    let is_given = set_owner(directory, name, node, &mut first);
    must(rustix::fs::chmodat(directory, name, mode(node, is_given), AtFlags::empty()), &mut first);
    set_times(directory, name, node, &mut first);
    first
}

/// Sets the metadata of a symbolic link called `name`. Returns as [`apply`].
pub(super) fn apply_to_link(directory: &OwnedFd, name: &[u8], node: &Node<'_>) -> Option<io::Error> {
    let mut first = None;
    let name = OsStr::from_bytes(name);
    set_owner(directory, name, node, &mut first);
    set_times(directory, name, node, &mut first);
    first
}

fn set_owner(directory: &OwnedFd, name: &OsStr, node: &Node<'_>, first: &mut Option<io::Error>) -> bool {
    let (user, group) = owner(node);
    may_fail(rustix::fs::chownat(directory, name, user, group, AtFlags::SYMLINK_NOFOLLOW), first)
}

fn set_times(directory: &OwnedFd, name: &OsStr, node: &Node<'_>, first: &mut Option<io::Error>) {
    must(rustix::fs::utimensat(directory, name, &times(node), AtFlags::SYMLINK_NOFOLLOW), first);
}

fn owner(node: &Node<'_>) -> (Option<Uid>, Option<Gid>) {
    // With the last number the call succeeds and changes nothing.
    let given = |id: u32| (id != NOBODY).then_some(id);
    (given(node.uid).map(Uid::from_raw), given(node.gid).map(Gid::from_raw))
}

fn mode(node: &Node<'_>, is_given: bool) -> Mode {
    let bits = rights(node.mode);
    let has_owner = is_given && node.uid != NOBODY && node.gid != NOBODY;
    Mode::from_raw_mode(if has_owner { bits } else { bits & !ACTS_AS_OWNER })
}

fn times(node: &Node<'_>) -> Timestamps {
    Timestamps { last_access: timespec(&node.accessed), last_modification: timespec(&node.modified) }
}

fn timespec(time: &Time) -> Timespec {
    Timespec { tv_sec: time.seconds(), tv_nsec: time.nanoseconds().into() }
}

/// Returns whether it was allowed. Notes an error with another reason.
fn may_fail(result: rustix::io::Result<()>, first: &mut Option<io::Error>) -> bool {
    match result {
        Err(Errno::PERM | Errno::ACCESS | Errno::NOTSUP) => false,
        other => must(other, first),
    }
}

/// Returns whether it succeeded. Notes the first error.
fn must(result: rustix::io::Result<()>, first: &mut Option<io::Error>) -> bool {
    match result {
        Ok(()) => true,
        Err(error) => {
            first.get_or_insert(error.into());
            false
        }
    }
}
