//! Ids, paths and patterns that name messages.

use crate::support::{Fixture, message};

#[test]
fn ids_keep_their_case_and_paths_may_end_in_cur() {
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "1.a:2,S", &message("CAF+Abc", "apples", "red"));
    let reply =
        message("Reply.1", "answer", "green").replace("Date:", "In-Reply-To: <CAF+Abc@example.org>\nDate:");
    fixture.put("inbox", "new", "2.b", &reply);
    fixture.update();
    for (query, subject) in [
        ("msgid:CAF+Abc@example.org", "apples"),
        ("msgid:CAF*", "apples"),
        ("ref:CAF+Abc@example.org", "answer"),
        ("path:inbox/cur/**", "apples"),
        ("path:inbox/new", "answer"),
    ] {
        assert_eq!(fixture.find(query), [subject], "{query}");
    }
    assert!(fixture.find("msgid:caf*").is_empty());
    let absolute = fixture.root().join("inbox/new");
    assert_eq!(fixture.find(&format!("path:{}/**", absolute.display())), ["answer"]);
    assert_eq!(fixture.find("path:inbox/**").len(), 2);
}

#[test]
fn a_handle_is_a_path_an_id_or_the_beginning_of_a_sha256() {
    let fixture = Fixture::new();
    let path = fixture.put("inbox", "cur", "1.a:2,S", &message("a", "apples", "red"));
    fixture.put("inbox", "cur", "2.b:2,S", &message("b", "pears", "green"));
    fixture.update();
    let mailbox = fixture.mailbox();
    let by_path = mailbox.resolve(path.to_str().unwrap()).unwrap();
    assert_eq!(by_path.len(), 1);
    assert_eq!(mailbox.resolve("id:a@example.org").unwrap(), by_path);
    assert_eq!(mailbox.resolve("inbox/cur/1.a:2,S").unwrap(), by_path);
    let sha256 = fixture.dump().into_iter().find(|(_, (subject, ..))| subject == "apples").unwrap().0;
    assert_eq!(mailbox.resolve(&sha256[..10]).unwrap(), by_path);
    assert!(matches!(mailbox.resolve("id:nobody@nowhere"), Err(index::Error::NoSuchMessage { .. })));
}
