//! Removes messages from all snapshots of a repository, and from its packs.
//!
//! Input: messages, and the exclusive lock. Output: snapshots without these messages in place of those that
//! had them, and packs without their bytes. Also leaves out what the directory `.pneu` of a snapshot says of
//! them. Must not know who decides which messages go.
//!
//! Order: new trees, durable; new snapshots; the plan of a prune, which reads everything that stays; then old
//! snapshots are removed, and packs last. A crash leaves old or new snapshots, or both, and each is whole. To
//! erase again does the rest.

use crate::archive::MessageArchive;
use crate::blobs::reader::{BlobReader, MESSAGE_BYTES_MAX, content};
use crate::blobs::repository::RepositoryReader;
use crate::blobs::stream::FileStream;
use crate::cache::{cache_directory, discard};
use crate::error::Result;
use crate::names::{PIECES, PNEU_DIRECTORY, TAGS};
use crate::read::lookup::PieceLookup;
use mail::Compression;
use restic::snapshot::Summary;
use restic::tree::Node;
use restic::{
    Depth, Edited, HeldLock, Id, MaxUnused, PruneOptions, PruneReport, SaveOptions, Saver, Snapshot,
    TreeRewriter,
};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, Read};
use work::Progress;

/// The files of pneu in a snapshot that have lines about messages, and how they begin.
const OF_LINES: [(&str, &[u8]); 2] = [(TAGS, b"pneu-tags "), (PIECES, b"pneu-pieces ")];

/// What was erased, or would be.
#[derive(Debug, Default)]
pub struct Erased {
    /// The messages that snapshots had.
    pub messages: BTreeSet<[u8; 32]>,
    /// How many files of them directories had; a directory that several snapshots share counts once.
    pub file_count: u64,
    /// The snapshots that had anything of them, as they are now, each with its former id.
    pub snapshots: Vec<(Id, Snapshot)>,
    /// How many snapshots there are.
    pub snapshot_count: u64,
    /// What the prune removed; `None` if nothing was to be changed.
    pub pruned: Option<PruneReport>,
}

impl MessageArchive<'_> {
    /// Finds out what [`MessageArchive::erase`] would erase. Changes nothing.
    ///
    /// # Errors
    /// As [`MessageArchive::erase`].
    pub fn plan_erasing(&self, messages: &BTreeSet<[u8; 32]>, progress: &dyn Progress) -> Result<Erased> {
        let listed = self.repository.snapshots()?.complete()?;
        self.rewrite(&listed, (messages, None), progress)
    }

    /// Removes messages from all snapshots, and then what no snapshot uses. The exclusive `lock` must have
    /// been held since before the repository's index was read. Walks the trees of all snapshots, and reads
    /// files of several pieces that no list names.
    ///
    /// # Errors
    /// A snapshot, a tree or a file cannot be read, or anything that stays; the storage reports a failure;
    /// [`Error::Interrupted`](crate::Error::Interrupted). All that snapshots need is there then; at worst
    /// some snapshots still have the messages, or are there twice.
    pub fn erase(
        &self,
        lock: &HeldLock,
        messages: &BTreeSet<[u8; 32]>,
        progress: &dyn Progress,
    ) -> Result<Erased> {
        let repository = self.repository;
        let listed = repository.snapshots()?.complete()?;
        let mut erased = self.rewrite(&listed, (messages, Some(lock)), progress)?;
        let mut written = Vec::new();
        for (_, snapshot) in &erased.snapshots {
            // An erasure that was interrupted may have written it.
            if !listed.iter().any(|(_, other)| other == snapshot) {
                written.push(repository.save_snapshot_under(lock, snapshot)?);
            }
        }
        let going: Vec<Id> = erased.snapshots.iter().map(|(old, _)| *old).collect();
        let options = PruneOptions { max_unused: MaxUnused::Bytes(0) };
        let plan = match restic::plan_prune_without(repository, &options, &going, progress) {
            Ok(plan) => plan,
            Err(error) => {
                // The old snapshots stay, so the new ones are not needed.
                let _ = restic::remove_snapshots(repository, lock, &written, &work::Silent);
                return Err(error.into());
            }
        };
        // Tables of earlier backups name pieces. The next backup makes them anew.
        let tables = cache_directory(&self.environment.data, &repository.id());
        discard(self.environment.disk.as_ref(), &tables)?;
        restic::remove_snapshots(repository, lock, &going, progress)?;
        erased.pruned = Some(restic::prune(lock, &plan, progress)?);
        Ok(erased)
    }

    /// Writes the trees of all snapshots that change; without a lock only finds out which these are.
    fn rewrite(
        &self,
        listed: &[(Id, Snapshot)],
        (messages, lock): (&BTreeSet<[u8; 32]>, Option<&HeldLock>),
        progress: &dyn Progress,
    ) -> Result<Erased> {
        let repository = self.repository;
        repository.index()?;
        let (reader, lookup) = (RepositoryReader::new(repository), self.lookup());
        let saver = lock.map(|lock| Saver::new(repository, lock, SaveOptions::default())).transpose()?;
        let erased = Erased { snapshot_count: listed.len() as u64, ..Erased::default() };
        let mut eraser = Eraser {
            reader: &reader,
            progress,
            lookup: &lookup,
            saver: saver.as_ref(),
            messages,
            of_pieces: HashMap::new(),
            erased,
        };
        let mut rewriter = TreeRewriter::new(repository, saver.as_ref());
        for (id, snapshot) in listed {
            progress.check()?;
            let now = rewriter.rewrite(&snapshot.tree, &mut |depth, node| eraser.edit(depth, node))?;
            if now.tree != snapshot.tree {
                // What it held, as "restic rewrite" corrects it, and whichever files its writer counted. The
                // rest says how the backup went.
                let summary = snapshot.summary.map(|summary| Summary {
                    total_files_processed: summary.total_files_processed.saturating_sub(now.gone_count),
                    total_bytes_processed: summary.total_bytes_processed.saturating_sub(now.gone_bytes),
                    ..summary
                });
                let now = Snapshot { tree: now.tree, original: Some(*id), summary, ..snapshot.clone() };
                eraser.erased.snapshots.push((*id, now));
            }
        }
        drop(rewriter);
        let erased = eraser.erased;
        saver.map(Saver::finish).transpose()?;
        Ok(erased)
    }
}

/// Decides about the files of snapshots.
struct Eraser<'a> {
    reader: &'a dyn BlobReader,
    progress: &'a dyn Progress,
    lookup: &'a PieceLookup<'a>,
    /// `None` if nothing is to be written.
    saver: Option<&'a Saver<'a>>,
    messages: &'a BTreeSet<[u8; 32]>,
    /// What is known of files whose names do not say it.
    of_pieces: HashMap<Vec<Id>, Option<[u8; 32]>>,
    erased: Erased,
}

impl Eraser<'_> {
    fn edit(&mut self, depth: &Depth, node: &Node<'_>) -> Result<Edited> {
        let pieces = node.content.as_deref().unwrap_or_default();
        if let Some(begin) = begin_of_lines(depth, &node.name)
            && FileStream::new(self.reader, pieces, self.progress).first(begin.len())?.starts_with(begin)
        {
            return self.edit_lines(pieces);
        }
        let Some(message) = self.wanted_in(pieces)? else { return Ok(Edited::Same) };
        self.erased.messages.insert(message);
        self.erased.file_count += 1;
        Ok(Edited::Gone)
    }

    /// Returns the message that is to be erased and that a file of these pieces holds. A list says which
    /// files are looked at, and never alone that one is erased.
    fn wanted_in(&mut self, pieces: &[Id]) -> Result<Option<[u8; 32]>> {
        match pieces {
            [] => return Ok(None),
            // The name of a piece is the SHA-256 of its content.
            [piece] if self.messages.contains(&piece.0) => return Ok(Some(piece.0)),
            _ => {}
        }
        if let Some(known) = self.of_pieces.get(pieces) {
            return Ok(*known);
        }
        let is_other = self.lookup.message_of(pieces)?.is_some_and(|told| !self.messages.contains(&told));
        let found = if is_other { None } else { self.wanted_by_content(pieces)? };
        // Most files are one piece, and their names say as much.
        if pieces.len() > 1 || found.is_some() {
            self.of_pieces.insert(pieces.to_vec(), found);
        }
        Ok(found)
    }

    /// Returns the same after reading the file, which may be compressed, and of any length: other programs
    /// store more than mail.
    fn wanted_by_content(&self, pieces: &[Id]) -> Result<Option<[u8; 32]>> {
        let mut stream = FileStream::new(self.reader, pieces, self.progress);
        let unpacked = match Compression::of(stream.first(Compression::MAGIC_BYTES_MAX)?) {
            Compression::Plain | Compression::Unreadable(_) => None,
            compression => unpacked_hash(&mut stream, compression, MESSAGE_BYTES_MAX),
        };
        let stored = stream.finish()?;
        Ok([Some(stored), unpacked].into_iter().flatten().find(|hash| self.messages.contains(hash)))
    }

    /// Leaves out the lines about the messages.
    fn edit_lines(&self, pieces: &[Id]) -> Result<Edited> {
        let text = content(self.reader, pieces, MESSAGE_BYTES_MAX)?;
        let Some(text) = without_lines(&text, self.messages) else { return Ok(Edited::Same) };
        let pieces = match self.saver {
            Some(saver) => saver.save_file(&mut text.as_slice())?.content,
            None => vec![Id::of(&text)],
        };
        Ok(Edited::Content { pieces, size_bytes: text.len() as u64 })
    }
}

/// Returns how a file begins that pneu wrote and that has lines about messages. Files with such names in
/// other directories are mail or belong to somebody else.
fn begin_of_lines(depth: &Depth, name: &[u8]) -> Option<&'static [u8]> {
    let is_own = matches!(depth, Depth::First(name) if PNEU_DIRECTORY.strip_prefix(b"/") == Some(name));
    let begin = OF_LINES.iter().find(|(own, _)| own.as_bytes() == name).map(|(_, begin)| *begin);
    begin.filter(|_| is_own)
}

/// Returns the SHA-256 of what is compressed in a file. `None` if it is damaged, or longer than a message may
/// be, which is known by the file's own SHA-256.
fn unpacked_hash(packed: &mut dyn BufRead, compression: Compression, bytes_max: u64) -> Option<[u8; 32]> {
    let mut content = mail::unpacked(packed, compression).ok()?.take(bytes_max.saturating_add(1));
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 128 << 10]);
    loop {
        let count = content.read(&mut buffer).ok()?;
        if count == 0 {
            return (content.limit() > 0).then(|| hasher.finalize().into());
        }
        hasher.update(buffer.get(..count)?);
    }
}

/// Returns a text without the lines that begin with one of these SHA-256 and a tab; `None` if it has none.
fn without_lines(text: &[u8], messages: &BTreeSet<[u8; 32]>) -> Option<Vec<u8>> {
    let is_about = |line: &&[u8]| {
        let digits = line.split(|byte| *byte == b'\t').next().unwrap_or_default();
        let id = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<Id>().ok());
        id.is_some_and(|id| messages.contains(&id.0))
    };
    let kept: Vec<u8> = text
        .split_inclusive(|byte| *byte == b'\n')
        .filter(|line| !is_about(line))
        .flatten()
        .copied()
        .collect();
    (kept.len() < text.len()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pieces::lists::PieceLists;
    use crate::testing::memory::{MemoryRepository, id_of};
    use flate2::write::GzEncoder;
    use std::io::Write;

    /// Decides about a file of these pieces, as if no list named it.
    fn wanted_in(repository: &MemoryRepository, pieces: &[Id], message: [u8; 32]) -> Option<[u8; 32]> {
        let mut eraser = Eraser {
            reader: repository,
            progress: &work::Silent,
            lookup: &PieceLookup::new(None, Box::new(|| Ok(PieceLists::default()))),
            saver: None,
            messages: &[message].into(),
            of_pieces: HashMap::new(),
            erased: Erased::default(),
        };
        eraser.wanted_in(pieces).unwrap()
    }

    #[test]
    fn a_file_of_any_length_is_hashed() {
        // Over 4 GiB, as other programs may store: the same piece again and again.
        let repository = MemoryRepository::default();
        let piece = vec![7; 16 << 20];
        let id = id_of(&piece);
        repository.pieces.lock().unwrap().insert(id, piece);
        // sha256sum of 257 * 16 MiB of these bytes.
        let whole = "fe0318695f3f38bbce99e8b83b9c97102c164279d427ee3c5821fd948658df44";
        let whole = whole.parse::<Id>().unwrap().0;
        assert_eq!(wanted_in(&repository, &[id; 257], whole), Some(whole));
        assert_eq!(wanted_in(&repository, &[id; 2], whole), None);
    }

    #[test]
    fn a_compressed_file_is_known_by_its_content_and_by_itself() {
        let repository = MemoryRepository::default();
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(&[b'x'; 10_000]).unwrap();
        let packed = encoder.finish().unwrap();
        // Cut within the bytes that tell how it is compressed.
        let parts = [&packed[..3], &packed[3..30], &packed[30..]];
        let pieces = parts.map(id_of);
        parts.iter().for_each(|part| {
            repository.pieces.lock().unwrap().insert(id_of(part), part.to_vec());
        });
        for message in [id_of(&[b'x'; 10_000]).0, id_of(&packed).0] {
            assert_eq!(wanted_in(&repository, &pieces, message), Some(message));
            assert_eq!(wanted_in(&repository, &pieces[..2], message), None, "damage is no message");
        }
        let hash = |bytes_max| unpacked_hash(&mut packed.as_slice(), Compression::Gzip, bytes_max);
        assert_eq!(hash(10_000), Some(id_of(&[b'x'; 10_000]).0));
        assert_eq!(hash(9_999), None, "it is known by the SHA-256 of the file");
    }

    #[test]
    fn lines_about_messages_are_left_out() {
        let hex = |byte: &str| byte.repeat(32);
        let text = format!("pneu-tags 1\n{}\tm1\ta b\n{}\tm2\tc\n# x\n", hex("01"), hex("0a"));
        let without = |ids: &[u8]| {
            let ids = ids.iter().map(|id| [*id; 32]).collect();
            without_lines(text.as_bytes(), &ids).map(|text| String::from_utf8(text).unwrap())
        };
        assert_eq!(without(&[2, 3]), None);
        assert_eq!(without(&[1]), Some(format!("pneu-tags 1\n{}\tm2\tc\n# x\n", hex("0a"))));
        assert_eq!(without(&[10, 1]).as_deref(), Some("pneu-tags 1\n# x\n"));
        assert_eq!(without_lines(b"", &[[1; 32]].into()), None);
        assert_eq!(without_lines(hex("01").as_bytes(), &[[1; 32]].into()), Some(Vec::new()));
    }
}
