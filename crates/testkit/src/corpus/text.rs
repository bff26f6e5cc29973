//! The text of messages: subjects, paragraphs, quotes, blocks of code.
//!
//! Input: shapes and random streams. Output: text as a person typed it, in UTF-8 with `\n`. Does not depend
//! on headers, charsets and MIME.

use super::facts::{ACCENTED_WORD, COMMON_PHRASE, RARE_WORD};
use super::people::{Person, capital};
use super::shape::Shape;
use super::words::{Language, Vocabulary, vocabulary};
use crate::random::Random;
use std::fmt::Write;

/// Where lines of plain text are broken.
const LINE_COLUMNS: usize = 74;
/// Numbers of random streams.
const STREAM_SUBJECT: u64 = 0x7375;
const STREAM_OPENING: u64 = 0x6f70;
const STREAM_BODY: u64 = 0x626f;

/// Returns the subject of the thread that begins with message `root`.
pub(super) fn subject(seed: u64, root: u32, language: Language) -> String {
    let random = &mut Random::of(seed, STREAM_SUBJECT, root.into());
    let words = vocabulary(language);
    let count = random.between(2, 8);
    let mut subject = capital(words.word(random));
    for _ in 1..count {
        subject.push_str(words.gap);
        subject.push_str(words.word(random));
    }
    if random.per_mille(120) {
        write!(subject, " #{}", random.below(90_000)).expect("writing to a string");
    }
    subject
}

/// Returns everything that `author` wrote in the message of this shape, with the quote that it answers.
pub(super) fn body(seed: u64, shape: &Shape, author: &Person) -> String {
    let random = &mut Random::of(seed, STREAM_BODY, shape.number.into());
    let words = vocabulary(shape.language);
    let mut body = String::with_capacity(4096);
    if let Some(&parent) = shape.ancestors.last() {
        quote(&opening(seed, parent, shape.language), &mut body);
    }
    marks(shape, &mut body);
    let mut plain = opening(seed, shape.number, shape.language);
    for _ in 0..paragraph_count(random) {
        if shape.list.is_some() && random.per_mille(60) {
            code(words, random, &mut plain);
        } else {
            paragraph(words, random, &mut plain);
        }
    }
    body.push_str(&plain);
    if random.per_mille(600) {
        writeln!(body, "-- \n{}", author.name).expect("writing to a string");
    }
    body
}

/// Returns the first paragraph of a message, which its answers quote.
fn opening(seed: u64, number: u32, language: Language) -> String {
    let random = &mut Random::of(seed, STREAM_OPENING, number.into());
    let mut text = String::new();
    paragraph(vocabulary(language), random, &mut text);
    text
}

/// Most messages are short, some are long, few are very long.
fn paragraph_count(random: &mut Random) -> u64 {
    match random.below(1000) {
        0..600 => random.between(0, 4),
        600..880 => random.between(4, 12),
        880..980 => random.between(12, 30),
        980..998 => random.between(30, 90),
        _ => random.between(100, 400),
    }
}

/// Appends a sentence with the known words of this message.
fn marks(shape: &Shape, body: &mut String) {
    let marks = shape.marks;
    for (carried, words) in
        [(marks.rare, RARE_WORD), (marks.phrase, COMMON_PHRASE), (marks.accented, ACCENTED_WORD)]
    {
        if carried {
            writeln!(body, "Please note: {words} here.\n").expect("writing to a string");
        }
    }
}

fn paragraph(words: &Vocabulary, random: &mut Random, out: &mut String) {
    let mut column = 0;
    for _ in 0..random.between(1, 6) {
        let count = random.between(4, 18);
        for place in 0..count {
            let unique;
            let word = if random.per_mille(40) {
                unique = unique_word(random);
                &unique
            } else {
                words.word(random)
            };
            // Lines without spaces are broken between words too, as in Chinese and Japanese mail.
            if column + word.len() >= LINE_COLUMNS {
                out.push('\n');
                column = 0;
            } else if column > 0 {
                out.push_str(words.gap);
            }
            if place == 0 {
                out.push_str(&capital(word));
            } else {
                out.push_str(word);
            }
            column += word.len() + words.gap.len();
        }
        out.push_str(if words.gap.is_empty() { "。" } else { ". " });
        column += 2;
    }
    out.push_str("\n\n");
}

/// Returns text that no dictionary has: numbers, hashes, paths, links, names of functions.
fn unique_word(random: &mut Random) -> String {
    let latin = vocabulary(Language::English);
    match random.below(8) {
        0 | 1 => random.below(100_000).to_string(),
        2 => format!("{:012x}", random.next_u64() >> 16),
        3 => format!("{}_{}", latin.word(random), latin.rare_word(random)),
        4 => format!("{}/{}.c", latin.word(random), latin.rare_word(random)),
        5 => format!("https://{}.example/{:x}", latin.rare_word(random), random.below(1 << 24)),
        6 => format!("{}.{:02}", random.below(1000), random.below(100)),
        _ => format!("{}-{}", latin.rare_word(random), random.below(100)),
    }
}

/// Appends a patch or a log, as in mail of lists.
fn code(words: &Vocabulary, random: &mut Random, out: &mut String) {
    for _ in 0..random.between(6, 24) {
        let sign = *random.pick(&[' ', ' ', '+', '-']);
        let indent = random.index(4) * 8;
        let (left, right) = (words.word(random), words.rare_word(random));
        let number = random.next_u64() >> random.between(16, 56);
        writeln!(out, "{sign}{:indent$}{left}_{right}({number:#x});", "").expect("writing to a string");
    }
    out.push('\n');
}

/// Appends `text` with `> ` before each line.
fn quote(text: &str, out: &mut String) {
    for line in text.trim_end().lines() {
        writeln!(out, "> {line}").expect("writing to a string");
    }
    out.push('\n');
}

/// Returns `text` as HTML, with the superfluous styles that mail programs add.
pub(super) fn html(text: &str) -> String {
    let mut html = String::with_capacity(text.len() * 2);
    html.push_str(concat!(
        "<!DOCTYPE html>\n<html><head><meta http-equiv=\"Content-Type\" content=\"text/html\">\n",
        "<style type=\"text/css\">p { margin: 0; font-family: Helvetica, sans-serif; } .hidden { display: \
         none }",
        "</style></head>\n<body bgcolor=\"#ffffff\">\n",
    ));
    for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
        html.push_str("<p style=\"margin: 0 0 1em 0; color: #202020\">");
        for letter in paragraph.trim().chars() {
            match letter {
                '<' => html.push_str("&lt;"),
                '>' => html.push_str("&gt;"),
                '&' => html.push_str("&amp;"),
                '\n' => html.push_str("<br>\n"),
                letter => html.push(letter),
            }
        }
        html.push_str("</p>\n");
    }
    html.push_str("</body></html>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_keep_to_the_line() {
        for language in [Language::English, Language::Russian, Language::Chinese] {
            let mut text = String::new();
            paragraph(vocabulary(language), &mut Random::new(3), &mut text);
            assert!(text.lines().all(|line| line.len() < LINE_COLUMNS + 12), "{text}");
        }
    }

    #[test]
    fn html_hides_its_letters() {
        assert!(html("a < b\n& c\n\nnext").contains("a &lt; b<br>\n&amp; c</p>"));
    }
}
