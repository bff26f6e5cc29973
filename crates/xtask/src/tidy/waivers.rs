//! Waivers of lints are counted, and each has a reason.
//!
//! Input: a [`Tree`]. Output: findings and the count. Does not depend on the lints.

use super::finding::Finding;
use super::source::code_only;
use super::tree::Tree;

/// The file with the allowed number of waivers. Raising it is a separate change with its own reason.
const CEILING: &str = "crates/xtask/waivers.txt";

/// Returns how many waivers the tree has.
pub(super) fn count(tree: &Tree) -> usize {
    tree.rust().map(|(_, text)| waivers(&code_only(text)).len()).sum()
}

/// Checks that there are at most as many waivers as allowed, and that each has a reason.
pub(super) fn ceiling(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust() {
        for (line, _) in waivers(&code_only(text)).into_iter().filter(|(_, reason)| !reason) {
            let what = "waives a lint without a reason = \"...\"".to_owned();
            findings.push(Finding { path: path.to_owned(), line, what });
        }
    }
    let finding = |what| Finding { path: CEILING.to_owned(), line: 0, what };
    let count = count(tree);
    match tree.get(CEILING).and_then(|text| text.trim().parse::<usize>().ok()) {
        None => findings.push(finding("does not hold one number, the most waivers allowed".to_owned())),
        Some(most) if count > most => {
            findings.push(finding(format!("allows {most} waivers, there are {count}")));
        }
        Some(_) => {}
    }
    findings
}

/// Returns the line of each `#[expect(..)]` or `#[allow(..)]`, and whether it has a reason.
fn waivers(code: &str) -> Vec<(usize, bool)> {
    let mut found = Vec::new();
    for opening in ["#[expect(", "#![expect(", "#[allow(", "#![allow("] {
        for (at, _) in code.match_indices(opening) {
            let attribute = code[at..].split(")]").next().unwrap_or_default();
            let line = code[..at].matches('\n').count() + 1;
            let reason =
                attribute.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == "reason");
            found.push((line, reason));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIVED: &str =
        "// #[expect(x)]\n#[expect(\n    clippy::a,\n    reason = \"b\"\n)]\nfn f() {}\n#![allow(c)]\n";

    #[test]
    fn a_waiver_without_reason_is_found() {
        let tree = Tree::from_files(&[("a.rs", WAIVED), (CEILING, "2\n")]);
        assert_eq!(count(&tree), 2);
        let found: Vec<String> = ceiling(&tree).iter().map(Finding::to_string).collect();
        assert_eq!(found, ["a.rs:7: waives a lint without a reason = \"...\""]);
    }

    #[test]
    fn too_many_waivers_are_found() {
        let text = WAIVED.replace("#![allow(c)]", "");
        let found = ceiling(&Tree::from_files(&[("a.rs", &text), (CEILING, "0\n")]));
        assert_eq!(found[0].what, "allows 0 waivers, there are 1");
        assert_eq!(ceiling(&Tree::from_files(&[("a.rs", "")])).len(), 1);
    }
}
