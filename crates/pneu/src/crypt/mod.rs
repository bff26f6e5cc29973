//! Opens what is signed or encrypted in a message, with the user's gpg and gpgsm.
//!
//! Input: the bytes of a message. Output: its signatures, and its decrypted contents, each by itself: nothing
//! joins a decrypted content with what is around it. Everything goes through pipes; nothing is kept. `gpg`
//! runs the programs, `status` reads what they say. Does not know how it is shown.

mod gpg;
mod status;

use gpg::{Program, Task, run};
use mail::{Protected, ProtectedContent, Protection, protected_contents};
pub use status::{Decryption, Signature, Standing};
use std::io;

/// How deep signed and encrypted contents may be in each other.
const DEPTH_MAX: usize = 4;
/// Most contents that are opened of one message, over all depths. Each costs one or two runs of a program.
const OPENED_COUNT_MAX: usize = 64;

/// Whether encrypted contents are decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    /// They are left encrypted; only signatures are verified.
    Kept,
    /// They are decrypted.
    Decrypted,
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
    /// The signed and encrypted contents in a content that was decrypted or taken out of its signature.
    pub inner: Vec<OpenedContent>,
}

/// Why nothing was opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot run {program}: {source}")]
pub struct CryptError {
    /// The program.
    pub program: &'static str,
    /// The error.
    pub source: io::Error,
}

/// Opens all signed and encrypted contents of a message. Also returns whether there may be more.
///
/// # Errors
/// gpg or gpgsm is needed and cannot be run.
pub fn open_contents(message: &[u8], secrets: Secrets) -> Result<(Vec<OpenedContent>, bool), CryptError> {
    let mut opening = Opening { secrets, left: OPENED_COUNT_MAX, is_cut: false };
    let opened = opening.open_all(message, DEPTH_MAX)?;
    Ok((opened, opening.is_cut))
}

struct Opening {
    secrets: Secrets,
    /// How many more contents may be opened.
    left: usize,
    /// There may be more that is protected.
    is_cut: bool,
}

impl Opening {
    fn open_all(&mut self, bytes: &[u8], depth_left: usize) -> Result<Vec<OpenedContent>, CryptError> {
        let (found, is_cut) = protected_contents(bytes);
        self.is_cut |= is_cut;
        let mut opened = Vec::with_capacity(found.len());
        for protected in found {
            let (Some(depth_left), Some(left)) = (depth_left.checked_sub(1), self.left.checked_sub(1)) else {
                self.is_cut = true;
                break;
            };
            self.left = left;
            let mut one = open_one(protected, self.secrets)?;
            // What is in a detached signature was found with it.
            if let Some(content) = one.content.as_deref().filter(|_| one.is_taken_out && !one.is_text) {
                one.inner = self.open_all(content, depth_left)?;
            }
            opened.push(one);
        }
        Ok(opened)
    }
}

fn open_one(protected: Protected, secrets: Secrets) -> Result<OpenedContent, CryptError> {
    let Protected { protection, content, is_whole, is_text } = protected;
    let program = match protection {
        Protection::OpenPgp => Program::Gpg,
        Protection::Smime => Program::Gpgsm,
    };
    let mut opened = OpenedContent {
        protection,
        encryption: None,
        signatures: Vec::new(),
        is_whole,
        is_text,
        is_taken_out: !matches!(content, ProtectedContent::Signed { .. }),
        content: None,
        is_cut: false,
        inner: Vec::new(),
    };
    let failed = |source| CryptError { program: program.name(), source };
    let status = match content {
        ProtectedContent::Signed { signed, signature } => {
            let output = run(program, Task::Verify(&signature), &signed).map_err(failed)?;
            opened.content = Some(signed);
            output.status
        }
        ProtectedContent::Wrapped(bytes) => {
            let output = run(program, Task::Open, &bytes).map_err(failed)?;
            // gpg found something encrypted in it. Nobody asked for that, and it may have been changed.
            if status::tells_of_decryption(&output.status) {
                opened.encryption = Some(None);
                return Ok(opened);
            }
            opened.is_cut = output.is_cut;
            opened.content = Some(output.bytes);
            output.status
        }
        ProtectedContent::Encrypted(_) if secrets == Secrets::Kept => {
            opened.encryption = Some(None);
            return Ok(opened);
        }
        ProtectedContent::Encrypted(bytes) => {
            let output = run(program, Task::Decrypt, &bytes).map_err(failed)?;
            let decryption = status::decryption(&output.status);
            opened.encryption = Some(Some(decryption));
            opened.is_cut = output.is_cut;
            // What was changed on the way is not shown.
            if decryption == Decryption::Done {
                opened.content = Some(output.bytes);
            }
            output.status
        }
    };
    if matches!(opened.encryption, None | Some(Some(Decryption::Done))) {
        opened.signatures = status::signatures(&status);
        // A signature is there, whatever the program makes of it.
        if opened.encryption.is_none() && opened.signatures.is_empty() {
            opened.signatures.push(unreadable());
        }
        for signature in &mut opened.signatures {
            add_addresses(program, signature).map_err(failed)?;
        }
    }
    Ok(opened)
}

fn unreadable() -> Signature {
    Signature {
        standing: Standing::Unchecked,
        key: String::new(),
        signer: String::new(),
        addresses: Vec::new(),
        made: String::new(),
        is_trusted: false,
    }
}

/// Adds the addresses of a signature's key.
fn add_addresses(program: Program, signature: &mut Signature) -> io::Result<()> {
    let is_key = !signature.key.is_empty() && signature.key.bytes().all(|byte| byte.is_ascii_hexdigit());
    if signature.signer.is_empty() || !is_key {
        return Ok(());
    }
    let list = run(program, Task::List(&signature.key), b"")?;
    signature.addresses = status::addresses(&String::from_utf8_lossy(&list.bytes));
    if program == Program::Gpgsm {
        // A certificate is trusted as a whole.
        signature.addresses.iter_mut().for_each(|(_, is_trusted)| *is_trusted = signature.is_trusted);
    }
    Ok(())
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

    #[test]
    fn one_message_costs_a_limited_number_of_runs() {
        let part = "--b\nContent-Type: multipart/encrypted; boundary=c\n\n--c\n\n1\n--c\n\ndata\n--c--\n";
        let message = format!("Content-Type: multipart/mixed; boundary=b\n\n{part}{part}--b--\n");
        let open = |left, depth_left| {
            let mut opening = Opening { secrets: Secrets::Kept, left, is_cut: false };
            let opened = opening.open_all(message.as_bytes(), depth_left).unwrap();
            (opened.len(), opening.is_cut)
        };
        assert_eq!(open(2, 1), (2, false));
        assert_eq!(open(1, 1), (1, true));
        assert_eq!(open(2, 0), (0, true));
    }
}
