//! Any bytes can be read as an mbox, in every dialect. Messages are parts of it, however it is read, and what
//! is written as mboxrd comes back.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{Dialect, Mbox, marks};
use std::io::Read;

/// Gives a few bytes at a time.
struct Slow<'b>(&'b [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = buffer.len().min(self.0.len()).min(7);
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

fn read(reader: impl Read, dialect: Dialect) -> Vec<Vec<u8>> {
    let (mut mbox, mut messages) = (Mbox::new(reader, dialect), Vec::new());
    loop {
        let mut message = Vec::new();
        let next = mbox.next(&mut |piece| {
            message.extend_from_slice(piece);
            Ok(())
        });
        match next {
            Ok(Some(_)) => messages.push(message),
            Ok(None) | Err(_) => return messages,
        }
    }
}

fuzz_target!(|content: &[u8]| {
    for dialect in [Dialect::Any, Dialect::Mboxo, Dialect::Mboxrd, Dialect::Mboxcl, Dialect::Mboxcl2] {
        let messages = read(content, dialect);
        assert!(messages.iter().all(|message| !message.is_empty()));
        assert!(messages.iter().map(Vec::len).sum::<usize>() <= content.len());
        assert_eq!(read(Slow(content), dialect), messages);
        messages.iter().for_each(|message| _ = marks(message, 1_700_000_000));
    }
    let mut written = b"From a Mon Jan  5 10:00:00 2004\nSubject: x\n\n".to_vec();
    let mut expected = b"Subject: x\n\n".to_vec();
    for line in content.split(|byte| *byte == b'\n') {
        let quotes = line.iter().take_while(|byte| **byte == b'>').count();
        if quotes < 200 && line[quotes..].starts_with(b"From ") {
            written.push(b'>');
        }
        for text in [&mut written, &mut expected] {
            text.extend_from_slice(line);
            text.push(b'\n');
        }
    }
    written.push(b'\n');
    // The reader takes a line end of Windows for one, and more quotes than anybody writes for text.
    if !content.windows(200).any(|part| part.iter().all(|byte| *byte == b'>')) {
        assert_eq!(read(&written[..], Dialect::Mboxrd), [expected]);
    }
});
