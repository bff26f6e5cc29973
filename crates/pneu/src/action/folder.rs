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
pub(super) struct Chosen {
    /// Its path.
    pub path: PathBuf,
    /// Whether it is to be created.
    pub is_new: bool,
}

/// Returns the folder with this name: as it is shown (`/lists/rust`), as it is on disk (`/.lists.rust`), each
/// with or without the first slash, or its path. `inbox` is the folder that is a root, if no other is called
/// so. With `creates`, a folder that does not exist is placed in the only root, or where its path says.
///
/// # Errors
/// [`Error::NoFolder`], [`Error::SeveralFolders`], [`Error::FolderName`].
pub(super) fn choose(name: &str, folders: &[FolderPlace], roots: &[Root], creates: bool) -> Result<Chosen> {
    if let Some(path) = find(name, folders)? {
        return Ok(Chosen { path, is_new: false });
    }
    let path = Path::new(name);
    let is_path = path.is_absolute() && path.components().all(|part| part != Component::ParentDir);
    if is_path && is_folder(path) {
        return Ok(Chosen { path: path.components().collect(), is_new: false });
    }
    if !creates {
        let nearest = nearest(name, folders).map(str::to_owned);
        return Err(Error::NoFolder { name: name.to_owned(), nearest });
    }
    let refused = |what| Error::FolderName { name: name.to_owned(), what };
    let of_path = roots.iter().find(|root| is_path && path != root.path && path.starts_with(&root.path));
    if of_path.is_none() && leads_elsewhere(path) {
        return Err(refused("that path is in no root"));
    }
    let (root, below) = match (of_path, roots) {
        (Some(root), _) => (root, path.strip_prefix(&root.path).unwrap_or(path)),
        (None, [root]) => (root, Path::new(name.trim_start_matches('/'))),
        (None, _) => return Err(refused("there are several roots, so it must be a path in one of them")),
    };
    check_parts(below).map_err(refused)?;
    let path = place(&root.path, below, folders);
    let existing = path.ancestors().skip(1).find(|part| part.exists());
    if !existing.is_some_and(|part| RootBoundary::new(&root.path).holds(part).unwrap_or(false)) {
        return Err(refused("it leads out of the root"));
    }
    Ok(Chosen { path, is_new: true })
}

/// Returns the folder with a name, if there is one.
fn find(name: &str, folders: &[FolderPlace]) -> Result<Option<PathBuf>> {
    let with_slash = format!("/{}", name.trim_start_matches('/'));
    // Maildir++ keeps /lists/rust in .lists.rust.
    let dotted = format!("/.{}", name.trim_start_matches('/').replace('/', "."));
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

/// Returns whether a text that begins like a path is one, and not the name of a folder: its first directory
/// exists.
fn leads_elsewhere(path: &Path) -> bool {
    let mut parts = path.components();
    match (parts.next(), parts.next(), parts.next()) {
        (Some(Component::RootDir), Some(first), Some(_)) => Path::new("/").join(first).exists(),
        _ => false,
    }
}

/// Checks the names of directories of a new folder.
fn check_parts(below: &Path) -> std::result::Result<(), &'static str> {
    if below.as_os_str().is_empty() {
        return Err("it is empty");
    }
    for part in below.components() {
        let Component::Normal(part) = part else {
            return Err("it has the part \".\" or \"..\"");
        };
        let Some(text) = part.to_str() else { return Err("it is not UTF-8") };
        if ["cur", "new", "tmp"].contains(&text) {
            return Err("cur, new and tmp are the parts of a folder");
        }
        if text.chars().any(char::is_control) {
            return Err("it has control characters");
        }
    }
    Ok(())
}

/// Returns where a new folder goes: into `.a.b` if all other folders of the root are kept so (Maildir++),
/// else into `a/b`.
fn place(root: &Path, below: &Path, folders: &[FolderPlace]) -> PathBuf {
    let others = folders.iter().filter_map(|folder| folder.path.strip_prefix(root).ok());
    let mut others = others.filter(|path| !path.as_os_str().is_empty()).peekable();
    let is_dotted = |path: &Path| path.to_string_lossy().starts_with('.') && path.components().count() == 1;
    let text = below.to_string_lossy();
    if others.peek().is_some() && others.all(is_dotted) && !text.starts_with('.') {
        return root.join(format!(".{}", text.replace('/', ".")));
    }
    root.join(below)
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
        assert_eq!(created("a/b", &folders(text, &["", ".x"])), ".a.b");
        assert_eq!(created(".a.b", &folders(text, &["", ".x"])), ".a.b");
        for (name, what) in [
            ("", "\"\" cannot be the name of a folder: it is empty"),
            ("/", "\"/\" cannot be the name of a folder: it is empty"),
            ("../x", "\"../x\" cannot be the name of a folder: it has the part \".\" or \"..\""),
            ("a/../../x", "\"a/../../x\" cannot be the name of a folder: it has the part \".\" or \"..\""),
            ("/usr/x", "\"/usr/x\" cannot be the name of a folder: that path is in no root"),
            ("a/cur", "\"a/cur\" cannot be the name of a folder: cur, new and tmp are the parts of a folder"),
            ("a\nb", "\"a\\nb\" cannot be the name of a folder: it has control characters"),
            ("out/x", "\"out/x\" cannot be the name of a folder: it leads out of the root"),
        ] {
            assert_eq!(created(name, &[]), what);
        }
        let both = [root(&mail), root(Path::new("/other"))];
        assert!(matches!(choose("a", &[], &both, true), Err(Error::FolderName { .. })));
        assert!(choose(&format!("{text}/a"), &[], &both, true).is_ok());
        let escaping = format!("{text}/../Mail");
        mail::create_folder(&mail).unwrap();
        assert!(matches!(choose(&escaping, &[], &roots, false), Err(Error::NoFolder { .. })));
        assert_eq!(choose(text, &[], &[], false).unwrap().path, mail, "a folder need not be indexed");
    }
}
