//! The names that Tab offers: tags, folders, saved queries, roots, headers, snapshots.
//!
//! Input: a session. Output: names; none if there is no index, or it is damaged. Never asks for a password,
//! never opens a connection, never waits for a pipe, and looks at a limited number of files.

use crate::archive::repository::{RepositoryOptions, local_snapshots};
use crate::environment;
use crate::format::fields::minute;
use crate::session::Session;
use pneu::setup::roles;
use query::complete::Values;
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;
use terminal::completion::Candidate;

/// Most snapshots that are offered.
const SNAPSHOT_COUNT_MAX: usize = 200;

/// Most snapshots whose times are read. If more begin with what was typed, these are any of them.
const DATED_COUNT_MAX: usize = 400;

/// The names that a session knows. Each list is read when it is asked for.
pub(super) struct Names<'a>(pub(super) &'a Session);

impl Names<'_> {
    /// Returns the directories of all roots.
    pub(super) fn roots(&self) -> Vec<String> {
        let roots = index::roots(&self.0.environment).unwrap_or_default();
        roots.iter().filter_map(|root| Some(root.path.to_str()?.to_owned())).collect()
    }

    /// Returns `latest`, and the snapshots of a repository in a directory, the newest first, each with its
    /// time. Their names are those of files there; what is in them is encrypted. Only those are read that
    /// begin with `typed`.
    pub(super) fn snapshots(&self, repository: Option<&str>, typed: &str) -> Vec<Candidate> {
        let options = RepositoryOptions { repo: repository.map(str::to_owned), ..Default::default() };
        let files = local_snapshots(&options, self.0);
        let begun = files.iter().filter(|(id, _)| id.short().starts_with(typed));
        let mut dated: Vec<(i64, String)> =
            begun.take(DATED_COUNT_MAX).map(|(id, path)| (modified_seconds(path), id.short())).collect();
        dated.sort_by(|a, b| b.cmp(a));
        dated.truncate(SNAPSHOT_COUNT_MAX);
        let now = environment::now();
        let dated = dated.into_iter();
        let dated = dated.map(|(seconds, id)| Candidate::word(id, minute(seconds, now.time_zone())));
        std::iter::once(Candidate::word("latest", "")).chain(dated).collect()
    }
}

impl Values for Names<'_> {
    fn tags(&self) -> Vec<String> {
        let kind = self.0.configured().map(|configured| configured.flag_tags).unwrap_or_default();
        let mut names = index::tag_names(&self.0.environment).unwrap_or_default();
        names.retain(|name| kind.find(name).is_none());
        names.extend(kind.all().iter().map(|tag| tag.name.to_owned()));
        names
    }

    fn folders(&self) -> Vec<String> {
        index::folder_names(&self.0.environment).unwrap_or_default().into_iter().collect()
    }

    fn roles(&self) -> Vec<String> {
        let roots = index::roots(&self.0.environment).unwrap_or_default();
        roles::names(roots.iter().map(|root| root.name.as_str()))
    }

    fn directories(&self) -> Vec<String> {
        let directories = index::folder_directories(&self.0.environment).unwrap_or_default();
        directories.iter().map(|path| path.trim_start_matches('/').to_owned()).collect()
    }

    fn saved_queries(&self) -> Vec<String> {
        index::saved_queries(&self.0.environment).unwrap_or_default().into_keys().collect()
    }

    fn headers(&self) -> Vec<String> {
        self.0.configured().map(|configured| configured.headers.clone()).unwrap_or_default()
    }

    fn problems(&self) -> Vec<String> {
        mail::problem_groups().into_iter().chain(mail::problem_kinds()).map(str::to_owned).collect()
    }
}

fn modified_seconds(path: &Path) -> i64 {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_secs().try_into().unwrap_or(0))
}
