//! What a host decides before it writes: which roots are indexed; and what it takes over from files.

use crate::support::{Fixture, subjects};
use pneu::setup::configuration::ArchiveConfiguration;
use pneu::setup::roots::{GivenRoot, RootsError};
use pneu::{Host, IndexState, Root};
use std::fs;

fn root(name: &str, path: &str) -> Root {
    Root { name: name.into(), path: path.into() }
}

fn named(name: &str, path: &str) -> GivenRoot {
    GivenRoot { root: root(name, path), is_named: true }
}

#[test]
fn roots_are_those_of_the_configuration_or_remembered_and_those_given_now() {
    let fixture = Fixture::new();
    let (state, given) = (fixture.host.index_state().unwrap(), [named("b", "/b")]);
    let remembered = &fixture.roots[0];
    let of = |host: &Host, state: &IndexState, given: &[GivenRoot]| host.roots_to_index(state, given);
    assert_eq!(of(&fixture.host, &state, &given), Ok(vec![remembered.clone(), given[0].root.clone()]));
    assert_eq!(of(&fixture.host, &IndexState::Missing, &[]), Ok(vec![]));
    let mut settings = fixture.host.settings().clone();
    settings.configuration.roots = vec![root("a", "/a"), root("b", "/old")];
    let configured = Host::new(settings);
    assert_eq!(of(&configured, &state, &given), Ok(vec![root("a", "/a"), root("b", "/b")]));
    let nested = RootsError::Nested { first: "a".into(), second: "c".into() };
    assert_eq!(of(&configured, &state, &[named("c", "/a/c")]), Err(nested));
    // What an index that is made anew remembers is what its messages lie in.
    let anew = |remembered: &[Root]| configured.roots_to_rebuild(remembered, &[]);
    assert_eq!(anew(&[root("c", "/c")]), Ok(vec![root("c", "/c")]));
    assert_eq!(anew(&[]), Ok(vec![root("a", "/a"), root("b", "/old")]));
}

#[test]
fn a_directory_without_a_name_takes_no_place_of_the_configuration() {
    let fixture = Fixture::new();
    let remembered = fixture.host.index_state().unwrap();
    let outdated = IndexState::Outdated(vec![root("mail", "/gone")]);
    let given = [GivenRoot { root: root("mail", "/third"), is_named: false }];
    let mut settings = fixture.host.settings().clone();
    // Whether its directory is there or not.
    for known in [fixture.roots[0].path.clone(), "/gone".into()] {
        settings.configuration.roots = vec![Root { name: "mail".into(), path: known.clone() }];
        let host = Host::new(settings.clone());
        let expected =
            Err(RootsError::NameNeeded { name: "mail".into(), known: known.clone(), given: "/third".into() });
        for state in [&remembered, &outdated, &IndexState::Missing] {
            assert_eq!(host.roots_to_index(state, &given), expected, "{state:?}");
        }
        let configured = &host.settings().configuration.roots;
        for remembered in [&[][..], configured] {
            assert_eq!(host.roots_to_rebuild(remembered, &given), expected);
        }
        // Another directory had its name when the index was made, and is gone.
        let known = "/older".into();
        assert_eq!(
            host.roots_to_rebuild(&[root("mail", "/older")], &given),
            Err(RootsError::NameNeeded { name: "mail".into(), known, given: "/third".into() })
        );
        let moved = [named("mail", "/third")];
        assert_eq!(host.roots_to_index(&IndexState::Missing, &moved), Ok(vec![moved[0].root.clone()]));
    }
    // One that only the index remembers, and that is not there any more, was moved.
    assert_eq!(fixture.host.roots_to_index(&outdated, &given), Ok(vec![given[0].root.clone()]));
    let anew = fixture.host.roots_to_rebuild(&[root("mail", "/gone")], &given);
    assert_eq!(anew, Ok(vec![given[0].root.clone()]));
}

#[test]
fn a_first_index_imports_from_a_repository_of_the_configuration() {
    let fixture = Fixture::new();
    assert!(!fixture.host.imports_at_first(&IndexState::Missing));
    let mut settings = fixture.host.settings().clone();
    settings.configuration.archive =
        Some(ArchiveConfiguration { repository: "/r".into(), password_file: None, password_command: None });
    let host = Host::new(settings);
    assert!(host.imports_at_first(&IndexState::Missing));
    assert!(!host.imports_at_first(&host.index_state().unwrap()));
}

#[test]
fn tags_of_a_text_and_of_a_restore_are_in_the_next_view() {
    let fixture = Fixture::new();
    let before = fixture.view();
    let message = before.message(&before.named("id:1@x").unwrap().hit).unwrap();
    let text = |tag: &str| {
        let sha256: String = message.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("pneu-tags 1\n{sha256}\t1@x\t{tag}\n")
    };
    let directory = fixture.roots[0].path.join(".pneu");
    fs::create_dir(&directory).unwrap();
    fs::write(directory.join("tags"), text("restored")).unwrap();
    let taken = fixture.host.import_restored_tags(&fixture.roots).unwrap();
    assert_eq!((taken.len(), taken[0].1.changed), (1, 1), "{taken:?}");
    assert_eq!(subjects(&fixture.view(), "tag:restored"), ["first"]);
    assert!(fixture.host.import_restored_tags(&fixture.roots).unwrap().is_empty(), "there are tags now");
    assert_eq!(fixture.host.import_tags(&text("named")).unwrap().changed, 1);
    assert_eq!(subjects(&fixture.view(), "tag:named"), ["first"]);
}
