//! The header of a file: a few lines of text, then an empty line.
//!
//! Parses and writes a [`Header`], and returns where the first block begins. Does not know what blocks hold.

use crate::error::Damage;
use crate::vclock::VClock;
use std::fmt::Write;

/// Bytes of the longest header.
pub const HEADER_BYTES_MAX: usize = 1024 + 833;

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Every row, at one moment.
    Snapshot,
    /// A log of changes after a snapshot.
    Log,
    /// The log of an engine that stores data on disk: which files have its rows.
    Vinyl,
    /// Rows of an index of that engine.
    Run,
    /// Where in a [`Run`](FileKind::Run) which rows are.
    RunIndex,
}

impl FileKind {
    /// Returns the word in the first line of the file.
    fn word(self) -> &'static str {
        match self {
            FileKind::Snapshot => "SNAP",
            FileKind::Log => "XLOG",
            FileKind::Vinyl => "VYLOG",
            FileKind::Run => "RUN",
            FileKind::RunIndex => "INDEX",
        }
    }

    /// Returns the ending of the names of such files.
    pub fn extension(self) -> &'static str {
        match self {
            FileKind::Snapshot => "snap",
            FileKind::Log => "xlog",
            FileKind::Vinyl => "vylog",
            FileKind::Run => "run",
            FileKind::RunIndex => "index",
        }
    }
}

/// The version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatVersion {
    /// Up to Tarantool 1.6. The line "Instance" is called "Server".
    V012,
    /// Since Tarantool 1.7.
    V013,
}

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The kind of the file.
    pub kind: FileKind,
    /// The version of its format.
    pub version: FormatVersion,
    /// The program that wrote it, as it names itself.
    pub program: String,
    /// The UUID of the instance; zeros if there is none.
    pub instance: [u8; 16],
    /// For a snapshot, the vector clock of its contents; for a log, the one before its first row.
    pub vclock: VClock,
    /// The same of the previous log, if there was one.
    pub previous: Option<VClock>,
}

impl Header {
    /// Returns the name that the file must have.
    pub fn file_name(&self) -> String {
        format!("{:020}.{}", self.vclock.signature(), self.kind.extension())
    }

    /// Reads a header. Returns it with its length in bytes.
    ///
    /// # Errors
    /// Damage, if a line is missing or invalid.
    pub fn parse(bytes: &[u8]) -> Result<(Header, usize), Damage> {
        let bytes = bytes.get(..HEADER_BYTES_MAX).unwrap_or(bytes);
        let Some(end) = bytes.windows(2).position(|pair| pair == b"\n\n") else {
            return Err(Damage::new(bytes.len(), "the header does not end with an empty line"));
        };
        let mut lines = bytes[..end].split(|&byte| byte == b'\n');
        let kind = match lines.next() {
            Some(b"SNAP") => FileKind::Snapshot,
            Some(b"XLOG") => FileKind::Log,
            Some(b"VYLOG") => FileKind::Vinyl,
            Some(b"RUN") => FileKind::Run,
            Some(b"INDEX") => FileKind::RunIndex,
            _ => return Err(Damage::new(0, "the first line is not SNAP or XLOG")),
        };
        let mut at = kind.word().len() + 1;
        let version = match lines.next() {
            Some(b"0.12") => FormatVersion::V012,
            Some(b"0.13") => FormatVersion::V013,
            _ => return Err(Damage::new(at, "the version is not 0.12 or 0.13")),
        };
        at += "0.13\n".len();
        let mut header = Header::empty(kind, version);
        // Files of single indexes have none.
        let mut has_vclock = matches!(kind, FileKind::Run | FileKind::RunIndex);
        for line in lines {
            has_vclock |= header.read_line(line).map_err(|what| Damage::new(at, what))?;
            at += line.len() + 1;
        }
        if !has_vclock {
            return Err(Damage::new(end, "the header has no VClock"));
        }
        Ok((header, end + 2))
    }

    /// Returns whether `bytes` look like an empty file of this kind after a crash: a part of the header, or
    /// nothing, and zeros where nothing was written.
    pub(crate) fn was_begun(bytes: &[u8], kind: FileKind) -> bool {
        let written = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let written = bytes.get(..written).unwrap_or_default();
        if written.len() > HEADER_BYTES_MAX || written.windows(2).any(|pair| pair == b"\n\n") {
            return false;
        }
        ["0.12", "0.13"].iter().any(|version| {
            let first = format!("{}\n{version}\n", kind.word());
            let Some(rest) = written.strip_prefix(first.as_bytes()) else {
                return first.as_bytes().starts_with(written);
            };
            let mut lines: Vec<&[u8]> = rest.split(|&byte| byte == b'\n').collect();
            let half = lines.pop().unwrap_or_default();
            let mut header = Header::empty(kind, FormatVersion::V013);
            lines.into_iter().all(|line| header.read_line(line).is_ok())
                && half.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        })
    }

    /// Returns the header of a file that states nothing about itself.
    pub(crate) fn empty(kind: FileKind, version: FormatVersion) -> Header {
        Header {
            kind,
            version,
            program: String::new(),
            instance: [0; 16],
            vclock: VClock::default(),
            previous: None,
        }
    }

    /// Reads one line, and returns whether it was the vector clock. Skips lines with unknown names.
    fn read_line(&mut self, line: &[u8]) -> Result<bool, &'static str> {
        let text = std::str::from_utf8(line).map_err(|_| "a line of the header is not text")?;
        let (word, value) = text.split_once(':').ok_or("a line of the header has no colon")?;
        let value = value.trim_start_matches([' ', '\t']);
        match word {
            "Version" => value.clone_into(&mut self.program),
            "Instance" | "Server" => {
                self.instance = parse_uuid(value).ok_or("the instance UUID is not valid")?;
            }
            "VClock" => {
                self.vclock = VClock::parse(value).ok_or("the VClock is not valid")?;
                return Ok(true);
            }
            "PrevVClock" => self.previous = Some(VClock::parse(value).ok_or("the PrevVClock is not valid")?),
            _ => {}
        }
        Ok(false)
    }

    /// Returns the header as text, as written in a file.
    pub fn text(&self) -> String {
        let (version, instance) = match self.version {
            FormatVersion::V012 => ("0.12", "Server"),
            FormatVersion::V013 => ("0.13", "Instance"),
        };
        let mut text = format!(
            "{}\n{version}\nVersion: {}\n{instance}: {}\nVClock: {{{}}}\n",
            self.kind.word(),
            self.program,
            uuid_text(&self.instance),
            self.vclock
        );
        if let Some(previous) = &self.previous {
            writeln!(text, "PrevVClock: {{{previous}}}").expect("a string takes all text");
        }
        text.push('\n');
        text
    }
}

/// Reads a uuid in its usual form: 8, 4, 4, 4 and 12 hexadecimal digits.
pub fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let groups: Vec<&str> = text.split('-').collect();
    if !groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) {
        return None;
    }
    let digits = groups.concat();
    if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    u128::from_str_radix(&digits, 16).ok().map(u128::to_be_bytes)
}

/// Returns a uuid in its usual form.
pub fn uuid_text(uuid: &[u8; 16]) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(*uuid));
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}
