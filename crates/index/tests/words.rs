//! Parts of words and regular expressions in a mailbox with enough distinct words to need a list of words.
//! The answers equal those of testing each word, with the list and without it.

use crate::support::{Fixture, message};
use index::UpdateOptions;
use std::fs;

/// Returns a word that resembles none of the others.
fn word(message: u64, number: u64) -> String {
    let mixed = (message * 60_000 + number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("w{:x}", mixed >> 24)
}

/// Returns how many segments have a list with this word of their message.
fn list_count(fixture: &Fixture, number: u64) -> usize {
    let files = fs::read_dir(fixture.environment.data.join("index/text")).unwrap();
    let contents = files.map(|file| fs::read(file.unwrap().path()).unwrap());
    let lines: Vec<String> = (0..3).map(|message| format!("\n{}\n", word(message, number))).collect();
    let has_list =
        |content: &Vec<u8>| lines.iter().any(|line| memchr::memmem::find(content, line.as_bytes()).is_some());
    contents.filter(has_list).count()
}

#[test]
fn parts_of_words_are_found_with_a_list_of_words() {
    // More than one piece of a list holds.
    assert_eq!(list_count(&parts_of_words_are_found(60_000), 7), 3);
}

#[test]
fn parts_of_words_are_found_without_a_list_of_words() {
    assert_eq!(list_count(&parts_of_words_are_found(10_000), 7), 0);
}

/// Asks for parts of words of three messages, each of so many words, in a segment of its own.
fn parts_of_words_are_found(word_count: u64) -> Fixture {
    let fixture = Fixture::new();
    for number in 0..3 {
        let words: Vec<String> = (0..word_count).map(|word_number| word(number, word_number)).collect();
        let content = message(&format!("m{number}"), &format!("s{number}"), &words.join("\n"));
        fixture.put("f", "cur", &format!("{number}.x:2,S"), &content);
        // Each pass makes its own segment.
        fixture.update_with(&UpdateOptions::default());
    }
    fixture.check();
    let holds = |likes: &dyn Fn(&str) -> bool| -> Vec<String> {
        let messages = (0..3).filter(|message| (0..word_count).any(|number| likes(&word(*message, number))));
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
    for (question, expected) in &questions {
        let mut found = fixture.find(question);
        found.sort_unstable();
        assert_eq!(found, *expected, "{question}");
    }
    fixture
}
