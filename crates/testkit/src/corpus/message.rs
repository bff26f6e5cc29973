//! Puts a message together: headers, then the body of its structure.
//!
//! Input: a [`Shape`]. Output: the bytes of a message file. Does not know where the file will be.

use super::body;
use super::date;
use super::encode::{base64, charset as encoded, fitting, header_text};
use super::folders::Folder;
use super::people::{Person, domain, known_author, person};
use super::shape::{OWNER, Oddity, Shape, draw_person};
use super::text;
use super::words::vocabulary;
use super::{CorpusOptions, facts::SUBJECT_WORD};
use crate::random::Random;

/// Numbers of random streams.
const STREAM_IDENTITY: u64 = 0x6d69;
const STREAM_HEADERS: u64 = 0x6865;

/// A message that is being written.
struct Letter<'a> {
    seed: u64,
    shape: &'a Shape,
    author: Person,
    charset: &'static str,
}

/// Returns the message that `shape` describes.
pub(super) fn compose(options: &CorpusOptions, folders: &[Folder], shape: &Shape) -> Vec<u8> {
    let random = &mut Random::of(options.seed, STREAM_HEADERS, shape.number.into());
    let author = if shape.marks.author { known_author() } else { person(options.seed, shape.author) };
    let charset = *random.pick(vocabulary(shape.language).charsets);
    let charset = if shape.marks.accented { "utf-8" } else { charset };
    let letter = &Letter { seed: options.seed, shape, author, charset };
    let mut out = Vec::with_capacity(16 * 1024);
    transport(letter, random, &mut out);
    people(letter, random, &mut out);
    subject(letter, &mut out);
    origin(letter, random, &mut out);
    if let Some(list) = shape.list {
        list_headers(&list_name(&folders[list].path), &mut out);
    }
    put(&mut out, "MIME-Version: 1.0");
    let written = text::body(options.seed, shape, &letter.author);
    body::append(shape, &written, charset, random, &mut out);
    if shape.crlf { with_crlf(&out) } else { out }
}

/// Returns the bytes of the same message as another program fetched it: with other transport headers before
/// the same rest.
pub(super) fn travelled(message: &[u8], shape: &Shape) -> Vec<u8> {
    let end = if shape.crlf { "\r\n" } else { "\n" };
    let number = shape.number;
    let mut out = format!(
        "Delivered-To: archive@tube.example{end}X-TUID: {number:012x}{end}X-UID: {}{end}Status: RO{end}",
        number % 100_000
    )
    .into_bytes();
    out.extend_from_slice(message);
    out
}

fn put(out: &mut Vec<u8>, line: &str) {
    out.extend_from_slice(line.as_bytes());
    out.push(b'\n');
}

/// Returns the Message-ID of message `number`, with its angle brackets.
fn message_id(seed: u64, number: u32) -> String {
    let random = &mut Random::of(seed, STREAM_IDENTITY, number.into());
    let (first, host) = (random.next_u64(), domain(random.below(100)));
    match random.below(3) {
        0 => format!("<{first:016x}@{host}>"),
        1 => format!("<{}.{number}@mail.{host}>", first >> 20),
        _ => format!("<CA+{first:X}{:X}@{host}>", random.next_u64()),
    }
}

/// Headers that servers add: who passed it on, when, and their signatures.
fn transport(letter: &Letter<'_>, random: &mut Random, out: &mut Vec<u8>) {
    put(out, &format!("Return-Path: <{}>", letter.author.address));
    put(out, "Delivered-To: robin@tube.example");
    let hops = random.between(1, 4);
    for hop in 0..hops {
        let (from, by) = (domain(random.below(100)), domain(random.below(20)));
        let when = letter.shape.date_seconds + i64::try_from((hops - hop) * 3).expect("a few seconds");
        let id = random.next_u64();
        put(
            out,
            &format!(
                "Received: from mx{hop}.{from} (mx{hop}.{from} [10.{}.{}.{}])\n\tby mail.{by} (Postfix) with \
                 ESMTPS id {:X}\n\tfor <robin@tube.example>; {}",
                id & 255,
                (id >> 8) & 255,
                (id >> 16) & 255,
                id >> 24,
                date::header(when, 0)
            ),
        );
    }
    if random.per_mille(700) {
        let host = letter.author.address.rsplit('@').next().unwrap_or_default();
        put(
            out,
            &format!("Authentication-Results: mail.tube.example;\n\tdkim=pass header.d={host}; spf=pass"),
        );
        put(
            out,
            &format!(
                "DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d={host}; s=mail;\n\t\
                 h=From:To:Subject:Date:Message-ID; bh={}=;\n\tb={}",
                noise(32, random),
                noise(190, random)
            ),
        );
    }
    if random.per_mille(400) {
        put(out, &format!("ARC-Seal: i=1; a=rsa-sha256; cv=none; d=relay.example; b={}", noise(190, random)));
        put(
            out,
            &format!("ARC-Message-Signature: i=1; a=rsa-sha256; d=relay.example; b={}", noise(190, random)),
        );
    }
    if random.per_mille(500) {
        verdict(random, out);
    }
}

/// Headers that a spam filter adds.
fn verdict(random: &mut Random, out: &mut Vec<u8>) {
    const TESTS: [&str; 8] = [
        "BAYES_00",
        "DKIM_SIGNED",
        "DKIM_VALID_AU",
        "HTML_MESSAGE",
        "MAILING_LIST_MULTI",
        "RCVD_IN_DNSWL_MED",
        "SPF_HELO_NONE",
        "T_SCC_BODY_TEXT_LINE",
    ];
    let tests: Vec<&str> = TESTS.into_iter().filter(|_| random.per_mille(700)).collect();
    put(out, &format!("X-Spam-Status: No, score=-{}.{} required=5.0", random.below(8), random.below(10)));
    put(out, &format!("\ttests={}\n\tautolearn=ham autolearn_force=no version=4.0.0", tests.join(",\n\t")));
    put(out, &format!("X-Spam-Checker-Version: SpamAssassin 4.0.0\n\t(2022-12-13) on mx{}", random.below(9)));
}

/// Returns that many random bytes in base64, folded as a header.
fn noise(bytes: usize, random: &mut Random) -> String {
    let mut noise = vec![0; bytes];
    random.fill(&mut noise);
    let mut text = Vec::new();
    for line in noise.chunks(51) {
        if !text.is_empty() {
            text.extend_from_slice(b"\n\t ");
        }
        base64(line, &mut text);
    }
    String::from_utf8(text).expect("base64 is ASCII")
}

fn people(letter: &Letter<'_>, random: &mut Random, out: &mut Vec<u8>) {
    let (shape, charset, author) = (letter.shape, letter.charset, std::slice::from_ref(&letter.author));
    address_line("From", author, charset, out);
    if shape.oddity == Some(Oddity::Group) {
        put(out, "To: undisclosed-recipients:;");
    } else {
        let to = if shape.author == OWNER {
            strangers(letter.seed, 1, random)
        } else {
            vec![person(letter.seed, OWNER)]
        };
        address_line("To", &to, charset, out);
    }
    match shape.number % 8 {
        0..3 => {
            let count = u64::from(shape.number % 5) + 1;
            address_line("Cc", &strangers(letter.seed, count, random), charset, out);
        }
        3 if shape.author == OWNER => address_line("Bcc", &strangers(letter.seed, 1, random), charset, out),
        4 if shape.list.is_some() => address_line("Reply-To", author, charset, out),
        _ => {}
    }
}

fn strangers(seed: u64, count: u64, random: &mut Random) -> Vec<Person> {
    (0..count).map(|_| person(seed, draw_person(random))).collect()
}

fn address_line(header: &str, people: &[Person], charset: &'static str, out: &mut Vec<u8>) {
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(b": ");
    for (place, person) in people.iter().enumerate() {
        if place > 0 {
            out.extend_from_slice(b",\n ");
        }
        header_text(&person.name, charset, out);
        out.extend_from_slice(format!(" <{}>", person.address).as_bytes());
    }
    out.push(b'\n');
}

fn subject(letter: &Letter<'_>, out: &mut Vec<u8>) {
    let (shape, charset) = (letter.shape, letter.charset);
    let mut subject = text::subject(letter.seed, shape.root, shape.thread_language);
    if shape.marks.subject {
        subject = format!("{SUBJECT_WORD} {subject}");
    }
    if shape.number != shape.root {
        subject = format!("Re: {subject}");
    }
    out.extend_from_slice(b"Subject: ");
    if shape.oddity == Some(Oddity::RawHeader) {
        out.extend_from_slice(&encoded(&subject, fitting(&subject, charset)));
    } else {
        header_text(&subject, charset, out);
    }
    out.push(b'\n');
}

/// Date, Message-ID and the messages that it answers.
fn origin(letter: &Letter<'_>, random: &mut Random, out: &mut Vec<u8>) {
    let (seed, shape) = (letter.seed, letter.shape);
    if shape.oddity != Some(Oddity::NoDate) {
        let zone = *random.pick(&[0, 60, 120, -300, -480, 330, 540, 180]);
        put(out, &format!("Date: {}", date::header(shape.date_seconds, zone)));
    }
    if shape.oddity != Some(Oddity::NoMessageId) {
        put(out, &format!("Message-ID: {}", message_id(seed, shape.number)));
    }
    if let Some(&parent) = shape.ancestors.last() {
        put(out, &format!("In-Reply-To: {}", message_id(seed, parent)));
        let references: Vec<String> =
            shape.ancestors.iter().map(|&number| message_id(seed, number)).collect();
        put(out, &format!("References: {}", references.join("\n ")));
    }
    match random.below(10) {
        0 => put(out, "User-Agent: Mutt/2.2.12 (2023-09-09)"),
        1 | 2 => put(out, "X-Mailer: Tube Writer 16.0"),
        3 => put(out, "X-Keywords: travel, later"),
        4 => put(out, "X-Priority: 1\nImportance: high"),
        _ => {}
    }
}

/// Returns the name of the list whose mail is delivered to the folder `path`.
fn list_name(path: &[u8]) -> String {
    let last = path.rsplit(|&byte| byte == b'/' || byte == b'.').next().unwrap_or_default();
    String::from_utf8_lossy(last).into_owned()
}

fn list_headers(name: &str, out: &mut Vec<u8>) {
    put(out, &format!("List-Id: Talk about {name} <{name}.lists.example>"));
    put(out, &format!("List-Post: <mailto:{name}@lists.example>"));
    put(
        out,
        &format!("List-Unsubscribe: <https://lists.example/{name}>,\n <mailto:{name}-leave@lists.example>"),
    );
    put(out, "Precedence: list");
}

/// Returns `message` with `\r\n` for `\n`.
fn with_crlf(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len() + message.len() / 32);
    for line in message.split_inclusive(|&byte| byte == b'\n') {
        match line.split_last() {
            Some((b'\n', rest)) => {
                out.extend_from_slice(rest);
                out.extend_from_slice(b"\r\n");
            }
            _ => out.extend_from_slice(line),
        }
    }
    out
}
