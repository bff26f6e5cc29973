//! Gives descriptors to one child process and to no other.
//!
//! Input: a command, descriptors. Output: the child has them under the same numbers. In this process they
//! stay closed to all children, so that a program that another thread starts meanwhile does not get them.
//! Does not depend on what they are for.

use rustix::io::{FdFlags, fcntl_setfd};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Lets the processes that a command starts have descriptors, which are closed here when it is dropped.
pub fn inherit(command: &mut Command, descriptors: Vec<OwnedFd>) {
    let open = move || -> std::io::Result<()> {
        descriptors.iter().try_for_each(|descriptor| Ok(fcntl_setfd(descriptor, FdFlags::empty())?))
    };
    #[expect(unsafe_code, reason = "the only way to do something in a child before its program begins")]
    // SAFETY: it runs between fork and exec, where only what a signal handler may do is allowed. It does
    // nothing but system calls: it takes no lock, allocates nothing, and an error is a number.
    unsafe {
        command.pre_exec(open);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::fcntl_getfd;
    use std::io::{self, Read};
    use std::os::fd::AsRawFd;

    #[test]
    fn only_the_child_that_may_have_a_descriptor_has_it() {
        let (mut reader, writer) = io::pipe().unwrap();
        let writer = OwnedFd::from(writer);
        let number = writer.as_raw_fd();
        let other = writer.try_clone().unwrap();
        let script = format!("echo $1 > /proc/self/fd/{number}");
        let run = |command: &mut Command| {
            command.args(["-c", &script, "sh", "got it"]).stderr(std::process::Stdio::null());
            command.status().unwrap().success()
        };
        let mut command = Command::new("sh");
        inherit(&mut command, vec![writer]);
        // Another thread starts a program now: before, while and after the child begins.
        assert!(!run(&mut Command::new("sh")));
        assert!(run(&mut command));
        assert!(!run(&mut Command::new("sh")));
        assert_eq!(fcntl_getfd(&other).unwrap(), FdFlags::CLOEXEC);
        drop((command, other));
        let mut got = String::new();
        reader.read_to_string(&mut got).unwrap();
        assert_eq!(got, "got it\n");
    }
}
