//! The figures in documents compared with their run.
//!
//! Input: a [`Tree`]. Output: findings. Does not depend on what the figures mean.

use super::finding::Finding;
use super::tree::Tree;
use crate::figures::{DOCUMENTS, Document};

/// Checks that README.md and docs/FIGURES.md show what the run that they name has written.
pub(super) fn figures(tree: &Tree) -> Vec<Finding> {
    DOCUMENTS.iter().filter_map(|document| finding(tree, document)).collect()
}

fn finding(tree: &Tree, document: &Document) -> Option<Finding> {
    let figures = document.find(tree.get(document.path)?)?;
    let source = figures.source();
    let what = match tree.get(&source).map(|piece| document.wanted(piece)) {
        None => format!("shows figures of {source}, which is not there"),
        Some(Err(what)) => format!("shows figures of {source}, which {what}"),
        Some(Ok(wanted)) if wanted != figures.piece => {
            format!("shows other figures than {source}; run cargo xtask docs")
        }
        Some(Ok(_)) => return None,
    };
    Some(Finding { path: document.path.to_owned(), line: 0, what })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(piece: &str, path: &str) -> Vec<String> {
        let text = format!("<!-- figures of runs/one -->\n{piece}<!-- end of figures -->\n");
        let tree = Tree::from_files(&[("docs/FIGURES.md", &text), (path, "1 s\n")]);
        figures(&tree).into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn other_figures_and_those_of_no_run_are_found() {
        assert_eq!(found("1 s\n", "runs/one/readme.md"), [""; 0]);
        assert_eq!(
            found("2 s\n", "runs/one/readme.md"),
            ["shows other figures than runs/one/readme.md; run cargo xtask docs"]
        );
        assert_eq!(
            found("1 s\n", "runs/two/readme.md"),
            ["shows figures of runs/one/readme.md, which is not there"]
        );
        let readme = "<!-- main figures of runs/one -->\n<!-- end of figures -->\n";
        let tree = Tree::from_files(&[("README.md", readme), ("runs/one/readme.md", "1 s\n")]);
        let [finding] = figures(&tree).try_into().unwrap();
        assert!(finding.what.starts_with("shows figures of runs/one/readme.md, which has no row"));
        assert_eq!(figures(&Tree::from_files(&[("README.md", "none")])), []);
    }
}
