//! Temporary names of files that are not complete yet.
//!
//! Makes such names, and recognises names that a killed restore left. Does not touch the disk.

use crate::surroundings::Surroundings;

const START: &[u8] = b".pneu-restore-";
/// Digits of the process, and of the random number.
const DIGIT_COUNT: usize = 8;

/// The names of one restore: ".pneu-restore-PROCESS-RANDOM-NUMBER".
#[derive(Debug)]
pub(super) struct Unfinished {
    start: Vec<u8>,
    own_process: u32,
    is_alive: fn(u32) -> bool,
}

impl Unfinished {
    /// Chooses names that nothing has.
    pub(super) fn new(surroundings: &Surroundings) -> Unfinished {
        let mut random = [0; 4];
        (surroundings.fill_random)(&mut random);
        let own = format!("{:08x}-{:08x}-", surroundings.process, u32::from_le_bytes(random));
        Unfinished {
            start: [START, own.as_bytes()].concat(),
            own_process: surroundings.process,
            is_alive: surroundings.is_alive,
        }
    }

    /// Returns the name of one entry.
    pub(super) fn name(&self, number: usize) -> Vec<u8> {
        [&*self.start, number.to_string().as_bytes()].concat()
    }

    /// Returns whether a name was made by a restore whose process has ended. Before this restore has made its
    /// first name, a name with its own process number counts too: in containers many processes have the same
    /// number.
    pub(super) fn is_left(&self, name: &[u8]) -> bool {
        let Some(rest) = name.strip_prefix(START) else { return false };
        let mut parts = rest.split(|&byte| byte == b'-');
        let (process, random, number) = (parts.next(), parts.next(), parts.next());
        let is_number = |part: Option<&[u8]>| {
            part.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
        };
        if number_of(random).is_none() || !is_number(number) || parts.next().is_some() {
            return false;
        }
        number_of(process).is_some_and(|process| process == self.own_process || !(self.is_alive)(process))
    }
}

fn number_of(digits: Option<&[u8]>) -> Option<u32> {
    let digits = digits.filter(|digits| digits.len() == DIGIT_COUNT)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LIVING_PROCESS, surroundings};

    #[test]
    fn only_names_of_those_who_are_gone_are_left() {
        let unfinished = Unfinished::new(&surroundings());
        let alive = format!(".pneu-restore-{LIVING_PROCESS:08x}-00000001-3");
        for (name, is_left) in [
            (".pneu-restore-00000005-00000001-3", true),
            (&*alive, false),
            (".pneu-restore-00000005-00000001-", false),
            (".pneu-restore-00000005-00000001-3-4", false),
            (".pneu-restore-00000005-3", false),
            (".pneu-restore-000005-00000001-3", false),
            (".pneu-restore-0000000x-00000001-3", false),
            (".pneu-restore-", false),
            ("1.host:2,S", false),
        ] {
            assert_eq!(unfinished.is_left(name.as_bytes()), is_left, "{name}");
        }
        assert!(unfinished.is_left(&unfinished.name(12)), "of an earlier process with the same number");
    }
}
