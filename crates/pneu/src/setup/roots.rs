//! Decides which roots to use: those of the command line, of the configuration, or those that the index
//! remembers.
//!
//! Input: what the user wrote, and the current directory. Output: roots with absolute paths. Only
//! [`check_on_disk`] looks at the disk. Does not depend on the content of a root.

use index::Root;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// The name of a root without a name.
const NAME_DEFAULT: &str = "mail";
/// Longest name of a root in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Why roots cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RootsError {
    /// Several directories were given, and more than one without a name.
    #[error("several directories need a name each")]
    Unnamed,
    /// A name is none.
    #[error(
        "\"{name}\" is not a name for a root: use up to {max} letters, digits, . _ -",
        max = NAME_BYTES_MAX
    )]
    Name {
        /// The name.
        name: String,
    },
    /// Two roots have one name.
    #[error("two roots have the name \"{name}\"")]
    SameName {
        /// The name.
        name: String,
    },
    /// Two roots are one directory, or one lies in the other, by a link or a mount.
    #[error(
        "root \"{first}\" and root \"{second}\" are one directory, or lie in one another, by a symbolic link \
         or a mount; name one of them only"
    )]
    Doubled {
        /// The name of the first.
        first: String,
        /// The name of the second.
        second: String,
    },
    /// A root lies in another.
    #[error("root \"{first}\" and root \"{second}\" lie in one another; name the outer one only")]
    Nested {
        /// The name of the first.
        first: String,
        /// The name of the second.
        second: String,
    },
}

/// Reads directories as a command line gives them: `DIR` or `NAME=DIR`. Paths are below `current` unless they
/// are absolute.
///
/// # Errors
/// [`RootsError::Unnamed`], or as [`check`].
pub fn from_arguments(arguments: &[OsString], current: &Path) -> Result<Vec<Root>, RootsError> {
    let roots: Vec<Root> = arguments.iter().map(|argument| from_argument(argument, current)).collect();
    if roots.iter().filter(|root| root.name == NAME_DEFAULT).count() > 1 {
        return Err(RootsError::Unnamed);
    }
    check(&roots)?;
    Ok(roots)
}

/// Returns the known roots with those given now, which replace roots of the same names. A directory without a
/// name is the known root of that path, if there is one.
///
/// # Errors
/// As [`check`].
pub fn joined(known: &[Root], given: Vec<Root>) -> Result<Vec<Root>, RootsError> {
    let named = |root: Root| match known.iter().find(|known| known.path == root.path) {
        Some(known) if root.name == NAME_DEFAULT => known.clone(),
        _ => root,
    };
    let mut all = known.to_vec();
    for root in given.into_iter().map(named) {
        match all.iter_mut().find(|known| known.name == root.name) {
            Some(known) => *known = root,
            None => all.push(root),
        }
    }
    check(&all)?;
    Ok(all)
}

/// Checks names and that no root lies in another, where its messages would be counted twice.
///
/// # Errors
/// A name is none, or two roots have it; a root lies in another.
pub fn check(roots: &[Root]) -> Result<(), RootsError> {
    for (place, root) in roots.iter().enumerate() {
        let name = || root.name.clone();
        if !is_name(root.name.as_bytes()) {
            return Err(RootsError::Name { name: name() });
        }
        for other in &roots[..place] {
            if other.name == root.name {
                return Err(RootsError::SameName { name: name() });
            }
            if root.path.starts_with(&other.path) || other.path.starts_with(&root.path) {
                return Err(RootsError::Nested { first: other.name.clone(), second: name() });
            }
        }
    }
    Ok(())
}

/// Checks on the disk that no two roots are one directory and none lies in another, however they are reached.
///
/// # Errors
/// [`RootsError::Doubled`].
pub fn check_on_disk(roots: &[Root]) -> Result<(), RootsError> {
    for (place, other) in index::overlaps(roots).into_iter().enumerate() {
        let name = |place: usize| roots.get(place).map(|root| root.name.clone()).unwrap_or_default();
        if let Some(first) = other {
            return Err(RootsError::Doubled { first: name(first), second: name(place) });
        }
    }
    Ok(())
}

fn from_argument(argument: &OsStr, current: &Path) -> Root {
    let bytes = argument.as_bytes();
    let equals = bytes.iter().position(|byte| *byte == b'=');
    let named = equals.and_then(|at| Some((bytes.get(..at)?, bytes.get(at + 1..)?)));
    let (name, path) = match named {
        Some((name, path)) if is_name(name) && !path.is_empty() => {
            (String::from_utf8_lossy(name).into_owned(), path)
        }
        _ => (NAME_DEFAULT.to_owned(), bytes),
    };
    Root { name, path: tidy(&current.join(OsStr::from_bytes(path))) }
}

fn is_name(name: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.iter().all(is_letter) && !name.starts_with(b".")
}

/// Returns a path without `.`, doubled slashes and a slash at the end. `..` stays: after a link it leads
/// elsewhere.
fn tidy(path: &Path) -> PathBuf {
    path.components().filter(|component| *component != Component::CurDir).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(name: &str, path: &str) -> Root {
        Root { name: name.into(), path: path.into() }
    }

    fn given(arguments: &[&str]) -> Result<Vec<Root>, RootsError> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        from_arguments(&arguments, Path::new("/home/ana"))
    }

    #[test]
    fn directories_are_named_or_not() {
        assert_eq!(given(&["Mail/"]), Ok(vec![root("mail", "/home/ana/Mail")]));
        assert_eq!(given(&["./a=b"]), Ok(vec![root("mail", "/home/ana/a=b")]));
        assert_eq!(given(&["/x//y/."]), Ok(vec![root("mail", "/x/y")]));
        assert_eq!(given(&["work=/w", "home=h"]), Ok(vec![root("work", "/w"), root("home", "/home/ana/h")]));
        assert_eq!(given(&["../bo/Mail"]), Ok(vec![root("mail", "/home/ana/../bo/Mail")]));
    }

    #[test]
    fn mistakes_are_refused() {
        for arguments in
            [["/a", "/b"], ["a=/a", "a=/b"], ["a=/a", "b=/a/c"], ["a=/a/b", "b=/a"], ["a=/a", "b=/a"]]
        {
            assert!(given(&arguments).is_err(), "{arguments:?}");
        }
        assert!(given(&["a=/mail", "b=/mail2"]).is_ok());
        assert!(check(&[root(".hidden", "/a")]).is_err());
        assert!(check(&[root(&"n".repeat(65), "/a")]).is_err());
    }

    #[test]
    fn given_roots_replace_those_of_their_names() {
        let known = [root("a", "/1"), root("b", "/2")];
        let all = joined(&known, vec![root("b", "/3"), root("c", "/4")]);
        assert_eq!(all, Ok(vec![root("a", "/1"), root("b", "/3"), root("c", "/4")]));
        assert!(joined(&known, vec![root("c", "/1/x")]).is_err());
        let found = [root("maildir", "/1"), root("mail", "/2")];
        assert_eq!(joined(&found, vec![root("mail", "/1")]).as_deref(), Ok(&found[..]), "known by its path");
        assert!(joined(&found, vec![root("other", "/1")]).is_err());
    }
}
