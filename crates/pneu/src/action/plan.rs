//! Decides for an action where each file goes.
//!
//! Input: files as the index knows them, an action, the folders. Output: steps from place to place. Of the
//! disk it asks only which names are taken, and which directories are the same. Changes nothing.

use crate::action::folder::Chosen;
use crate::action::log::Kind;
use crate::action::role::Known;
use crate::error::Result;
use crate::setup::roles::{Role, RoleName};
use index::{FoundFile, Root, Subdirectory};
use mail::Flags;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// An action on the files of messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Changes flags. A flag that is in both sets is added.
    Flag {
        /// Flags to add.
        add: Flags,
        /// Flags to remove.
        remove: Flags,
    },
    /// Moves files into a folder: its name or path.
    Move {
        /// The folder.
        folder: String,
        /// Whether to create it if it does not exist.
        creates: bool,
    },
    /// Copies files into a folder.
    Copy {
        /// The folder.
        folder: String,
        /// Whether to create it if it does not exist.
        creates: bool,
    },
    /// Moves files into the trash of their root.
    Delete,
}

/// One file, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedStep {
    /// The file.
    pub file: FoundFile,
    /// Its new place.
    pub to: PathBuf,
}

/// What an action would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The steps, in order.
    pub steps: Vec<PlannedStep>,
    /// Folders to create before them.
    pub new_folders: Vec<PathBuf>,
}

/// What a plan depends on.
pub(super) struct Surroundings<'a> {
    /// Where files can go.
    pub known: Known<'a>,
    /// Returns a name that no other file has.
    pub unique_name: &'a dyn Fn() -> Vec<u8>,
}

impl Action {
    /// Returns what kind of action it is.
    pub fn kind(&self) -> Kind {
        match self {
            Action::Flag { .. } => Kind::Flag,
            Action::Move { .. } => Kind::Move,
            Action::Copy { .. } => Kind::Copy,
            Action::Delete => Kind::Delete,
        }
    }
}

/// Decides where files go. Files that are there already have no step.
///
/// # Errors
/// There is no such folder; a root has none with that role.
pub(super) fn plan(files: Vec<FoundFile>, action: &Action, around: &Surroundings<'_>) -> Result<Plan> {
    let mut plan = Plan::default();
    let mut taken = Taken::default();
    let files = once_each(files);
    match action {
        Action::Flag { add, remove } => {
            for file in files {
                if let Some(to) = with_flags(&file, *add, *remove) {
                    plan.steps.push(PlannedStep { file, to });
                }
            }
        }
        Action::Move { folder, creates } | Action::Copy { folder, creates } => {
            match around.known.role(folder)? {
                Some(RoleName { root: None, role }) => {
                    put_by_role(&mut plan, around, files, (role, *creates))?;
                }
                _ => {
                    let Chosen { path, is_new } = around.known.named(folder, *creates)?;
                    plan.new_folders.extend(is_new.then(|| path.clone()));
                    for file in files {
                        put(&mut plan, &mut taken, around.unique_name, file, &path);
                    }
                }
            }
        }
        Action::Delete => put_by_role(&mut plan, around, files, (Role::Trash, false))?,
    }
    Ok(plan)
}

/// Plans that files go into folders, each into its own, under names that no file there has. Nothing is asked
/// about the folders.
pub(super) fn put_each(files: Vec<(FoundFile, PathBuf)>, unique_name: &dyn Fn() -> Vec<u8>) -> Plan {
    let (mut plan, mut taken) = (Plan::default(), Taken::default());
    for (file, folder) in files {
        put(&mut plan, &mut taken, unique_name, file, &folder);
    }
    plan
}

/// Leaves out files that are there already by another path: two roots may link to each other.
pub(super) fn once_each(mut files: Vec<FoundFile>) -> Vec<FoundFile> {
    let mut identities: HashMap<PathBuf, Option<(u64, u64)>> = HashMap::new();
    let mut seen: HashSet<((u64, u64), Vec<u8>)> = HashSet::new();
    files.retain(|file| {
        let directory = file.folder.join(file.subdirectory.name());
        let identity = *identities.entry(directory).or_insert_with_key(|path| identity(path));
        identity.is_none_or(|identity| seen.insert((identity, file.name.clone())))
    });
    files
}

/// Returns the device and the inode of a directory.
fn identity(path: &Path) -> Option<(u64, u64)> {
    mail::stat_directory(path).ok().map(|stamp| (stamp.device, stamp.inode))
}

/// Plans that files go into the folder of their root with a role.
///
/// # Errors
/// A root has none.
fn put_by_role(
    plan: &mut Plan,
    around: &Surroundings<'_>,
    files: Vec<FoundFile>,
    (role, creates): (Role, bool),
) -> Result<()> {
    let mut taken = Taken::default();
    let mut known: Vec<(Root, PathBuf)> = Vec::new();
    for file in files {
        let place = match known.iter().find(|(root, _)| *root == file.root) {
            Some((_, place)) => place.clone(),
            None => {
                let Chosen { path, is_new } = around.known.with_role(&file.root, role, creates)?;
                plan.new_folders.extend(is_new.then(|| path.clone()));
                known.push((file.root.clone(), path.clone()));
                path
            }
        };
        put(plan, &mut taken, around.unique_name, file, &place);
    }
    Ok(())
}

/// Plans that a file goes into a folder, under a name that no file there has.
fn put(
    plan: &mut Plan,
    taken: &mut Taken,
    unique_name: &dyn Fn() -> Vec<u8>,
    file: FoundFile,
    folder: &Path,
) {
    if taken.is_same(&file.folder, folder) {
        return;
    }
    let directory = folder.join(file.subdirectory.name());
    let name = mail::name_elsewhere(&file.name);
    let unique = mail::parse_name(&name).unique;
    let names = taken.names(folder);
    let to = if names.insert(unique.to_vec()) {
        mail::join(&directory, &name)
    } else {
        // Another file has it, if with other flags: mail programs take both for one.
        let rest = name.get(unique.len()..).unwrap_or_default();
        mail::join(&directory, &[unique_name().as_slice(), rest].concat())
    };
    plan.steps.push(PlannedStep { file, to });
}

/// What is known of the folders that files go into.
#[derive(Default)]
struct Taken {
    /// The unique parts of names in each.
    names: HashMap<PathBuf, HashSet<Vec<u8>>>,
    /// Whether two paths are one folder, by a symbolic link.
    same: HashMap<(PathBuf, PathBuf), bool>,
}

impl Taken {
    fn names(&mut self, folder: &Path) -> &mut HashSet<Vec<u8>> {
        self.names.entry(folder.to_owned()).or_insert_with(|| {
            let directories = ["cur", "new"].map(|directory| folder.join(directory));
            // One that does not exist or cannot be read has none; nothing is ever replaced.
            let read = |directory: &PathBuf| mail::names_by_unique_part(directory).unwrap_or_default();
            directories.iter().flat_map(|directory| read(directory).into_keys()).collect()
        })
    }

    fn is_same(&mut self, one: &Path, other: &Path) -> bool {
        let key = (one.to_owned(), other.to_owned());
        one == other
            || *self
                .same
                .entry(key)
                .or_insert_with(|| identity(one).is_some() && identity(one) == identity(other))
    }
}

/// Returns the place of a file after its flags changed; `None` if they do not. A file with flags is in `cur`.
pub(crate) fn with_flags(file: &FoundFile, add: Flags, remove: Flags) -> Option<PathBuf> {
    let before = mail::parse_name(&file.name).flags;
    let after = (before - remove) | add;
    if after == before && (file.subdirectory == Subdirectory::Cur || add.is_empty()) {
        return None;
    }
    let name = mail::with_flags(&file.name, after);
    Some(mail::join(&file.folder.join(Subdirectory::Cur.name()), &name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::account::Account;
    use index::FolderPlace;
    use std::collections::BTreeMap;

    fn root() -> Root {
        Root { name: "mail".into(), path: "/m".into() }
    }

    fn file(folder: &str, subdirectory: Subdirectory, name: &str) -> FoundFile {
        FoundFile {
            root: root(),
            folder: mail::join(Path::new("/m"), folder.as_bytes()),
            subdirectory,
            name: name.as_bytes().to_vec(),
            inode: 1,
            size_bytes: 2,
            mtime_ns: 3,
            sha256: [0; 32],
        }
    }

    fn folders(names: &[&str]) -> Vec<FolderPlace> {
        let place = |name: &&str| FolderPlace {
            name: format!("/{name}"),
            disk_name: format!("/{name}"),
            path: mail::join(Path::new("/m"), name.as_bytes()),
        };
        names.iter().map(place).collect()
    }

    fn planned(files: Vec<FoundFile>, action: &Action, names: &[&str], trash: Option<&str>) -> String {
        let folder = trash.map(|name| (Role::Trash, name.to_owned()));
        let account = Account { folders: folder.into_iter().collect(), ..Account::default() };
        let accounts = BTreeMap::from([("mail".to_owned(), account)]);
        let known = Known { folders: &folders(names), roots: &[root()], accounts: &accounts };
        let around = Surroundings { known, unique_name: &|| b"fresh".to_vec() };
        match plan(files, action, &around) {
            Ok(plan) => plan
                .steps
                .iter()
                .map(|step| format!("{} > {}", step.file.path().display(), step.to.display()))
                .collect::<Vec<_>>()
                .join("\n"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn flags_change_names_and_bring_new_files_into_cur() {
        let files = || {
            vec![
                file("a", Subdirectory::Cur, "1:2,S"),
                file("a", Subdirectory::Cur, "2,U=7:2,FS"),
                file("a", Subdirectory::New, "3"),
            ]
        };
        let flag = |add, remove| planned(files(), &Action::Flag { add, remove }, &[], None);
        assert_eq!(
            flag(Flags::FLAGGED, Flags::NONE),
            "/m/a/cur/1:2,S > /m/a/cur/1:2,FS\n/m/a/new/3 > /m/a/cur/3:2,F"
        );
        assert_eq!(
            flag(Flags::NONE, Flags::SEEN | Flags::FLAGGED),
            "/m/a/cur/1:2,S > /m/a/cur/1:2,\n/m/a/cur/2,U=7:2,FS > /m/a/cur/2,U=7:2,"
        );
        assert_eq!(flag(Flags::SEEN, Flags::SEEN), "/m/a/new/3 > /m/a/cur/3:2,S");
    }

    #[test]
    fn a_file_with_two_paths_has_one_step() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(place.path().join("a/cur")).unwrap();
        std::os::unix::fs::symlink("a", place.path().join("b")).unwrap();
        let at = |folder: &str, name: &str| {
            file(place.path().join(folder).to_str().unwrap(), Subdirectory::Cur, name)
        };
        let files = vec![at("a", "1:2,"), at("b", "1:2,"), at("b", "2:2,")];
        let found = planned(files, &Action::Flag { add: Flags::SEEN, remove: Flags::NONE }, &[], None);
        let steps: Vec<&str> = found.lines().map(|step| step.rsplit('/').next().unwrap()).collect();
        assert_eq!(steps, ["1:2,S", "2:2,S"]);
    }

    #[test]
    fn files_go_into_a_folder_without_the_numbers_of_the_old_one_and_under_names_of_their_own() {
        let files = vec![
            file("a", Subdirectory::Cur, "1,U=5,S=9:2,S"),
            file("b", Subdirectory::New, "1,S=9:2,S"),
            file("c", Subdirectory::Cur, "1,U=6,S=9:2,S"),
            file("to", Subdirectory::Cur, "2:2,"),
        ];
        let action = Action::Move { folder: "to".into(), creates: false };
        assert_eq!(
            planned(files.clone(), &action, &["a", "to"], None),
            "/m/a/cur/1,U=5,S=9:2,S > /m/to/cur/1,S=9:2,S\n\
             /m/b/new/1,S=9:2,S > /m/to/new/fresh,S=9:2,S\n\
             /m/c/cur/1,U=6,S=9:2,S > /m/to/cur/fresh,S=9:2,S"
        );
        assert_eq!(planned(files, &action, &["a"], None), "there is no folder to");
    }

    #[test]
    fn the_trash_is_the_configured_one_or_one_with_a_usual_name() {
        let deleted = |names: &[&str], trash| {
            planned(vec![file("a", Subdirectory::Cur, "1:2,S")], &Action::Delete, names, trash)
        };
        assert_eq!(deleted(&["a", "Trash"], None), "/m/a/cur/1:2,S > /m/Trash/cur/1:2,S");
        assert_eq!(deleted(&["a", ".Trash"], None), "/m/a/cur/1:2,S > /m/.Trash/cur/1:2,S");
        assert_eq!(deleted(&["a", "Trash", "Bin"], Some("Bin")), "/m/a/cur/1:2,S > /m/Bin/cur/1:2,S");
        assert_eq!(deleted(&["a", "Trash"], Some("Bin")), "there is no folder Bin");
        assert_eq!(deleted(&["a"], None), "there is no trash in /m");
        assert_eq!(
            deleted(&["a", "[Gmail]/Papierkorb"], None),
            "/m/a/cur/1:2,S > /m/[Gmail]/Papierkorb/cur/1:2,S"
        );
        let there = vec![file("Trash", Subdirectory::Cur, "1:2,S")];
        assert_eq!(planned(there, &Action::Delete, &["Trash"], None), "");
    }
}
