//! Checks with mail-parser that varied mail has the properties that it should have.

use super::*;
use crate::corpus::{FOLDED_WORD, Profile, facts};
use mail_parser::{MessageParser, MimeHeaders};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::PathBuf;

fn files_below(directory: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            let content = fs::read(&path).unwrap();
            found.insert(path, content);
        }
    }
}

fn generated(options: &CorpusOptions) -> (Corpus, BTreeMap<PathBuf, Vec<u8>>) {
    let directory = tempfile::tempdir().unwrap();
    let corpus = crate::corpus::generate(directory.path(), options).unwrap();
    let mut files = BTreeMap::new();
    files_below(directory.path(), &mut files);
    let relative = |path: PathBuf| path.strip_prefix(directory.path()).unwrap().to_owned();
    (corpus, files.into_iter().map(|(path, content)| (relative(path), content)).collect())
}

#[test]
fn the_same_options_give_the_same_files_on_any_number_of_threads() {
    for profile in [Profile::Varied, Profile::Small] {
        let one = CorpusOptions { profile, threads: 1, ..CorpusOptions::varied(700, 3) };
        let (first, first_files) = generated(&one);
        let (second, second_files) = generated(&CorpusOptions { threads: 3, ..one.clone() });
        assert_eq!(first, second);
        assert!(first_files == second_files, "contents differ");
        let (_, other_files) = generated(&CorpusOptions { seed: 4, ..one });
        assert!(first_files != other_files, "the seed changes nothing");
        assert_eq!(first.files, first_files.len() as u64);
        assert_eq!(first.bytes, first_files.values().map(|content| content.len() as u64).sum::<u64>());
    }
}

#[test]
fn a_second_corpus_in_the_same_place_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let options = CorpusOptions::varied(3, 1);
    crate::corpus::generate(directory.path(), &options).unwrap();
    let error = crate::corpus::generate(directory.path(), &options).unwrap_err();
    assert!(
        error.to_string().ends_with("holds a Maildir already; remove it or name another place"),
        "{error}"
    );
}

/// Returns all text that a message shows, folded like a search would.
fn shown(message: &mail_parser::Message<'_>) -> String {
    let mut text = message.subject().unwrap_or_default().to_owned();
    for part in 0..message.text_body_count() {
        text.push_str(&message.body_text(part).unwrap_or_default());
    }
    for attachment in message.attachments() {
        text.push_str(attachment.attachment_name().unwrap_or_default());
    }
    if let Some(address) = message.from().and_then(|from| from.first()) {
        text.push_str(address.address().unwrap_or_default());
    }
    text.replace("zÿgòmètre", FOLDED_WORD)
}

#[test]
fn known_words_stand_in_exactly_the_known_number_of_messages() {
    let options = CorpusOptions::varied(8000, 2);
    let folders = folders(options.folders);
    let mut texts = Vec::new();
    for number in 0..options.messages {
        let shape = shape(&options, &folders, number);
        let message = compose(&options, &folders, &shape);
        texts.push(shown(&MessageParser::default().parse(&message).unwrap()));
    }
    for fact in facts(&options) {
        let word = fact.query.rsplit(':').next().unwrap().trim_matches('"');
        let found = texts.iter().filter(|text| text.contains(word)).count();
        assert_eq!(found, fact.messages as usize, "{}", fact.query);
        assert!(found > 0);
    }
}

#[test]
fn mail_is_as_large_and_as_varied_as_real_mail() {
    let options = CorpusOptions::varied(6000, 1);
    let folders = folders(options.folders);
    let mut bytes = 0;
    let mut charsets = HashSet::new();
    let (mut replies, mut lists, mut attachments, mut html, mut copies) = (0, 0, 0, 0, 0);
    let mut used_folders = HashSet::new();
    for number in 0..options.messages {
        let shape = shape(&options, &folders, number);
        let message = compose(&options, &folders, &shape);
        bytes += message.len();
        let parsed = MessageParser::default().parse(&message).unwrap();
        replies += u32::from(parsed.in_reply_to().as_text().is_some());
        lists += u32::from(parsed.list_id().as_text().is_some() || parsed.header("List-Id").is_some());
        attachments += u32::from(parsed.attachments().any(|part| part.attachment_name().is_some()));
        html += u32::from(parsed.html_bodies().any(mail_parser::MessagePart::is_text_html));
        copies += u32::from(shape.copy.is_some());
        used_folders.insert(shape.folder);
        let declared = parsed.parts.iter().filter_map(|part| part.content_type()?.attribute("charset"));
        charsets.extend(declared.map(str::to_owned));
        assert!(shape.oddity.is_some() || parsed.date().is_some(), "message {number} has no date");
        if shape.oddity.is_none() {
            let subject = parsed.subject().unwrap();
            assert!(!subject.contains('\u{fffd}') && !subject.contains("=?"), "message {number}: {subject}");
            let text = parsed.body_text(0).unwrap_or_default();
            assert!(!text.contains('\u{fffd}'), "message {number} has lost letters");
        }
    }
    let mean = bytes / options.messages as usize;
    assert!((8200..9200).contains(&mean), "a message has {mean} bytes on average");
    assert!(charsets.len() >= 16, "{charsets:?}");
    assert_eq!(used_folders.len(), folders.len());
    let share = |count: u32| count * 100 / options.messages;
    assert!((45..65).contains(&share(replies)), "{} % are replies", share(replies));
    assert!((20..45).contains(&share(lists)), "{} % are from lists", share(lists));
    assert!((6..12).contains(&share(attachments)), "{} % have attachments", share(attachments));
    assert!((12..30).contains(&share(html)), "{} % have HTML", share(html));
    assert!((2..5).contains(&share(copies)), "{} % have copies", share(copies));
}

#[test]
fn second_files_lie_in_another_folder_with_the_same_bytes_or_other_transport() {
    let options = CorpusOptions::varied(1500, 5);
    let (corpus, files) = generated(&options);
    let folders = folders(options.folders);
    let shapes = (0..options.messages).map(|number| shape(&options, &folders, number));
    let (mut same, mut travelled) = (0, 0);
    for shape in shapes.filter(|shape| shape.copy.is_some()) {
        // The message's number takes the place of the process id in the name.
        let part = format!("P{}.tube", shape.number);
        let is_one = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.split([',', ':']).next().unwrap().ends_with(&part)
        };
        let found: Vec<_> = files.iter().filter(|(path, _)| is_one(path)).collect();
        assert_eq!(found.len(), 2, "message {}", shape.number);
        assert_ne!(found[0].0.parent(), found[1].0.parent());
        let contents = found.iter().map(|(_, content)| unpacked(content)).collect::<Vec<_>>();
        if shape.copy.is_some_and(|copy| copy.travelled) {
            let (short, long) = if contents[0].len() < contents[1].len() { (0, 1) } else { (1, 0) };
            assert!(
                contents[long].ends_with(&contents[short]) && contents[long].starts_with(b"Delivered-To")
            );
            travelled += 1;
        } else {
            assert!(contents[0] == contents[1], "message {}", shape.number);
            same += 1;
        }
    }
    assert!(same > 20 && travelled > 5, "{same} {travelled}");
    assert_eq!(corpus.files, u64::from(options.messages) + same + travelled);
}

fn unpacked(content: &[u8]) -> Vec<u8> {
    zstd::decode_all(content).unwrap_or_else(|_| content.to_vec())
}

#[test]
fn programs_have_their_habits() {
    let (_, files) = generated(&CorpusOptions::varied(1500, 5));
    let all_in = |folder: &str, holds: &dyn Fn(&str, &[u8]) -> bool| {
        let inside: Vec<_> = files.iter().filter(|(path, _)| path.starts_with(folder)).collect();
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        !inside.is_empty() && inside.iter().all(|(path, content)| holds(&name(path), content))
    };
    assert!(all_in("archive/compressed", &|name, content| {
        let size = unpacked(content).len();
        content.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) && name.contains(&format!(",S={size},W="))
    }));
    assert!(all_in(".lists.kernel", &|name, content| name.contains(&format!(",S={},", content.len()))));
    assert!(all_in("Sent/cur", &|name, _| name.contains(",U=") && name.contains(":2,")));
    let is_draft =
        |path: &&PathBuf| path.starts_with("Drafts/cur") && path.to_string_lossy().ends_with(":2,DS");
    assert!(files.keys().filter(is_draft).count() > 5);
    let new: Vec<_> = files.keys().filter(|path| path.parent().unwrap().ends_with("new")).collect();
    assert!(new.len() > 20 && !new.iter().any(|path| path.to_string_lossy().contains(':')));
}
