//! A message for tests of formats, here and in front ends.

use crate::listed::Listed;
use index::format::encode_rest;
use index::{
    Contact, FileView, FolderText, Line, Message, MessageFile, MessageView, Rest, RestView, Subdirectory,
};
use mail::ContentFlags;
use mail::Flags;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A message in two files, with something in every field, and harm in some.
pub fn sample() -> Listed {
    let contact = |name: &str, address: &str| Contact { name: name.into(), address: address.into() };
    let file = |maildir: &str, name: &str, flags| MessageFile {
        root: "mail".into(),
        maildir: maildir.into(),
        path: Path::new("/m").join(&maildir[1..]).join("cur").join(name),
        flags,
        keywords: 0,
        changed_seconds: 1_714_564_800,
    };
    let line = Line {
        date: Some(1_709_647_331),
        size_bytes: 4096,
        derived: ContentFlags::ATTACHMENT,
        from: "Ana\u{1b}[31m".into(),
        subject: "Grüße\nFrom: x\u{202e}".into(),
    };
    let rest = Rest {
        message_id: "x\"y\\@example.org".into(),
        from: vec![contact("Ana\u{1b}[31m", "ana@example.org")],
        to: vec![contact("", "bo@example.org"), contact("Cy", "cy@example.org")],
        cc: vec![contact("undisclosed", "")],
        bcc: vec![contact("Dee", "dee@example.org")],
        references: vec!["v@example.org".into(), "w@example.org".into()],
        list_id: "tubes.example.org".into(),
        attachments: vec!["plan.pdf".into(), "ä.txt".into()],
        labels: vec!["work".into()],
        snippet: "hello".into(),
        language: "en".into(),
        headers: vec![],
        problems: vec!["the date is odd".into()],
    };
    let files = vec![file("/lists", "1:2,S", Flags::SEEN), file("/copies", "2:2,F", Flags::FLAGGED)];
    Listed {
        message: Message { sha256: [0xab; 32], line, rest, tags: vec!["todo".into(), "work".into()], files },
        position: None,
    }
}

/// Calls `show` with a message as those get it who read many. Its files are in `cur`.
pub fn as_view(message: &Message, show: impl FnOnce(&MessageView<'_>)) {
    let Message { sha256, line, rest, tags, files } = message;
    let record = encode_rest(rest);
    let folder = |file: &MessageFile| {
        let path = file.path.parent().and_then(Path::parent);
        FolderText::new(file.maildir.clone(), path.expect("a file is in cur of a folder"))
    };
    let folders: Vec<FolderText> = files.iter().map(folder).collect();
    let names = files.iter().filter_map(|file| file.path.file_name()).map(OsStr::as_bytes);
    let named = folders.iter().zip(names);
    let files: Vec<FileView<'_>> =
        named.map(|(folder, name)| FileView::new(folder, Subdirectory::Cur, name)).collect();
    show(&MessageView {
        number: 7,
        date: line.date,
        sha256: *sha256,
        size_bytes: line.size_bytes,
        derived: line.derived,
        from: &line.from,
        subject: &line.subject,
        rest: RestView::new(&record).expect("it was just encoded"),
        tags,
        files: &files,
    });
}
