//! Finds the snapshots that the user means.
//!
//! Takes `latest` or a prefix of an ID, optionally with a path after a colon, or hosts, tags and paths.
//! Returns snapshots. Does not know what they are used for.

use crate::exit::NotFound;
use crate::output;
use crate::remedy;
use crate::sanitise::one_line;
use anyhow::{Result, anyhow};
use clap::Args;
use restic::select::{Candidate, Filter};
use restic::{Id, Repository, Snapshot};

/// Which snapshots are searched.
#[derive(Debug, Args)]
pub(super) struct Selection {
    /// Only in this snapshot: a prefix of its ID, or "latest". Can be repeated
    #[arg(long, short, value_name = "SNAPSHOT")]
    snapshot: Vec<String>,
    /// Only in snapshots of this host. Can be repeated
    #[arg(long, short = 'H', value_name = "HOST")]
    host: Vec<String>,
    /// Only in snapshots with this tag, or with all tags of a comma-separated list. Can be repeated
    #[arg(long, value_name = "TAG[,TAG]")]
    tag: Vec<String>,
    /// Only in snapshots of this directory. If repeated, all directories must match
    #[arg(long, value_name = "DIR")]
    path: Vec<String>,
}

/// Snapshots, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Selected {
    pub(super) snapshots: Vec<(Id, Snapshot)>,
    /// How many could not be read, which was reported.
    pub(super) unread_count: usize,
}

impl Selection {
    /// Returns the snapshots that are meant. Reports those that cannot be read.
    ///
    /// # Errors
    /// A named snapshot does not exist; the repository cannot be reached.
    pub(super) fn of(&self, repository: &Repository) -> Result<Selected> {
        let lists = self.tag.iter().map(|list| list.split(',').map(str::to_owned).collect());
        let filter = Filter { hosts: self.host.clone(), tags: lists.collect(), paths: self.path.clone() };
        let mut listed = all(repository)?;
        if self.snapshot.is_empty() {
            listed.snapshots.retain(|(_, snapshot)| filter.matches(&Candidate::from(snapshot)));
            return Ok(listed);
        }
        let mut wanted = Vec::new();
        for name in &self.snapshot {
            wanted.push(match name.as_str() {
                "latest" => {
                    let is_meant =
                        |(_, snapshot): &&(Id, Snapshot)| filter.matches(&Candidate::from(snapshot));
                    let newest = backup::latest_snapshot(listed.snapshots.iter().filter(is_meant));
                    newest
                        .ok_or_else(|| {
                            NotFound("no snapshot matches the given hosts, tags and paths".to_owned())
                        })?
                        .0
                }
                name => named(&listed.snapshots, name)?.0,
            });
        }
        listed.snapshots.retain(|(id, _)| wanted.contains(id));
        Ok(listed)
    }
}

/// Returns all snapshots. Reports those that cannot be read.
///
/// # Errors
/// The repository cannot be reached.
pub(super) fn all(repository: &Repository) -> Result<Selected> {
    let listed = repository.snapshots()?;
    for (_, error) in &listed.unread {
        output::complain(one_line(&error.to_string()));
    }
    Ok(Selected { snapshots: listed.snapshots, unread_count: listed.unread.len() })
}

/// Returns the one of these snapshots, sorted oldest first, that has this name: "latest", or a prefix of its
/// ID.
///
/// # Errors
/// None is, or several are.
pub(super) fn named<'a>(snapshots: &'a [(Id, Snapshot)], name: &str) -> Result<&'a (Id, Snapshot)> {
    if name == "latest" {
        return backup::latest_snapshot(snapshots.iter())
            .ok_or_else(|| NotFound("there is no snapshot yet".to_owned()).into());
    }
    let id = restic::select::by_prefix(snapshots.iter().map(|(id, _)| *id), name);
    let id = id.map_err(|error| match error {
        restic::select::NotFound::Ambiguous { .. } => anyhow!(error),
        none => NotFound(remedy::explained(&restic::Error::from(none).into())).into(),
    })?;
    let found = snapshots.iter().find(|(other, _)| *other == id);
    Ok(found.expect("the id is one of theirs"))
}

/// Returns the one snapshot that `text` names, and the path after it.
///
/// # Errors
/// No snapshot or several have that name; or one that cannot be read might be meant.
pub(super) fn one(repository: &Repository, text: &str) -> Result<(Id, Snapshot, Vec<u8>)> {
    let (name, path) = text.split_once(':').unwrap_or((text, ""));
    let mut listed = repository.snapshots()?;
    if let Some(place) =
        listed.unread.iter().position(|(id, _)| name == "latest" || id.to_string().starts_with(name))
    {
        return Err(listed.unread.swap_remove(place).1.into());
    }
    let (id, snapshot) = named(&listed.snapshots, name)?;
    Ok((*id, snapshot.clone(), path.into()))
}
