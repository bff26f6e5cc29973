//! The tables, one per file: what is measured, and what is shown of it.

pub(crate) mod actions;
pub(crate) mod headers;
pub(crate) mod index;
mod left_out;
pub(crate) mod merge;
pub(crate) mod recovery;

use crate::bench::Bench;
use crate::options::{Options, Part};
use crate::peer::Peer;
use anyhow::Result;
use clap::ValueEnum;
use measure::Table;

/// Returns the tables that are measured, in order.
pub(crate) fn parts(options: &Options) -> Vec<Part> {
    let asked = |part: &&Part| options.only.is_empty() || options.only.contains(part);
    Part::value_variants().iter().filter(asked).copied().collect()
}

/// Returns all tables, with rows for everything that can be measured.
pub(crate) fn all(options: &Options) -> Vec<Table> {
    let sizes = options.sizes();
    let others = [merge::table(&sizes), recovery::table(&sizes)];
    let index = match options.measured_mail() {
        Some(_) => index::real::table(),
        None => index::table(&sizes),
    };
    let all = [index, actions::table(&sizes)].into_iter().chain(headers::tables(&sizes)).chain(others);
    all.map(Table::with_floors_of_work).collect()
}

/// Measures a table.
pub(crate) fn measure(part: Part, bench: &mut Bench<'_>) -> Result<()> {
    match part {
        Part::Index => match bench.mail.take() {
            Some(mail) => index::real::measure(bench, &mail),
            None => index::measure(bench),
        },
        Part::Actions => actions::measure(bench),
        Part::Headers => headers::measure(bench),
        Part::Merge => merge::measure(bench),
        Part::Recovery => recovery::measure(bench),
    }
}

/// Returns whether one of these tables needs a program; no tables are all of them.
pub(crate) fn need(parts: &[Part], peer: &Peer) -> bool {
    let columns = |part: &Part| match part {
        Part::Index => index::COLUMNS.to_vec(),
        Part::Actions => actions::COLUMNS.to_vec(),
        Part::Headers => headers::PROGRAMS.to_vec(),
        Part::Merge => merge::COLUMNS.to_vec(),
        Part::Recovery => recovery::COLUMNS.to_vec(),
    };
    parts.is_empty() || parts.iter().any(|part| columns(part).contains(&peer.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers;
    use clap::Parser;

    #[derive(Parser)]
    struct Arguments {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn real_mail_takes_the_place_of_generated_mail() {
        let first = |arguments: &[&str]| {
            let arguments = Arguments::parse_from([&["bench-peers"], arguments].concat());
            all(&arguments.options).remove(0).name
        };
        assert_eq!([first(&[]), first(&["--mail=/somewhere"])], ["index", "real-mail"]);
    }

    #[test]
    fn each_program_is_needed_by_a_table() {
        for peer in peers::ALL {
            let needed = Part::value_variants().iter().filter(|part| need(&[**part], &peer)).count();
            assert!(needed > 0 && need(&[], &peer), "{}", peer.name);
        }
        assert!(!need(&[Part::Merge], &peers::mu::PEER));
    }
}
