//! `pneu contacts`: lists who wrote messages and who got them.

use crate::exit::Outcome;
use crate::format::json::Harmless;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use index::{Circle, Person};
use serde::Serialize;
use serde_json::Serializer;
use std::num::NonZeroUsize;

/// List people by name or address
///
/// Lists everybody who wrote a message or got one and whose name or address holds all the words; case and
/// accents do not matter. Those with the most messages come first. You are left out, whose addresses the
/// configuration names. For completing addresses, say.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu contacts ana
  pneu contacts -n 20
  pneu contacts --personal
  pneu contacts --format json example.org | jq -r .address")]
pub(crate) struct Arguments {
    /// What name and address must hold; nothing lists everybody
    #[arg(value_name = "WORD")]
    words: Vec<String>,
    /// Only those who wrote to you in person or to whom you wrote, in mail that is there. The configuration
    /// must name your addresses
    #[arg(long, short = 'p')]
    personal: bool,
    /// List so many at most
    #[arg(long, short = 'n', alias = "maxnum", value_name = "COUNT")]
    max: Option<NonZeroUsize>,
    /// What to print
    #[arg(long, short = 'o', value_enum, default_value_t = Format::Plain)]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Somebody on each line: the name, and the address in angle brackets
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
    first_unix: i64,
    last_unix: i64,
}

/// Runs the command.
///
/// # Errors
/// There is no index, or a damaged one.
pub(crate) fn run(arguments: &Arguments, session: &Session) -> Result<Outcome> {
    let circle = if arguments.personal { Circle::Partners } else { Circle::Everybody };
    if arguments.personal && session.own_addresses()?.is_empty() {
        bail!(
            "your addresses are not known; name them in the configuration: \
             [user] addresses = [\"ana@example.org\"]"
        );
    }
    let people = session.mailbox()?.people(&arguments.words, circle)?;
    if people.is_empty() {
        return session.nothing("nobody is called so");
    }
    let mut output = session.output();
    for person in people.iter().take(arguments.max.map_or(usize::MAX, NonZeroUsize::get)) {
        match arguments.format {
            Format::Plain => output.line(&plain(person))?,
            Format::Json => output.bytes(&json(person))?,
        }
    }
    output.finish()?;
    Ok(Outcome::Done)
}

fn plain(person: &Person) -> String {
    let line = match person.name.as_str() {
        "" => person.address.clone(),
        // Some programs write the address twice.
        name if name.eq_ignore_ascii_case(&person.address) => person.address.clone(),
        name => format!("{name} <{}>", person.address),
    };
    one_line(&line).into_owned()
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
    let mut serializer = Serializer::with_formatter(&mut out, Harmless);
    line.serialize(&mut serializer).expect("writing to memory does not fail, and all keys are strings");
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
            first: 0,
            last: 0,
        };
        for (name, expected) in [
            ("Ana", "Ana <ana@example.org>"),
            ("", "ana@example.org"),
            ("Ana@Example.org", "ana@example.org"),
            ("A\u{1b}[1m", "A\u{fffd}[1m <ana@example.org>"),
        ] {
            assert_eq!(plain(&person(name)), expected);
        }
    }
}
