//! `docs/query.md`: its generated parts are fresh, its examples are queries. Input: the document. Output:
//! whether it can be believed; with UPDATE=1 in the environment its generated parts written anew. Does not
//! know what the tables say.

use std::fs;
use std::path::PathBuf;

use query::differences::DIFFERENCES;
use query::fields::FIELDS;
use query::{Field, Query, Target, help, parse};

use crate::context::context;

fn document() -> (PathBuf, String) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/query.md");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    (path, text)
}

#[test]
fn generated_parts_are_fresh() {
    let (path, text) = document();
    let fresh = help::refresh(&text);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &fresh).expect("the document can be written");
    } else {
        assert!(
            fresh == text,
            "{} is stale: run UPDATE=1 cargo test -p pneu-query --test main docs",
            path.display()
        );
    }
    for info in FIELDS {
        assert!(fresh.contains(&format!("| `{}` |", info.name)), "{}", info.name);
    }
    assert!(fresh.contains("| `unread` |") && fresh.contains("| `date:3m..` |"));
}

#[test]
fn every_example_is_a_query() {
    let (_, text) = document();
    let mut count = 0;
    let blocks = text.split("```query\n").skip(1).map(|block| block.split("```").next().unwrap_or(""));
    for line in blocks.flat_map(str::lines).filter(|line| !line.trim().is_empty()) {
        // What stands right of two spaces explains.
        let example = line.split("  ").next().unwrap_or("");
        assert!(parse(example, &context()).is_ok(), "{}", parse(example, &context()).unwrap_err());
        count += 1;
    }
    assert!(count > 30, "{count} examples were found");
    for info in FIELDS {
        let Ok(Query::Leaf(leaf)) = parse(info.example, &context()) else {
            panic!("{} is no leaf", info.example)
        };
        assert_eq!(leaf.target, Target::Fields(info.fields), "{}", info.example);
    }
    assert_eq!(Field::ALL.len() + 3, FIELDS.len());
}

#[test]
fn differences_are_as_they_are_told() {
    for difference in DIFFERENCES {
        let found = match parse(difference.query, &context()) {
            Ok(query) => query.to_string(),
            Err(error) => error.problem.to_string(),
        };
        assert_eq!(found, difference.canonical, "{}", difference.query);
    }
}
