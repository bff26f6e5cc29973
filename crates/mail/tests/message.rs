//! Messages as their readers see them, for the tests of parsing.
//!
//! Input: a message's bytes. Output: the parsed message, and its text form for review. Contains no test.

use mail::{Address, ContentFlags, Context, Message, parse};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What the messages of these tests cannot say of themselves: they are read in 2026.
pub(crate) const CONTEXT: Context = Context::new(1_790_000_000);

/// Returns the golden messages, sorted: `testdata/mail/NAME.eml`.
pub(crate) fn golden() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/mail");
    let mut paths: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "eml"));
    paths.sort();
    paths
}

/// Takes a message apart in the context of these tests.
pub(crate) fn parsed(bytes: impl AsRef<[u8]>) -> Message {
    let headers = ["X-Mailer", "X-Spam-Score"].map(str::to_owned);
    parse(bytes.as_ref(), &Context { headers: &headers, ..CONTEXT })
}

/// Writes a message as text: what is empty is left out, and what cannot be seen is written as an escape.
pub(crate) fn show(message: &Message) -> String {
    let mut out = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            writeln!(out, "{name}: {}", visible(value)).unwrap();
        }
    };
    line("subject", &message.subject);
    line("from", &addresses(&message.from));
    line("to", &addresses(&message.to));
    line("cc", &addresses(&message.cc));
    line("bcc", &addresses(&message.bcc));
    line("reply-to", &addresses(&message.reply_to));
    line("message-id", &message.message_id);
    line("derived", if message.message_id_derived { "yes" } else { "" });
    line("references", &message.references.join(" "));
    line("in-reply-to", &message.in_reply_to.join(" "));
    line(
        "date",
        &message.date.map(|(seconds, source)| format!("{seconds} by {source:?}")).unwrap_or_default(),
    );
    line("list-id", &message.list_id);
    line("labels", &message.labels.join(" | "));
    line("flags", &message.flags.words().collect::<Vec<_>>().join(" "));
    line("priority", priority(message.flags));
    line("language", message.language);
    for (name, value) in &message.headers {
        line(&format!("header {name}"), value);
    }
    line("types", &message.mime_types.join(" "));
    for attachment in &message.attachments {
        line("attachment", &format!("{:?} {} {}", attachment.name, attachment.mime, attachment.size_bytes));
    }
    line("copy-hash", &message.copy_hash.map_or("none".to_owned(), |hash| format!("{hash:032x}")));
    for problem in &message.problems {
        line("problem", &problem.to_string());
    }
    for text in message.embedded_texts() {
        line("embedded", text.lines().next().unwrap_or_default());
    }
    line("snippet", &message.snippet);
    for text in message.text.lines() {
        writeln!(out, "| {}", visible(text)).unwrap();
    }
    for form in &message.other_forms {
        writeln!(out, "other form: {}{}", form.mime, if form.is_embedded { ", embedded" } else { "" })
            .unwrap();
        for text in form.text.lines() {
            writeln!(out, "+ {}", visible(text)).unwrap();
        }
    }
    out.replace(" \n", "\n")
}

fn priority(flags: ContentFlags) -> &'static str {
    match (flags.contains(ContentFlags::HIGH), flags.contains(ContentFlags::LOW)) {
        (true, false) => "high",
        (false, true) => "low",
        (false, false) => "",
        (true, true) => "both",
    }
}

fn addresses(addresses: &[Address]) -> String {
    let lines = addresses.iter().map(|found| format!("{} <{}>", found.name, found.address));
    lines.collect::<Vec<_>>().join(", ")
}

fn visible(text: &str) -> String {
    let is_hidden = |character: char| character.is_control() || matches!(character, '\u{202a}'..='\u{202e}');
    text.chars()
        .flat_map(|character| {
            let escaped = if is_hidden(character) { Some(character.escape_default()) } else { None };
            let plain = escaped.is_none().then_some(character);
            escaped.into_iter().flatten().chain(plain)
        })
        .collect()
}
