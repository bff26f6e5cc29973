//! Finds the folder that a name stands for, or the place of a new one.
//!
//! Input: a name, and the folders and roots of the index. Output: a path. A name may come from a message (a
//! filter that delivers by `List-Id`), so no name leads out of a root. Creates nothing.

use crate::error::{Error, Result};
use index::{FolderPlace, Root};
use mail::RootBoundary;
use std::path::{Component, Path, PathBuf};

/// A folder to write into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    /// Its path.
    pub path: PathBuf,
    /// Whether it is to be created.
    pub is_new: bool,
}

/// Returns the folder with this name: as it is shown (`/Entwürfe`), as it is on disk (`/Entw&APw-rfe`), each
/// with or without slashes around it, or its path; `lists/rust` is also `.lists.rust` of a Maildir++. `inbox`
/// is the folder that is a root, if no other is called so. With `creates`, a folder that does not exist is
/// placed in the only root, or where its path says. Without roots, which is without an index, a path may be
/// anywhere.
///
/// # Errors
/// [`Error::NoFolder`], [`Error::SeveralFolders`], [`Error::FolderName`].
pub(super) fn choose(name: &str, folders: &[FolderPlace], roots: &[Root], creates: bool) -> Result<Chosen> {
    let refused = |what| Error::FolderName { name: name.to_owned(), what };
    // A folder that the index knows may be gone.
    let known = find(name, folders)?;
    if let Some(path) = known.clone().filter(|path| !creates || is_folder(path)) {
        return Ok(Chosen { path, is_new: false });
    }
    let own = in_root(Path::new(name), roots);
    let path = own.clone().unwrap_or_else(|| PathBuf::from(name));
    if known.is_none() && is_plain(&path) && is_folder(&path) && (own.is_some() || roots.is_empty()) {
        return Ok(Chosen { path: path.components().collect(), is_new: false });
    }
    if !creates {
        let nearest = nearest(name, folders).map(str::to_owned);
        return Err(Error::NoFolder { name: name.to_owned(), nearest });
    }
    let path = match (known, own) {
        (Some(path), _) | (None, Some(path)) => path,
        (None, None) => {
            let [root] = roots else {
                return Err(refused("there are several roots, so it must be a path in one of them"));
            };
            let below = name.strip_prefix('/').unwrap_or(name).trim_end_matches('/');
            if name.starts_with('/') && below.contains('/') {
                return Err(refused("that path is in no root"));
            }
            let parts = parts(below).map_err(refused)?;
            place(&root.path, &parts, folders).map_err(refused)?
        }
    };
    let root =
        roots.iter().find(|root| path.starts_with(&root.path)).ok_or_else(|| refused("it is in no root"))?;
    let below = path.strip_prefix(&root.path).unwrap_or(&path).to_string_lossy().into_owned();
    parts(&below).map_err(refused)?;
    // The last part may be a link as well.
    let existing = path.ancestors().find(|part| part.symlink_metadata().is_ok());
    if !existing.is_some_and(|part| RootBoundary::new(&root.path).holds(part).unwrap_or(false)) {
        return Err(refused("it leads out of the root, or the root is not there"));
    }
    Ok(Chosen { path, is_new: true })
}

/// Returns a path that is in a root, as the index spells the root: either may lead over symbolic links.
pub(super) fn in_root(path: &Path, roots: &[Root]) -> Option<PathBuf> {
    if !is_plain(path) {
        return None;
    }
    let existing = path.ancestors().find(|part| part.exists())?;
    let (real, rest) = (existing.canonicalize().ok()?, path.strip_prefix(existing).ok()?);
    roots.iter().find_map(|root| {
        if path.starts_with(&root.path) {
            return Some(path.components().collect());
        }
        let below = real.strip_prefix(root.path.canonicalize().ok()?).ok()?;
        Some(root.path.join(below).join(rest).components().collect())
    })
}

/// Returns whether a path is absolute and goes nowhere up.
fn is_plain(path: &Path) -> bool {
    path.is_absolute() && path.components().all(|part| part != Component::ParentDir)
}

/// Returns the folder with a name, if there is one.
fn find(name: &str, folders: &[FolderPlace]) -> Result<Option<PathBuf>> {
    let plain: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
    let with_slash = format!("/{}", plain.join("/"));
    // Maildir++ keeps /lists/rust in .lists.rust.
    let dotted = format!("/.{}", plain.join("."));
    let is_inbox = |folder: &FolderPlace| folder.name == "/" && name.eq_ignore_ascii_case("inbox");
    let kinds: [&dyn Fn(&FolderPlace) -> bool; 4] = [
        &|folder| folder.name == with_slash || folder.disk_name == with_slash,
        &|folder| folder.path == Path::new(name),
        &|folder| folder.name == dotted || folder.disk_name == dotted,
        &is_inbox,
    ];
    for is_it in kinds {
        let found: Vec<&FolderPlace> = folders.iter().filter(|folder| is_it(folder)).collect();
        match found.as_slice() {
            [] => {}
            [folder] => return Ok(Some(folder.path.clone())),
            several => {
                let paths = several.iter().map(|folder| folder.path.clone()).collect();
                return Err(Error::SeveralFolders { name: name.to_owned(), paths });
            }
        }
    }
    Ok(None)
}

/// Returns the folder whose name differs in case only, or ends in the same word.
fn nearest<'a>(name: &str, folders: &'a [FolderPlace]) -> Option<&'a str> {
    let wanted = name.trim_start_matches('/').to_lowercase();
    let words = |name: &str| name.trim_start_matches('/').to_lowercase();
    let last = |name: &str| name.rsplit(['/', '.']).next().unwrap_or_default().to_owned();
    let same = folders.iter().find(|folder| words(&folder.name) == wanted);
    let similar = || folders.iter().find(|folder| last(&words(&folder.name)) == last(&wanted));
    same.or_else(similar).map(|folder| folder.name.as_str())
}

/// Returns the parts of a new folder's name.
pub(super) fn parts(name: &str) -> std::result::Result<Vec<&str>, &'static str> {
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Err("it is empty");
    }
    for part in &parts {
        if [".", ".."].contains(part) {
            return Err("it has the part \".\" or \"..\"");
        }
        if ["cur", "new", "tmp"].contains(part) {
            return Err("cur, new and tmp are the parts of a folder");
        }
        if part.chars().any(char::is_control) {
            return Err("it has control characters");
        }
    }
    if parts.first() == Some(&"~") {
        Err("a path in the home directory must be written out")
    } else {
        Ok(parts)
    }
}

/// Returns where a new folder goes: into `.a.b` if most other folders of the root are kept so (Maildir++), or
/// if the root is a folder and has no other; else into `a/b`.
fn place(root: &Path, parts: &[&str], folders: &[FolderPlace]) -> std::result::Result<PathBuf, &'static str> {
    let is_maildir_plus = is_maildir_plus(root, folders);
    let is_written_so = parts.len() == 1 && parts.first().is_some_and(|part| part.starts_with('.'));
    if !is_maildir_plus || is_written_so {
        return Ok(root.join(parts.join("/")));
    }
    if parts.iter().any(|part| part.starts_with('.') || part.ends_with('.')) {
        return Err("in a Maildir++, parts do not begin or end with a dot");
    }
    Ok(root.join(format!(".{}", mail::encoded_folder(&parts.join(".")))))
}

/// Returns whether a new folder of a root is one of Maildir++: see [`place`].
pub(super) fn is_maildir_plus(root: &Path, folders: &[FolderPlace]) -> bool {
    let others = folders.iter().filter_map(|folder| folder.path.strip_prefix(root).ok());
    let is_dotted = |path: &&Path| path.to_string_lossy().starts_with('.') && path.components().count() == 1;
    let (dotted, plain): (Vec<&Path>, Vec<&Path>) =
        others.filter(|path| !path.as_os_str().is_empty()).partition(is_dotted);
    dotted.len() > plain.len() || (plain.is_empty() && is_folder(root))
}

/// Returns whether a directory is a folder.
fn is_folder(path: &Path) -> bool {
    ["cur", "new"].into_iter().all(|directory| path.join(directory).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(root: &str, names: &[&str]) -> Vec<FolderPlace> {
        let place = |name: &&str| FolderPlace {
            name: format!("/{name}"),
            disk_name: format!("/{name}"),
            path: mail::join(Path::new(root), name.as_bytes()),
        };
        names.iter().map(place).collect()
    }

    fn root(path: &Path) -> Root {
        Root { name: "mail".into(), path: path.to_owned() }
    }

    fn found(name: &str, folders: &[FolderPlace]) -> String {
        match choose(name, folders, &[], false) {
            Ok(chosen) => chosen.path.display().to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_folder_is_found_by_its_names_and_its_path() {
        let mut all = folders("/m", &["", "inbox2", "lists/rust", ".lists.go"]);
        all.push(FolderPlace {
            name: "/Entwürfe".into(),
            disk_name: "/Entw&APw-rfe".into(),
            path: "/m/E".into(),
        });
        for (name, path) in [
            ("lists/rust", "/m/lists/rust"),
            ("/lists/rust", "/m/lists/rust"),
            ("/m/lists/rust", "/m/lists/rust"),
            ("lists/go", "/m/.lists.go"),
            ("lists.go", "/m/.lists.go"),
            (".lists.go", "/m/.lists.go"),
            ("Entwürfe", "/m/E"),
            ("Entw&APw-rfe", "/m/E"),
            ("/", "/m"),
            ("INBOX", "/m"),
        ] {
            assert_eq!(found(name, &all), path, "{name}");
        }
        assert_eq!(found("nowhere", &all), "there is no folder nowhere");
        let nearest = |name: &str| match choose(name, &all, &[], false) {
            Err(Error::NoFolder { nearest, .. }) => nearest.unwrap_or_default(),
            other => panic!("{other:?}"),
        };
        assert_eq!(nearest("Inbox2"), "/inbox2");
        assert_eq!(nearest("rust"), "/lists/rust");
        assert_eq!(nearest("x"), "");
        all.extend(folders("/other", &["lists/rust"]));
        assert_eq!(
            found("lists/rust", &all),
            "several folders are called lists/rust: /m/lists/rust, /other/lists/rust"
        );
        assert_eq!(found("/other/lists/rust", &all), "/other/lists/rust");
    }

    #[test]
    fn a_new_folder_is_placed_as_the_others_are_and_never_outside() {
        let place = tempfile::tempdir().unwrap();
        let mail = place.path().join("Mail");
        std::fs::create_dir_all(&mail).unwrap();
        std::os::unix::fs::symlink(place.path(), mail.join("out")).unwrap();
        let roots = [root(&mail)];
        let text = mail.to_str().unwrap();
        let created = |name: &str, folders: &[FolderPlace]| match choose(name, folders, &roots, true) {
            Ok(Chosen { path, is_new: true }) => path.strip_prefix(&mail).unwrap().display().to_string(),
            Ok(chosen) => panic!("{chosen:?}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(created("a/b", &[]), "a/b");
        assert_eq!(created(&format!("{text}/a/b"), &[]), "a/b");
        assert_eq!(created("/a", &folders(text, &["", "x"])), "a");
        // The index knows it, and it is gone.
        assert_eq!(created("a/gone", &folders(text, &["", "a/gone"])), "a/gone");
        assert_eq!(created("a/b", &folders(text, &["", ".x"])), ".a.b");
        assert_eq!(created(".a.b", &folders(text, &["", ".x"])), ".a.b");
        assert_eq!(created("a//b/", &folders(text, &["", ".x", ".y", "z"])), ".a.b");
        assert_eq!(created("a/b", &folders(text, &[".x", "z"])), "a/b");
        assert_eq!(created("Entwürfe/A&B", &folders(text, &[".x"])), ".Entw&APw-rfe.A&-B");
        assert_eq!(
            created("a/.b", &folders(text, &[".x"])),
            "\"a/.b\" cannot be the name of a folder: in a Maildir++, parts do not begin or end with a dot"
        );
        for (name, what) in [
            ("", "it is empty"),
            ("/", "it is empty"),
            ("../x", "it has the part \".\" or \"..\""),
            ("a/../../x", "it has the part \".\" or \"..\""),
            ("/usr/x", "that path is in no root"),
            ("/lists/x", "that path is in no root"),
            ("a/cur", "cur, new and tmp are the parts of a folder"),
            ("a\nb", "it has control characters"),
            ("out/x", "it leads out of the root, or the root is not there"),
            ("out", "it leads out of the root, or the root is not there"),
            ("~/x", "a path in the home directory must be written out"),
        ] {
            assert_eq!(created(name, &[]), format!("{name:?} cannot be the name of a folder: {what}"));
        }
        let both = [root(&mail), root(Path::new("/other"))];
        assert!(matches!(choose("a", &[], &both, true), Err(Error::FolderName { .. })));
        assert!(choose(&format!("{text}/a"), &[], &both, true).is_ok());
        let escaping = format!("{text}/../Mail");
        mail::create_folder(&mail).unwrap();
        assert!(matches!(choose(&escaping, &[], &roots, false), Err(Error::NoFolder { .. })));
        assert_eq!(choose(text, &[], &[], false).unwrap().path, mail, "without an index, any path will do");
        let other = place.path().join("Other");
        mail::create_folder(&other).unwrap();
        assert!(matches!(choose(other.to_str().unwrap(), &[], &roots, false), Err(Error::NoFolder { .. })));
        // The same root by another way.
        std::os::unix::fs::symlink(&mail, place.path().join("link")).unwrap();
        let by_link = place.path().join("link/a/b");
        assert_eq!(choose(by_link.to_str().unwrap(), &[], &roots, true).unwrap().path, mail.join("a/b"));
        // A fresh Maildir is one of Maildir++.
        assert_eq!(created("lists/go", &folders(text, &[""])), ".lists.go");
    }
}
