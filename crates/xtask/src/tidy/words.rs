//! Words that no file of the project may contain.
//!
//! Input: a [`Tree`]. Output: findings. Does not know what else the files say.

use super::finding::Finding;
use super::tree::Tree;

/// Paths of one machine, numbers of a tracker and addresses of registries mean nothing to a reader. They are
/// written in two halves here, because this file is checked, too.
const FORBIDDEN: [&str; 6] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("issue", " #"),
    concat!("sparse", "+http"),
    concat!("replace", "-with"),
    concat!("GOP", "ROXY"),
];

/// Checks that no line has a forbidden word, in upper or lower case.
pub(super) fn words(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.files().filter(|(path, _)| !path.contains("testdata/")) {
        for (place, line) in text.lines().enumerate() {
            let small = line.to_lowercase();
            for word in FORBIDDEN.iter().filter(|word| holds(&small, &word.to_lowercase())) {
                let what = format!("holds \"{word}\", which belongs to one machine or place");
                findings.push(Finding { path: path.to_owned(), line: place + 1, what });
            }
        }
    }
    findings
}

/// Returns whether `line` has `word`. A word that begins with `/` counts only at the beginning of a path, not
/// within one.
fn holds(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !word.starts_with('/')
            || !before.is_some_and(|letter| letter.is_alphanumeric() || "_.-}/~".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_found() {
        let text = format!("fine\nsee {} and {}3\n", FORBIDDEN[0], FORBIDDEN[2].to_uppercase());
        let tree = Tree::from_files(&[("a.md", &text), ("b.rs", concat!("let network = a/wo", "rk/b;\n"))]);
        let found: Vec<usize> = words(&tree).iter().map(|finding| finding.line).collect();
        assert_eq!(found, [2, 2]);
    }
}
