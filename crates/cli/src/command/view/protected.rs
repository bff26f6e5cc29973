//! `pneu view --verify` and `--decrypt`: says what is signed and encrypted, and shows what was decrypted.
//!
//! Takes a message that was read, and what the library opened of it. The verdicts stand first. Each line of
//! the message and of what was decrypted has a mark before it, so that no text can imitate a verdict. Each
//! decrypted content is shown by itself, as text, after the message: never joined with what a stranger may
//! have put around it. Does not know how anything is verified or decrypted.

use super::input::known;
use super::options::{Format, How};
use super::verdict::{is_signed, is_sound, lines};
use super::writer::{MARGIN, Writer, preferred};
use crate::environment;
use crate::exit::Outcome;
use crate::output::complain;
use crate::sanitise::one_line;
use crate::search::locate::Located;
use crate::session::Session;
use anyhow::{Result, bail};
use mail::Links;
use pneu::{OpenedContent, Secrets, Standing, open_contents, protected_fields};
use render::{Content, Record, message};
use terminal::signals;
use work::Cancel;

/// Shows a message with what is known of its signatures, and what was decrypted.
///
/// # Errors
/// Several messages are given; the format is not plain; the output cannot be written.
pub(super) fn show(found: &[Located], how: How, session: &Session) -> Result<Outcome> {
    let [located] = found else { bail!("--verify and --decrypt show one message") };
    if how.format != Format::Plain {
        bail!("--verify and --decrypt have the format plain");
    }
    let secrets = if how.decrypt { Secrets::Decrypted } else { Secrets::Kept };
    // A signal ends the program that reads the message, too.
    signals::listen()?;
    let opened = open_contents(&located.content.bytes, secrets, &Cancel::when(signals::is_interrupted));
    if signals::is_interrupted() {
        return Ok(Outcome::Interrupted);
    }
    signals::only_prints();
    let is_cut = opened.is_cut || located.content.truncated;
    if let Some(mebibytes) = opened.mebibytes_max {
        complain(format!("more than {mebibytes} MiB are encrypted or signed: not all of it was opened"));
    }
    if is_cut {
        complain(
            "the message is too large or too complex: not all that is signed or encrypted was looked at",
        );
    }
    let parsed = located.parsed(preferred(how.prefer));
    let senders: Vec<&str> = parsed.from.iter().map(|address| address.address.as_str()).collect();
    let contents = &opened.contents;
    let mut lines: String = contents.iter().map(|content| lines(content, &senders, true)).collect();
    if contents.is_empty() {
        lines.push_str("Signature: none\n");
    }
    lines.push_str(&format!("Only lines that begin with \"{MARGIN}\" are of the message.\n\n"));
    let mut writer = Writer::with_margin(how, session);
    writer.lines(&lines)?;
    writer.message(located, known(located, session).as_ref(), None)?;
    for content in contents {
        section(&mut writer, content, how)?;
    }
    writer.finish()?;
    let is_sound = |content: &OpenedContent| is_sound(content, &senders, how.decrypt);
    let is_all = !is_cut && opened.mebibytes_max.is_none() && !contents.is_empty();
    let is_wanted = |content: &OpenedContent| is_sound(content) && (!how.verify || is_signed(content));
    let is_done = is_all && contents.iter().all(is_wanted);
    Ok(if is_done { Outcome::Done } else { Outcome::Partly })
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
        writer.lines(&format!("{title}{cut}\n\n"))?;
        writer.content(&text)?;
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
