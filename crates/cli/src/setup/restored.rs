//! Files in `.pneu/` next to restored mail: imports saved queries and tags, and shows the configuration.
//!
//! Takes roots. Imports queries and tags only where the user has none, and reports each file. Anyone who can
//! write to the Maildir may have written these files: docs/SECURITY.md says what may be imported without
//! asking. Does not depend on archives.

use crate::amount::count;
use crate::environment;
use crate::output;
use crate::remedy;
use crate::session::Session;
use crate::setup::adopt;
use crate::words::quoted_path;
use index::{Root, TagImport};
use std::path::{Path, PathBuf};

/// Whether this is the first index. What is not imported is reported only then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Occasion {
    /// The first index.
    First,
    /// Any later one.
    Later,
}

/// Shows the configuration that a restore left beside the roots, if there is none here, and says how to adopt
/// it. Nothing of it is used: it may name commands, repositories and directories, and its author is unknown.
pub(crate) fn configuration(session: &Session, roots: &[Root]) {
    let Some(place) = session.configuration.as_deref() else { return };
    if place.symlink_metadata().is_ok() {
        return;
    }
    match backup::restored_configuration(roots, environment::user_id()) {
        Ok(None) => {}
        Ok(Some((path, text))) => output::complain(shown(&path, &text, session.home.as_deref())),
        Err(error) => output::complain(remedy::explained(&error.into())),
    }
}

fn shown(path: &Path, text: &str, home: Option<&Path>) -> String {
    let what = match adopt::named(text, home) {
        Ok(named) if named.is_empty() => "; it contains nothing".to_owned(),
        Ok(named) => format!("; it contains\n{}", adopt::listed(&named)),
        Err(error) => format!(", nor can it be: {}", adopt::fault(&error)),
    };
    format!(
        "{}: found a configuration next to the mail; it is not used{what}\n\
         If it is yours, read it and adopt it: pneu init --adopt {}",
        path.display(),
        quoted_path(path)
    )
}

/// Imports saved queries, tags and what is kept of folders if the user has none yet. Reports what cannot be
/// imported, and leaves it there. That is not an error: otherwise anyone who can write to the Maildir could
/// make every `pneu index` fail.
pub(crate) fn queries_and_tags(session: &Session, roots: &[Root], occasion: Occasion) {
    let complain = |error: pneu::Error| {
        if occasion == Occasion::First {
            output::complain(remedy::explained(&error.into()));
        }
    };
    match session.with_any_host(|host| host.import_restored_queries(roots)) {
        Ok(None) => {}
        Ok(Some((path, number))) => {
            let are = if number == 1 { "saved query is" } else { "saved queries are" };
            tell(session, format!("{}: {number} {are} back", path.display()));
        }
        Err(error) => complain(error),
    }
    match session.with_any_host(|host| host.import_restored_folders(roots)) {
        Ok(files) => files.iter().filter(|(_, number)| *number > 0).for_each(|(path, number)| {
            let folders = count(*number, "folder");
            tell(session, format!("{}: order and ids of {folders} are back", path.display()));
        }),
        Err(error) => complain(error),
    }
    match session.with_any_host(|host| host.import_restored_tags(roots)) {
        Ok(files) => files.iter().for_each(|file| tell_tags(session, file, occasion)),
        Err(error) => complain(error),
    }
}

fn tell_tags(session: &Session, (path, tags): &(PathBuf, TagImport), occasion: Occasion) {
    let shown = path.display();
    if tags.contents > 0 {
        tell(session, format!("{shown}: tags of {} are back", count(tags.contents, "message")));
    }
    if tags.left_out > 0 && (tags.contents > 0 || occasion == Occasion::First) {
        let left_out = count(tags.left_out, "message");
        let advice = format!("to import all of it: pneu tag --import {}", quoted_path(path));
        tell(session, format!("{shown}: tags of {left_out} that are not here were left out; {advice}"));
    }
}

fn tell(session: &Session, what: String) {
    if !session.is_quiet {
        output::complain(what);
    }
}
