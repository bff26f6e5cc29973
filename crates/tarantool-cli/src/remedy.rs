//! Says in options of this program what helps against errors of a recovery.

use tarantool::{Error, Remedy};
use terminal::complaint;

/// Tells an error, with what helps.
pub(crate) fn complain_why(error: &anyhow::Error) {
    let helps = error.downcast_ref().and_then(Error::remedy).map(words);
    match helps {
        Some(words) => complaint::complain(format!("{error}{words}")),
        None => complaint::complain_why(error),
    }
}

/// Returns what an error says, with what helps.
pub(crate) fn explained(error: &Error) -> String {
    format!("{error}{}", error.remedy().map_or("", words))
}

/// Returns how a remedy ends the sentence of an error.
fn words(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Salvage => "; use --salvage to load what can be read",
        // The library may know more remedies than this program has words for.
        _ => "",
    }
}
