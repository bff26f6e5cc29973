//! Says in commands and options of this program what helps against errors and problems of the index.
//!
//! Input: an error, or a remedy. Output: words that end its sentence.

use crate::output;
use index::Remedy;

/// Returns how a remedy ends the sentence of the error or problem that it helps against.
pub(crate) fn words(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::MakeIndex => "; run \"pneu index --maildir DIR\" first",
        Remedy::UpgradeIndex => "; run \"pneu index\", which makes it anew",
        Remedy::RebuildIndex => "; run \"pneu check --repair\"",
        Remedy::AddHeaders => "; run \"pneu check --repair\" to read all mail again",
        Remedy::RepairFromCopy => ": run \"pneu check --repair\"",
        Remedy::UseNewerProgram => "; use a newer pneu",
        Remedy::UseNewerProgramOrRebuild => "; use a newer pneu, or delete it and run \"pneu index\"",
        Remedy::NameOwnAddresses => {
            "; name your addresses in the configuration: [user] addresses = [\"ana@example.org\"]"
        }
        Remedy::AcceptLoss => ". If that is meant, use --accept-loss",
        Remedy::AcceptLossOfFolder => ". If it is gone for good, use --accept-loss",
        Remedy::MountOrAcceptLoss => ". Mount it, or use --accept-loss",
        Remedy::RunPass => ", until it can be read and \"pneu index\" is run",
    }
}

/// Returns a sentence of the index with what helps, if anything does.
pub(crate) fn sentence(what: impl std::fmt::Display, remedy: Option<Remedy>) -> String {
    format!("{what}{}", remedy.map_or("", words))
}

/// Returns what an error says, with what helps.
pub(crate) fn explained(error: &anyhow::Error) -> String {
    sentence(error, of(error))
}

/// Tells an error, with what helps.
pub(crate) fn complain_why(error: &anyhow::Error) {
    match of(error) {
        Some(_) => output::complain(explained(error)),
        None => output::complain_why(error),
    }
}

/// Returns what helps against an error, if its sentence ends with that of the index.
fn of(error: &anyhow::Error) -> Option<Remedy> {
    let of_backup = || match error.downcast_ref() {
        Some(backup::Error::Index(error)) => Some(error),
        _ => None,
    };
    let of_index = error.downcast_ref::<index::Error>().or_else(of_backup)?;
    of_index.remedy().filter(|_| error.to_string().ends_with(&of_index.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    fn no_index() -> index::Error {
        index::Error::NoIndex { path: "/data".into() }
    }

    #[test]
    fn errors_of_the_index_say_what_helps_wherever_they_come_from() {
        let expected = "no index in /data; run \"pneu index --maildir DIR\" first";
        assert_eq!(explained(&no_index().into()), expected);
        assert_eq!(explained(&backup::Error::from(no_index()).into()), expected);
    }

    #[test]
    fn other_errors_stay_as_they_are() {
        assert_eq!(explained(&anyhow!("no")), "no");
        assert_eq!(explained(&index::Error::Interrupted.into()), "interrupted");
        assert_eq!(explained(&anyhow::Error::from(no_index()).context("cannot search")), "cannot search");
    }
}
