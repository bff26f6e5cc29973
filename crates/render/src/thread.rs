//! A conversation as a record: how many messages it has, who wrote them, what it is about.
//!
//! Input: the messages of a conversation, as the index knows them. Output: one value, which serialises as
//! docs/OUTPUT.md describes it, and its line of plain text without columns. Does not depend on how it is
//! printed.

use crate::flags;
use crate::listed::Listed;
use crate::record::{VERSION, calendar};
use index::{Contact, Origin};
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};

/// Prefixes that programs write before the subject of a reply.
const ANSWER: [&str; 4] = ["re:", "aw:", "sv:", "vs:"];

/// The data of a message that its conversation needs: much less than the message, since there may be many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadMessage {
    id: String,
    date_unix: Option<i64>,
    from: Vec<Contact>,
    subject: String,
    tags: Vec<String>,
    is_unread: bool,
    is_found: bool,
}

impl ThreadMessage {
    /// Takes what is needed.
    pub fn new(listed: Listed, origin: Origin) -> ThreadMessage {
        let is_unread = is_unread(&listed);
        let message = listed.message;
        ThreadMessage {
            id: message.rest.message_id,
            date_unix: message.line.date,
            from: message.rest.from,
            subject: message.line.subject,
            tags: message.tags,
            is_unread,
            is_found: origin == Origin::Found,
        }
    }
}

/// A conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadSummary {
    version: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    /// The Message-ID of its first message.
    pub id: String,
    /// The date of its newest message in UTC; none if no message has one, or it is past what a calendar has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The same in seconds since 1970, if any message has a date.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_unix: Option<i64>,
    /// How many messages it has.
    pub messages: usize,
    /// How many of them match.
    pub found: usize,
    /// How many of them are unread.
    pub unread: usize,
    /// Their authors, each once: first those of messages that match, each in the order of dates.
    pub authors: Vec<Author>,
    /// The subject of the newest message that matches, without "Re:".
    pub subject: String,
    /// The tags that any of its messages has, in their order.
    pub tags: BTreeSet<String>,
}

/// An author of messages of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Author {
    /// The display name; may be empty.
    pub name: String,
    /// The address; may be empty.
    pub address: String,
    /// Whether a message of this author matches.
    pub found: bool,
}

impl Author {
    /// Returns the name for people.
    pub fn shown(&self) -> &str {
        if self.name.is_empty() { &self.address } else { &self.name }
    }
}

impl ThreadSummary {
    /// Summarises the messages of a conversation, which begin with its first message.
    pub fn new(messages: &[ThreadMessage]) -> ThreadSummary {
        let mut by_date: Vec<&ThreadMessage> = messages.iter().collect();
        by_date.sort_by_key(|message| message.date_unix);
        let date_unix = by_date.last().and_then(|message| message.date_unix);
        let newest = by_date.iter().rfind(|message| message.is_found).or(by_date.last());
        ThreadSummary {
            version: VERSION,
            kind: "thread",
            id: messages.first().map(|first| first.id.clone()).unwrap_or_default(),
            date: calendar(date_unix),
            date_unix,
            messages: messages.len(),
            found: messages.iter().filter(|message| message.is_found).count(),
            unread: messages.iter().filter(|message| message.is_unread).count(),
            authors: authors(&by_date),
            subject: newest.map(|message| bare(&message.subject)).unwrap_or_default().to_owned(),
            tags: messages.iter().flat_map(|message| message.tags.iter().cloned()).collect(),
        }
    }

    /// Returns the authors in one line: a bar is before those without a matching message.
    pub fn author_names(&self) -> String {
        let names = |is_wanted: bool, known: &mut HashSet<String>| {
            let wanted = self.authors.iter().filter(|author| author.found == is_wanted);
            let new = wanted.map(Author::shown).filter(|name| known.insert((*name).to_owned()));
            new.collect::<Vec<_>>().join(", ")
        };
        let mut known = HashSet::new();
        let (found, others) = (names(true, &mut known), names(false, &mut known));
        if others.is_empty() { found } else { format!("{found}| {others}") }
    }
}

fn is_unread(listed: &Listed) -> bool {
    let files = listed.message.files.iter().map(|file| file.flags);
    flags::names(files, listed.message.line.derived).contains(&"unread")
}

/// Returns the authors of messages, which are sorted by date.
fn authors(by_date: &[&ThreadMessage]) -> Vec<Author> {
    let (mut authors, mut known) = (Vec::new(), HashSet::new());
    for wanted in [true, false] {
        for message in by_date.iter().filter(|message| message.is_found == wanted) {
            for contact in &message.from {
                let key = if contact.address.is_empty() { &contact.name } else { &contact.address };
                if known.insert(key.to_lowercase()) {
                    let (name, address) = (contact.name.clone(), contact.address.clone());
                    authors.push(Author { name, address, found: wanted });
                }
            }
        }
    }
    authors
}

/// Returns a subject without the prefixes of a reply.
fn bare(subject: &str) -> &str {
    let mut rest = subject.trim();
    let strip = |text: &'_ str| {
        ANSWER
            .iter()
            .find(|mark| text.get(..mark.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(mark)))
    };
    while let Some(mark) = strip(rest) {
        rest = rest.get(mark.len()..).unwrap_or_default().trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sample;
    use mail::Flags;

    fn message(from: &str, date: i64, subject: &str, flags: Flags) -> Listed {
        let mut listed = sample();
        let message = &mut listed.message;
        let (name, address) = from.split_once('/').unwrap();
        message.rest.from = vec![Contact { name: name.into(), address: address.into() }];
        message.rest.message_id = format!("{date}@x");
        message.line.date = Some(date);
        message.line.subject = subject.into();
        message.tags = vec![format!("t{}", date % 2)];
        message.files.truncate(1);
        message.files[0].flags = flags;
        listed
    }

    #[test]
    fn a_conversation_is_summed_up() {
        let messages = [
            (message("Ana/ana@x", 10, "Lunch", Flags::SEEN), Origin::Related),
            (message("Bo/bo@x", 40, "Re: AW:Dinner", Flags::SEEN), Origin::Found),
            (message("/cy@x", 30, "re: Lunch", Flags::NONE), Origin::Found),
            (message("Anna/ANA@x", 50, "Re: Re: Supper", Flags::NONE), Origin::Related),
            (message("Bo/bo@y", 20, "Fwd: Lunch", Flags::NONE), Origin::Related),
        ];
        let messages = messages.map(|(listed, origin)| ThreadMessage::new(listed, origin));
        let summary = ThreadSummary::new(&messages);
        assert_eq!(
            serde_json::to_string(&summary).unwrap(),
            "{\"version\":1,\"type\":\"thread\",\"id\":\"10@x\",\"date\":\"1970-01-01T00:00:50Z\",\
             \"date_unix\":50,\"messages\":5,\"found\":2,\"unread\":3,\"authors\":[\
             {\"name\":\"\",\"address\":\"cy@x\",\"found\":true},\
             {\"name\":\"Bo\",\"address\":\"bo@x\",\"found\":true},\
             {\"name\":\"Ana\",\"address\":\"ana@x\",\"found\":false},\
             {\"name\":\"Bo\",\"address\":\"bo@y\",\"found\":false}],\
             \"subject\":\"Dinner\",\"tags\":[\"t0\"]}"
        );
        assert_eq!(summary.author_names(), "cy@x, Bo| Ana");
        assert_eq!(ThreadSummary::new(&messages[1..3]).author_names(), "cy@x, Bo");
        let nothing = ThreadSummary::new(&[]);
        assert_eq!((nothing.messages, nothing.author_names()), (0, String::new()));
    }

    #[test]
    fn subjects_are_those_of_what_is_answered() {
        for (subject, expected) in [
            ("Re: a", "a"),
            ("RE:AW: re:  b", "b"),
            ("Fwd: Re: c", "Fwd: Re: c"),
            ("re", "re"),
            ("Ré: d", "Ré: d"),
        ] {
            assert_eq!(bare(subject), expected);
        }
    }
}
