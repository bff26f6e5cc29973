//! `pneu contacts`: lists people who wrote or received messages.

use crate::exit::Outcome;
use crate::options::limit;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use pneu::{Circle, OwnPeople, PeopleQuestion, Person};
use render::people::{self, PeopleFormat};
use std::num::NonZeroUsize;
use terminal::command_line::Run;
use terminal::screen::{cut, width};

/// List people by name or address
///
/// Lists everyone who sent or received a message and whose name or address contains all the words, ignoring
/// case and accents. Useful for address completion.
///
/// People are ranked by how often and how recently they wrote or received mail, and by whether you wrote to
/// them. A message counts half as much after 180 days. A message of yours counts 50 times for each of its
/// recipients. Mailing lists come after all people. Your own addresses, as listed in the configuration, are
/// left out; without them, all messages count the same.
#[derive(Debug, Args)]
#[command(aliases = ["address", "cfind"], after_help = "\
Examples:
  pneu contacts ana
  pneu contacts -n 20
  pneu contacts --personal
  pneu contacts --format json example.org | jq -r .address
  pneu contacts --format vcard > people.vcf

In neomuttrc:
  set query_command = \"pneu contacts --format mutt %s\"

In aerc.conf, section compose:
  address-book-cmd = pneu contacts --format aerc %s")]
pub(crate) struct Arguments {
    /// Words that the name or address must contain. Without any, everyone is listed
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Only people who wrote to you personally or to whom you wrote, in mail that still has a file. Needs
    /// your addresses in the configuration
    #[arg(long, short = 'p')]
    personal: bool,
    /// List your own addresses, too
    #[arg(long)]
    own: bool,
    /// List at most COUNT people
    #[arg(long, short = 'n', aliases = ["maxnum", "limit"], value_name = "COUNT", value_parser = limit)]
    max: Option<NonZeroUsize>,
    /// Output format
    #[arg(long, short = 'o', value_enum, default_value_t = Format::Plain)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One person per line: the name, and the address in angle brackets; "(list)" after a mailing list
    Plain,
    /// JSON Lines
    Json,
    /// CSV (RFC 4180) with a line of column names. A text that a spreadsheet would compute has a ' in front
    Csv,
    /// vCard 4.0
    Vcard,
    /// For query_command of mutt and neomutt
    Mutt,
    /// For address-book-cmd of aerc
    Aerc,
}

impl Format {
    /// Returns the library's name, or `None` for plain lines, which depend on the terminal.
    fn of_library(self) -> Option<PeopleFormat> {
        Some(match self {
            Format::Plain => return None,
            Format::Json => PeopleFormat::Json,
            Format::Csv => PeopleFormat::Csv,
            Format::Vcard => PeopleFormat::Vcard,
            Format::Mutt => PeopleFormat::Mutt,
            Format::Aerc => PeopleFormat::Aerc,
        })
    }
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no index, or a damaged one.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let circle = if self.personal { Circle::Partners } else { Circle::Everybody };
        if self.personal && session.configured()?.own_addresses().is_empty() {
            bail!(
                "your addresses are not known; name them in the configuration: \
                 [user] addresses = [\"ana@example.org\"]"
            );
        }
        let found = session.view()?.people(&PeopleQuestion {
            words: self.words.clone(),
            circle,
            own: if self.own { OwnPeople::Listed } else { OwnPeople::LeftOut },
            count_max: self.max.map(NonZeroUsize::get),
            ..PeopleQuestion::default()
        })?;
        let format = self.format.of_library();
        // Mutt shows the first line to the user, and would mix standard error with its screen.
        if found.is_empty() && format != Some(PeopleFormat::Mutt) {
            return session.nothing("no person matches");
        }
        let mut output = session.output();
        if let Some(format) = format {
            output.bytes(&people::head(format, found.len()))?;
        }
        for person in &found {
            match format {
                Some(format) => output.bytes(&people::person(format, person))?,
                None => output.line(&plain(person, output.terminal.columns))?,
            }
        }
        output.finish()?;
        Ok(if found.is_empty() { Outcome::Nothing } else { Outcome::Done })
    }
}

/// Returns a person as a line that fits into the columns of a terminal. Only the name is cut: its sender
/// chose it, and a name that looks like an address must not stand for the address.
fn plain(person: &Person, columns: Option<usize>) -> String {
    let address = one_line(&person.address);
    // A comment, so that the line is still an address (RFC 5322).
    let mark = if person.is_list { " (list)" } else { "" };
    if !people::has_own_name(person) {
        return format!("{address}{mark}");
    }
    let after = format!(" <{address}>{mark}");
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(width(&after)));
    format!("{}{after}", phrase(&one_line(&person.name), room))
}

/// Returns a name as a phrase of RFC 5322 that takes at most so many columns: in quotes, if it has characters
/// that mean something in a list of addresses.
fn phrase(name: &str, room: usize) -> String {
    let is_plain = |letter: char| {
        letter.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~ ".contains(letter) || !letter.is_ascii()
    };
    // Spaces at an end, or two of them, would be lost. An encoded word would be decoded.
    let words_are_whole = name.split(' ').all(|word| !word.is_empty() && !word.starts_with("=?"));
    let mut kept = cut(name, room);
    if name.chars().all(is_plain) && words_are_whole {
        return kept.into_owned();
    }
    loop {
        let quoted = format!("\"{}\"", kept.replace('\\', "\\\\").replace('"', "\\\""));
        let excess = width(&quoted).saturating_sub(room);
        if excess == 0 {
            return quoted;
        }
        // Nothing of it fits.
        if kept.is_empty() {
            return String::new();
        }
        kept = cut(name, width(&kept).saturating_sub(excess.min(width(&kept))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_the_address_is_not_repeated() {
        let person = |name: &str| Person {
            address: "ana@example.org".into(),
            name: name.into(),
            sent_count: 1,
            received_count: 0,
            first: None,
            last: Some(0),
            written_count: 0,
            last_written: None,
            is_list: false,
            is_own: false,
        };
        for (name, expected) in [
            ("Ana", "Ana <ana@example.org>"),
            ("", "ana@example.org"),
            ("Ana@Example.org", "ana@example.org"),
            ("A\u{1b}[1m", "\"A\u{fffd}[1m\" <ana@example.org>"),
            ("Ito, Ana", "\"Ito, Ana\" <ana@example.org>"),
            ("Dr. Ana", "\"Dr. Ana\" <ana@example.org>"),
            ("Ana \"An\\n\" Ito", "\"Ana \\\"An\\\\n\\\" Ito\" <ana@example.org>"),
            ("Ana-Léa O'Ítø", "Ana-Léa O'Ítø <ana@example.org>"),
            ("=?utf-8?q?Bo?=", "\"=?utf-8?q?Bo?=\" <ana@example.org>"),
            ("Ana  Ito", "\"Ana  Ito\" <ana@example.org>"),
        ] {
            assert_eq!(plain(&person(name), None), expected);
        }
        let list = Person { is_list: true, ..person("Tubes") };
        assert_eq!(plain(&list, Some(28)), "Tu… <ana@example.org> (list)");
        for (columns, expected) in [
            (40, "\"Ana <evil@x.example…\" <ana@example.org>"),
            (30, "\"Ana <evil…\" <ana@example.org>"),
            (21, "\"…\" <ana@example.org>"),
            (19, " <ana@example.org>"),
            (18, " <ana@example.org>"),
            (5, " <ana@example.org>"),
        ] {
            assert_eq!(plain(&person("Ana <evil@x.example.org> of the city"), Some(columns)), expected);
        }
    }
}
