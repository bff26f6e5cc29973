//! Decides which directories get which names if a folder is renamed, and refuses what must not be.
//!
//! Input: two names, the folders and roots of the index. Output: directories with their old and new paths. Of
//! the disk it asks only what is there. Changes nothing.

use crate::action::directories::is_directory;
use crate::action::folder::{Chosen, choose, in_root, parts};
use crate::error::{Error, Result};
use index::{FolderPlace, Root};
use mail::RootBoundary;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A directory that gets another name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renaming {
    /// Its path.
    pub from: PathBuf,
    /// Its new path.
    pub to: PathBuf,
}

/// Decides which directories get which names, the folder's own first.
///
/// # Errors
/// As [`Host::rename_folder`](crate::Host::rename_folder).
pub(super) fn plan(
    (old, new): (&str, &str),
    folders: &[FolderPlace],
    roots: &[Root],
) -> Result<Vec<Renaming>> {
    let from = old_place(old, folders, roots)?;
    let stays = |what: &str| Error::FolderStays { path: from.clone(), what: what.to_owned() };
    if roots.iter().any(|root| root.path == from) {
        return Err(stays("it is the inbox, or the directory of all folders"));
    }
    let root = root_of(&from, roots).ok_or_else(|| stays("it is in no root of the index"))?;
    let name = String::from_utf8_lossy(name_of(&from));
    if name.trim_start_matches('.').eq_ignore_ascii_case("inbox") {
        return Err(stays("it is an inbox, and new mail is delivered there"));
    }
    let is_maildir_plus = name.starts_with('.');
    let to = if is_maildir_plus { beside(new, &from, root)? } else { anywhere(new, root)? };
    let refused = |what| Error::FolderName { name: new.to_owned(), what };
    if to == from {
        return Err(refused("it is the present name"));
    }
    let is_in = |one: &Path, other: &Path| {
        one.starts_with(other) || (is_maildir_plus && rest_of(one, other).is_some())
    };
    if is_in(&from, &to) || is_in(&to, &from) {
        return Err(refused("of the old and the new folder, one would be in the other"));
    }
    let boundary = RootBoundary::new(&root.path);
    let is_inside = |path: &Path| {
        let existing = path.ancestors().skip(1).find(|part| part.symlink_metadata().is_ok());
        existing.is_some_and(|part| boundary.holds(part).unwrap_or(false))
    };
    if !is_inside(&from) {
        return Err(stays("a symbolic link leads there, out of the root"));
    }
    if !is_inside(&to) {
        return Err(refused("it leads out of the root, or the root is not there"));
    }
    let mut directories = vec![Renaming { from: from.clone(), to: to.clone() }];
    if is_maildir_plus {
        directories.retain(|own| own.from.symlink_metadata().is_ok());
        directories.extend(below(&from)?.into_iter().map(|path| {
            let rest = rest_of(&path, &from).unwrap_or_default();
            Renaming { to: to.with_file_name(OsStr::from_bytes(&[name_of(&to), rest].concat())), from: path }
        }));
        if let Some(path) = below(&to)?.into_iter().next() {
            return Err(Error::FolderExists { path });
        }
    }
    for Renaming { from, to } in &directories {
        if to.symlink_metadata().is_ok() {
            return Err(Error::FolderExists { path: to.clone() });
        }
        may_be_renamed(from, folders, roots)
            .map_err(|what| Error::FolderStays { path: from.clone(), what: what.to_owned() })?;
    }
    Ok(directories)
}

/// Returns the directories of a Maildir++ that are folders below one, in order.
fn below(folder: &Path) -> Result<Vec<PathBuf>> {
    let directory = folder.parent().unwrap_or(folder);
    let failed = |source| Error::Delivery(mail::Error::io("read", directory, source));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type().map_err(failed)?;
        if rest_of(&entry.path(), folder).is_some() && !kind.is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Returns what a directory of a Maildir++ has after the name of one that it is below, from the dot on.
fn rest_of<'a>(path: &'a Path, folder: &Path) -> Option<&'a [u8]> {
    let rest = name_of(path).strip_prefix(name_of(folder)).filter(|_| path.parent() == folder.parent())?;
    rest.starts_with(b".").then_some(rest)
}

/// Says why a directory keeps its name.
fn may_be_renamed(
    from: &Path,
    folders: &[FolderPlace],
    roots: &[Root],
) -> std::result::Result<(), &'static str> {
    if !mail::stat_entry(from).is_ok_and(|stat| is_directory(stat.mode)) {
        return Err("it is a symbolic link, or no directory");
    }
    if roots.iter().any(|root| root.path.starts_with(from)) {
        return Err("a root of the index is in it");
    }
    let is_fixed = |folder: &&FolderPlace| {
        folder.path.starts_with(from) && folder.path.join(".noupdate").symlink_metadata().is_ok()
    };
    match folders.iter().find(is_fixed) {
        Some(_) => Err("a file .noupdate in it tells the index to leave it as it is"),
        None => Ok(()),
    }
}

/// Returns the directory with a name: a folder, or one on the way to folders. In a Maildir++ that one need
/// not exist.
fn old_place(name: &str, folders: &[FolderPlace], roots: &[Root]) -> Result<PathBuf> {
    let none = match choose(name, folders, roots, false) {
        Ok(Chosen { path, .. }) => return Ok(path),
        Err(error @ Error::NoFolder { .. }) => error,
        Err(error) => return Err(error),
    };
    let parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() || parts.iter().any(|part| [".", ".."].contains(part)) {
        return Err(none);
    }
    let dotted = format!(".{}", mail::encoded_folder(&parts.join(".")));
    let mut found: Vec<PathBuf> = Vec::new();
    for root in roots {
        let own = in_root(Path::new(name), std::slice::from_ref(root));
        let plain = root.path.join(parts.join("/"));
        for path in own.into_iter().chain([plain, root.path.join(&dotted)]) {
            let is_maildir_plus = name_of(&path).starts_with(b".");
            let is_on_the_way = folders.iter().any(|folder| {
                folder.path.starts_with(&path) || (is_maildir_plus && rest_of(&folder.path, &path).is_some())
            });
            if is_on_the_way && !found.contains(&path) {
                found.push(path);
            }
        }
    }
    match found.as_slice() {
        [] => Err(none),
        [path] => Ok(path.clone()),
        _ => Err(Error::SeveralFolders { name: name.to_owned(), paths: found }),
    }
}

/// Returns the new place of a folder in directories.
fn anywhere(new: &str, root: &Root) -> Result<PathBuf> {
    let refused = |what| Error::FolderName { name: new.to_owned(), what };
    let below = below_root(new, root).map_err(refused)?;
    let parts = parts(&below).map_err(refused)?;
    if parts.last().is_some_and(|part| part.starts_with('.')) {
        return Err(refused("the folder is a directory in others, so its name does not begin with a dot"));
    }
    Ok(root.path.join(parts.join("/")))
}

/// Returns the new place of a folder of a Maildir++.
fn beside(new: &str, from: &Path, root: &Root) -> Result<PathBuf> {
    let refused = |what| Error::FolderName { name: new.to_owned(), what };
    let below = below_root(new, root).map_err(refused)?;
    let mut parts = parts(&below).map_err(refused)?;
    let directory = from.parent().unwrap_or(&root.path);
    let above = directory.strip_prefix(&root.path).unwrap_or(Path::new("")).to_string_lossy().into_owned();
    for part in above.split('/').filter(|part| !part.is_empty()) {
        if parts.first() != Some(&part) {
            return Err(refused("a folder of a Maildir++ stays in its directory"));
        }
        parts.remove(0);
    }
    let is_written_so =
        |part: &str| part.len() > 1 && part.starts_with('.') && !part.ends_with('.') && !part.contains("..");
    let name = match parts.as_slice() {
        [] => return Err(refused("it is empty")),
        [part] if is_written_so(part) => (*part).to_owned(),
        parts if parts.iter().any(|part| part.starts_with('.') || part.ends_with('.')) => {
            return Err(refused("in a Maildir++, parts do not begin or end with a dot"));
        }
        parts => format!(".{}", mail::encoded_folder(&parts.join("."))),
    };
    Ok(directory.join(name))
}

/// Returns the part of a new name that is below the root. One that begins with a slash is the name of a
/// folder as it is shown, unless it leads to a directory that is there and not in the root: then it is a
/// path, and refused.
fn below_root(new: &str, root: &Root) -> std::result::Result<String, &'static str> {
    if let Some(path) = in_root(Path::new(new), std::slice::from_ref(root)) {
        let below = path.strip_prefix(&root.path).unwrap_or(&path);
        return below.to_str().map(str::to_owned).ok_or("it is not UTF-8");
    }
    let below = new.trim_matches('/');
    if let Some((first, _)) = below.split_once('/').filter(|_| new.starts_with('/'))
        && Path::new("/").join(first).exists()
        && !root.path.join(first).exists()
    {
        return Err("that path is not in the root of the folder; without the slash before it, it is a name");
    }
    Ok(below.to_owned())
}

/// Returns the innermost root that holds a path.
fn root_of<'a>(path: &Path, roots: &'a [Root]) -> Option<&'a Root> {
    let holding = roots.iter().filter(|root| path.starts_with(&root.path));
    holding.max_by_key(|root| root.path.as_os_str().len())
}

/// Returns the last part of a path.
fn name_of(path: &Path) -> &[u8] {
    path.file_name().map_or(&[], |name| name.as_bytes())
}
