//! The figures in README.md against the run that they are of.
//!
//! Comes in: a [`Tree`]. Goes out: findings. Must not know what the figures mean.

use super::{Finding, Tree};
use crate::figures;

/// Where the figures stand.
const DOCUMENT: &str = "README.md";

/// What README.md shows is what the run that it names has written for it.
pub(super) fn figures(tree: &Tree) -> Vec<Finding> {
    let Some(figures) = tree.get(DOCUMENT).and_then(figures::find) else { return Vec::new() };
    let source = figures.source();
    let what = match tree.get(&source) {
        None => format!("shows figures of {source}, which is not there"),
        Some(piece) if piece != figures.piece => {
            format!("shows other figures than {source}; run cargo xtask docs")
        }
        Some(_) => return Vec::new(),
    };
    vec![Finding { path: DOCUMENT.to_owned(), line: 0, what }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(piece: &str, path: &str) -> Vec<String> {
        let text = format!("<!-- figures of runs/one -->\n{piece}<!-- end of figures -->\n");
        let tree = Tree::from_files(&[(DOCUMENT, &text), (path, "1 s\n")]);
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
        assert_eq!(figures(&Tree::from_files(&[(DOCUMENT, "none")])), []);
    }
}
