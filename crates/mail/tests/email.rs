//! Messages as JMAP sees them: what holds of every message, checked against the parts that are extracted.
//!
//! Input: golden messages, and in `message_random` damaged ones. Has no expected values.

use crate::message::{CONTEXT, golden};
use mail::{BodyPart, ContentFlags, Email, MessageParts, PartRead, limits, parse};

fn leaves<'e>(part: &'e BodyPart, found: &mut Vec<&'e BodyPart>) {
    if part.part_id.is_some() {
        found.push(part);
    }
    part.sub_parts.iter().for_each(|part| leaves(part, found));
}

/// Checks what holds of every message.
pub(crate) fn check(bytes: &[u8]) {
    let email = Email::of_bytes(bytes);
    let mut all = Vec::new();
    leaves(&email.structure, &mut all);
    check_contents(bytes, &email, &all);
    check_lists(&email, &all);
    for part in &all {
        let value = email.value(part, None);
        assert_eq!(value.is_some(), part.mime.starts_with("text/"));
        let Some(value) = value else { continue };
        assert!(!value.is_truncated);
        let cut = email.value(part, Some(9)).unwrap();
        assert!(cut.value.len() <= 9 && value.value.starts_with(&cut.value));
        assert_eq!(cut.is_truncated, value.value.len() > 9);
    }
    let flags = parse(bytes, &CONTEXT).flags;
    assert_eq!(email.has_attachment, flags.contains(ContentFlags::ATTACHMENT));
    assert!(email.preview().chars().count() <= limits::SNIPPET_CHARACTERS_MAX);
    check_fields(bytes, &email);
}

/// Every leaf has the number and the content of a part that is extracted, and lies within the message.
fn check_contents(bytes: &[u8], email: &Email<'_>, all: &[&BodyPart]) {
    let mut parts = MessageParts::of_bytes(bytes);
    let list = parts.list().unwrap();
    let outer: Vec<_> = list.into_iter().filter(|part| part.depth == 0).collect();
    let numbers: Vec<usize> = outer.iter().map(|part| part.number).collect();
    assert_eq!(all.iter().filter_map(|part| part.part_id).collect::<Vec<_>>(), numbers);
    for (part, expected) in all.iter().zip(outer) {
        assert!(part.encoded.start <= part.encoded.end && part.encoded.end <= bytes.len());
        assert_eq!(part.mime, expected.mime);
        assert_eq!(part.name.as_deref().unwrap_or_default(), expected.name);
        let mut content = Vec::new();
        let read = parts.each_block(expected.number, &mut |block| content.extend_from_slice(block)).unwrap();
        if read != PartRead::TooMany {
            assert!(email.content(part) == content, "part {}", expected.number);
            assert_eq!(part.size_bytes, content.len() as u64);
        }
    }
}

/// Every leaf is in a list, and in each list once at most.
fn check_lists(email: &Email<'_>, all: &[&BodyPart]) {
    let lists = [&email.text_body, &email.html_body, &email.attachments];
    for list in lists {
        let mut numbers = list.clone();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), list.len());
        assert!(list.iter().all(|number| email.part(*number).is_some()));
    }
    for number in all.iter().filter_map(|part| part.part_id) {
        assert!(lists.iter().any(|list| list.contains(&number)), "part {number} is in no list");
    }
}

/// The fields are those of the message, and each can be read in every form.
fn check_fields(bytes: &[u8], email: &Email<'_>) {
    let fields = email.header_fields(&email.structure);
    let (expected, _) = MessageParts::of_bytes(bytes).header_fields();
    let names: Vec<_> = fields.iter().map(|field| field.name().into_owned()).collect();
    assert_eq!(names, expected.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>());
    for (field, (_, value)) in fields.iter().zip(expected) {
        let words = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(words(&field.text()), words(&value));
        assert!(!field.text().contains(['\r', '\n', '\0']) && !field.raw().contains('\0'));
        let grouped: usize = field.grouped_addresses().iter().map(|group| group.addresses.len()).sum();
        assert_eq!(field.addresses().len(), grouped);
        assert!(field.message_ids().is_none_or(|ids| !ids.is_empty()));
        assert!(field.urls().is_none_or(|urls| !urls.is_empty()));
        assert!(field.date().is_none_or(|date| date.offset_minutes.abs() < 24 * 60));
    }
}

#[test]
fn golden_messages_have_the_parts_that_are_extracted() {
    for path in golden() {
        check(&std::fs::read(path).unwrap());
    }
}
