//! The configuration file, `config.toml`: which directories hold Maildirs. `pneu index --help` shows one.
//!
//! In: the text of the file. Out: roots. Must not know where the file lies, nor what is done with roots.

use crate::roots;
use index::Root;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// What the file says.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    root: Vec<RootTable>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct RootTable {
    name: String,
    path: PathBuf,
}

/// Returns the roots that a configuration names. `home` stands for `~`.
///
/// # Errors
/// A sentence, or a few lines that show the place.
pub(crate) fn parse(text: &str, home: Option<&Path>) -> Result<Vec<Root>, String> {
    let document: Document = toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let roots = document.root.into_iter().map(|table| root(table, home)).collect::<Result<Vec<_>, _>>()?;
    roots::check(&roots)?;
    Ok(roots)
}

fn root(table: RootTable, home: Option<&Path>) -> Result<Root, String> {
    let RootTable { name, path } = table;
    let path = match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path,
    };
    if path.is_absolute() {
        Ok(Root { name, path })
    } else {
        Err(format!("root \"{name}\": path \"{}\" must begin with / or ~/", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<Root>, String> {
        parse(text, Some(Path::new("/home/ana")))
    }

    #[test]
    fn roots_are_read_in_order() {
        let text = "[[root]]\nname = \"work\"\npath = \"/srv/mail\"\n\n[[root]]\nname = \"home\"\npath = \"~/Maildir\"\n";
        let root = |name: &str, path: &str| Root { name: name.into(), path: path.into() };
        assert_eq!(parsed(text), Ok(vec![root("work", "/srv/mail"), root("home", "/home/ana/Maildir")]));
        assert_eq!(parsed(""), Ok(vec![]));
    }

    #[test]
    fn mistakes_name_the_key_and_the_line() {
        for (text, parts) in [
            ("[[rot]]\nname = \"x\"\n", ["rot", "line 1"]),
            ("[[root]]\nname = \"x\"\npth = \"/a\"\n", ["pth", "line 3"]),
            ("[[root]]\nname = \"x\"\n", ["path", "line 1"]),
            ("[[root]]\nname = 3\npath = \"/a\"\n", ["expected a string", "line 2"]),
            ("[[root]\n", ["unclosed", "line 1"]),
            ("[[root]]\nname = \"x\"\npath = \"Mail\"\n", ["\"x\"", "\"Mail\""]),
            ("[[root]]\nname = \"a/b\"\npath = \"/a\"\n", ["\"a/b\"", "name"]),
        ] {
            let error = parsed(text).unwrap_err();
            assert!(parts.iter().all(|part| error.contains(part)), "{text}: {error}");
        }
    }
}
