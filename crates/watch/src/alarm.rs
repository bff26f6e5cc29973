//! Tells when the machine was suspended or its clock was set, and when file systems were mounted or
//! unmounted. Both may change directories without an event.
//!
//! Where the kernel offers neither, there is no alarm.

use rustix::event::{PollFd, PollFlags};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use std::fs::File;
use std::os::fd::OwnedFd;

/// What is watched besides directories.
#[derive(Debug)]
pub(crate) struct Alarms {
    /// The table of mounts. Its poll reports a change.
    mounts: Option<File>,
    /// A timer that never goes off. It is cancelled when the clock is set, which also happens at the end of a
    /// suspension.
    clock: Option<OwnedFd>,
}

impl Alarms {
    /// Sets up what the kernel offers.
    pub(crate) fn new() -> Alarms {
        let clock = timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK);
        let alarms = Alarms { mounts: File::open("/proc/self/mountinfo").ok(), clock: clock.ok() };
        alarms.set_clock();
        alarms
    }

    /// Adds what to wait for.
    pub(crate) fn add_to<'a>(&'a self, waits: &mut Vec<PollFd<'a>>) {
        waits.extend(self.mounts.as_ref().map(|mounts| PollFd::new(mounts, PollFlags::PRI)));
        waits.extend(self.clock.as_ref().map(|clock| PollFd::new(clock, PollFlags::IN)));
    }

    /// Sets the clock's alarm again after it went off.
    pub(crate) fn set_clock(&self) {
        let Some(clock) = &self.clock else { return };
        // Reading takes the report of the last alarm.
        let _ = rustix::io::read(clock, &mut [0; 8]);
        let never = Timespec { tv_sec: i64::from(u32::MAX) * 4, tv_nsec: 0 };
        let time = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: never };
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        let _ = timerfd_settime(clock, flags, &time);
    }
}
