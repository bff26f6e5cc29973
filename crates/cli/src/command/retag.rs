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
use pneu::{Line, NumberSet, TagChange, View};

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
    let mut output = session.output();
    let zone = environment::now();
    for Line { date, from, subject, .. } in view.lines(&hits)? {
        let date = date.map(|date| minute(date, zone.time_zone())).unwrap_or_default();
        output.line(&format!("{date}\t{}\t{}", one_line(&from), one_line(&subject)))?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}
