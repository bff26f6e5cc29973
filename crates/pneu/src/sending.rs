//! Sends a message with the command that the configuration names.
//!
//! Input: a root, recipients, a message. Output: whether the command took it. The command reads the message
//! on standard input. Recipients are its last arguments, after `--`, unless the command has the argument
//! `-t`: then it reads them from the message. What it prints is data. Nothing is stored, and nothing is sent
//! a second time.

use crate::child::{self, Bounds, Talk};
use crate::host::Host;
use crate::settings::SECRET_VARIABLES;
use crate::setup::address::is_address;
use mail::Email;
use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

/// The longest time that a command may take. It talks to a server.
const TIME_MAX: Duration = Duration::from_secs(120);
/// Most bytes that it may print.
const OUTPUT_BYTES_MAX: usize = 1 << 20;
/// Most characters of what it printed that are repeated.
const REPEATED_CHARACTERS_MAX: usize = 500;
/// The arguments by which a command reads recipients from the message.
const READS_RECIPIENTS: [&str; 4] = ["-t", "-ti", "-it", "--read-recipients"];
/// The fields that only the sender may see.
const HIDDEN: [&str; 2] = ["Bcc", "Resent-Bcc"];

/// Why a message was not sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The configuration names no command for the root.
    #[error("the configuration names no command that sends mail of this root")]
    NoCommand,
    /// Something among the recipients is no address.
    #[error("{0:?} is no address")]
    Recipient(String),
    /// The command reads recipients from the message, and they are others.
    #[error("the command sends to the recipients that the message names, and to no others")]
    OtherRecipients,
    /// The command failed, and printed this.
    #[error("the command failed: {0}")]
    Failed(String),
    /// It took too long, or was stopped. Whether the message was sent is not known.
    #[error("the command took too long and was ended, so the message may have been sent or not")]
    Unknown,
}

impl Host {
    /// Sends a message to recipients, without its Bcc fields.
    ///
    /// # Errors
    /// It was not sent; of [`SendError::Unknown`], nobody knows.
    pub fn send(&self, root: &str, recipients: &[String], message: &[u8]) -> Result<(), SendError> {
        let accounts = &self.settings().configuration.accounts;
        let command = accounts.get(root).and_then(|account| account.sendmail.as_deref());
        let command = command.filter(|command| !command.trim().is_empty()).ok_or(SendError::NoCommand)?;
        if let Some(wrong) = recipients.iter().find(|text| !is_address(text) || text.contains('\0')) {
            return Err(SendError::Recipient(wrong.clone()));
        }
        let reads_recipients = command.split_whitespace().any(|word| READS_RECIPIENTS.contains(&word));
        let mut shell = shell(command);
        let input = if reads_recipients {
            if in_message(message) != folded(recipients.iter()) {
                return Err(SendError::OtherRecipients);
            }
            message.to_vec()
        } else {
            shell.arg("--").args(recipients);
            mail::without_fields(message, &HIDDEN)
        };
        let child = child::start(&mut shell).map_err(|error| SendError::Failed(error.to_string()))?;
        let bounds = Bounds { end: Instant::now() + TIME_MAX, output_bytes: OUTPUT_BYTES_MAX };
        let cancel = &self.settings().environment.context.cancel;
        match child::finish(child, &input, &bounds, &|| cancel.is_cancelled()) {
            (Talk::Ended(_), Ok(status)) if status.success() => Ok(()),
            (Talk::Ended(output), _) => Err(SendError::Failed(repeated(&output))),
            _ => Err(SendError::Unknown),
        }
    }
}

/// Returns the shell that runs a command, which gets no secrets.
fn shell(command: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    // What it says of an error, too, is read.
    shell.args(["-c", &format!("exec {command} \"$@\" 2>&1"), "sendmail"]);
    for name in SECRET_VARIABLES {
        shell.env_remove(name);
    }
    shell
}

/// Returns the recipients that a message names.
fn in_message(message: &[u8]) -> BTreeSet<String> {
    let email = Email::of_bytes(message);
    let fields = email.header_fields(&email.structure);
    let is_meant = |name: &str| ["to", "cc", "bcc"].iter().any(|known| known.eq_ignore_ascii_case(name));
    let meant = fields.iter().filter(|field| is_meant(&field.name()));
    let addresses: Vec<String> =
        meant.flat_map(mail::HeaderField::addresses).map(|address| address.address).collect();
    folded(addresses.iter())
}

fn folded<'a>(addresses: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    addresses.map(|address| address.to_lowercase()).collect()
}

/// Returns the end of what a command printed, safe to show.
fn repeated(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let text = printable::sanitise::one_line(text.trim());
    let count = text.chars().count();
    text.chars().skip(count.saturating_sub(REPEATED_CHARACTERS_MAX)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use crate::setup::account::Account;

    const MESSAGE: &[u8] = b"From: a@x\nTo: b@x\nBcc: c@x,\n d@x\n\nbody\n";

    fn sent(command: &str, recipients: &[&str]) -> Result<(), SendError> {
        let mut settings = Settings::new("/nowhere");
        let account = Account { sendmail: Some(command.to_owned()), ..Account::default() };
        settings.configuration.accounts.insert("mail".to_owned(), account);
        let recipients: Vec<String> = recipients.iter().map(|text| (*text).to_owned()).collect();
        Host::new(settings).send("mail", &recipients, MESSAGE)
    }

    #[test]
    fn a_command_gets_the_message_without_bcc_and_the_recipients_as_arguments() {
        let place = tempfile::tempdir().unwrap();
        let script = place.path().join("my send");
        let out = place.path().join("out");
        let text = format!("for word; do echo \"$word\"; done > '{0}'; cat >> '{0}'\n", out.display());
        std::fs::write(&script, text).unwrap();
        let command = format!("sh '{}' -a work", script.display());
        assert_eq!(sent(&command, &["b@x", "-d@x", "$(id)@x"]), Ok(()));
        let got = std::fs::read_to_string(&out).unwrap();
        assert_eq!(got, "-a\nwork\n--\nb@x\n-d@x\n$(id)@x\nFrom: a@x\nTo: b@x\n\nbody\n");
        let reading = format!("{command} -t");
        assert_eq!(sent(&reading, &["B@x", "c@x", "d@x"]), Ok(()));
        let got = std::fs::read_to_string(&out).unwrap();
        assert_eq!(got, format!("-a\nwork\n-t\n{}", String::from_utf8_lossy(MESSAGE)));
        assert_eq!(sent(&reading, &["b@x"]), Err(SendError::OtherRecipients));
    }

    #[test]
    fn a_failure_is_told_with_what_the_command_printed() {
        let failed = |text: &str| Err(SendError::Failed(text.to_owned()));
        assert_eq!(
            sent("sh -c 'echo no; printf \"\\033[2J\" >&2; exit 3'", &["b@x"]),
            failed("no \u{fffd}[2J")
        );
        let Err(SendError::Failed(text)) = sent("/nowhere/program", &["b@x"]) else { panic!() };
        assert!(text.contains("/nowhere/program"), "{text}");
        assert_eq!(sent("  ", &["b@x"]), Err(SendError::NoCommand));
        for wrong in ["", "b", "b@x\nc@x", "a b@x", "b@x\0"] {
            assert_eq!(sent("true", &[wrong]), Err(SendError::Recipient(wrong.to_owned())));
        }
    }

    #[test]
    fn a_command_gets_no_secrets() {
        let shell = shell("send");
        let removed = |name: &str| shell.get_envs().any(|(known, value)| known == name && value.is_none());
        assert!(SECRET_VARIABLES.iter().all(|name| removed(name)), "{shell:?}");
    }
}
