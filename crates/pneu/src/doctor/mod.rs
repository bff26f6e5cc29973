//! Looks at what may go wrong unnoticed: an index that is behind, damage, full disks, mail that cannot be
//! read, duplicates, too few watches, timers that failed, old backups, rules and roles that are wrong.
//!
//! Input: the index, the disk, the system. Output: findings, each well or not. Changes nothing, and words
//! nothing: the front end says what to do.

mod rules;
mod system;

use crate::action::role::Known;
use crate::error::{Error, Result};
use crate::host::{Host, IndexState};
use crate::setup::roles::Role;
use crate::setup::roots::RootsError;
use crate::view::View;
use index::{Depth, Inventory, Subdirectory};
pub use rules::RuleFault;
use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Free space below which a disk counts as full, in bytes.
pub(crate) const FREE_BYTES_MIN: u64 = 1 << 30;
/// A backup that is older needs a look, in seconds: a week.
pub(crate) const BACKUP_SECONDS_MAX: i64 = 7 * 86_400;
/// Changes that the index does not have need a look once they are so old, in seconds: a day.
pub(crate) const BEHIND_SECONDS_MAX: i64 = 86_400;

/// What was found about one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// There is no index.
    NoIndex,
    /// The index has an older version.
    OutdatedIndex,
    /// The roots of the configuration cannot be indexed together.
    WrongRoots(RootsError),
    /// So many parts of the index and of what the user saved are damaged, as far as a quick check sees.
    Damage(u64),
    /// Folders changed after the index was last written.
    Behind {
        /// How many.
        folder_count: u64,
        /// How long ago the first of them changed, in seconds.
        seconds: i64,
        /// How long ago the index was written, in seconds.
        index_seconds: i64,
    },
    /// Roots that are not there.
    MissingRoots(Vec<PathBuf>),
    /// The folders of a root that have a role.
    Roles {
        /// The name of the root.
        root: String,
        /// The roles that have a folder, with its path.
        found: Vec<(Role, PathBuf)>,
        /// Folders that the configuration names and that are not there.
        missing: Vec<(Role, String)>,
        /// Roles that have the same folder.
        shared: Vec<[Role; 2]>,
    },
    /// The rules for new messages.
    Rules {
        /// How many there are.
        rule_count: usize,
        /// Those that can do nothing, by their numbers.
        wrong: Vec<(usize, RuleFault)>,
    },
    /// Space on the disk of a directory.
    Space {
        /// The directory.
        path: PathBuf,
        /// Free bytes.
        free_bytes: u64,
        /// Bytes that should be free.
        wanted_bytes: u64,
    },
    /// Files and directories of mail that cannot be read, at most 20, each with the
    /// reason.
    Unreadable(Vec<(PathBuf, String)>),
    /// Files that have the same message as another file of their folder.
    Duplicates {
        /// How many files.
        file_count: u64,
        /// The folders that have any, at most 5.
        folders: Vec<PathBuf>,
    },
    /// Directories of mail, and how many directories the system lets a user watch.
    Watches {
        /// How many directories there are.
        directory_count: u64,
        /// How many may be watched.
        limit: u64,
    },
    /// Units of the user's systemd that failed, among those of this program.
    Timers(Vec<String>),
    /// The age of the newest backup in seconds; `None` if there is none.
    Backup(Option<i64>),
}

/// Files that cannot be read and are named.
pub(crate) const UNREADABLE_SHOWN_MAX: usize = 20;
/// Folders with duplicates that are named.
pub(crate) const DUPLICATES_SHOWN_MAX: usize = 5;

impl Finding {
    /// Returns whether nothing has to be done.
    pub fn is_well(&self) -> bool {
        match self {
            Finding::NoIndex | Finding::OutdatedIndex | Finding::WrongRoots(_) => false,
            Finding::Damage(count) => *count == 0,
            Finding::Behind { folder_count, seconds, .. } => {
                *folder_count == 0 || *seconds <= BEHIND_SECONDS_MAX
            }
            Finding::MissingRoots(roots) => roots.is_empty(),
            Finding::Space { free_bytes, wanted_bytes, .. } => free_bytes >= wanted_bytes,
            Finding::Roles { missing, shared, .. } => missing.is_empty() && shared.is_empty(),
            Finding::Rules { wrong, .. } => wrong.is_empty(),
            Finding::Unreadable(files) => files.is_empty(),
            Finding::Duplicates { file_count, .. } => *file_count == 0,
            Finding::Watches { directory_count, limit } => directory_count <= limit,
            Finding::Timers(failed) => failed.is_empty(),
            Finding::Backup(age) => age.is_some_and(|age| age <= BACKUP_SECONDS_MAX),
        }
    }
}

impl Host {
    /// Looks at the index, the mail and the system. `backup` says when the newest backup was made, in seconds
    /// since 1970, if there is an archive; `archive` is its directory, if it is on this machine.
    ///
    /// # Errors
    /// The index cannot be read, and a check does not say why.
    pub fn examine(&self, backup: Option<Option<i64>>, archive: Option<&Path>) -> Result<Vec<Finding>> {
        let environment = &self.settings().environment;
        let mut findings = Vec::new();
        let wrong = self.roots_to_index(&IndexState::Missing, &[]).err();
        findings.extend(wrong.map(Finding::WrongRoots));
        match self.index_state() {
            Ok(IndexState::Missing) => findings.push(Finding::NoIndex),
            Ok(IndexState::Outdated(_)) => findings.push(Finding::OutdatedIndex),
            Ok(IndexState::Usable(_)) | Err(_) => {
                let damage_count = self.check(Depth::Quick)?.len() as u64;
                findings.push(Finding::Damage(damage_count));
                if damage_count == 0 {
                    self.examine_mail(&self.newest_view()?, &mut findings)?;
                }
            }
        }
        let directory = environment.index_directory();
        let size_bytes = system::size_bytes(&directory);
        for (path, wanted_bytes) in
            [(Some(environment.data.as_path()), FREE_BYTES_MIN.max(size_bytes)), (archive, FREE_BYTES_MIN)]
        {
            let Some(path) = path else { continue };
            if let Some(free_bytes) = system::free_bytes(path) {
                findings.push(Finding::Space { path: path.to_owned(), free_bytes, wanted_bytes });
            }
        }
        if let Some(failed) = system::failed_units() {
            findings.push(Finding::Timers(failed));
        }
        if let Some(newest) = backup {
            let now = environment.now_seconds();
            findings.push(Finding::Backup(newest.map(|newest| now.saturating_sub(newest).max(0))));
        }
        Ok(findings)
    }

    fn examine_mail(&self, view: &View, findings: &mut Vec<Finding>) -> Result<()> {
        let missing: Vec<PathBuf> =
            view.roots().iter().map(|root| root.path.clone()).filter(|path| !path.is_dir()).collect();
        findings.push(Finding::MissingRoots(missing));
        self.examine_roles(view, findings);
        let rules = &self.settings().configuration.rules;
        if !rules.is_empty() {
            let wrong = rules::faults(view, rules)?;
            findings.push(Finding::Rules { rule_count: rules.len(), wrong });
        }
        let inventory = Inventory::open(&self.settings().environment)?;
        findings.push(self.behind(&inventory));
        findings.push(Finding::Unreadable(unreadable(&inventory)?));
        findings.push(duplicates(&inventory, &self.trashes(view))?);
        if let Some(limit) = system::watch_limit() {
            let directory_count = inventory.folders().len() as u64 * Subdirectory::ALL.len() as u64;
            findings.push(Finding::Watches { directory_count, limit });
        }
        Ok(())
    }

    /// Returns the folders from which nothing can be moved to the trash.
    fn trashes(&self, view: &View) -> Vec<PathBuf> {
        let accounts = &self.settings().configuration.accounts;
        let known = Known { folders: &view.mailbox().folder_places(), roots: view.roots(), accounts };
        let trash = |root| Some(known.with_role(root, Role::Trash, false).ok()?.path);
        view.roots().iter().filter_map(trash).collect()
    }

    fn examine_roles(&self, view: &View, findings: &mut Vec<Finding>) {
        let accounts = &self.settings().configuration.accounts;
        let folders = view.mailbox().folder_places();
        let known = Known { folders: &folders, roots: view.roots(), accounts };
        for root in view.roots() {
            let (mut found, mut missing) = (Vec::new(), Vec::new());
            for role in Role::ALL {
                let named = accounts.get(&root.name).and_then(|account| account.folders.get(&role));
                match (known.with_role(root, role, false), named) {
                    (Ok(chosen), _) => found.push((role, chosen.path)),
                    (Err(_), Some(name)) => missing.push((role, name.clone())),
                    (Err(_), None) => {}
                }
            }
            let shared = shared(&found);
            findings.push(Finding::Roles { root: root.name.clone(), found, missing, shared });
        }
    }

    /// Compares the times of directories with that of the index.
    fn behind(&self, inventory: &Inventory) -> Finding {
        let environment = &self.settings().environment;
        let age = |time: SystemTime| {
            let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
            environment.now_seconds().saturating_sub(i64::try_from(seconds).unwrap_or(i64::MAX)).max(0)
        };
        let written = system::newest_file(&environment.index_directory()).unwrap_or(SystemTime::UNIX_EPOCH);
        let changed = |folder: &index::StoredFolder| {
            let times = Subdirectory::ALL.into_iter().filter_map(|subdirectory| {
                folder.directory.join(subdirectory.name()).metadata().ok()?.modified().ok()
            });
            times.filter(|time| *time > written).min()
        };
        let folders = inventory.folders().iter().filter(|folder| !folder.no_update);
        let changed: Vec<SystemTime> = folders.filter_map(changed).collect();
        Finding::Behind {
            folder_count: changed.len() as u64,
            seconds: changed.iter().min().map_or(0, |first| age(*first)),
            index_seconds: age(written),
        }
    }
}

/// Returns pairs of roles that have the same folder: what one of them deletes or keeps, the other does, too.
fn shared(found: &[(Role, PathBuf)]) -> Vec<[Role; 2]> {
    let mut pairs = Vec::new();
    for (number, (role, path)) in found.iter().enumerate() {
        let others = found.iter().skip(number + 1).filter(|(_, other)| other == path);
        pairs.extend(others.map(|(other, _)| [*role, *other]));
    }
    pairs
}

/// Tries the files that the index does not have: it has all others because they could be read.
fn unreadable(inventory: &Inventory) -> Result<Vec<(PathBuf, String)>> {
    const LOOK_BYTES: usize = 64 << 10;
    let mut found = Vec::new();
    let mut content = mail::FileContent::default();
    for folder in inventory.folders().iter().filter(|folder| !folder.no_update) {
        for subdirectory in Subdirectory::ALL {
            let directory = folder.directory.join(subdirectory.name());
            let listed = inventory.listed(folder, subdirectory)?;
            let known: HashSet<&[u8]> = listed.iter().map(|file| file.name).collect();
            let entries = match std::fs::read_dir(&directory) {
                Ok(entries) => entries,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => {
                    found.push((directory, error.to_string()));
                    continue;
                }
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                if known.contains(name.as_bytes()) || name.as_bytes().starts_with(b".") {
                    continue;
                }
                match mail::read_message_into(&entry.path(), LOOK_BYTES, &mut content) {
                    Err(error) if !error.is_not_found() => found.push((entry.path(), error.reason())),
                    Ok(()) | Err(_) => {}
                }
                if found.len() >= UNREADABLE_SHOWN_MAX {
                    return Ok(found);
                }
            }
        }
    }
    Ok(found)
}

/// Counts files that have the same message as another one of their folder. Those in a trash do not count:
/// that is where duplicates go.
fn duplicates(inventory: &Inventory, trashes: &[PathBuf]) -> Result<Finding> {
    let (mut file_count, mut folders) = (0, Vec::new());
    for folder in inventory.folders().iter().filter(|folder| !trashes.contains(&folder.directory)) {
        let (mut seen, before) = (HashSet::new(), file_count);
        for subdirectory in Subdirectory::ALL {
            for file in inventory.files(folder, subdirectory).map_err(Error::from)? {
                file_count += u64::from(!seen.insert(file.message));
            }
        }
        if file_count > before && folders.len() < DUPLICATES_SHOWN_MAX {
            folders.push(folder.directory.clone());
        }
    }
    Ok(Finding::Duplicates { file_count, folders })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;
    use index::{Root, UpdateOptions};
    use work::Silent;

    fn letter(id: u32) -> String {
        format!("From: ana@example.org\nMessage-ID: <{id}@x>\nDate: Mon, 5 Jan 2004 10:00:00 +0000\n\nbody\n")
    }

    #[test]
    fn what_is_wrong_is_found_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let host = Host::new(Settings::new(place.path().join("data")));
        assert!(host.examine(None, None).unwrap().contains(&Finding::NoIndex));
        let inbox = place.path().join("Mail/inbox");
        mail::create_directory(&place.path().join("Mail")).unwrap();
        mail::create_folder(&inbox).unwrap();
        std::fs::write(inbox.join("cur/1.a:2,S"), letter(1)).unwrap();
        let roots = [Root { name: "mail".into(), path: place.path().join("Mail") }];
        host.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
        let of = |wanted: &dyn Fn(&Finding) -> bool| {
            host.examine(None, None).unwrap().into_iter().find(wanted).unwrap()
        };
        let is_duplicates = |finding: &Finding| matches!(finding, Finding::Duplicates { .. });
        let is_behind = |finding: &Finding| matches!(finding, Finding::Behind { .. });
        assert!(of(&|finding| matches!(finding, Finding::Damage(_))).is_well());
        assert!(of(&is_duplicates).is_well() && of(&is_behind).is_well());
        std::fs::write(inbox.join("cur/2.a:2,S"), letter(1)).unwrap();
        host.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
        let expected = Finding::Duplicates { file_count: 1, folders: vec![inbox.clone()] };
        assert_eq!(of(&is_duplicates), expected);
        // What dedupe moved is in the trash, perhaps twice.
        let trash = place.path().join("Mail/Trash");
        mail::create_folder(&trash).unwrap();
        for name in ["cur/1.a:2,S", "cur/2.a:2,S"] {
            std::fs::write(trash.join(name), letter(1)).unwrap();
        }
        host.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
        assert_eq!(of(&is_duplicates), expected);
        std::fs::write(inbox.join("new/3.a"), [0x28, 0xb5, 0x2f, 0xfd, 0, 0]).unwrap();
        let Finding::Unreadable(files) = of(&|finding| matches!(finding, Finding::Unreadable(_))) else {
            panic!()
        };
        assert_eq!(files.iter().map(|(path, _)| path).collect::<Vec<_>>(), [&inbox.join("new/3.a")]);
        let later = SystemTime::now() + std::time::Duration::from_secs(100);
        std::fs::File::open(inbox.join("cur")).unwrap().set_modified(later).unwrap();
        assert!(matches!(of(&is_behind), Finding::Behind { folder_count: 1, .. }));
        std::fs::rename(place.path().join("Mail"), place.path().join("Gone")).unwrap();
        assert!(!of(&|finding| matches!(finding, Finding::MissingRoots(_))).is_well());
        let now = host.settings().environment.now_seconds();
        for (newest, is_well) in [(None, false), (Some(now - 100), true), (Some(now - 8 * 86_400), false)] {
            let backup = host.examine(Some(newest), None).unwrap().pop().unwrap();
            assert_eq!(backup.is_well(), is_well, "{backup:?}");
        }
    }

    #[test]
    fn limits_decide() {
        let space = |free_bytes| Finding::Space { path: "/".into(), free_bytes, wanted_bytes: 100 };
        assert!(space(100).is_well() && !space(99).is_well());
        let watches = |directory_count| Finding::Watches { directory_count, limit: 8 };
        assert!(watches(8).is_well() && !watches(9).is_well());
        let behind = |seconds| Finding::Behind { folder_count: 1, seconds, index_seconds: 0 };
        assert!(behind(BEHIND_SECONDS_MAX).is_well() && !behind(BEHIND_SECONDS_MAX + 1).is_well());
        assert!(!Finding::Timers(vec!["pneu.service".into()]).is_well());
    }
}
