//! What a restored snapshot brings back besides mail: the configuration before the first index, saved queries and tags behind it.
//!
//! In: roots, and what lies in `.pneu/` beside them. Out: files of this user, where he has none, and a line for each. Must not know archives.

use crate::command::init;
use crate::config;
use crate::environment;
use crate::output;
use crate::roots;
use crate::session::Session;
use anyhow::Result;
use index::Root;
use std::path::Path;

/// Takes in the configuration that a restore left beside the roots of the command line, if there is none here. Returns the roots that are then to be
/// named besides it.
///
/// # Errors
/// It cannot be read or written.
pub(crate) fn configuration(session: &Session) -> Result<Vec<Root>> {
    let mut given = session.given_roots.clone();
    let Some(place) = session.configuration.as_deref().filter(|place| place.symlink_metadata().is_err())
    else {
        return Ok(given);
    };
    let restored = backup::restored_configuration(&given, environment::user_id())?;
    let Some((path, text)) = restored else { return Ok(given) };
    match fitting(&text, &given, session.home.as_deref()) {
        Ok(left) => {
            init::write(place, &text)?;
            given = left;
            tell(session, format!("{}: the configuration is back, as {}", path.display(), place.display()));
        }
        Err(what) => output::complain(format!(
            "the configuration {} is left there: {what}; put it into {} when it is right",
            path.display(),
            place.display()
        )),
    }
    Ok(given)
}

/// Takes in saved queries and tags, where nobody has saved or tagged anything yet.
///
/// # Errors
/// A file is damaged or cannot be read; the data directory cannot be written.
pub(crate) fn queries_and_tags(session: &Session, roots: &[Root]) -> Result<()> {
    if let Some((path, count)) = backup::bring_back_queries(&session.index, roots)? {
        tell(session, format!("{}: {count} saved queries are back", path.display()));
    }
    if let Some((path, tags)) = backup::bring_back_tags(&session.index, roots)? {
        tell(session, format!("{}: tags of {} messages are back", path.display(), tags.contents));
    }
    Ok(())
}

/// Returns the given roots that a configuration does not name.
///
/// # Errors
/// A sentence that says why the configuration cannot be used here.
fn fitting(text: &str, given: &[Root], home: Option<&Path>) -> Result<Vec<Root>, String> {
    let configured = config::parse(text, home)?.roots;
    if let Some(missing) = configured.iter().find(|root| !root.path.is_dir()) {
        return Err(format!("it names mail in {}, which is not there", missing.path.display()));
    }
    let left: Vec<Root> =
        given.iter().filter(|root| configured.iter().all(|own| own.path != root.path)).cloned().collect();
    roots::joined(&configured, left.clone())?;
    Ok(left)
}

fn tell(session: &Session, what: String) {
    if !session.is_quiet {
        output::complain(what);
    }
}
