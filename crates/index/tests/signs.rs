//! Queries for words with signs (`c++`, `.net`) and for words with one stem. Input: small messages. Output:
//! which of them are found.

use crate::support::{Fixture, message, query_with};
use index::UpdateOptions;

/// Indexes messages with these subjects and texts.
fn mailbox(messages: &[(&str, &str)]) -> Fixture {
    let fixture = Fixture::new();
    for (number, (subject, text)) in messages.iter().enumerate() {
        let content = message(&format!("m{number}"), subject, text);
        fixture.put("f", "cur", &format!("{number}.x:2,S"), &content);
    }
    fixture.update();
    fixture
}

#[track_caller]
fn expect(fixture: &Fixture, questions: &[(&str, &[&str])]) {
    for (question, expected) in questions {
        let mut found = fixture.find(question);
        found.sort_unstable();
        assert_eq!(found, *expected, "{question}");
    }
}

#[test]
fn words_with_signs_are_found_as_such() {
    let fixture = mailbox(&[
        ("bare", "vitamin c and a net, a c code"),
        ("plus", "We write C++ code since C++11."),
        ("sharp", "C#/.NET code in report.pdf"),
        ("dots", "see ~/.bashrc of asp.net"),
        ("c++ subject", "nothing"),
    ]);
    expect(
        &fixture,
        &[
            ("c", &["bare", "c++ subject", "plus", "sharp"]),
            ("c++", &["c++ subject", "plus"]),
            ("subject:C++", &["c++ subject"]),
            ("c#", &["sharp"]),
            (".net", &["sharp"]),
            ("net", &["bare", "dots", "sharp"]),
            (".bashrc", &["dots"]),
            ("bashrc", &["dots"]),
            ("asp.net", &["dots"]),
            ("C++11", &["plus"]),
            // Phrases match with and without the signs.
            ("\"c++ code\"", &["plus"]),
            ("\"c code\"", &["bare", "plus"]),
            ("\"write c++ code since\"", &["plus"]),
            ("\"c# .net code\"", &["sharp"]),
            ("\"c# net code\"", &["sharp"]),
            ("\"c++ cod*\"", &["plus"]),
            // Parts of words and regular expressions see both forms.
            (".ne*", &["sharp"]),
            ("*ashrc", &["dots"]),
            ("body:/^c[+]+$/", &["plus"]),
            ("body:/^c$/", &["bare", "plus", "sharp"]),
            // In addresses and file names, a dot only separates words.
            ("from:.org", &["bare", "c++ subject", "dots", "plus", "sharp"]),
            ("not c++", &["bare", "dots", "sharp"]),
        ],
    );
    fixture.check();
}

#[test]
fn words_of_one_stem_are_found_together() {
    let fixture = mailbox(&[
        ("one", "the manpage"),
        ("many", "some manpages"),
        ("detail", "nothing in Manpaging"),
        ("details", "a detained man"),
        ("detailed", "c++"),
        ("dying", "die"),
    ]);
    expect(
        &fixture,
        &[
            ("manpage", &["one"]),
            ("~manpage", &["detail", "many", "one"]),
            ("~MANPAGES", &["detail", "many", "one"]),
            ("subject:~details", &["detail", "detailed", "details"]),
            ("~details -~manpage", &["detailed", "details"]),
            ("from:~ana", &["detail", "detailed", "details", "dying", "many", "one"]),
            ("subject:~die", &["dying"]),
            ("~c++", &["detailed"]),
            ("~nowhere", &[]),
        ],
    );
}

#[test]
fn stems_are_found_in_configured_headers() {
    let fixture = Fixture::new();
    let content = format!("X-Topic: many birds\n{}", message("m", "s", "x"));
    fixture.put("f", "cur", "1.x:2,S", &content);
    let headers = ["X-Topic".to_owned()];
    fixture.update_with(&UpdateOptions { headers: headers.to_vec(), ..UpdateOptions::default() });
    assert_eq!(fixture.find_with("x-topic:~birding", &["X-Topic"]), ["s"]);
    assert_eq!(fixture.find_with("x-topic:~words", &["X-Topic"]), [""; 0]);
}

#[test]
fn an_analysis_names_the_words_of_a_stem() {
    let fixture = mailbox(&[("one", "the manpage")]);
    let analysis = fixture.mailbox().analyze(&query_with("body:~manpages", &[]), &|| 0).unwrap();
    assert_eq!(analysis.query, "body:~manpages");
    assert_eq!(analysis.root.sources, ["words of one stem in the text index"]);
}
