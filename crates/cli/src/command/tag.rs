//! `pneu tag`: gives tags to the messages that a query matches, takes them away, or lists all tags.
//!
//! In: changes (`+a -b`) and a query, or a file of tags. Out: a summary, or tags with their counts. What is what among the words is decided here; what
//! can be a tag is decided by the library.

use crate::amount::count;
use crate::exit::Outcome;
use crate::question::Question;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use disk::Source;
use index::{TagChange, change_tags, import_tags};
use std::path::{Path, PathBuf};

/// The most that is read of tags as text.
const IMPORT_BYTES_MAX: usize = 1 << 30;

/// Give tags to messages, or take them away
///
/// Adds and removes tags of all messages that match, copies in other folders included. Tags are found with tag:NAME. They are
/// kept apart from the mail and from the index: they stay when messages are moved, marked or renamed and when the index is made
/// anew, and no message is changed. Labels that messages bring with them (X-Keywords, X-Label, Keywords) are found with tag:NAME,
/// too, but belong to the message: they cannot be removed.
///
/// Without arguments, lists all tags and how many messages have each. --import adds the tags that a backup has as text, as in the file
/// .pneu/tags of a restored snapshot; tags that are there stay.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu tag +work -- from:ana list:rust
  pneu tag +todo -later -- msgid:1234@example.org
  pneu tag -todo -- tag:todo date:..1y
  pneu find tag:work and not tag:todo
  pneu tag --import ~/restored/.pneu/tags
  pneu tag")]
pub(crate) struct Arguments {
    /// Add the tags of this file
    #[arg(long, value_name = "FILE", conflicts_with = "words")]
    import: Option<PathBuf>,
    /// +TAG to add, -TAG to remove, then the query behind --; options come before all of them
    #[arg(value_name = "+TAG|-TAG... -- QUERY", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

impl Arguments {
    /// Says whether `-h` is all there is: with a query behind it, it takes away a tag of that name.
    pub(crate) fn asks_for_help(&self) -> bool {
        self.words.as_slice() == ["-h"]
    }

    /// Returns changes and query, as they were typed.
    #[cfg(test)]
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }
}

/// Runs the command.
///
/// # Errors
/// No change, no query, or a query that cannot be understood; damage; a data directory that cannot be written.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    if let Some(path) = &arguments.import {
        return import(path, session);
    }
    if arguments.words.is_empty() {
        return list(session);
    }
    let (change, query) = split(&arguments.words)?;
    let question = Question::new(query, session)?;
    let mailbox = session.mailbox()?;
    let found = mailbox.evaluate(&question.query).map_err(|error| question.explain(error))?;
    let summary = change_tags(&session.index, &mailbox, &found, &change)?;
    if summary.messages == 0 {
        let why = question.why_nothing(&mailbox)?.map(|why| format!(": {why}")).unwrap_or_default();
        return session.nothing(format!("no message matches{why}"));
    }
    if !session.is_quiet {
        let mut output = session.output();
        output.line(&format!("{}: {} changed", count(summary.messages, "message"), summary.changed))?;
        output.finish()?;
    }
    Ok(Outcome::Done)
}

fn import(path: &Path, session: &Session) -> Result<Outcome> {
    let unread = |error: &dyn std::fmt::Display| anyhow!("cannot read {}: {error}", path.display());
    let bytes = disk::read_small(path, IMPORT_BYTES_MAX, Source::Anything).map_err(|error| unread(&error))?;
    let text = String::from_utf8(bytes).map_err(|error| unread(&error))?;
    let import =
        import_tags(&session.index, &text).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    if !session.is_quiet {
        let mut output = session.output();
        output.line(&format!("{}: {} changed", count(import.contents, "message"), import.changed))?;
        output.finish()?;
    }
    Ok(Outcome::Done)
}

fn list(session: &Session) -> Result<Outcome> {
    let tags = session.mailbox()?.tags()?;
    if tags.is_empty() {
        return session.nothing("there are no tags; pneu tag +NAME -- QUERY makes one");
    }
    let mut output = session.output();
    for (tag, count) in tags {
        output.line(&format!("{count:>8} {}", one_line(&tag)))?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}

/// Takes changes and query apart. The query is what stands behind `--`, or behind the last change; to change the tags of everything
/// takes a query that says so.
fn split(words: &[String]) -> Result<(TagChange, &[String])> {
    let mut change = TagChange::default();
    let mut rest = words;
    while let [word, others @ ..] = rest {
        if word == "--" {
            rest = others;
            break;
        }
        if word.starts_with("--") {
            bail!("{word} must stand before the tags");
        }
        match (word.strip_prefix('+'), word.strip_prefix('-')) {
            (Some(tag), _) => change.add.insert(tag.to_owned()),
            (_, Some(tag)) => change.remove.insert(tag.to_owned()),
            (None, None) => break,
        };
        rest = others;
    }
    if change.add.is_empty() && change.remove.is_empty() {
        bail!("what is to change? +TAG adds a tag, -TAG removes one: pneu tag +work -- from:ana");
    }
    if rest.is_empty() {
        bail!("which messages? Put a query behind the tags: pneu tag +work -- from:ana; '*' means all");
    }
    Ok((change, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        match split(&words) {
            Ok((change, query)) => format!("{:?} {:?} {query:?}", change.add, change.remove),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn changes_and_query_are_taken_apart() {
        for (line, expected) in [
            ("+a -b -- from:x y", r#"{"a"} {"b"} ["from:x", "y"]"#),
            ("+a from:x -y", r#"{"a"} {} ["from:x", "-y"]"#),
            ("-a -- -y", r#"{} {"a"} ["-y"]"#),
            ("+a +a *", r#"{"a"} {} ["*"]"#),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
        assert!(shown("from:x").starts_with("what is to change?"));
        assert!(shown("-- from:x").starts_with("what is to change?"));
        assert!(shown("+a --").starts_with("which messages?"));
        assert!(shown("+a --quiet -- x").starts_with("--quiet must stand before"));
    }
}
