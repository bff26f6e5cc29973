//! Opens one signed or encrypted content: runs the program for it, and takes what that says of it.
//!
//! Input: the content, as it was found in the message. Output: what was opened of it, or why nothing was.
//! Does not know what else is in the message.

use super::gpg::{Program, SIGNATURE_BYTES_MAX, Task};
use super::status::{self, Decryption, Signature, Standing, Trust};
use super::{Failure, OpenedContent, Opening, Purpose, Secrets};
use mail::{Protected, ProtectedContent, Protection};
use std::io;

impl Opening<'_> {
    /// Opens a content.
    pub(super) fn open_one(&mut self, protected: Protected) -> OpenedContent {
        let Protected { protection, content, is_whole, is_text } = protected;
        let mut opened = OpenedContent {
            protection,
            encryption: None,
            signatures: Vec::new(),
            failure: None,
            is_whole,
            is_text,
            is_taken_out: !matches!(content, ProtectedContent::Signed { .. }),
            content: None,
            is_cut: false,
            header: None,
            inner: Vec::new(),
        };
        let program = match protection {
            Protection::OpenPgp => Program::Gpg,
            Protection::Smime => Program::Gpgsm,
        };
        let read = self.read(program, content, &mut opened).and_then(|status| match status {
            Some(status) => self.signatures(program, &status, &opened),
            None => Ok(Vec::new()),
        });
        match read {
            Ok(signatures) => opened.signatures = signatures,
            Err(error) => opened.failure = Some(failure(program, &error)),
        }
        opened
    }

    /// Takes the content. Returns what the program says of its signatures; `None` if that does not count.
    fn read(
        &mut self,
        program: Program,
        content: ProtectedContent,
        opened: &mut OpenedContent,
    ) -> io::Result<Option<Vec<String>>> {
        match content {
            ProtectedContent::Signed { .. } | ProtectedContent::Wrapped(_)
                if self.purpose == Purpose::Searched =>
            {
                Ok(None)
            }
            ProtectedContent::Signed { signed, signature } => {
                // It is shown, whatever becomes of its signature.
                let signed = opened.content.insert(signed);
                if signature.len() > SIGNATURE_BYTES_MAX {
                    opened.failure = Some(Failure::SignatureTooLarge);
                    return Ok(None);
                }
                Ok(Some(self.run(program, Task::Verify(&signature), signed)?.status))
            }
            ProtectedContent::Wrapped(bytes) => {
                let output = self.run(program, Task::Open, &bytes)?;
                // gpg found something encrypted in it. Nobody asked for that, and it may have been changed.
                if status::tells_of_decryption(&output.status) {
                    opened.encryption = Some(None);
                    return Ok(None);
                }
                opened.is_cut = output.is_cut;
                opened.content = Some(output.bytes);
                Ok(Some(output.status))
            }
            ProtectedContent::Encrypted(bytes) => {
                opened.encryption = Some(None);
                if self.purpose == Purpose::Shown(Secrets::Kept) {
                    return Ok(None);
                }
                let output = self.run(program, Task::Decrypt, &bytes)?;
                let decryption =
                    if output.is_cut { Decryption::TooLarge } else { status::decryption(&output.status) };
                opened.encryption = Some(Some(decryption));
                // What was changed on the way is not shown.
                if decryption != Decryption::Done {
                    return Ok(None);
                }
                opened.content = Some(output.bytes);
                Ok(Some(output.status).filter(|_| self.purpose != Purpose::Searched))
            }
        }
    }

    /// Returns the signatures that a status tells of, with the addresses of their keys.
    fn signatures(
        &mut self,
        program: Program,
        status: &[String],
        opened: &OpenedContent,
    ) -> io::Result<Vec<Signature>> {
        let mut signatures = status::signatures(status);
        // A signature is there, whatever the program makes of it.
        if opened.encryption.is_none() && signatures.is_empty() {
            signatures.push(unreadable());
        }
        // It is not known which of several texts it covers. What a detached one covers is beside it.
        if status::text_count(status) > usize::from(opened.is_taken_out) {
            signatures.iter_mut().for_each(|signature| *signature = unreadable());
        }
        for signature in &mut signatures {
            self.add_addresses(program, signature)?;
        }
        Ok(signatures)
    }

    /// Adds the addresses of a signature's key.
    fn add_addresses(&mut self, program: Program, signature: &mut Signature) -> io::Result<()> {
        let is_key = !signature.key.is_empty() && signature.key.bytes().all(|byte| byte.is_ascii_hexdigit());
        if signature.signer.is_empty() || !is_key {
            return Ok(());
        }
        let list = self.run(program, Task::List(&signature.key), b"")?;
        signature.addresses = status::addresses(&String::from_utf8_lossy(&list.bytes));
        if program == Program::Gpgsm {
            // A certificate is trusted as a whole.
            let is_trusted = signature.trust >= Trust::Full;
            signature.addresses.iter_mut().for_each(|(_, trusted)| *trusted = is_trusted);
        }
        Ok(())
    }
}

fn unreadable() -> Signature {
    Signature {
        standing: Standing::Unchecked,
        key: String::new(),
        signer: String::new(),
        addresses: Vec::new(),
        made: String::new(),
        trust: Trust::Unknown,
    }
}

fn failure(program: Program, error: &io::Error) -> Failure {
    let program = program.name();
    match error.kind() {
        io::ErrorKind::NotFound => Failure::NotInstalled { program },
        io::ErrorKind::TimedOut => Failure::TookTooLong { program },
        _ => Failure::NotRun { program, why: error.to_string() },
    }
}
