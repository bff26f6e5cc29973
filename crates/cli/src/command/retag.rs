//! What `tag`, `mute` and `unmute` share: changes the tags of messages, or prints which would change.
//!
//! Takes messages and a change. The library decides what happens to them.

use crate::amount::count;
use crate::command::act::{no_match, outcome};
use crate::environment;
use crate::exit::Outcome;
use crate::format::fields::minute;
use crate::sanitise::one_line;
use crate::search::question::TypedQuery;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use pneu::{Hit, Line, NumberSet, TagChange, View};

/// Options of commands that change tags.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct RetagOptions {
    /// Print the messages whose tags would change, and change nothing: date, sender and subject, separated by
    /// tabs
    #[arg(long)]
    pub dry_run: bool,
}

/// Changes the tags of messages that a view found for a query, or prints which would change.
///
/// # Errors
/// A text that cannot be a tag; the data directory cannot be written.
pub(super) fn retag(
    question: &TypedQuery,
    (view, found): (&View, &NumberSet),
    change: &TagChange,
    options: RetagOptions,
    session: &Session,
) -> Result<Outcome> {
    if found.is_empty() {
        return no_match(question, session);
    }
    if options.dry_run {
        return show(view, found, change, session);
    }
    let done = session.host()?.tag_found((view, found), change)?;
    let summary = format!("{}: {} changed", count(done.messages, "message"), done.changed);
    Ok(session.conclude(&summary, outcome(&done.left)))
}

fn show(view: &View, found: &NumberSet, change: &TagChange, session: &Session) -> Result<Outcome> {
    let hits = view.to_tag(found, change)?;
    if hits.is_empty() {
        return session.nothing("the tags of none of them would change");
    }
    print_lines(view, &hits, None, session)?;
    Ok(Outcome::Done)
}

/// Prints a line for each message: date, sender and subject, and what would happen to its tags, if that is
/// not the same for all.
///
/// # Errors
/// The output cannot be written.
pub(super) fn print_lines(
    view: &View,
    hits: &[Hit],
    changes: Option<&[TagChange]>,
    session: &Session,
) -> Result<()> {
    let mut output = session.output();
    let zone = environment::now();
    let mut changes = changes.into_iter().flatten();
    for Line { date, from, subject, .. } in view.lines(hits)? {
        let date = date.map(|date| minute(date, zone.time_zone())).unwrap_or_default();
        let change = changes.next().map_or(String::new(), |change| format!("\t{}", words(change)));
        output.line(&format!("{date}\t{}\t{}{change}", one_line(&from), one_line(&subject)))?;
    }
    output.finish()
}

/// Returns a change as it is typed.
fn words(change: &TagChange) -> String {
    let added = change.add.iter().map(|tag| format!("+{tag}"));
    let removed = change.remove.iter().map(|tag| format!("-{tag}"));
    one_line(&added.chain(removed).collect::<Vec<_>>().join(" ")).into_owned()
}
