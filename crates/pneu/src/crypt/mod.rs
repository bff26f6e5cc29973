//! Opens what is signed or encrypted in a message, with the user's gpg and gpgsm.
//!
//! Input: the bytes of a message. Output: its signatures, and its decrypted contents, each by itself: nothing
//! joins a decrypted content with what is around it. Everything goes through pipes; nothing is kept. `gpg`
//! runs the programs, `status` reads what they say, `open` opens one content, `unasked` does it for the
//! index, so that nobody is asked. Does not know how it is shown.

mod gpg;
mod open;
mod status;
pub(crate) mod unasked;

use crate::child::Bounds;
use gpg::{OUTPUT_BYTES_MAX, Output, Program, TIME_MAX, Task, run};
use mail::{HeaderDifference, Protection, header_differences, protected_contents};
pub use status::{Decryption, Signature, Standing, Trust};
use std::io;
use std::time::{Duration, Instant};
use work::Cancel;

/// How deep signed and encrypted contents may be in each other.
const DEPTH_MAX: usize = 4;
/// Most contents that are opened of one message, over all depths. Each costs one or two runs of a program.
const OPENED_COUNT_MAX: usize = 64;
/// Most bytes that are decrypted and taken out of signatures of one message. A few bytes may hold many
/// compressed ones.
const OPENED_BYTES_MAX: usize = 256 << 20;
/// Longest time of all runs for one message, if nothing is decrypted.
const KEPT_TIME_MAX: Duration = Duration::from_secs(60);
/// Longest time of all runs for one message that is decrypted: somebody may be typing a passphrase.
const DECRYPTED_TIME_MAX: Duration = Duration::from_secs(300);

/// Whether encrypted contents are decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// They are left encrypted; only signatures are verified.
    Kept,
    /// They are decrypted.
    Decrypted,
}

/// For what contents are opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Somebody looks at them.
    Shown(Secrets),
    /// Text in what is encrypted is searched. Nothing else is opened, and no signature is verified.
    Searched,
}

/// A signed or encrypted content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedContent {
    /// How it is protected.
    pub protection: Protection,
    /// If it is encrypted, whether it could be decrypted; `None` within if that was not tried.
    pub encryption: Option<Option<Decryption>>,
    /// Its signatures; empty if it is encrypted and was not decrypted, or is not signed.
    pub signatures: Vec<Signature>,
    /// Why it was not checked or decrypted at all. Then there are no signatures.
    pub failure: Option<Failure>,
    /// There is nothing else in the message, except its header.
    pub is_whole: bool,
    /// Its content is text. Otherwise it is a MIME entity.
    pub is_text: bool,
    /// Its content was inside of what encrypts or signs it, so that only the program says what it is.
    pub is_taken_out: bool,
    /// What is signed, or was decrypted.
    pub content: Option<Vec<u8>>,
    /// It is longer than can be shown.
    pub is_cut: bool,
    /// If it is the whole message and protects header fields: where the message's own header differs.
    pub header: Option<Vec<HeaderDifference>>,
    /// The signed and encrypted contents in a content that was decrypted or taken out of its signature.
    pub inner: Vec<OpenedContent>,
}

/// Why a content was not opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The program is not installed.
    NotInstalled {
        /// Its name.
        program: &'static str,
    },
    /// The program cannot be run.
    NotRun {
        /// Its name.
        program: &'static str,
        /// The reason.
        why: String,
    },
    /// The signature is larger than any that a program makes.
    SignatureTooLarge,
    /// The program took too long and was killed, or no time was left for it.
    TookTooLong {
        /// Its name.
        program: &'static str,
    },
}

/// What was opened of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenedMessage {
    /// Its signed and encrypted contents.
    pub contents: Vec<OpenedContent>,
    /// It has too many of them, or too deep in each other: there may be more.
    pub is_cut: bool,
    /// The limit of bytes in all was reached. If so, its value in MiB.
    pub mebibytes_max: Option<usize>,
}

/// Opens all signed and encrypted contents of a message. What cannot be opened has its reason. Stops early if
/// that is asked; what is returned then says nothing of the message.
pub fn open_contents(message: &[u8], secrets: Secrets, cancel: &Cancel) -> OpenedMessage {
    let time = match secrets {
        Secrets::Kept => KEPT_TIME_MAX,
        Secrets::Decrypted => DECRYPTED_TIME_MAX,
    };
    let end = Instant::now() + time;
    let run_until = |program: Program, task: Task<'_>, input: &[u8], output_bytes| {
        let run_end = match task {
            Task::Decrypt => end,
            _ => end.min(Instant::now() + TIME_MAX),
        };
        let bounds = Bounds { end: run_end, output_bytes };
        if cancel.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if Instant::now() >= end {
            return Err(io::ErrorKind::TimedOut.into());
        }
        run(program, task, input, &bounds, &|| cancel.is_cancelled())
    };
    let mut opening = Opening {
        message,
        purpose: Purpose::Shown(secrets),
        run: &run_until,
        count_left: OPENED_COUNT_MAX,
        bytes_left: OPENED_BYTES_MAX,
        is_cut: false,
        is_full: false,
    };
    let contents = opening.open_all(message, DEPTH_MAX, true);
    let mebibytes_max = opening.is_full.then_some(OPENED_BYTES_MAX >> 20);
    OpenedMessage { contents, is_cut: opening.is_cut, mebibytes_max }
}

/// Runs a program, as [`gpg::run`] does, which may print so many bytes.
type Runner<'r> = &'r dyn Fn(Program, Task<'_>, &[u8], usize) -> io::Result<Output>;

struct Opening<'r> {
    /// The message around everything.
    message: &'r [u8],
    purpose: Purpose,
    run: Runner<'r>,
    /// How many more contents may be opened.
    count_left: usize,
    /// How many more bytes programs may print.
    bytes_left: usize,
    /// There may be more that is protected.
    is_cut: bool,
    /// A program had more to print.
    is_full: bool,
}

impl Opening<'_> {
    fn open_all(&mut self, bytes: &[u8], depth_left: usize, is_whole: bool) -> Vec<OpenedContent> {
        let (found, is_cut) = protected_contents(bytes);
        self.is_cut |= is_cut;
        let mut opened = Vec::with_capacity(found.len());
        for protected in found {
            let (Some(depth_left), Some(left)) = (depth_left.checked_sub(1), self.count_left.checked_sub(1))
            else {
                self.is_cut = true;
                break;
            };
            self.count_left = left;
            let mut one = self.open_one(protected);
            let is_whole = is_whole && one.is_whole;
            if let Some(content) = one.content.as_deref().filter(|_| !one.is_text) {
                one.header = is_whole.then(|| header_differences(self.message, content)).flatten();
                // What is in a detached signature was found with it.
                if one.is_taken_out {
                    one.inner = self.open_all(content, depth_left, is_whole);
                }
            }
            opened.push(one);
        }
        opened
    }

    /// Runs a program, within what may be printed in all.
    fn run(&mut self, program: Program, task: Task<'_>, input: &[u8]) -> io::Result<Output> {
        let bytes_max = OUTPUT_BYTES_MAX.min(self.bytes_left);
        let output = (self.run)(program, task, input, bytes_max)?;
        self.is_full |= output.is_cut && bytes_max < OUTPUT_BYTES_MAX;
        self.bytes_left = self.bytes_left.saturating_sub(output.bytes.len());
        Ok(output)
    }
}

impl Signature {
    /// Returns whether it is good, and its key belongs to this address as far as the user trusts it.
    #[must_use]
    pub fn is_of(&self, address: &str) -> bool {
        let is_same = |(own, is_trusted): &(String, bool)| *is_trusted && own.eq_ignore_ascii_case(address);
        self.standing == Standing::Good && self.addresses.iter().any(is_same)
    }

    /// Returns whether its key names this address, trusted or not.
    #[must_use]
    pub fn names(&self, address: &str) -> bool {
        self.addresses.iter().any(|(own, _)| own.eq_ignore_ascii_case(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening<'r>(message: &'r str, run: Runner<'r>) -> Opening<'r> {
        let message = message.as_bytes();
        let (purpose, count_left, bytes_left) = (Purpose::Shown(Secrets::Decrypted), 9, 100);
        Opening { message, purpose, run, count_left, bytes_left, is_cut: false, is_full: false }
    }

    fn multipart(kind: &str, pieces: &[&str]) -> String {
        let pieces: String = pieces.iter().map(|piece| format!("--{kind}\n{piece}\n")).collect();
        format!("Content-Type: multipart/{kind}; boundary={kind}\n\n{pieces}--{kind}--\n")
    }

    fn encrypted(data: &str) -> String {
        multipart("encrypted", &["\n1", &format!("\n{data}")])
    }

    fn signed(signature: &str) -> String {
        multipart("signed", &["\na", &format!("Content-Type: application/pgp-signature\n\n{signature}")])
    }

    fn output(status: &[&str], bytes: &[u8]) -> io::Result<Output> {
        let status = status.iter().map(|&line| line.to_owned()).collect();
        Ok(Output { status, bytes: bytes.to_vec(), is_cut: false })
    }

    #[test]
    fn one_message_costs_a_limited_number_of_runs() {
        let part = encrypted("data");
        let message = multipart("mixed", &[&part, &part]);
        let open = |count_left, depth_left| {
            let nothing = |_: Program, _: Task<'_>, _: &[u8], _| output(&[], b"");
            let mut opening = Opening { count_left, ..opening(&message, &nothing) };
            let opened = opening.open_all(message.as_bytes(), depth_left, true);
            (opened.len(), opening.is_cut)
        };
        assert_eq!(open(2, 1), (2, false));
        assert_eq!(open(1, 1), (1, true));
        assert_eq!(open(2, 0), (0, true));
    }

    #[test]
    fn all_contents_together_have_a_limited_size() {
        let part = encrypted("data");
        let message = multipart("mixed", &[&part, &part, &part]);
        // A program that prints 60 bytes, or as many as it may.
        let sixty = |_: Program, _: Task<'_>, _: &[u8], bytes_max: usize| {
            let bytes = vec![b'x'; 60.min(bytes_max)];
            let status = vec!["BEGIN_DECRYPTION".to_owned(), "DECRYPTION_OKAY".to_owned()];
            Ok(Output { status, is_cut: bytes.len() < 60, bytes })
        };
        let mut opening = opening(&message, &sixty);
        let opened = opening.open_all(message.as_bytes(), 1, true);
        let done: Vec<_> = opened.iter().map(|one| one.encryption.flatten()).collect();
        assert_eq!(done, [Some(Decryption::Done), Some(Decryption::TooLarge), Some(Decryption::TooLarge)]);
        assert_eq!(opened.iter().filter(|one| one.content.is_some()).count(), 1);
        assert!(opening.is_full && opening.bytes_left == 0 && !opening.is_cut);
    }

    #[test]
    fn what_cannot_be_checked_is_there_with_its_reason() {
        let missing = |_: Program, _: Task<'_>, _: &[u8], _| Err(io::ErrorKind::NotFound.into());
        let refused = |_: Program, _: Task<'_>, _: &[u8], _| Err(io::ErrorKind::PermissionDenied.into());
        let open = |message: &str, run: Runner<'_>| {
            let [one] = opening(message, run).open_all(message.as_bytes(), 1, true).try_into().unwrap();
            one
        };
        let one = open(&signed("s"), &missing);
        assert_eq!(one.failure, Some(Failure::NotInstalled { program: "gpg" }));
        assert_eq!((one.content.as_deref(), one.signatures.len()), (Some(&b"\r\na"[..]), 0));
        assert_eq!(open(&encrypted("d"), &missing).encryption, Some(None));
        let why = io::Error::from(io::ErrorKind::PermissionDenied).to_string();
        assert_eq!(open(&signed("s"), &refused).failure, Some(Failure::NotRun { program: "gpg", why }));
        let slow = |_: Program, _: Task<'_>, _: &[u8], _| Err(io::ErrorKind::TimedOut.into());
        for message in [signed("s"), encrypted("d")] {
            let one = open(&message, &slow);
            assert_eq!(one.failure, Some(Failure::TookTooLong { program: "gpg" }));
            assert!(one.signatures.is_empty());
        }
        let large = "s".repeat(gpg::SIGNATURE_BYTES_MAX + 1);
        let one = open(&signed(&large), &missing);
        assert_eq!((one.failure, one.content.is_some()), (Some(Failure::SignatureTooLarge), true));
    }

    #[test]
    fn a_signature_covers_one_text() {
        let armor = "-----BEGIN PGP MESSAGE-----\n\nowGb\n-----END PGP MESSAGE-----\n";
        let standing = |message: &str, status: &[&str]| {
            let run = |_: Program, _: Task<'_>, _: &[u8], _| output(status, b"text");
            let [one] = opening(message, &run).open_all(message.as_bytes(), 1, true).try_into().unwrap();
            one.signatures[0].standing
        };
        let opaque = format!("A: b\n\n{armor}");
        assert_eq!(standing(&opaque, &["PLAINTEXT 62 1 ", "GOODSIG 1 a"]), Standing::Good);
        let two = ["PLAINTEXT 62 1 ", "PLAINTEXT 62 1 ", "GOODSIG 1 a"];
        assert_eq!(standing(&opaque, &two), Standing::Unchecked);
        // The text of a detached signature is beside it, not in it.
        assert_eq!(standing(&signed("s"), &["GOODSIG 1 a"]), Standing::Good);
        assert_eq!(standing(&signed("s"), &["PLAINTEXT 62 1 ", "GOODSIG 1 a"]), Standing::Unchecked);
    }

    #[test]
    fn the_header_of_a_message_is_compared_if_all_of_it_is_protected() {
        let good = |_: Program, _: Task<'_>, _: &[u8], _| output(&["GOODSIG 1 a"], b"");
        let entity = "Content-Type: text/plain; hp=clear\nSubject: a\n\nx";
        let signed = multipart("signed", &[entity, "Content-Type: application/pgp-signature\n\ns"]);
        let header = |message: &str| {
            let message = format!("Subject: b\n{message}");
            let opened = opening(&message, &good).open_all(message.as_bytes(), 1, true);
            opened[0].header.clone().map(|header| header.len())
        };
        assert_eq!(header(&signed), Some(1));
        assert_eq!(header(&multipart("mixed", &[&signed, "\nfooter"])), None);
        assert_eq!(header(&signed.replace("; hp=clear", "")), None);
    }
}
