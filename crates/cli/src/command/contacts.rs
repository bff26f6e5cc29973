//! `pneu contacts`: lists people who wrote or received messages.

use crate::exit::Outcome;
use crate::options::limit;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use pneu::{Circle, Person};
use serde::Serialize;
use std::num::NonZeroUsize;
use terminal::command_line::Run;
use terminal::screen::{cut, width};

/// List people by name or address
///
/// Lists everyone who sent or received a message and whose name or address contains all the words, ignoring
/// case and accents. People with the most messages come first. Your own addresses, as listed in the
/// configuration, are left out. Useful for address completion.
#[derive(Debug, Args)]
#[command(aliases = ["address", "cfind"], after_help = "\
Examples:
  pneu contacts ana
  pneu contacts -n 20
  pneu contacts --personal
  pneu contacts --format json example.org | jq -r .address")]
pub(crate) struct Arguments {
    /// Words that the name or address must contain. Without any, everyone is listed
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Only people who wrote to you personally or to whom you wrote, in mail that still has a file. Needs
    /// your addresses in the configuration
    #[arg(long, short = 'p')]
    personal: bool,
    /// List at most COUNT people
    #[arg(long, short = 'n', aliases = ["maxnum", "limit"], value_name = "COUNT", value_parser = limit)]
    max: Option<NonZeroUsize>,
    /// Output format
    #[arg(long, short = 'o', value_enum, default_value_t = Format::Plain)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One person per line: the name, and the address in angle brackets
    Plain,
    /// JSON Lines
    Json,
}

/// A line of JSON.
#[derive(Debug, Serialize)]
struct Line<'a> {
    version: u32,
    #[serde(rename = "type")]
    kind: &'static str,
    address: &'a str,
    name: &'a str,
    sent: u32,
    received: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_unix: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_unix: Option<i64>,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no index, or a damaged one.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let circle = if self.personal { Circle::Partners } else { Circle::Everybody };
        if self.personal && session.configured()?.addresses.is_empty() {
            bail!(
                "your addresses are not known; name them in the configuration: \
                 [user] addresses = [\"ana@example.org\"]"
            );
        }
        let people = session.view()?.people(&self.words, circle)?;
        if people.is_empty() {
            return session.nothing("no person matches");
        }
        let mut output = session.output();
        for person in people.iter().take(self.max.map_or(usize::MAX, NonZeroUsize::get)) {
            match self.format {
                Format::Plain => output.line(&plain(person, output.terminal.columns))?,
                Format::Json => output.bytes(&json(person))?,
            }
        }
        output.finish()?;
        Ok(Outcome::Done)
    }
}

/// Returns a person as a line that fits into the columns of a terminal. Only the name is cut: its sender
/// chose it, and a name that looks like an address must not stand for the address.
fn plain(person: &Person, columns: Option<usize>) -> String {
    let address = one_line(&person.address);
    let name = one_line(&person.name);
    // Some programs write the address twice.
    if name.is_empty() || person.name.eq_ignore_ascii_case(&person.address) {
        return address.into_owned();
    }
    let behind = format!(" <{address}>");
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(width(&behind)));
    format!("{}{behind}", cut(&name, room))
}

fn json(person: &Person) -> Vec<u8> {
    let line = Line {
        version: 1,
        kind: "contact",
        address: &person.address,
        name: &person.name,
        sent: person.sent_count,
        received: person.received_count,
        first_unix: person.first,
        last_unix: person.last,
    };
    let mut out = Vec::new();
    printable::json::put(&line, &mut out);
    out.push(b'\n');
    out
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
        };
        for (name, expected) in [
            ("Ana", "Ana <ana@example.org>"),
            ("", "ana@example.org"),
            ("Ana@Example.org", "ana@example.org"),
            ("A\u{1b}[1m", "A\u{fffd}[1m <ana@example.org>"),
        ] {
            assert_eq!(plain(&person(name), None), expected);
        }
        for (columns, expected) in [
            (40, "Ana <evil@x.example.o… <ana@example.org>"),
            (30, "Ana <evil@x… <ana@example.org>"),
            (19, "… <ana@example.org>"),
            (18, " <ana@example.org>"),
            (5, " <ana@example.org>"),
        ] {
            assert_eq!(plain(&person("Ana <evil@x.example.org> of the city"), Some(columns)), expected);
        }
    }
}
