//! Every dependency on an external crate has its reason beside it.
//!
//! Input: the manifests of a [`Tree`]. Output: findings. Does not depend on the reasons.

use super::finding::Finding;
use super::tree::Tree;
use std::collections::BTreeSet;

/// Checks that each external crate in a dependency section has a comment above it. A crate whose name
/// continues that of the line before (`serde`, `serde_json`) shares its reason.
pub(super) fn reasons(tree: &Tree) -> Vec<Finding> {
    let own: BTreeSet<&str> = tree.manifests().filter_map(|(_, text)| package_name(text)).collect();
    let unexplained = tree.manifests().flat_map(|(path, text)| {
        let lines = unexplained_lines(text, &own);
        lines.into_iter().map(move |(line, name)| Finding {
            path: path.to_owned(),
            line,
            what: format!("{name} has no reason: a comment in the line above"),
        })
    });
    unexplained.collect()
}

/// Returns the name that other crates use: names of packages begin with `pneu-`, those of libraries do not.
fn package_name(text: &str) -> Option<&str> {
    let name = text.lines().find_map(|line| line.strip_prefix("name = \""))?.split('"').next()?;
    Some(name.strip_prefix("pneu-").unwrap_or(name).trim_end_matches("-files"))
}

fn unexplained_lines<'a>(text: &'a str, own: &BTreeSet<&str>) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    let mut in_section = false;
    let (mut explained, mut before) = (false, "");
    for (place, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            in_section = line.trim_matches(['[', ']']).ends_with("dependencies");
        } else if line.starts_with('#') {
            explained = true;
            continue;
        } else if let Some((key, _)) = line.split_once('=').filter(|_| in_section) {
            let name = key.trim().split('.').next().unwrap_or_default();
            let shared = !before.is_empty() && name.starts_with(before);
            if !explained && !shared && !own.contains(name) {
                found.push((place + 1, name));
            }
            before = name;
            explained = false;
            continue;
        }
        (explained, before) = (false, "");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_without_reason_is_found() {
        let manifest = "[package]\nname = \"a\"\nversion = \"1\"\n\n[dependencies]\nb.workspace = true\n# \
            Because.\nserde = \"1\"\n\
            serde_json = \"1\"\nrayon = \"1\"\n\n[dev-dependencies]\ninsta = { version = \"1\" }\n";
        let tree = Tree::from_files(&[
            ("x/a/Cargo.toml", manifest),
            ("x/b/Cargo.toml", "[package]\nname = \"b\"\n"),
        ]);
        let found: Vec<String> = reasons(&tree).iter().map(Finding::to_string).collect();
        assert_eq!(
            found,
            [
                "x/a/Cargo.toml:10: rayon has no reason: a comment in the line above",
                "x/a/Cargo.toml:13: insta has no reason: a comment in the line above"
            ]
        );
    }
}
