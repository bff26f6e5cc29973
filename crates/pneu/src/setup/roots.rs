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
    /// A directory has no name, and another one has that of those without a name.
    #[error(
        "{} has no name, and root \"{name}\" is {}; give it a name of its own (NAME={}), or, if the mail was \
         moved there, that name ({name}={})",
        given.display(), known.display(), given.display(), given.display()
    )]
    NameNeeded {
        /// The name of the known root.
        name: String,
        /// Its directory.
        known: PathBuf,
        /// The directory that was given.
        given: PathBuf,
    },
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

/// A root that a command line gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenRoot {
    /// The root. Without a name it has that of those without a name.
    pub root: Root,
    /// Whether it was given with its name.
    pub is_named: bool,
}

/// Reads directories as a command line gives them: `DIR` or `NAME=DIR`. Paths are below `current` unless they
/// are absolute.
///
/// # Errors
/// [`RootsError::Unnamed`], or as [`check`].
pub fn from_arguments(arguments: &[OsString], current: &Path) -> Result<Vec<GivenRoot>, RootsError> {
    let given: Vec<GivenRoot> = arguments.iter().map(|argument| from_argument(argument, current)).collect();
    let roots: Vec<Root> = given.iter().map(|given| given.root.clone()).collect();
    if roots.iter().filter(|root| root.name == NAME_DEFAULT).count() > 1 {
        return Err(RootsError::Unnamed);
    }
    check(&roots)?;
    Ok(given)
}

/// Returns the known roots with those given now. One that is given with a name replaces the root of that
/// name: its mail was moved. A directory without a name is the known root of that path, if there is one, and
/// else a root of its own: it replaces none whose path `is_needed`.
///
/// # Errors
/// [`RootsError::NameNeeded`]; as [`check`].
pub fn joined(
    known: &[Root],
    given: &[GivenRoot],
    is_needed: impl Fn(&Path) -> bool,
) -> Result<Vec<Root>, RootsError> {
    let mut all = known.to_vec();
    for GivenRoot { root, is_named } in given {
        if !is_named && known.iter().any(|known| known.path == root.path) {
            continue;
        }
        match all.iter_mut().find(|known| known.name == root.name) {
            Some(known) if !is_named && is_needed(&known.path) => {
                let (name, known, given) = (root.name.clone(), known.path.clone(), root.path.clone());
                return Err(RootsError::NameNeeded { name, known, given });
            }
            Some(known) => *known = root.clone(),
            None => all.push(root.clone()),
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

fn from_argument(argument: &OsStr, current: &Path) -> GivenRoot {
    let bytes = argument.as_bytes();
    let equals = bytes.iter().position(|byte| *byte == b'=');
    let named = equals.and_then(|at| Some((bytes.get(..at)?, bytes.get(at + 1..)?)));
    let named = named.filter(|(name, path)| is_name(name) && !path.is_empty());
    let name = named.map_or(NAME_DEFAULT.into(), |(name, _)| String::from_utf8_lossy(name));
    let path = named.map_or(bytes, |(_, path)| path);
    let root = Root { name: name.into_owned(), path: tidy(&current.join(OsStr::from_bytes(path))) };
    GivenRoot { root, is_named: named.is_some() }
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
        let given = from_arguments(&arguments, Path::new("/home/ana"))?;
        Ok(given.into_iter().map(|given| given.root).collect())
    }

    fn joined_all(known: &[Root], given: &[GivenRoot]) -> Result<Vec<Root>, RootsError> {
        joined(known, given, |_| true)
    }

    fn named(name: &str, path: &str) -> GivenRoot {
        GivenRoot { root: root(name, path), is_named: true }
    }

    fn unnamed(path: &str) -> GivenRoot {
        GivenRoot { root: root(NAME_DEFAULT, path), is_named: false }
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
        let all = joined_all(&known, &[named("b", "/3"), named("c", "/4")]);
        assert_eq!(all, Ok(vec![root("a", "/1"), root("b", "/3"), root("c", "/4")]));
        assert!(joined_all(&known, &[named("c", "/1/x")]).is_err());
        let found = [root("maildir", "/1"), root("mail", "/2")];
        for known in ["/1", "/2"] {
            assert_eq!(joined_all(&found, &[unnamed(known)]).as_deref(), Ok(&found[..]), "known by its path");
        }
        assert!(joined_all(&found, &[named("other", "/1")]).is_err());
    }

    #[test]
    fn a_directory_without_a_name_replaces_no_other() {
        let known = [root("mail", "/1")];
        let error = joined_all(&known, &[unnamed("/2")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "/2 has no name, and root \"mail\" is /1; give it a name of its own (NAME=/2), or, if the mail \
             was moved there, that name (mail=/2)"
        );
        assert_eq!(joined_all(&known, &[named("mail", "/2")]), Ok(vec![root("mail", "/2")]), "it was moved");
        let both = vec![root("mail", "/1"), root("b", "/2")];
        assert_eq!(joined_all(&known, &[named("b", "/2")]), Ok(both.clone()));
        let is_needed = |path: &Path| path != Path::new("/1");
        let moved = joined(&known, &[unnamed("/2")], is_needed);
        assert_eq!(moved, Ok(vec![root("mail", "/2")]), "the old one is no longer needed");
        // From then on it needs none.
        assert_eq!(joined_all(&both, &[unnamed("/2")]), Ok(both.clone()));
        assert_eq!(joined_all(&[], &[unnamed("/2")]), Ok(vec![root("mail", "/2")]));
        assert_eq!(joined_all(&both[1..], &[unnamed("/1")]), Ok(vec![root("b", "/2"), root("mail", "/1")]));
        assert!(joined_all(&[], &[named("mail", "/1"), unnamed("/2")]).is_err());
        let arguments = ["mail=/1".into(), "/2=".into()];
        let given = from_arguments(&arguments[..1], Path::new("/")).unwrap();
        assert_eq!(given, [named("mail", "/1")]);
        assert_eq!(from_arguments(&arguments[1..], Path::new("/")).unwrap(), [unnamed("/2=")]);
    }
}
