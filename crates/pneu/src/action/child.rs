//! Creates, renames and removes folders by their place in the tree of folders, in which each has a parent and
//! a name without separators.
//!
//! Input: folders of the index, and names as a user reads them. Output: folders at places whose names read
//! so. No name leads out of a root, nothing is ever replaced, and only an empty folder is removed. Does not
//! know how a tree is shown.

use crate::action::act::AFTER;
use crate::action::folder::is_maildir_plus;
use crate::action::log::Log;
use crate::action::rename::Renamed;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::view::View;
use index::{IndexedFolder, Places, Root};
use mail::RootBoundary;
use std::path::{Path, PathBuf};
use work::Progress;

/// Most bytes of the name of a directory.
const NAME_BYTES_MAX: usize = 255;

/// Below what a folder lies.
#[derive(Clone, Copy, Debug)]
pub enum Above<'a> {
    /// The only root, or the root with this name.
    Root(Option<&'a str>),
    /// Another folder.
    Folder(&'a IndexedFolder),
}

impl Host {
    /// Creates a folder below another one or in a root, and indexes it. Returns its path.
    ///
    /// # Errors
    /// The text cannot be the name of a folder there; there is one; as [`Host::create_folder`].
    pub fn create_child(&self, above: Above<'_>, name: &str, progress: &dyn Progress) -> Result<PathBuf> {
        let view = self.newest_view()?;
        let path = place(&view, above, (name, None))?;
        self.create_folder(utf8(&path)?, progress)
    }

    /// Gives a folder another name or another parent. The folders below it go along.
    ///
    /// # Errors
    /// The text cannot be the name of a folder there; as [`Host::rename_folder`].
    pub fn move_child(
        &self,
        folder: &IndexedFolder,
        (above, name): (Above<'_>, &str),
        progress: &dyn Progress,
    ) -> Result<Renamed> {
        let path = place(&self.newest_view()?, above, (name, Some(folder)))?;
        self.rename_folder(utf8(&folder.place.path)?, utf8(&path)?, progress)
    }

    /// Removes a folder without files, and takes it out of the index. What else lies in its directory stays,
    /// such as the folders below it. This cannot be undone, but the folder can be created again: as another
    /// one, of which nothing is kept.
    ///
    /// # Errors
    /// It is a root or an inbox, or has files; a symbolic link leads there; the disk cannot be written. As
    /// [`Host::update`]: the folder is gone then.
    pub fn remove_folder(&self, folder: &IndexedFolder, progress: &dyn Progress) -> Result<()> {
        // No action brings a file there meanwhile.
        let log = Log::take(&self.settings().environment, progress)?;
        self.recover(&log, progress)?;
        let path = folder.place.path.components().collect::<PathBuf>();
        let stays = |what: &str| Error::FolderStays { path: path.clone(), what: what.to_owned() };
        let view = self.newest_view()?;
        let root = view.roots().iter().find(|root| root.name == folder.root);
        let root = root.filter(|_| !is_fixed(folder)).ok_or_else(|| stays("it is an inbox"))?;
        let is_link = path.symlink_metadata().map_or(true, |metadata| metadata.is_symlink());
        if is_link || !RootBoundary::new(&root.path).holds(&path).unwrap_or(false) {
            return Err(stays("a symbolic link leads there, or it is gone"));
        }
        for part in ["tmp", "new", "cur"] {
            let removed = std::fs::remove_dir(path.join(part));
            if let Err(error) = removed.or_else(|error| match error.kind() {
                std::io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            }) {
                // What was removed was empty.
                mail::create_folder(&path).map_err(Error::Delivery)?;
                let is_full = error.kind() == std::io::ErrorKind::DirectoryNotEmpty;
                return Err(if is_full {
                    stays("it has files")
                } else {
                    Error::Delivery(mail::Error::io("remove", &path.join(part), error))
                });
            }
        }
        // It may have other files, or folders.
        let changed = if std::fs::remove_dir(&path).is_ok() { path.parent() } else { Some(path.as_path()) };
        changed.map_or(Ok(()), mail::sync_directory).map_err(Error::Delivery)?;
        let mut places = Places::default();
        places.add_folder(&path);
        self.bring_places_in_step(&places, AFTER, progress)?;
        self.forget_kept_folder(folder, progress)
    }
}

/// Returns whether a folder keeps its name and its place: a root, or an inbox.
pub(crate) fn is_fixed(folder: &IndexedFolder) -> bool {
    let name = folder.path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = name.strip_prefix(b".").unwrap_or(name);
    folder.path.is_empty() || name.eq_ignore_ascii_case(b"inbox")
}

/// Returns the place of a folder with a name: a new one, or one that lies elsewhere now.
fn place(view: &View, above: Above<'_>, (name, old): (&str, Option<&IndexedFolder>)) -> Result<PathBuf> {
    let refused = |what| Error::FolderName { name: name.to_owned(), what };
    let (root, parent): (&Root, &[u8]) = match (above, view.roots()) {
        (Above::Folder(folder), roots) => {
            let root = roots.iter().find(|root| root.name == folder.root);
            (root.ok_or_else(|| refused("its root is gone"))?, &folder.path)
        }
        (Above::Root(Some(name)), roots) => {
            let root = roots.iter().find(|root| root.name == name);
            (root.ok_or_else(|| refused("there is no root of that name"))?, &[])
        }
        (Above::Root(None), [root]) => (root, &[]),
        (Above::Root(None), _) => {
            return Err(refused("there are several roots, so it must be in one of them"));
        }
    };
    check(name).map_err(refused)?;
    let is_dotted = |path: &[u8]| path.starts_with(b".") && !path.contains(&b'/');
    let folders = view.mailbox().folder_places();
    let is_plus = match old {
        _ if !parent.is_empty() => is_dotted(parent),
        Some(old) => is_dotted(&old.path),
        None => is_maildir_plus(&root.path, &folders),
    };
    let directory = mail::join(&root.path, parent);
    let named = |written: &str| match (is_plus, parent.is_empty()) {
        (true, true) => root.path.join(format!(".{written}")),
        (true, false) => mail::join(&root.path, &[parent, b".", written.as_bytes()].concat()),
        (false, _) => directory.join(written),
    };
    if is_plus && name.contains('.') {
        return Err(refused("in a Maildir++, a dot separates a folder from the one above it"));
    }
    if !is_plus && name.starts_with('.') {
        return Err(refused("it begins with a dot"));
    }
    let encoded = mail::encoded_folder(name);
    let written = if is_plus { [encoded.clone(), encoded] } else { [name.to_owned(), encoded] };
    // A name may look like an encoded one.
    let written = written.into_iter().find(|written| mail::readable_folder(written.as_bytes()) == name);
    let path = named(&written.ok_or_else(|| refused("it cannot be written so that it reads the same"))?);
    match path.file_name() {
        Some(last) if last.len() <= NAME_BYTES_MAX => Ok(path.components().collect()),
        _ => Err(refused("it is too long")),
    }
}

fn check(name: &str) -> std::result::Result<(), &'static str> {
    match name {
        "" => Err("it is empty"),
        "." | ".." => Err("it is \".\" or \"..\""),
        "cur" | "new" | "tmp" => Err("cur, new and tmp are the parts of a folder"),
        name if name.contains('/') => Err("it has a slash"),
        name if name.chars().any(char::is_control) => Err("it has control characters"),
        name if name.trim() != name => Err("it has white space around it"),
        _ => Ok(()),
    }
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| Error::FolderName {
        name: path.to_string_lossy().into_owned(),
        what: "its path is not UTF-8",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use index::UpdateOptions;
    use work::Silent;

    fn host(place: &Path, folders: &[&str]) -> Host {
        for folder in folders {
            let path = place.join("Mail").join(folder);
            std::fs::create_dir_all(&path).unwrap();
            mail::create_folder(&path).unwrap();
        }
        let host = Host::new(Settings::new(place.join("data")));
        let roots = [Root { name: "mail".into(), path: place.join("Mail") }];
        host.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
        host
    }

    fn folder(host: &Host, path: &str) -> IndexedFolder {
        let folders = host.view().unwrap().indexed_folders();
        folders.into_iter().find(|folder| folder.path == path.as_bytes()).unwrap()
    }

    fn paths(host: &Host) -> String {
        let folders = host.view().unwrap().indexed_folders();
        let mut paths: Vec<String> =
            folders.iter().map(|folder| String::from_utf8_lossy(&folder.path).into_owned()).collect();
        paths.sort();
        paths.join(" ")
    }

    #[test]
    fn folders_are_made_renamed_and_removed_by_their_place() {
        let place = tempfile::tempdir().unwrap();
        let host = host(place.path(), &["", ".Archive"]);
        let archive = || folder(&host, ".Archive");
        host.create_child(Above::Folder(&archive()), "Gäste & Co", &Silent).unwrap();
        host.create_child(Above::Root(None), "Work", &Silent).unwrap();
        assert_eq!(paths(&host), " .Archive .Archive.G&AOQ-ste &- Co .Work");
        let work = folder(&host, ".Work");
        host.move_child(&archive(), (Above::Folder(&work), "Old"), &Silent).unwrap();
        assert_eq!(paths(&host), " .Work .Work.Old .Work.Old.G&AOQ-ste &- Co");
        let old = folder(&host, ".Work.Old");
        host.move_child(&old, (Above::Root(None), "Old"), &Silent).unwrap();
        assert_eq!(paths(&host), " .Old .Old.G&AOQ-ste &- Co .Work");
        let old = folder(&host, ".Old");
        std::fs::write(old.place.path.join("cur/1.a:2,"), "Subject: x\n\nx\n").unwrap();
        assert!(host.remove_folder(&old, &Silent).unwrap_err().to_string().ends_with("it has files"));
        assert!(old.place.path.join("tmp").is_dir(), "all of it is there again");
        host.remove_folder(&folder(&host, ".Work"), &Silent).unwrap();
        assert_eq!(paths(&host), " .Old .Old.G&AOQ-ste &- Co");
        assert!(!place.path().join("Mail/.Work").exists());
        assert!(host.remove_folder(&folder(&host, ""), &Silent).is_err());
    }

    #[test]
    fn in_directories_what_else_is_there_stays() {
        let place = tempfile::tempdir().unwrap();
        let host = host(place.path(), &["inbox", "lists", "lists/rust"]);
        let lists = folder(&host, "lists");
        host.create_child(Above::Folder(&lists), "v1.2", &Silent).unwrap();
        host.remove_folder(&lists, &Silent).unwrap();
        assert_eq!(paths(&host), "inbox lists/rust lists/v1.2");
        assert!(host.remove_folder(&folder(&host, "inbox"), &Silent).is_err());
        let rust = folder(&host, "lists/rust");
        for name in ["", ".", "..", "a/b", "cur", "a\nb", "a\0b", ".x", " a", "&-", &"x".repeat(256)] {
            let created = host.create_child(Above::Folder(&rust), name, &Silent);
            match name {
                "&-" => assert!(created.unwrap().ends_with("&--"), "it reads as it was given"),
                _ => assert!(matches!(created, Err(Error::FolderName { .. })), "{name:?}: {created:?}"),
            }
        }
    }

    #[test]
    fn a_link_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        mail::create_folder(outside.path()).unwrap();
        std::fs::create_dir_all(place.path().join("Mail")).unwrap();
        std::os::unix::fs::symlink(outside.path(), place.path().join("Mail/out")).unwrap();
        let host = host(place.path(), &["inbox"]);
        let link = folder(&host, "out");
        assert!(host.remove_folder(&link, &Silent).is_err());
        assert!(host.create_child(Above::Folder(&link), "x", &Silent).is_err());
        assert!(outside.path().join("cur").is_dir());
    }
}
