//! Makes names for new message files that no other file has, whoever else writes into the same directory.
//!
//! Input: the time, the process, the host, a random number. Output: a name without flags. Pure. The form is
//! that of <https://cr.yp.to/proto/maildir.html>: a time, what is unique at that time, the host.

use std::fmt::Write;

/// What makes a name unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniqueParts<'a> {
    /// The time, in nanoseconds since 1970.
    pub now_ns: i64,
    /// The process that writes the file.
    pub process: u32,
    /// How many names it made before.
    pub count: u64,
    /// A random number: in containers, two processes of one host may have the same number.
    pub random: u64,
    /// The name of the host.
    pub host: &'a str,
}

/// Returns the name.
pub fn unique_name(parts: &UniqueParts<'_>) -> Vec<u8> {
    let seconds = parts.now_ns.div_euclid(1_000_000_000);
    let microseconds = parts.now_ns.rem_euclid(1_000_000_000) / 1000;
    let UniqueParts { process, count, random, host, .. } = parts;
    let mut name = format!("{seconds}.M{microseconds}P{process}Q{count}R{random:016x}.");
    for byte in if host.is_empty() { "localhost" } else { host }.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_') {
            name.push(char::from(byte));
        } else {
            // As the standard escapes `/` and `:`. A comma would end the unique part of the name.
            let _ = write!(name, "\\{byte:03o}");
        }
    }
    name.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{name_seconds, parse_name};

    const PARTS: UniqueParts<'_> =
        UniqueParts { now_ns: 1_700_000_000_000_042_000, process: 7, count: 3, random: 0xab, host: "tube" };

    fn name(parts: &UniqueParts<'_>) -> String {
        String::from_utf8(unique_name(parts)).unwrap()
    }

    #[test]
    fn a_name_has_time_process_count_random_number_and_host() {
        assert_eq!(name(&PARTS), "1700000000.M42P7Q3R00000000000000ab.tube");
        assert_eq!(name_seconds(&unique_name(&PARTS)), Some(1_700_000_000));
        assert_eq!(
            name(&UniqueParts { now_ns: -1, host: "", ..PARTS }),
            "-1.M999999P7Q3R00000000000000ab.localhost"
        );
    }

    #[test]
    fn a_host_cannot_end_the_unique_part_or_leave_the_directory() {
        let parts = UniqueParts { host: "a/b:c,d;e!f\n.ü", ..PARTS };
        let name = unique_name(&parts);
        assert_eq!(parse_name(&name).unique, name);
        let end = "a\\057b\\072c\\054d\\073e\\041f\\012.\\303\\274";
        assert!(name.ends_with(end.as_bytes()), "{}", String::from_utf8_lossy(&name));
    }
}
