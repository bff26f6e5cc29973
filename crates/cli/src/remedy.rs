//! Turns remedies of the libraries into commands and options of this program.
//!
//! Input: an error, or a remedy. Output: words that end its sentence.

use crate::output;
use crate::sanitise::one_line;
use index::Remedy;
use std::borrow::Cow;

/// Returns the end of the sentence of an error or problem of the index.
pub(crate) fn words(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::MakeIndex => "; run \"pneu index\" first",
        Remedy::UpgradeIndex => "; run \"pneu index\" to rebuild it",
        Remedy::RebuildIndex => "; run \"pneu check --repair\"",
        Remedy::AddHeaders => "; run \"pneu check --repair\" to read all mail again",
        Remedy::RepairFromCopy => ": run \"pneu check --repair\"",
        Remedy::RestoreUserData => "; put them back from a backup",
        Remedy::GiveMoreOfHandle => "; give more of it",
        Remedy::ListEverything => {
            "; take a new one with \"pneu changes\", and then list all messages again with \"pneu find\""
        }
        Remedy::SetClock => "; set the clock",
        Remedy::UseNewerProgram => "; use a newer pneu",
        Remedy::UseNewerProgramOrRebuild => {
            "; use a newer pneu, or delete that directory and run \"pneu index\""
        }
        Remedy::NameOwnAddresses => {
            "; name your addresses in the configuration: [user] addresses = [\"ana@example.org\"]"
        }
        Remedy::AcceptLoss => ". If you removed them on purpose, run \"pneu index --accept-loss\"",
        Remedy::AcceptLossOfFolder => ". If it is gone for good, run \"pneu index --accept-loss\"",
        Remedy::NameRootOrAcceptLoss => {
            ". Add it there as a [[root]]; or run \"pneu index --accept-loss\" to remove its messages"
        }
        Remedy::MountOrAcceptLoss => ". Mount it, or run \"pneu index --accept-loss\"",
        Remedy::RunPass => "; when it can be read again, run \"pneu index\"",
    }
}

/// Returns the end of the sentence of an error of the repository.
fn words_of_repository(remedy: restic::Remedy) -> &'static str {
    match remedy {
        restic::Remedy::MakeRepository => "; make one with: pneu archive init",
        restic::Remedy::RemoveStaleLocks => "; if that process has ended: pneu archive unlock",
        restic::Remedy::RemoveAllLocks => {
            "; if no other process uses the repository: pneu archive unlock --remove-all"
        }
        restic::Remedy::Check => "; see: pneu archive check",
        restic::Remedy::RepairIndex => ": run \"restic repair index\"",
        restic::Remedy::SetKeys => "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        restic::Remedy::ListSnapshots => "; list them with: pneu archive snapshots",
        // The library may know more remedies than this program has words for.
        _ => "",
    }
}

/// Returns the end of the sentence of an error or problem of a backup.
fn words_of_backup(remedy: backup::Remedy) -> &'static str {
    match remedy {
        // The mail, not only its index: `backup` has no option for that.
        backup::Remedy::Index(Remedy::AcceptLossOfFolder) => {
            ". If it is gone for good, run \"pneu index --accept-loss\""
        }
        backup::Remedy::Index(remedy) => words(remedy),
        backup::Remedy::Repository(remedy) => words_of_repository(remedy),
        backup::Remedy::SetClockOrRemoveById => "; set the clock, or remove that snapshot by its ID",
        backup::Remedy::ChooseFolder => "; name a directory with --to DIR",
        backup::Remedy::ShowMessage => "; until the next prune, \"pneu view --format raw\" can print it",
        _ => "",
    }
}

/// Returns the sentence of a problem in a backup or an undelete, with the remedy.
pub(crate) fn backup_problem(problem: &backup::Problem) -> String {
    format!("{}{}", problem.what, problem.remedy.map_or("", words_of_backup))
}

/// Returns a sentence of the index with the remedy, if there is one.
pub(crate) fn sentence(what: impl std::fmt::Display, remedy: Option<Remedy>) -> String {
    format!("{what}{}", remedy.map_or("", words))
}

/// Returns a sentence of the repository with the remedy, if there is one.
pub(crate) fn repository_sentence(what: &str, remedy: Option<restic::Remedy>) -> String {
    format!("{what}{}", remedy.map_or("", words_of_repository))
}

/// Returns the message of an error, with the remedy.
pub(crate) fn explained(error: &anyhow::Error) -> String {
    format!("{error}{}", of(error).unwrap_or_default())
}

/// Prints an error, with the remedy.
pub(crate) fn complain_why(error: &anyhow::Error) {
    match of(error) {
        Some(_) => output::complain(explained(error)),
        None => output::complain_why(error),
    }
}

/// Returns the remedy of an error, if its sentence ends with that of the library.
fn of(error: &anyhow::Error) -> Option<Cow<'static, str>> {
    let said = error.to_string();
    let (library, helps) = if let Some(error) = error.downcast_ref::<pneu::Error>() {
        (error.to_string(), words_of_library(error))
    } else if let Some(error) = error.downcast_ref::<index::Error>() {
        (error.to_string(), error.remedy().map(words).map(Cow::Borrowed))
    } else if let Some(error) = error.downcast_ref::<restic::Error>() {
        (error.to_string(), error.remedy().map(words_of_repository).map(Cow::Borrowed))
    } else if let Some(error) = error.downcast_ref::<restic::select::NotFound>() {
        (error.to_string(), error.remedy().map(words_of_repository).map(Cow::Borrowed))
    } else if let Some(error) = error.downcast_ref::<backup::Error>() {
        (error.to_string(), error.remedy().map(words_of_backup).map(Cow::Borrowed))
    } else {
        return None;
    };
    helps.filter(|_| said.ends_with(&library))
}

/// Returns the end of the sentence of an error of the library.
fn words_of_library(error: &pneu::Error) -> Option<Cow<'static, str>> {
    let words = match error {
        pneu::Error::NoFolder { nearest: Some(nearest), .. } => {
            return Some(Cow::Owned(format!("; did you mean {}?", one_line(nearest))));
        }
        pneu::Error::SeveralMessages { handle, .. } => {
            return Some(Cow::Owned(format!(
                "; the query must match one: narrow it, or choose from: pneu find --fields 'd f s i' \
                 '{handle}'"
            )));
        }
        pneu::Error::SeveralThreads { handle, .. } => {
            return Some(Cow::Owned(format!(
                "; the query must match one conversation: narrow it, or choose from: pneu find \
                 --threads=summary '{handle}'"
            )));
        }
        _ => match error.remedy()? {
            pneu::Remedy::Index(remedy) => words(remedy),
            pneu::Remedy::Repository(remedy) => words_of_repository(remedy),
            pneu::Remedy::Backup(remedy) => words_of_backup(remedy),
            pneu::Remedy::UpdateAgain => "; run \"pneu index\" to find where it moved",
            pneu::Remedy::UpdateThoroughly => "; run \"pneu index --thorough\"",
            pneu::Remedy::SaveQuery => "\n\"pneu query\" lists them, and saves one: pneu query NAME QUERY",
            pneu::Remedy::CreateFolder => {
                "; create it with --create or \"pneu mkdir\", or run \"pneu index\" if it is new"
            }
            pneu::Remedy::NameRole(role) => {
                return Some(Cow::Owned(format!(
                    ": name one in the configuration, [[root]] {role} = \"NAME\", or create one: \
                     pneu mkdir {}",
                    role.new_folder()
                )));
            }
            pneu::Remedy::NameByPath => "; name it by its path",
            pneu::Remedy::RepairRepositoryIndex => {
                "; run \"restic repair index\" to rebuild the missing index files"
            }
            _ => return None,
        },
    };
    Some(Cow::Borrowed(words))
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
        let expected = "there is no index in /data; run \"pneu index\" first";
        assert_eq!(explained(&no_index().into()), expected);
        assert_eq!(explained(&backup::Error::from(no_index()).into()), expected);
        assert_eq!(explained(&pneu::Error::from(no_index()).into()), expected);
    }

    #[test]
    fn errors_of_repositories_and_backups_say_what_helps() {
        let none = || restic::Error::NoRepository { address: "/r".into() };
        let expected = "there is no repository at /r; make one with: pneu archive init";
        assert_eq!(explained(&none().into()), expected);
        assert_eq!(explained(&backup::Error::from(none()).into()), expected);
        assert_eq!(
            explained(&backup::Error::NoRoot { path: "/mail".into() }.into()),
            "/mail does not exist; is a disk not mounted? Nothing was backed up. If it is gone for good, run \
             \"pneu index --accept-loss\""
        );
        assert_eq!(
            explained(&backup::Error::NoMail.into()),
            "there is no mail to back up; run \"pneu index\" first"
        );
    }

    #[test]
    fn damage_of_index_files_and_missing_keys_say_what_helps() {
        let damaged = restic::Error::damage("index/1a2b", "torn");
        let at = restic::Error::At { path: "/mail".into(), source: Box::new(damaged) };
        assert_eq!(
            explained(&at.into()),
            "/mail: index/1a2b is damaged: torn; it can be rebuilt from the packs: run \"restic repair \
             index\""
        );
        let keys = "; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
        assert!(explained(&restic::Error::NoKeys { address: "s3:h/b".into() }.into()).ends_with(keys));
        assert!(explained(&restic::Error::KeysInAddress.into()).ends_with(keys));
        assert_eq!(
            explained(&restic::Error::damage("data/1a2b", "torn").into()),
            "data/1a2b is damaged: torn"
        );
    }

    #[test]
    fn an_unknown_snapshot_says_how_to_list_them() {
        let none = || restic::select::NotFound::NoId { prefix: "ff".into() };
        let expected = "no snapshot id begins with \"ff\"; list them with: pneu archive snapshots";
        assert_eq!(explained(&none().into()), expected);
        assert_eq!(explained(&restic::Error::from(none()).into()), expected);
    }

    #[test]
    fn an_unknown_saved_query_says_how_to_list_and_save_them() {
        let context = pneu::Settings::new("/data").query_context(Default::default());
        let error = query::parse("query:nobody", &context).unwrap_err();
        assert!(
            explained(&pneu::Error::from(error).into())
                .ends_with("\n\"pneu query\" lists them, and saves one: pneu query NAME QUERY")
        );
    }

    #[test]
    fn other_errors_stay_as_they_are() {
        assert_eq!(explained(&anyhow!("no")), "no");
        assert_eq!(explained(&index::Error::Interrupted.into()), "interrupted");
        assert_eq!(explained(&anyhow::Error::from(no_index()).context("cannot search")), "cannot search");
    }
}
