//! The licences of the libraries that the programs contain.
//!
//! Input: what cargo says about the libraries of the programs, and their sources. Output: one text that
//! packages carry. Does not judge the licences: deny.toml does.

use crate::run::{cargo, output};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The file's name in packages.
pub(super) const NAME: &str = "LICENSES-LIBRARIES";

/// Beginnings of the names of licence files, in lower case.
const FILES: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];

/// Directories of C sources with a licence of their own inside a library.
const C_SOURCES: [&str; 3] = ["c_src/mimalloc", "c_src/mimalloc2", "third_party/fiat"];

/// What is not a crate: the standard library, and the C library of static programs.
const RUNTIME: &str = include_str!("runtime.txt");

/// A library: its name with its version, the licence that it states, and the texts in its source.
struct Library {
    name: String,
    licence: String,
    texts: Vec<String>,
}

/// Returns the licences of all libraries that the programs for `target` contain.
///
/// # Errors
/// If cargo cannot list them, or a file cannot be read.
pub(super) fn of_libraries(target: &str) -> Result<String> {
    let mut tree = cargo(&["tree", "--locked", "--edges", "normal", "--prefix", "none", "--target", target]);
    tree.args(["--package", "pneu-cli", "--package", "pneu-tarantool", "--format", "{p}"]);
    let tree = String::from_utf8(output(&mut tree)?).context("cargo tree")?;
    let contained: BTreeSet<String> = tree.lines().filter_map(name_and_version).collect();
    let mut metadata = cargo(&["metadata", "--locked", "--format-version", "1", "--filter-platform", target]);
    let metadata: Value = serde_json::from_slice(&output(&mut metadata)?).context("cargo metadata")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let mut libraries = Vec::new();
    for package in packages {
        let field = |name: &str| package[name].as_str().unwrap_or_default();
        let name = format!("{} {}", field("name"), field("version"));
        // Crates of the workspace have no source; their licence is in a separate file.
        if contained.contains(&name) && !package["source"].is_null() {
            let directory =
                Path::new(field("manifest_path")).parent().context("a manifest has a directory")?;
            let mut found = texts(directory)?;
            for sources in C_SOURCES.map(|name| directory.join(name)).iter().filter(|path| path.is_dir()) {
                found.extend(texts(sources)?);
            }
            libraries.push(Library { name, licence: field("license").to_owned(), texts: found });
        }
    }
    Ok(page(&libraries))
}

/// Returns the name and version in a line of `cargo tree`; `None` for a macro, which is not part of a
/// program.
fn name_and_version(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    (!line.contains("(proc-macro)")).then(|| format!("{name} {version}"))
}

/// Returns the texts of the licence files in a directory.
fn texts(directory: &Path) -> Result<Vec<String>> {
    let found = fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let mut texts = BTreeMap::new();
    for entry in found {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if FILES.iter().any(|begin| name.starts_with(begin)) && path.is_file() {
            texts.insert(name, String::from_utf8_lossy(&fs::read(&path)?).trim().to_owned());
        }
    }
    Ok(texts.into_values().collect())
}

/// Lists the libraries, then each text once after the names of the libraries that carry it.
fn page(libraries: &[Library]) -> String {
    let mut page = String::from("The programs contain these libraries:\n\n");
    let mut carriers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for library in libraries {
        let _ = writeln!(page, "{}: {}", library.name, library.licence);
        for text in &library.texts {
            carriers.entry(text).or_default().push(&library.name);
        }
    }
    let _ = write!(page, "\n{:-<80}\n{RUNTIME}", "");
    for (text, names) in carriers {
        let _ = write!(page, "\n{:-<80}\n{}\n\n{text}\n", "", names.join(", "));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_not_contained() {
        assert_eq!(name_and_version("memchr v2.8.3"), Some("memchr 2.8.3".to_owned()));
        assert_eq!(name_and_version("serde_derive v1.0.229 (proc-macro)"), None);
        assert_eq!(name_and_version(""), None);
    }

    #[test]
    fn a_text_is_shown_once_for_all_that_carry_it() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("LICENSE-MIT"), "Be kind.\n").unwrap();
        fs::write(place.path().join("lib.rs"), "no licence").unwrap();
        let library = |name: &str| Library {
            name: name.to_owned(),
            licence: "MIT".to_owned(),
            texts: texts(place.path()).unwrap(),
        };
        let page = page(&[library("a 1"), library("b 2")]);
        assert!(page.contains("\na 1: MIT\nb 2: MIT\n"), "{page}");
        assert!(page.ends_with("--\na 1, b 2\n\nBe kind.\n"), "{page}");
        assert_eq!(page.matches("Be kind.").count(), 1);
        assert!(page.contains("\nmusl, in static programs: MIT\n"), "{page}");
    }
}
