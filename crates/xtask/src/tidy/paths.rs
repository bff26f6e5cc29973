//! The paths in ARCHITECTURE.md compared with the files of the project.
//!
//! Input: a [`Tree`]. Output: findings. Checks that each path exists, and knows nothing of what the document
//! says about it.

use super::finding::Finding;
use super::tree::Tree;

/// The document whose paths are checked.
const DOCUMENT: &str = "ARCHITECTURE.md";

/// Beginnings of words in backticks that are paths of the project.
const BEGINNINGS: [&str; 2] = ["crates/", "bench/"];

/// Checks that every path in backticks in the document is a file or a folder of the project.
pub(super) fn paths(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in tree.get(DOCUMENT).unwrap_or_default().lines().enumerate() {
        for path in in_backticks(line).filter(|word| is_path(word) && !exists(tree, word)) {
            let what = format!("names {path}, which is not there; name the file or folder that has its job");
            findings.push(Finding { path: DOCUMENT.to_owned(), line: index + 1, what });
        }
    }
    findings
}

/// Returns the texts between pairs of backticks in a line.
fn in_backticks(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}

fn is_path(word: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| word.starts_with(beginning))
}

/// Returns whether a path is a file, or a folder that contains a file. A folder may end with `/`.
fn exists(tree: &Tree, path: &str) -> bool {
    let folder = format!("{}/", path.trim_end_matches('/'));
    tree.get(path).is_some() || tree.files().any(|(file, _)| file.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines of a document and the findings in it, in a tree with two other files.
    fn found(text: &str) -> Vec<(usize, String)> {
        let files = [(DOCUMENT, text), ("crates/a/src/lib.rs", ""), ("bench/own/main.rs", "")];
        let findings = paths(&Tree::from_files(&files));
        findings.into_iter().map(|finding| (finding.line, finding.what)).collect()
    }

    #[test]
    fn a_path_that_is_not_there_is_found() {
        assert_eq!(
            found("see `crates/a/src/lib.rs` and\n`crates/a/src/gone.rs`, `bench/peers/`\n"),
            [
                (
                    2,
                    "names crates/a/src/gone.rs, which is not there; name the file or folder that has its job"
                ),
                (2, "names bench/peers/, which is not there; name the file or folder that has its job"),
            ]
            .map(|(line, what)| (line, what.to_owned()))
        );
    }

    #[test]
    fn the_beginning_of_a_name_is_no_folder() {
        assert_eq!(found("`crates/a/sr`\n`crates/a/src/lib.rs/`\n").len(), 2);
    }

    #[test]
    fn files_folders_and_other_words_are_accepted() {
        assert_eq!(
            found("`crates/a/src/lib.rs` `crates/a` `bench/own/`, crates/b, `docs/none`, `a b`\n"),
            []
        );
    }
}
