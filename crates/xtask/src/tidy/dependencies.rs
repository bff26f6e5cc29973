//! The dependency table in ARCHITECTURE.md compared with the crates' manifests.
//!
//! Input: a [`Tree`]. Output: findings. Does not know why a crate may use another; ARCHITECTURE.md states
//! that.

use super::finding::Finding;
use super::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use toml::Table;

/// The document with the table.
const DOCUMENT: &str = "ARCHITECTURE.md";
/// The lines around the table: crate, what it uses, what only its tests use.
const BEGIN: &str = "<!-- dependencies -->";
const END: &str = "<!-- end of dependencies -->";

/// The crates of the workspace that a crate uses, and those that only its tests use.
type Uses = (BTreeSet<String>, BTreeSet<String>);

/// Checks that table and manifests name the same crates with the same dependencies.
pub(super) fn table(tree: &Tree) -> Vec<Finding> {
    let finding = |what: String| Finding { path: DOCUMENT.to_owned(), line: 0, what };
    let Some(text) = tree.get(DOCUMENT) else { return vec![finding("is missing".to_owned())] };
    let Some(allowed) = documented(text) else {
        return vec![finding(format!("has no table between {BEGIN} and {END}"))];
    };
    let actual = actual(tree);
    let mut findings = Vec::new();
    for name in allowed.keys().chain(actual.keys()).collect::<BTreeSet<_>>() {
        match (allowed.get(name), actual.get(name)) {
            (Some(allowed), Some(actual)) if allowed == actual => {}
            (Some(_), None) => findings.push(finding(format!("lists the crate {name}, which is not there"))),
            (allowed, Some(actual)) => findings.push(finding(format!(
                "{} for {name}; its Cargo.toml says: {}",
                if allowed.is_some() { "has another line" } else { "has no line" },
                line(name, actual)
            ))),
            (None, None) => {}
        }
    }
    findings
}

/// Returns the table of the document.
fn documented(text: &str) -> Option<BTreeMap<String, Uses>> {
    let table = text.split_once(BEGIN)?.1.split_once(END)?.0;
    let names =
        |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<String>>();
    let mut uses = BTreeMap::new();
    for line in table.lines() {
        let cells: Vec<&str> = line.split('|').collect();
        if let [_, name, normal, tests, _] = cells[..]
            && let Some(name) = names(name).pop_first()
        {
            uses.insert(name, (names(normal), names(tests)));
        }
    }
    Some(uses)
}

/// Returns the dependencies in the manifests of the workspace.
fn actual(tree: &Tree) -> BTreeMap<String, Uses> {
    let manifests: BTreeMap<String, Table> = tree
        .manifests()
        .filter(|(path, _)| !path.starts_with("fuzz/"))
        .filter_map(|(path, text)| text.parse().ok().map(|manifest| (path, manifest)))
        .filter_map(|(path, manifest)| Some((name(path, &manifest)?, manifest)))
        .collect();
    let used = |manifest: &Table, sections: &[&str]| -> BTreeSet<String> {
        let tables = sections.iter().filter_map(|section| manifest.get(*section)?.as_table());
        tables.flat_map(Table::keys).filter(|name| manifests.contains_key(*name)).cloned().collect()
    };
    let uses = manifests.iter().map(|(name, manifest)| {
        let normal = used(manifest, &["dependencies", "build-dependencies"]);
        // Tests may use the crate itself, or a crate of `normal` with more features.
        let mut in_tests = &used(manifest, &["dev-dependencies"]) - &normal;
        in_tests.remove(name);
        (name.clone(), (normal, in_tests))
    });
    uses.collect()
}

/// Returns the name by which other crates use a crate. A published package has another name than its library,
/// and its folder has the name of the library: `crates/restic` is the package `pneu-restic`.
fn name(path: &str, manifest: &Table) -> Option<String> {
    let package = manifest.get("package")?.get("name")?.as_str()?;
    let folder = path.strip_suffix("/Cargo.toml")?.rsplit('/').next()?;
    Some(if package.starts_with("pneu-") { folder } else { package }.to_owned())
}

/// Returns the line that the table should have.
fn line(name: &str, uses: &Uses) -> String {
    let cell = |names: &BTreeSet<String>| match names.len() {
        0 => "—".to_owned(),
        _ => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    };
    format!("| `{name}` | {} | {} |", cell(&uses.0), cell(&uses.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST_A: (&str, &str) =
        ("crates/a/Cargo.toml", "[package]\nname = \"a\"\n[dependencies]\nb = {}\nserde = \"1\"\n");
    const MANIFEST_B: (&str, &str) =
        ("crates/b/Cargo.toml", "[package]\nname = \"b\"\n[dev-dependencies]\na = {}\n");

    fn found(rows: &str) -> Vec<String> {
        let text = format!("{BEGIN}\n| crate | uses | in tests also |\n|---|---|---|\n{rows}\n{END}\n");
        let tree = Tree::from_files(&[(DOCUMENT, &text), MANIFEST_A, MANIFEST_B]);
        table(&tree).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn a_true_table_is_accepted() {
        assert_eq!(found("| `a` | `b` | — |\n| `b` | — | `a` |"), [""; 0]);
    }

    #[test]
    fn missing_and_other_lines_are_found() {
        assert_eq!(found("| `a` | `b` | — |"), ["has no line for b; its Cargo.toml says: | `b` | — | `a` |"]);
        assert_eq!(
            found("| `a` | — | `b` |\n| `b` | — | `a` |\n| `c` | — | — |"),
            [
                "has another line for a; its Cargo.toml says: | `a` | `b` | — |",
                "lists the crate c, which is not there"
            ]
        );
    }

    #[test]
    fn published_crates_are_named_by_their_folders() {
        let manifest: Table = "[package]\nname = \"pneu-x-files\"\n[lib]\nname = \"x\"".parse().unwrap();
        assert_eq!(name("crates/x/Cargo.toml", &manifest).as_deref(), Some("x"));
        let manifest: Table = "[package]\nname = \"pneu-x\"".parse().unwrap();
        assert_eq!(name("crates/x-cli/Cargo.toml", &manifest).as_deref(), Some("x-cli"));
        let manifest: Table = "[package]\nname = \"bench-own\"".parse().unwrap();
        assert_eq!(name("bench/own/Cargo.toml", &manifest).as_deref(), Some("bench-own"));
    }

    #[test]
    fn a_missing_table_is_found() {
        assert_eq!(table(&Tree::from_files(&[MANIFEST_A])).len(), 1);
        assert_eq!(table(&Tree::from_files(&[MANIFEST_A, (DOCUMENT, "text")])).len(), 1);
    }
}
