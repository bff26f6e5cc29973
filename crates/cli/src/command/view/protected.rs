//! `pneu view --verify` and `--decrypt`: says what is signed and encrypted, and shows what was decrypted.
//!
//! Takes a message that was read, and what the library opened of it. Each decrypted content is shown by
//! itself, as text, after the message: never joined with what a stranger may have put around it. Does not
//! know how anything is verified or decrypted.

use super::input::known;
use super::options::{Format, How};
use super::writer::{Writer, preferred};
use crate::environment;
use crate::exit::Outcome;
use crate::output::complain;
use crate::sanitise::one_line;
use crate::search::locate::Located;
use crate::session::Session;
use anyhow::{Result, bail};
use mail::Links;
use pneu::{
    Decryption, OpenedContent, Protection, Secrets, Signature, Standing, open_contents, protected_fields,
};
use render::{Content, Record, message};

/// How many digits of a key's fingerprint are shown.
const KEY_DIGITS: usize = 16;

/// Shows a message with what is known of its signatures, and what was decrypted.
///
/// # Errors
/// Several messages are given; the format is not plain; gpg cannot be run; the output cannot be written.
pub(super) fn show(found: &[Located], how: How, session: &Session) -> Result<Outcome> {
    let [located] = found else { bail!("--verify and --decrypt show one message") };
    if how.format != Format::Plain {
        bail!("--verify and --decrypt have the format plain");
    }
    let secrets = if how.decrypt { Secrets::Decrypted } else { Secrets::Kept };
    let (opened, is_cut) = open_contents(&located.content.bytes, secrets)?;
    let is_cut = is_cut || located.content.truncated;
    if is_cut {
        complain(
            "the message is too large or too complex: not all that is signed or encrypted was looked at",
        );
    }
    let parsed = located.parsed(preferred(how.prefer));
    let senders: Vec<&str> = parsed.from.iter().map(|address| address.address.as_str()).collect();
    let mut lines: String = opened.iter().map(|content| lines(content, &senders, true)).collect();
    if opened.is_empty() {
        lines.push_str("Signature: none\n");
    }
    let mut writer = Writer::new(how, session);
    // Before the header, where no text of a message stands.
    writer.lines(&format!("{lines}\n"))?;
    writer.message(located, known(located, session).as_ref(), None)?;
    for content in &opened {
        section(&mut writer, content, how)?;
    }
    writer.finish()?;
    let is_sound = |content: &OpenedContent| is_sound(content, &senders, how.decrypt);
    let is_done = !is_cut && !opened.is_empty() && opened.iter().all(is_sound);
    Ok(if is_done { Outcome::Done } else { Outcome::Partly })
}

/// Returns whether all that is encrypted was decrypted, if that is wanted, and all that is signed is signed
/// by the sender.
fn is_sound(content: &OpenedContent, senders: &[&str], decrypts: bool) -> bool {
    let is_open = match content.encryption {
        None => !content.signatures.is_empty(),
        Some(None) => false,
        Some(Some(decryption)) => decrypts && decryption == Decryption::Done,
    };
    let is_of_sender = |signature: &Signature| is_of_all(signature, senders);
    is_open
        && content.is_whole
        && !content.is_cut
        && content.signatures.iter().all(is_of_sender)
        && content.inner.iter().all(|inner| is_sound(inner, senders, decrypts))
}

/// Returns whether a signature is of all addresses of From: a stranger may name another beside their own.
fn is_of_all(signature: &Signature, senders: &[&str]) -> bool {
    !senders.is_empty() && senders.iter().all(|sender| signature.is_of(sender))
}

/// Returns a line for the encryption of a content, and one for each signature, also of those in it.
fn lines(content: &OpenedContent, senders: &[&str], is_whole: bool) -> String {
    let is_whole = is_whole && content.is_whole;
    let of = if is_whole { "" } else { " of a part of the message only" };
    let standard = match content.protection {
        Protection::OpenPgp => "PGP",
        Protection::Smime => "S/MIME",
    };
    let mut out = String::new();
    if let Some(encryption) = content.encryption {
        let what = match encryption {
            None => "not decrypted; --decrypt does",
            Some(Decryption::Done) => "decrypted",
            Some(Decryption::NoKey) => "cannot be decrypted: the secret key is not there",
            Some(Decryption::Failed) => {
                "CANNOT be decrypted, or was changed on the way; nothing of it is shown"
            }
        };
        out.push_str(&format!("Encryption{of}: {standard}, {what}\n"));
        if encryption == Some(Decryption::Done) && content.signatures.is_empty() && content.inner.is_empty() {
            out.push_str(&format!("Signature{of}: none, so anybody may have written what is encrypted\n"));
        }
    }
    for signature in &content.signatures {
        out.push_str(&format!("Signature{of}: {standard}, {}\n", standing(signature, senders)));
    }
    out.extend(content.inner.iter().map(|inner| lines(inner, senders, is_whole)));
    out
}

/// Returns what a signature is worth.
fn standing(signature: &Signature, senders: &[&str]) -> String {
    let key = signature.key.get(signature.key.len().saturating_sub(KEY_DIGITS)..).unwrap_or_default();
    let key = one_line(key).into_owned();
    let by = format!("by {}, key {key}", one_line(&signature.signer));
    let verdict = match signature.standing {
        Standing::Good => format!("good, {by}"),
        Standing::Expired => format!("EXPIRED, {by}"),
        Standing::KeyExpired => format!("made with a key that has EXPIRED, {by}"),
        Standing::KeyRevoked => format!("made with a key that was REVOKED, {by}"),
        Standing::UnknownKey => return format!("cannot be checked: the key {key} is not known"),
        Standing::Unchecked => return "cannot be checked".to_owned(),
        Standing::Bad => return format!("BAD: this is not what was signed {by}"),
    };
    let made = match signature.made.as_str() {
        "" => String::new(),
        made => format!(", made {}", one_line(made)),
    };
    let sender = if is_of_all(signature, senders) {
        "; it is the sender's"
    } else if !senders.is_empty() && senders.iter().all(|sender| signature.names(sender)) {
        "; the key names the sender, but it is NOT CERTIFIED: anybody may have made it"
    } else {
        "; it is NOT THE SENDER'S: From has another address"
    };
    format!("{verdict}{made}{sender}")
}

/// Shows what was decrypted, what of a message that is not signed as a whole is signed, and what was taken
/// out of a signature: only the program that checked the signature says what that is.
fn section(writer: &mut Writer, content: &OpenedContent, how: How) -> Result<()> {
    let is_decrypted = content.encryption.is_some();
    if let Some(bytes) = content.content.as_deref().filter(|_| content.is_taken_out || !content.is_whole) {
        writer.separator()?;
        let is_good = content.signatures.iter().all(|signature| signature.standing == Standing::Good);
        let title = match (is_decrypted, content.is_whole) {
            (true, _) => "Decrypted:",
            (false, _) if !is_good => "Signed, but the signature is not good:",
            (false, true) => "Signed:",
            (false, false) => "Signed, without the rest of the message:",
        };
        let cut = if content.is_cut { " the beginning of a very long content" } else { "" };
        let text = if content.is_text {
            message::body(&String::from_utf8_lossy(bytes), None)
        } else {
            entity(bytes, how)
        };
        writer.lines(&format!("{title}{cut}\n\n{text}"))?;
    }
    content.inner.iter().try_for_each(|inner| section(writer, inner, how))
}

/// Returns the text of a MIME entity: the header fields that are protected with it, its attachments, and its
/// text.
fn entity(bytes: &[u8], how: How) -> String {
    let now_seconds = environment::clock_ns().div_euclid(1_000_000_000);
    let links = if how.no_links { Links::Ignored } else { Links::Listed };
    let context =
        mail::Context { preferred: preferred(how.prefer), links, ..mail::Context::new(now_seconds) };
    let parsed = mail::parse(bytes, &context);
    let mut head = message::all_headers(&protected_fields(bytes).unwrap_or_default(), None);
    for attachment in &parsed.attachments {
        let (name, mime) = (one_line(&attachment.name), one_line(&attachment.mime));
        head.push_str(&format!("Attachment: {name} ({mime}, {} bytes)\n", attachment.size_bytes));
    }
    if !head.is_empty() {
        head.push('\n');
    }
    let size_bytes = bytes.len() as u64;
    let content = Content { message: &parsed, sha256: &[0; 32], size_bytes, path: None };
    head + &message::body(&Record::from_content(&content, None).shown_text(), None)
}
