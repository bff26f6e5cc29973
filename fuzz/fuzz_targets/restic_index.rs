//! Any bytes are an index file or damage with a position. Rewritten as restic writes it, an index file has
//! the same content.
#![no_main]

use libfuzzer_sys::fuzz_target;
use restic::index_file::{IndexFileWriter, scan};
use restic::{Error, FileKind, FileName, Id};

fuzz_target!(|bytes: &[u8]| {
    let name = FileName { kind: FileKind::Index, id: Id::default() };
    let mut packs = Vec::new();
    let mut writer = IndexFileWriter::default();
    let scanned = scan(name, bytes, |id, blobs| {
        packs.push((*id, blobs.to_vec()));
        writer.add(id, blobs);
        Ok(())
    });
    match scanned {
        Ok(()) => {
            let mut again = Vec::new();
            scan(name, &writer.finish(), |id, blobs| {
                again.push((*id, blobs.to_vec()));
                Ok(())
            })
            .expect("what is written is read");
            assert_eq!(again, packs);
        }
        Err(Error::Damage { what, .. }) => assert!(what.starts_with("at byte "), "{what}"),
        Err(other) => panic!("{other}"),
    }
});
