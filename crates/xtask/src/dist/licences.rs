//! The licences of the libraries that the programs contain.
//!
//! Input: what cargo says about the libraries of the programs, and their sources; the libraries of the page,
//! as the table beside them names them. Output: one text that packages carry. Does not judge the licences:
//! deny.toml does.

use crate::run::{cargo, output, workspace_root};
use anyhow::{Context, Result, bail};
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

/// The libraries of the page of `pneu serve`, which is in the programs.
const PAGE_LIBRARIES: &str = "crates/serve/page/vendor";

/// The file there that names each of them.
const PAGE_TABLE: &str = "README.md";

/// Ends of the names of files there that are for the type checker alone, and in no program.
const TYPES: &str = ".d.mts";

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
    libraries.extend(of_page(&workspace_root().join(PAGE_LIBRARIES))?);
    Ok(page(&libraries))
}

/// Returns the libraries of the page in a directory, as the table in it names them.
///
/// # Errors
/// A file cannot be read; there is one that the table does not name.
fn of_page(directory: &Path) -> Result<Vec<Library>> {
    let read = |name: &str| {
        let path = directory.join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let (mut named, mut libraries) = (BTreeSet::from([PAGE_TABLE.to_owned()]), Vec::new());
    for line in read(PAGE_TABLE)?.lines() {
        let Some(Vendored { file, name, licence, licence_file }) = vendored(line) else { continue };
        let text = read(licence_file)?.trim().to_owned();
        named.extend([file.to_owned(), licence_file.to_owned()]);
        libraries.push(Library { name, licence: licence.to_owned(), texts: vec![text] });
    }
    for entry in fs::read_dir(directory).with_context(|| format!("cannot list {}", directory.display()))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !named.contains(&name) && !name.ends_with(TYPES) {
            bail!("{} is not in the table of {PAGE_TABLE} there", directory.join(name).display());
        }
    }
    Ok(libraries)
}

/// What a line of the table says.
struct Vendored<'l> {
    file: &'l str,
    name: String,
    licence: &'l str,
    licence_file: &'l str,
}

/// Reads a line of the table: file, package, version, file in the package, and licence with its file. Returns
/// `None` for any other line.
fn vendored(line: &str) -> Option<Vendored<'_>> {
    let cells: Vec<&str> = line.strip_prefix('|')?.split('|').map(str::trim).collect();
    let [file, package, version, _, licence, ..] = cells.as_slice() else { return None };
    let file = file.strip_prefix('`')?.strip_suffix('`')?;
    let (licence, licence_file) = licence.strip_suffix("`)")?.split_once(" (`")?;
    Some(Vendored { file, name: format!("{package} {version}"), licence, licence_file })
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

    #[test]
    fn the_libraries_of_the_page_are_named_with_their_licences() {
        let found = of_page(&workspace_root().join(PAGE_LIBRARIES)).unwrap();
        let names: Vec<&str> = found.iter().filter_map(|one| one.name.split(' ').next()).collect();
        assert_eq!(names, ["preact", "@preact/signals-core"]);
        for library in &found {
            assert_eq!(library.licence, "MIT", "{}", library.name);
            let version = library.name.split(' ').nth(1).unwrap();
            assert!(version.starts_with(|first: char| first.is_ascii_digit()), "{version}");
            let [text] = library.texts.as_slice() else { panic!("{}", library.name) };
            assert!(text.contains("Permission is hereby granted"), "{text}");
        }
        let page = page(&found);
        assert!(page.contains("preact 11"), "{page}");
    }

    #[test]
    fn a_file_of_the_page_that_is_named_nowhere_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
        let table = "# Libraries\n\n| file | package | version | file there | licence | for |\n\
            |---|---|---|---|---|---|\n| `a.mjs` | a | 1.2 | `dist/a.mjs` | MIT (`LICENSE-a`) | x |\n";
        write("README.md", table);
        assert!(of_page(place.path()).is_err(), "its licence is missing");
        write("LICENSE-a", "Be kind.\n");
        write("a.mjs", "");
        write("a.d.mts", "");
        let [library] = of_page(place.path()).unwrap().try_into().ok().unwrap();
        assert_eq!((library.name.as_str(), library.licence.as_str()), ("a 1.2", "MIT"));
        assert_eq!(library.texts, ["Be kind."]);
        for name in ["b.mjs", "LICENSE-b"] {
            write(name, "");
            let said = of_page(place.path()).err().unwrap().to_string();
            assert!(said.contains(name) && said.contains("README.md"), "{said}");
            fs::remove_file(place.path().join(name)).unwrap();
        }
    }
}
