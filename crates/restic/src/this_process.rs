//! What work on repositories is lent by a program on this machine: random bytes, and who is at work.
//!
//! Asks the kernel, `/proc` and the list of users. Reads no environment variable.

use crate::surroundings::Surroundings;
use disk::Source;
use std::path::Path;
use work::Context;

impl Surroundings {
    /// Returns those of this process. The clock, the threads and the wish to stop are those of `context`.
    pub fn of_this_process(context: Context) -> Surroundings {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        Surroundings {
            context,
            fill_random,
            sleep: std::thread::sleep,
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            username: user_name(user.as_raw()),
            uid: user.as_raw(),
            gid: group.as_raw(),
            process: std::process::id(),
            is_alive,
            place: place(),
            started,
        }
    }
}

/// Fills a buffer with random bytes from the kernel.
fn fill_random(mut bytes: &mut [u8]) {
    while !bytes.is_empty() {
        match rustix::rand::getrandom(&mut *bytes, rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => bytes = &mut bytes[count..],
            Err(rustix::io::Errno::INTR) => {}
            // Without random bytes nothing can be encrypted safely, so the program cannot continue.
            Err(error) => panic!("the kernel gives no random bytes: {error}"),
        }
    }
}

fn is_alive(process: u32) -> bool {
    let known = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    // A process of another user cannot be signalled, but exists. One that has ended, and whose parent has not
    // noticed yet, can be signalled.
    known.is_some_and(|known| {
        !matches!(rustix::process::test_kill_process(known), Err(rustix::io::Errno::SRCH))
            && !is_zombie(process)
    })
}

/// Returns whether a process has ended with all its threads, as far as the kernel tells.
fn is_zombie(process: u32) -> bool {
    let thread_count = stat(process, 17).and_then(|count| count.parse::<u32>().ok());
    matches!(stat(process, 0).as_deref(), Some("Z" | "X")) && thread_count.is_some_and(|count| count <= 1)
}

/// Returns the boot of the kernel and the namespaces within which process numbers and start times are unique;
/// `None` if the system does not tell, or if /proc belongs to another namespace.
fn place() -> Option<String> {
    let own = std::fs::read_link("/proc/self").ok()?;
    (own.to_str()? == std::process::id().to_string()).then_some(())?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = |name| std::fs::read_link(Path::new("/proc/self/ns").join(name)).ok();
    // Older kernels have no time namespaces.
    let (processes, time) = (namespace("pid")?, namespace("time").unwrap_or_default());
    Some(format!("{} {} {}", boot.trim(), processes.display(), time.display()))
}

/// Returns when a process started, in ticks since boot.
fn started(process: u32) -> Option<u64> {
    stat(process, 19)?.parse().ok()
}

/// Returns what the kernel says of a process: the field at this position after the program's name, which may
/// contain spaces and parentheses. The first is the state.
fn stat(process: u32, field: usize) -> Option<String> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    stat.rsplit_once(')')?.1.split_whitespace().nth(field).map(str::to_owned)
}

/// Where the system keeps names of users, and the largest size that is read.
const USERS: &str = "/etc/passwd";
const USERS_BYTES_MAX: usize = 64 << 20;

/// Returns a user's name from the system's file, or else the number.
fn user_name(number: u32) -> String {
    let users = disk::read_small(Path::new(USERS), USERS_BYTES_MAX, Source::File).unwrap_or_default();
    let users = String::from_utf8_lossy(&users);
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == number.to_string()).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_has_ended_is_dead_before_its_parent_notices() {
        assert!(is_alive(std::process::id()) && is_alive(1));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        // Waits for its end, and leaves it as it is.
        let wanted = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        let id = rustix::process::Pid::from_child(&child);
        rustix::process::waitid(rustix::process::WaitId::Pid(id), wanted).unwrap();
        assert!(!is_alive(child.id()));
        child.wait().unwrap();
        assert!(!is_alive(child.id()));
    }

    #[test]
    fn a_process_is_known_by_its_place_and_its_start() {
        let own = started(std::process::id()).unwrap();
        assert_eq!((started(std::process::id()), started(u32::MAX)), (Some(own), None));
        assert!(started(1).is_some_and(|first| first <= own));
        let place = place().unwrap();
        assert!(place.contains(" pid:[") && place.split(' ').count() == 3, "{place}");
    }
}
