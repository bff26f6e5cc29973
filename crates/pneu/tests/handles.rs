//! Handles: the message or the thread that a person means.

use crate::support::Fixture;
use pneu::{Error, Remedy, handle_of};
use std::fs;

#[test]
fn a_handle_is_a_message_id_a_hash_a_path_or_a_query() {
    let fixture = Fixture::new();
    let path = fixture.put("2", "second", "more words");
    fixture.update();
    let view = fixture.view();
    let second = view.named("id:2@x").unwrap();
    let message = view.message(&second.hit).unwrap();
    assert_eq!((message.line.subject.as_str(), second.other_count), ("second", 0));
    assert_eq!(handle_of(&message), "id:2@x");
    let digits: String = message.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    for handle in [&digits[..8], path.to_str().unwrap(), "subject:second"] {
        assert_eq!(view.named(handle).unwrap().hit.number, second.hit.number, "{handle}");
    }
    assert_eq!(view.by_sha256(&message.sha256).unwrap().unwrap().number, second.hit.number);
    assert!(view.by_sha256(&[0; 32]).unwrap().is_none());
}

#[test]
fn a_handle_that_means_nothing_or_too_much_says_so() {
    let fixture = Fixture::new();
    fixture.put("2", "second", "more words");
    fixture.update();
    let view = fixture.view();
    let error = view.named("words").unwrap_err();
    assert!(matches!(&error, Error::SeveralMessages { handle, count: 2 } if handle == "words"), "{error:?}");
    assert_eq!(error.remedy(), Some(Remedy::NarrowQuery));
    assert!(matches!(view.named("nothing").unwrap_err(), Error::NoMatch { .. }));
    assert!(matches!(view.named("from:(").unwrap_err(), Error::Parse(_)));
    // What can only be a name is not looked for as a query.
    for exact in ["id:nobody@x", "msgid:nobody@x", "/nowhere/cur/1"] {
        let error = view.named(exact).unwrap_err();
        assert!(matches!(error, Error::Index(index::Error::NoSuchMessage { .. })), "{exact}: {error:?}");
    }
}

#[test]
fn the_newest_of_several_with_one_message_id_is_meant() {
    let fixture = Fixture::new();
    let other = fixture.put("2", "other", "other words");
    let text = fs::read_to_string(&other).unwrap();
    fs::write(&other, text.replace("<2@x>", "<1@x>").replace("4 Mar", "5 Mar")).unwrap();
    fixture.update();
    let view = fixture.view();
    let named = view.named("id:1@x").unwrap();
    assert_eq!((view.message(&named.hit).unwrap().line.subject.as_str(), named.other_count), ("other", 1));
}

#[test]
fn a_query_may_name_several_messages_of_one_thread() {
    let fixture = Fixture::new();
    let answer = fixture.put("2", "answer", "more words");
    let text = fs::read_to_string(&answer).unwrap();
    fs::write(&answer, format!("In-Reply-To: <1@x>\n{text}")).unwrap();
    fixture.update();
    let view = fixture.view();
    assert_eq!(view.named_in_one_thread("words").unwrap().len(), 2);
    assert_eq!(view.named_in_one_thread("id:2@x").unwrap().len(), 1);
    fixture.put("3", "third", "quite other words");
    fixture.update();
    let error = fixture.view().named_in_one_thread("words").unwrap_err();
    assert!(matches!(&error, Error::SeveralThreads { count: 2, .. }), "{error:?}");
    assert!(matches!(view.named_in_one_thread("nothing").unwrap_err(), Error::NoMatch { .. }));
}
