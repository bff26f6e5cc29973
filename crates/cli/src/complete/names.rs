//! The names that Tab offers: tags, folders, saved queries, roots, headers.
//!
//! Input: a session. Output: names; none if there is no index, or it is damaged.

use crate::session::Session;
use query::complete::Values;

/// The names that a session knows. Each list is read when it is asked for.
pub(super) struct Names<'a>(pub(super) &'a Session);

impl Names<'_> {
    /// Returns the directories of all roots.
    pub(super) fn roots(&self) -> Vec<String> {
        let roots = index::roots(&self.0.environment).unwrap_or_default();
        roots.iter().filter_map(|root| Some(root.path.to_str()?.to_owned())).collect()
    }
}

impl Values for Names<'_> {
    fn tags(&self) -> Vec<String> {
        index::tag_names(&self.0.environment).unwrap_or_default()
    }

    fn folders(&self) -> Vec<String> {
        index::folder_names(&self.0.environment).unwrap_or_default().into_iter().collect()
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
