//! What all commands share that act on the messages of a query: `flag`, `move`, `copy`, `delete`.
//!
//! Takes the words of a query and an action, and prints what the library did or would do.

use crate::amount::count;
use crate::confirm::confirm;
use crate::exit::Outcome;
use crate::output;
use crate::sanitise::one_line;
use crate::search::question::TypedQuery;
use crate::session::Session;
use anyhow::{Result, bail};
use clap::Args;
use pneu::{Acted, Action, ActionKind, LeftAlone, Plan, Silent};
use std::path::Path;

/// Options of commands that act.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct ActOptions {
    /// Print what would be done, and change nothing: each file's old and new place, separated by a tab
    #[arg(long)]
    pub dry_run: bool,
}

/// Does an action to the messages that a query matches, or prints what it would do.
///
/// # Errors
/// There is no query, or it cannot be understood; there is no such folder; the log of actions or the index
/// cannot be written.
pub(super) fn act(
    words: &[String],
    action: &Action,
    options: ActOptions,
    session: &Session,
) -> Result<Outcome> {
    let question = question(words, session)?;
    let host = session.host()?;
    if options.dry_run {
        let plan = host.plan_action(&question.query, action).map_err(|error| question.explain(error))?;
        if plan.steps.is_empty() {
            return nothing(&question, action, session);
        }
        return show(&plan, session);
    }
    let acted = host.act(&question.query, action, &Silent).map_err(|error| question.explain(error))?;
    if acted.file_count == 0 && acted.left.is_empty() {
        return nothing(&question, action, session);
    }
    Ok(tell(&acted, action.kind(), session))
}

/// Returns the query. An action on all messages needs one that says so.
///
/// # Errors
/// There is none, or it cannot be understood.
pub(super) fn question(words: &[String], session: &Session) -> Result<TypedQuery> {
    if words.iter().all(|word| word.trim().is_empty()) {
        bail!("no query is given; '*' means all messages");
    }
    TypedQuery::new(words, &session.view()?)
}

/// Prints what would be done.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn show(plan: &Plan, session: &Session) -> Result<Outcome> {
    let mut output = session.output();
    for step in &plan.steps {
        output.line(&places(&step.file.path(), &step.to))?;
    }
    output.finish()?;
    Ok(Outcome::Done)
}

/// Prints what was done, and reports what was left alone.
pub(super) fn tell(acted: &Acted, kind: ActionKind, session: &Session) -> Outcome {
    let (messages, files) = (count(acted.message_count, "message"), count(acted.file_count, "file"));
    session.conclude(&format!("{messages}: {files} {}", kind.done()), outcome(&acted.left))
}

/// Reports files that were left alone. Returns how a command ended that did all else.
pub(super) fn outcome(left: &[LeftAlone]) -> Outcome {
    complain(left);
    if left.is_empty() { Outcome::Done } else { Outcome::Partly }
}

/// Asks for consent. Returns whether the user gives it.
///
/// # Errors
/// Nobody can be asked: the sentence `if_nobody`.
pub(super) fn agrees(question: &str, if_nobody: &'static str, session: &Session) -> Result<bool> {
    if !session.can_ask {
        bail!(if_nobody);
    }
    confirm(question)
}

/// Returns two places of a file as a line.
pub(super) fn places(one: &Path, other: &Path) -> String {
    format!("{}\t{}", one_line(&one.to_string_lossy()), one_line(&other.to_string_lossy()))
}

/// Reports files that were left alone.
fn complain(left: &[LeftAlone]) {
    for LeftAlone { path, why } in left {
        output::complain_of(path.display(), why);
    }
}

/// Returns what an action acts on, and how many of them.
pub(super) fn things(kind: ActionKind, number: usize) -> String {
    count(number as u64, kind.things().0)
}

fn nothing(question: &TypedQuery, action: &Action, session: &Session) -> Result<Outcome> {
    let view = session.view()?;
    if view.count(&question.query)? > 0 {
        return session.nothing(match action.kind() {
            ActionKind::Flag => "all of them have these flags already",
            _ => "all of them are there already",
        });
    }
    no_match(question, session)
}

/// Ends a command whose query matches nothing.
///
/// # Errors
/// The reason, unless the user wants to hear nothing.
pub(super) fn no_match(question: &TypedQuery, session: &Session) -> Result<Outcome> {
    let why = question.why_nothing(&session.view()?)?.map(|why| format!(": {why}")).unwrap_or_default();
    session.nothing(format!("no message matches{why}"))
}
