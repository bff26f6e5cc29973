//! What can be typed at a place of a query, by what a view knows.
//!
//! Input: a query that is being typed. Output: suggestions. Only names are read and no message, so that it
//! can be asked at each key. Does not know the language.

use crate::error::Result;
use crate::setup::roles;
use crate::view::View;
use index::{Mailbox, PeopleQuestion};
use query::complete::Values;
use query::suggest::{Suggestion, suggest};
use std::cell::RefCell;
use std::collections::BTreeSet;

impl View {
    /// Returns at most so many texts that may stand at a place of a query, in bytes.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled); the saved queries cannot be read; damage.
    pub fn suggest(&self, query: &str, at: usize, count_max: usize) -> Result<Vec<Suggestion>> {
        let known = Known { view: self, count_max, failed: RefCell::new(None) };
        let found = suggest(query, at, count_max, &known);
        known.failed.into_inner().map_or(Ok(found), Err)
    }
}

/// What a view knows.
struct Known<'v> {
    view: &'v View,
    count_max: usize,
    /// The first thing that could not be read.
    failed: RefCell<Option<crate::Error>>,
}

impl Known<'_> {
    fn read<T>(&self, list: Result<Vec<T>>) -> Vec<T> {
        list.unwrap_or_else(|error| {
            self.failed.borrow_mut().get_or_insert(error);
            Vec::new()
        })
    }

    /// Returns one name of each folder, each once.
    fn folder_names(&self, name: impl Fn(index::FolderPlace) -> String) -> Vec<String> {
        let names: BTreeSet<String> = self.view.mailbox().folder_places().into_iter().map(name).collect();
        names.into_iter().collect()
    }
}

impl Values for Known<'_> {
    fn tags(&self) -> Vec<String> {
        let mut names = self.read(self.view.run(Mailbox::tag_names));
        names.extend(self.view.flag_tags().all().iter().map(|tag| tag.name.to_owned()));
        names
    }

    fn folders(&self) -> Vec<String> {
        self.folder_names(|folder| folder.name)
    }

    fn roles(&self) -> Vec<String> {
        roles::names(self.view.roots().iter().map(|root| root.name.as_str()))
    }

    fn directories(&self) -> Vec<String> {
        self.folder_names(|folder| folder.disk_name.trim_start_matches('/').to_owned())
    }

    fn saved_queries(&self) -> Vec<String> {
        self.read(self.view.saved_queries().map(|queries| queries.keys().cloned().collect()))
    }

    fn headers(&self) -> Vec<String> {
        self.view.settings().configuration.headers.iter().map(|name| name.to_lowercase()).collect()
    }

    fn problems(&self) -> Vec<String> {
        mail::problem_groups().into_iter().chain(mail::problem_kinds()).map(str::to_owned).collect()
    }

    fn people(&self, words: &str) -> Vec<(String, String)> {
        let question = PeopleQuestion {
            words: vec![words.to_owned()],
            count_max: Some(self.count_max),
            ..PeopleQuestion::default()
        };
        let people = self.read(self.view.people(&question)).into_iter();
        people.map(|person| (person.name, person.address)).collect()
    }
}
