//! Saved queries: read once for a view, and changed so that each of them can still be understood.
//!
//! Input: names and queries. Output: queries by their names. The file itself is the index's.

use crate::error::{Error, Result};
use crate::settings::Settings;
use index::Environment;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The saved queries of one time: they are read when they are first asked for, and stay as they were then. So
/// does the reason why they could not be read. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SavedQueries(Arc<OnceLock<Read>>);

type Read = std::result::Result<BTreeMap<String, String>, Arc<index::Error>>;

/// Whether they were read and are the same, or could not be read for the same reason.
impl PartialEq for SavedQueries {
    fn eq(&self, other: &SavedQueries) -> bool {
        match (self.0.get(), other.0.get()) {
            (Some(Ok(one)), Some(Ok(other))) => one == other,
            (Some(Err(one)), Some(Err(other))) => one.to_string() == other.to_string(),
            _ => false,
        }
    }
}

impl SavedQueries {
    /// Reads the queries now.
    pub(crate) fn read(environment: &Environment) -> SavedQueries {
        let queries = SavedQueries::default();
        queries.pin(environment);
        queries
    }

    /// Reads the queries now, unless they were read.
    pub(crate) fn pin(&self, environment: &Environment) -> &Read {
        self.0.get_or_init(|| index::saved_queries(environment).map_err(Arc::new))
    }

    /// Returns the queries.
    ///
    /// # Errors
    /// [`Error::SavedQueries`] if they cannot be read or are damaged.
    pub(crate) fn get(&self, environment: &Environment) -> Result<&BTreeMap<String, String>> {
        self.pin(environment).as_ref().map_err(|error| Error::SavedQueries(Arc::clone(error)))
    }
}

/// The result of removing a saved query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueryRemoval {
    /// It was removed.
    Removed,
    /// There is none of that name.
    Unknown,
    /// It stays, because these other saved queries name it.
    NeededBy(Vec<String>),
}

/// Saves a query. Replaces one of the same name.
///
/// # Errors
/// The text cannot be a name; the query cannot be understood or refers to itself; the saved queries are
/// damaged or cannot be written. Nothing was changed then.
pub(crate) fn save(settings: &Settings, environment: &Environment, name: &str, text: &str) -> Result<()> {
    index::check_query_name(name).map_err(|what| index::Error::QueryName { name: name.to_owned(), what })?;
    let mut mistake = None;
    index::change_queries(environment, &mut |queries| {
        queries.insert(name.to_owned(), text.to_owned());
        mistake = mistake_in(name, queries, settings);
        mistake.is_none()
    })?;
    mistake.map_or(Ok(()), |mistake| Err(mistake.into()))
}

/// Removes a saved query, unless another one names it.
///
/// # Errors
/// The saved queries are damaged or cannot be written. Nothing was changed then.
pub(crate) fn remove(settings: &Settings, environment: &Environment, name: &str) -> Result<QueryRemoval> {
    let mut needed_by = Vec::new();
    let is_removed = index::change_queries(environment, &mut |queries| {
        let is_sound = |other: &String, queries: &BTreeMap<String, String>| {
            mistake_in(other, queries, settings).is_none()
        };
        let mut sound: Vec<String> =
            queries.keys().filter(|other| is_sound(other, queries)).cloned().collect();
        let is_there = queries.remove(name).is_some();
        sound.retain(|other| other != name && !is_sound(other, queries));
        needed_by = sound;
        is_there && needed_by.is_empty()
    })?;
    Ok(match (is_removed, needed_by.is_empty()) {
        (true, _) => QueryRemoval::Removed,
        (false, true) => QueryRemoval::Unknown,
        (false, false) => QueryRemoval::NeededBy(needed_by),
    })
}

/// Returns what is wrong with a saved query.
fn mistake_in(name: &str, queries: &BTreeMap<String, String>, settings: &Settings) -> Option<query::Error> {
    let context = settings.query_context(queries.clone());
    query::parse(&format!("{}:{name}", query::fields::SAVED), &context).err()
}
