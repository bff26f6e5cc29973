//! Any text can be read as the id of a blob. What is one is written as the same text, and names the same
//! blob; and each blob whose id is not too long is read back.
#![no_main]

// The crate around it would bring the text engine.
#[path = "../../crates/jmap-mail/src/blob_id.rs"]
mod blob_id;

use blob_id::{BlobId, BlobSource};
use jmap::Id;
use libfuzzer_sys::fuzz_target;

/// Reads a text. It may be no id at all.
fn read(text: &str) -> Option<BlobId> {
    let id = Id::new(text)?;
    let blob = BlobId::read(&id)?;
    assert_eq!(blob.id(), Some(id), "a blob has one id");
    Some(blob)
}

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    read(&text);
    let digits = "0123456789abcdef".repeat(4);
    for whole in ["B", "U"] {
        let blob = read(&format!("{whole}{digits}{text}"));
        assert!(blob.is_none_or(|blob| blob.parts.len() == text.matches('-').count()), "{text:?}");
    }
    let mut sha256 = [7; 32];
    let (content, numbers) = input.split_at(input.len().min(32));
    sha256[..content.len()].copy_from_slice(content);
    for source in [BlobSource::Message(sha256), BlobSource::Upload(sha256)] {
        let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
        let numbers = numbers.chunks(8).map(number);
        let blob = numbers.fold(BlobId::whole(source), |blob, number| blob.part(number));
        assert!(blob.id().is_none_or(|id| read(id.as_str()) == Some(blob)), "{input:?}");
    }
});
