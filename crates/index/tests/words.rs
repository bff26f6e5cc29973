//! Parts of words and regular expressions in a mailbox with enough distinct words to need a list of words.
//! The answers equal those of testing each word, with the list and without it.

use crate::support::{Fixture, message};
use index::UpdateOptions;
use std::fs;
use std::path::PathBuf;

/// Words of each message: more than one piece of a list holds.
const WORD_COUNT: u64 = 60_000;

/// Returns a word that resembles none of the others.
fn word(message: u64, number: u64) -> String {
    let mixed = (message * WORD_COUNT + number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("w{:x}", mixed >> 24)
}

fn lists(fixture: &Fixture) -> Vec<PathBuf> {
    let files = fs::read_dir(fixture.environment.data.join("index/text")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "words")).collect()
}

#[test]
fn parts_of_words_are_found_with_a_list_of_words_and_without() {
    let fixture = Fixture::new();
    for number in 0..3 {
        let words: Vec<String> = (0..WORD_COUNT).map(|word_number| word(number, word_number)).collect();
        let content = message(&format!("m{number}"), &format!("s{number}"), &words.join("\n"));
        fixture.put("f", "cur", &format!("{number}.x:2,S"), &content);
        // Each pass makes its own segment.
        fixture.update_with(&UpdateOptions::default());
    }
    fixture.check();
    let lists = lists(&fixture);
    assert!(!lists.is_empty());

    let holds = |likes: &dyn Fn(&str) -> bool| -> Vec<String> {
        let messages = (0..3).filter(|message| (0..WORD_COUNT).any(|number| likes(&word(*message, number))));
        messages.map(|message| format!("s{message}")).collect()
    };
    let rare: Vec<String> = (0..3).map(|message| word(message, 7)[2..].to_owned()).collect();
    let mut questions = Vec::new();
    for part in &rare {
        questions.push((format!("body:*{part}*"), holds(&|word| word.contains(part))));
        questions.push((format!("body:*{part}"), holds(&|word| word.ends_with(part))));
        questions.push((
            format!("body:/^w.{part}$/"),
            holds(&|word| word.len() == part.len() + 2 && word.ends_with(part)),
        ));
    }
    // Parts that most words have, and parts that none has.
    questions.push(("body:*a*".to_owned(), holds(&|word| word.contains('a'))));
    questions.push((
        "body:/[0-9]/".to_owned(),
        holds(&|word| word.contains(|letter: char| letter.is_ascii_digit())),
    ));
    questions.push(("body:*zz*".to_owned(), Vec::new()));
    let ask = |how: &str| {
        for (question, expected) in &questions {
            let mut found = fixture.find(question);
            found.sort_unstable();
            assert_eq!(found, *expected, "{question} {how}");
        }
    };
    ask("with lists");
    lists.iter().for_each(|list| fs::remove_file(list).unwrap());
    ask("without lists");
}
