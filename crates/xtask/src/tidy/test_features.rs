//! No shipped program contains code that only tests need.
//!
//! Input: a [`Tree`]. Output: findings. Does not know what the features do.

use super::finding::Finding;
use super::tree::Tree;
use toml::{Table, Value};

/// The feature for code that only tests need. All crates use this name.
const FEATURE: &str = "testing";

/// Crates that are not part of a program, and may use such code.
const TOOLS: [&str; 2] = ["crates/testkit/", "crates/xtask/"];

/// Checks that no crate of a program switches the feature on outside of its tests: neither for a dependency
/// nor by default.
pub(super) fn test_features(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.manifests().filter(|(path, _)| path.starts_with("crates/"));
    let shipped = manifests.filter(|(path, _)| !TOOLS.iter().any(|tool| path.starts_with(tool)));
    shipped.flat_map(|(path, text)| findings(path, text)).collect()
}

fn findings(path: &str, text: &str) -> Vec<Finding> {
    let manifest: Table = text.parse().unwrap_or_default();
    let section = |name: &str| manifest.get(name).and_then(Value::as_table).into_iter().flatten();
    let switched_on = section("dependencies")
        .chain(section("build-dependencies"))
        .filter(|(_, value)| value.get("features").is_some_and(names_it))
        .map(|(name, _)| format!("switches on the feature {FEATURE} of {name}"));
    let through = section("features")
        .filter(|(_, value)| names_it(value))
        .map(|(name, _)| format!("switches on the feature {FEATURE} by the feature {name}"));
    let finding = |what: String| Finding {
        path: path.to_owned(),
        line: 0,
        what: format!("{what}; only dev-dependencies may do so, or the program has what only tests need"),
    };
    switched_on.chain(through).map(finding).collect()
}

/// Returns whether a list of features has the one for tests, of this crate or another.
fn names_it(features: &Value) -> bool {
    let mut names = features.as_array().into_iter().flatten().filter_map(Value::as_str);
    names.any(|name| name.rsplit('/').next() == Some(FEATURE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, manifest: &str) -> usize {
        test_features(&Tree::from_files(&[(path, manifest)])).len()
    }

    #[test]
    fn a_feature_for_tests_in_a_program_is_found() {
        let path = "crates/a/Cargo.toml";
        assert_eq!(found(path, "[dependencies]\nb = { path = \"b\", features = [\"x\", \"testing\"] }\n"), 1);
        assert_eq!(found(path, "[dependencies.b]\npath = \"b\"\nfeatures = [\"testing\"]\n"), 1);
        assert_eq!(
            found(path, "[features]\ndefault = [\"testing\"]\nmore = [\"b/testing\"]\ntesting = []\n"),
            2
        );
    }

    #[test]
    fn tests_and_tools_may_have_it() {
        let tests = "[features]\ntesting = []\n[dev-dependencies]\nb = { features = [\"testing\"] }\n";
        assert_eq!(found("crates/a/Cargo.toml", tests), 0);
        let tool = "[dependencies]\nb = { features = [\"testing\"] }\n";
        assert_eq!(found("crates/testkit/Cargo.toml", tool), 0);
        assert_eq!(found("bench/own/Cargo.toml", tool), 0);
    }
}
