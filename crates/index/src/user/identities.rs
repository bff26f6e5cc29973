//! What the user changed of the identities that mail is sent from: a name, signatures, and who gets replies
//! and copies. One attachment of the store `user/`. It is not part of backups: otherwise whoever writes to
//! a repository could give a restored mailbox an address that gets a copy of all that is sent.
//!
//! Input: the store, or a change. Output: what differs from the default, by root and sender. docs/FORMAT.md
//! describes the format: one line per identity. Must not know which identities the configuration has.

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::user::change::Changes;
use crate::user::writer_for;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use store::Snapshot;
use work::Progress;

/// The attachment's name.
const ATTACHMENT: &str = "identities";
/// Most bytes of the attachment, which each change writes anew.
const BYTES_MAX: usize = 1 << 20;
/// The first line: the kind of the text.
const HEADER: &str = "pneu-identities 1";

/// Which identity is meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IdentityKey {
    /// The root's name.
    pub root: String,
    /// What the caller knows the identity by among those of its root.
    pub sender: String,
}

/// An address that the user typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAddress {
    /// The name beside it, if there is one.
    pub name: Option<String>,
    /// The address.
    pub address: String,
}

/// What the user changed of an identity; the default is nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptIdentity {
    /// The name, if it is not that of the configuration.
    pub name: Option<String>,
    /// Where replies go; to the sender if nobody is named.
    pub reply_to: Vec<NamedAddress>,
    /// Who gets a copy that others do not see.
    pub bcc: Vec<NamedAddress>,
    /// What new plain text ends with.
    pub text_signature: String,
    /// What new HTML ends with, as the user's client wrote it.
    pub html_signature: String,
}

/// All that the user changed.
pub type KeptIdentities = BTreeMap<IdentityKey, KeptIdentity>;

/// Reads what a commit of `user/` keeps of identities.
///
/// # Errors
/// [`Error::KeptText`].
pub(crate) fn read(user: Option<&Snapshot>) -> Result<KeptIdentities> {
    let Some(user) = user else { return Ok(KeptIdentities::default()) };
    let Some(bytes) = user.attachment(ATTACHMENT) else { return Ok(KeptIdentities::default()) };
    parse(bytes).map_err(|(line, what)| Error::KeptText {
        of: ATTACHMENT,
        path: user.directory().to_owned(),
        line,
        what,
    })
}

/// Changes what is kept of an identity, in one commit. `change` gets what is kept now, under the writer's
/// lock, and returns what is to be kept; nothing is written if it returns `None` or the same. The observer
/// may end a wait for another process.
///
/// # Errors
/// [`Error::Interrupted`]; [`Error::Limit`], if all of it would have more than 1 MiB; damage, a full disk, a
/// data directory that cannot be written: nothing was changed.
pub fn change_identity(
    (environment, observer): (&Environment, &dyn Progress),
    key: &IdentityKey,
    change: &mut (dyn FnMut(&KeptIdentity) -> Option<KeptIdentity> + Send),
) -> Result<()> {
    let mut writer = writer_for(environment, observer)?;
    let user = writer.snapshot()?;
    let mut all = read(Some(&user))?;
    let before = all.remove(key).unwrap_or_default();
    let Some(kept) = change(&before).filter(|kept| *kept != before) else { return Ok(()) };
    if kept != KeptIdentity::default() {
        all.insert(key.clone(), kept);
    }
    let text = encode(&all);
    if text.len() > BYTES_MAX {
        return Err(Error::Limit { what: "the size of what is kept of identities", limit: BYTES_MAX as u64 });
    }
    let mut transaction = Changes::new(&user)?.transaction(environment, &user)?;
    transaction.attach(ATTACHMENT, text.into_bytes());
    writer.commit(transaction)?;
    Ok(())
}

fn encode(all: &KeptIdentities) -> String {
    let mut text = format!("{HEADER}\n");
    for (IdentityKey { root, sender }, kept) in all {
        let mut line = json!({"root": root, "sender": sender});
        let mut put = |name: &str, value: Value| line[name] = value;
        if let Some(name) = &kept.name {
            put("name", name.as_str().into());
        }
        for (name, addresses) in [("replyTo", &kept.reply_to), ("bcc", &kept.bcc)] {
            if !addresses.is_empty() {
                let pair = |one: &NamedAddress| json!([one.name, one.address]);
                put(name, addresses.iter().map(pair).collect());
            }
        }
        for (name, signature) in
            [("textSignature", &kept.text_signature), ("htmlSignature", &kept.html_signature)]
        {
            if !signature.is_empty() {
                put(name, signature.as_str().into());
            }
        }
        text.push_str(&line.to_string());
        text.push('\n');
    }
    text
}

/// Reads a text. Otherwise returns the number of the line that is wrong, and why.
fn parse(bytes: &[u8]) -> std::result::Result<KeptIdentities, (usize, &'static str)> {
    let text = std::str::from_utf8(bytes).map_err(|_| (1, "it is not UTF-8 text"))?;
    let mut lines = (1..).zip(text.lines());
    if lines.next().is_none_or(|(_, line)| line != HEADER) {
        return Err((1, "it does not begin with \"pneu-identities 1\""));
    }
    let mut all = KeptIdentities::default();
    for (number, line) in lines {
        let (key, kept) = parse_line(line).ok_or((number, "it is no line of an identity"))?;
        if all.insert(key, kept).is_some() {
            return Err((number, "its identity is listed twice"));
        }
    }
    Ok(all)
}

fn parse_line(line: &str) -> Option<(IdentityKey, KeptIdentity)> {
    let mut members: Map<String, Value> = serde_json::from_str(line).ok()?;
    let mut text = |name: &str| match members.remove(name) {
        None => Some(None),
        Some(Value::String(text)) => Some(Some(text)),
        Some(_) => None,
    };
    let key = IdentityKey { root: text("root")??, sender: text("sender")?? };
    let (name, text_signature, html_signature) =
        (text("name")?, text("textSignature")?, text("htmlSignature")?);
    let mut addresses = |name: &str| match members.remove(name) {
        None => Some(Vec::new()),
        Some(Value::Array(all)) => all.iter().map(address).collect(),
        Some(_) => None,
    };
    let kept = KeptIdentity {
        name,
        reply_to: addresses("replyTo")?,
        bcc: addresses("bcc")?,
        text_signature: text_signature.unwrap_or_default(),
        html_signature: html_signature.unwrap_or_default(),
    };
    members.is_empty().then_some((key, kept))
}

fn address(value: &Value) -> Option<NamedAddress> {
    match value.as_array()?.as_slice() {
        [Value::Null, Value::String(address)] => Some(NamedAddress { name: None, address: address.clone() }),
        [Value::String(name), Value::String(address)] => {
            Some(NamedAddress { name: Some(name.clone()), address: address.clone() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{HEADER, IdentityKey, KeptIdentities, KeptIdentity, NamedAddress, encode, parse};

    fn some() -> KeptIdentities {
        let key = |sender: &str| IdentityKey { root: "ho\tme".into(), sender: sender.into() };
        let address = |name: Option<&str>| NamedAddress {
            name: name.map(str::to_owned),
            address: "a@\u{fc}.example".into(),
        };
        let whole = KeptIdentity {
            name: Some(String::new()),
            reply_to: vec![address(None), address(Some("\"A\"\n"))],
            bcc: vec![address(Some(""))],
            text_signature: "-- \nAna\r\n".into(),
            html_signature: "<p>\u{2028}</p>".into(),
        };
        let named = KeptIdentity { name: Some("Ana".into()), ..KeptIdentity::default() };
        [(key("b"), whole), (key("a"), named)].into()
    }

    #[test]
    fn what_is_kept_comes_back_one_line_each() {
        let text = encode(&some());
        assert_eq!(text.lines().count(), 3);
        assert_eq!(parse(text.as_bytes()), Ok(some()));
        assert_eq!(parse(format!("{HEADER}\n").as_bytes()), Ok(KeptIdentities::default()));
    }

    #[test]
    fn a_text_that_is_none_is_refused_with_its_line() {
        let line = r#"{"root":"r","sender":"s","name":"n"}"#;
        let texts = [
            ("pneu-identities 2\n".to_owned(), 1),
            (format!("{HEADER}\n{line}\n{line}\n"), 3),
            (format!("{HEADER}\n\n"), 2),
            (format!("{HEADER}\n{}\n", line.replace("sender", "else")), 2),
            (format!("{HEADER}\n{}\n", line.replace("\"n\"", "1")), 2),
            (format!("{HEADER}\n{}\n", line.replace("\"name\":\"n\"", "\"bcc\":[[\"a\"]]")), 2),
            (format!("{HEADER}\n{}\n", line.replace("\"name\"", "\"more\"")), 2),
        ];
        for (text, line) in texts {
            assert_eq!(parse(text.as_bytes()).map_err(|(line, _)| line), Err(line), "{text}");
        }
        assert_eq!(parse(b"pneu-identities 1\n\xff").map_err(|(line, _)| line), Err(1));
    }
}
