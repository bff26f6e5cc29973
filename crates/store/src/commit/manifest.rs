//! The manifest: the content of the store as of one publish (docs/FORMAT.md, "Manifest").
//!
//! Input: tables, segments and attachments, or the bytes of a manifest file. Output: the bytes, or the
//! checked [`Manifest`]. Does not check whether the named files exist.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::cursor::Cursor;
use crate::error::{Damage, Error, Result, check_limit};
use crate::file::names::FileNumber;
use crate::format::{
    HEAD_BYTES, HEAD_MAGIC_OFFSET, HEAD_PADDING_OFFSET, HEAD_VERSION_OFFSET, JOURNAL_VERSION,
    JOURNAL_VERSION_WITHOUT_SECTORS, MANIFEST_CHECKSUM_BYTES, MANIFEST_MAGIC, MANIFEST_VERSION,
    MANIFEST_VERSION_WITHOUT_DIGESTS,
};
use crate::limits::{
    ATTACHMENT_BYTES_MAX, ATTACHMENTS_MAX, MANIFEST_BYTES_MAX, NAME_BYTES_MAX, ROWS_PER_SEGMENT_MAX,
    SEGMENTS_MAX, TABLES_MAX,
};
use crate::schema::Schema;
use crate::segment::mapped::Segment;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Byte strings that are committed together with rows, by name.
pub(crate) type Attachments = BTreeMap<String, Arc<[u8]>>;

/// The state that one publish made visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// The version of the file that it was read from. Manifests are always written in the newest version.
    /// Versions without digests have none here.
    pub(crate) version: u32,
    /// Number of publishes, counted from 1.
    pub(crate) number: u64,
    /// How many commits the named files hold.
    pub(crate) sequence: u64,
    /// The seed of all checksums in the journal that belongs to this manifest.
    pub(crate) journal_seed: u64,
    pub(crate) tables: Vec<TableEntry>,
    pub(crate) attachments: Attachments,
}

/// Identifies a journal, as its manifest describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JournalIdentity {
    /// The version of the journal.
    pub(crate) version: u32,
    /// The manifest that it belongs to.
    pub(crate) manifest: u64,
    /// The seed of its checksums.
    pub(crate) seed: u64,
    /// The sequence number before that of its first record.
    pub(crate) sequence: u64,
}

/// One table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableEntry {
    pub(crate) schema: Arc<Schema>,
    /// In order of arrival.
    pub(crate) segments: Vec<SegmentEntry>,
}

/// One segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentEntry {
    pub(crate) number: FileNumber,
    pub(crate) row_count: u32,
    /// The length of its file.
    pub(crate) file_bytes: u64,
    /// The digest that identifies the file.
    pub(crate) digest: u64,
    pub(crate) dead: Option<DeadEntry>,
}

/// A segment's file of dead rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeadEntry {
    pub(crate) number: FileNumber,
    pub(crate) dead_count: u32,
    /// The digest that identifies the file.
    pub(crate) digest: u64,
}

impl SegmentEntry {
    /// Returns the entry of a segment without dead rows.
    pub(crate) fn of(number: FileNumber, segment: &Segment) -> SegmentEntry {
        SegmentEntry {
            number,
            row_count: segment.row_count(),
            file_bytes: segment.file_bytes(),
            digest: segment.digest(),
            dead: None,
        }
    }

    pub(crate) fn dead_count(&self) -> u32 {
        self.dead.map_or(0, |dead| dead.dead_count)
    }
}

impl Manifest {
    /// Returns the identity of the journal that belongs to this manifest.
    pub(crate) fn journal_identity(&self) -> JournalIdentity {
        JournalIdentity {
            version: if self.has_digests() { JOURNAL_VERSION } else { JOURNAL_VERSION_WITHOUT_SECTORS },
            manifest: self.number,
            seed: self.journal_seed,
            sequence: self.sequence,
        }
    }

    /// Returns whether it was read from a version that holds the digests of all other files. If not, its
    /// journal takes no more records, and the next commit publishes a manifest of the newest version.
    pub(crate) fn has_digests(&self) -> bool {
        self.version > MANIFEST_VERSION_WITHOUT_DIGESTS
    }

    /// Returns the manifest's bytes.
    ///
    /// # Errors
    /// [`Error::Limit`] if a limit of the manifest is exceeded.
    pub(crate) fn encode(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        out.extend_from_slice(&MANIFEST_MAGIC);
        put_u32(&mut out, MANIFEST_VERSION);
        put_u32(&mut out, 0);
        put_u64(&mut out, self.number);
        put_u64(&mut out, self.sequence);
        put_u64(&mut out, self.journal_seed);
        put_count(&mut out, "tables", self.tables.len(), TABLES_MAX)?;
        for table in &self.tables {
            let schema = table.schema.encode();
            put_count(&mut out, "bytes in a schema", schema.len(), usize::MAX)?;
            out.extend_from_slice(&schema);
            put_count(&mut out, "segments in a table", table.segments.len(), SEGMENTS_MAX)?;
            table.segments.iter().for_each(|segment| put_segment(&mut out, segment));
        }
        put_count(&mut out, "attachments", self.attachments.len(), ATTACHMENTS_MAX)?;
        for (name, bytes) in &self.attachments {
            put_attachment(&mut out, name, bytes)?;
        }
        let checksum = xxh3_64(&out);
        put_u64(&mut out, checksum);
        check_limit("bytes in a manifest", out.len() as u64, MANIFEST_BYTES_MAX)?;
        Ok(out)
    }

    /// Reads the bytes of the manifest file `path`.
    ///
    /// # Errors
    /// [`Error::Version`] or [`Error::Corrupt`], naming the file.
    pub(crate) fn decode(path: &Path, bytes: &[u8]) -> Result<Manifest> {
        let damaged = |damage: Damage| damage.in_file(path, 0);
        let version = check_head(path, bytes, MANIFEST_MAGIC, MANIFEST_VERSION)?;
        let Some((content, checksum)) = bytes.split_last_chunk::<MANIFEST_CHECKSUM_BYTES>() else {
            return Err(damaged(Damage::new(bytes.len(), "the file is cut")));
        };
        if xxh3_64(content) != u64::from_le_bytes(*checksum) {
            return Err(damaged(Damage::new(content.len(), "the checksum does not match the content")));
        }
        let mut cursor = Cursor::new(content);
        let manifest = take_manifest(&mut cursor, version).map_err(damaged)?;
        cursor.finish("the manifest").map_err(damaged)?;
        Ok(manifest)
    }
}

/// Checks a file's first [`HEAD_BYTES`], magic, version and padding, and returns the version.
///
/// # Errors
/// [`Error::Version`] or [`Error::Corrupt`], naming the file.
pub(crate) fn check_head(path: &Path, bytes: &[u8], magic: [u8; 8], newest: u32) -> Result<u32> {
    let damaged = |damage: Damage| damage.in_file(path, 0);
    let mut cursor = Cursor::new(bytes);
    let found: [u8; 8] = cursor.array("the file's head").map_err(damaged)?;
    if found != magic {
        let what = format!("it begins with {}, expected {}", found.escape_ascii(), magic.escape_ascii());
        return Err(damaged(Damage::new(HEAD_MAGIC_OFFSET, what)));
    }
    let version = cursor.u32("the version").map_err(damaged)?;
    if version > newest {
        return Err(Error::Version { path: path.to_owned(), found: version, newest });
    }
    if version == 0 {
        return Err(damaged(Damage::new(HEAD_VERSION_OFFSET, "there is no version 0")));
    }
    if cursor.u32("padding").map_err(damaged)? != 0 {
        return Err(damaged(Damage::new(HEAD_PADDING_OFFSET, "padding is not zero")));
    }
    Ok(version)
}

fn take_manifest(cursor: &mut Cursor, version: u32) -> std::result::Result<Manifest, Damage> {
    cursor.take(HEAD_BYTES, "the file's head")?;
    let number = cursor.u64("the manifest's number")?;
    let sequence = cursor.u64("the sequence")?;
    let journal_seed = cursor.u64("the journal's seed")?;
    let table_count = take_count(cursor, "tables", TABLES_MAX)?;
    let mut tables: Vec<TableEntry> = Vec::new();
    for _ in 0..table_count {
        let table = take_table(cursor, version)?;
        if tables.iter().any(|other| other.schema.name == table.schema.name) {
            return Err(cursor.damage(format!("two tables are named {}", table.schema.name)));
        }
        tables.push(table);
    }
    let attachment_count = take_count(cursor, "attachments", ATTACHMENTS_MAX)?;
    let mut attachments = Attachments::new();
    for _ in 0..attachment_count {
        let (name, bytes) = take_attachment(cursor)?;
        if attachments.last_key_value().is_some_and(|(last, _)| *last >= name) {
            return Err(cursor.damage("the attachments are not in order"));
        }
        attachments.insert(name, bytes);
    }
    Ok(Manifest { version, number, sequence, journal_seed, tables, attachments })
}

fn take_table(cursor: &mut Cursor, version: u32) -> std::result::Result<TableEntry, Damage> {
    let length = cursor.u32("a schema's length")? as usize;
    let offset = cursor.offset();
    let schema = Schema::decode(cursor.take(length, "a schema")?)
        .map_err(|damage| Damage { offset: damage.offset.saturating_add(offset as u64), ..damage })?;
    let segment_count = take_count(cursor, "segments in a table", SEGMENTS_MAX)?;
    let segments =
        (0..segment_count).map(|_| take_segment(cursor, version)).collect::<std::result::Result<_, _>>()?;
    Ok(TableEntry { schema: Arc::new(schema), segments })
}

fn put_segment(out: &mut Vec<u8>, segment: &SegmentEntry) {
    let dead = segment.dead.unwrap_or(DeadEntry { number: FileNumber(0), dead_count: 0, digest: 0 });
    put_u64(out, segment.number.0);
    put_u64(out, segment.file_bytes);
    put_u32(out, segment.row_count);
    put_u32(out, dead.dead_count);
    put_u64(out, dead.number.0);
    put_u64(out, segment.digest);
    put_u64(out, dead.digest);
}

fn take_segment(cursor: &mut Cursor, version: u32) -> std::result::Result<SegmentEntry, Damage> {
    let number = FileNumber(cursor.u64("a segment's name")?);
    let file_bytes = cursor.u64("a segment's length")?;
    let row_count = cursor.u32("a segment's row count")?;
    let dead_count = cursor.u32("a segment's count of dead rows")?;
    let dead_number = FileNumber(cursor.u64("the name of a segment's dead rows")?);
    if row_count == 0 || row_count > ROWS_PER_SEGMENT_MAX || dead_count >= row_count {
        return Err(cursor.damage(format!("a segment has {row_count} rows of which {dead_count} are dead")));
    }
    let (digest, dead_digest) = if version == MANIFEST_VERSION_WITHOUT_DIGESTS {
        (0, 0)
    } else {
        (cursor.u64("a segment's digest")?, cursor.u64("the digest of a segment's dead rows")?)
    };
    if dead_count == 0 && (dead_number != FileNumber(0) || dead_digest != 0) {
        return Err(cursor.damage("a segment without dead rows names a file of them"));
    }
    let dead = (dead_count > 0).then_some(DeadEntry { number: dead_number, dead_count, digest: dead_digest });
    Ok(SegmentEntry { number, row_count, file_bytes, digest, dead })
}

/// Appends an attachment, in the encoding of manifests and journal records.
///
/// # Errors
/// [`Error::Limit`] if the name or the bytes are too long.
pub(crate) fn put_attachment(out: &mut Vec<u8>, name: &str, bytes: &[u8]) -> Result<()> {
    check_limit("bytes in an attachment", bytes.len() as u64, ATTACHMENT_BYTES_MAX)?;
    put_count(out, "bytes in an attachment's name", name.len(), NAME_BYTES_MAX)?;
    put_count(out, "bytes in an attachment", bytes.len(), usize::MAX)?;
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}

/// Reads an attachment.
pub(crate) fn take_attachment(cursor: &mut Cursor) -> std::result::Result<(String, Arc<[u8]>), Damage> {
    let name_length = take_count(cursor, "bytes in an attachment's name", NAME_BYTES_MAX)?;
    let length = cursor.u32("an attachment's length")?;
    if u64::from(length) > ATTACHMENT_BYTES_MAX {
        return Err(
            cursor.damage(format!("an attachment of {length} bytes, the limit is {ATTACHMENT_BYTES_MAX}"))
        );
    }
    let name = cursor.take(name_length, "an attachment's name")?;
    let name =
        String::from_utf8(name.to_vec()).map_err(|_| cursor.damage("an attachment's name is not UTF-8"))?;
    Ok((name, cursor.take(length as usize, "an attachment")?.into()))
}

/// Appends a count of at most `most`.
///
/// # Errors
/// [`Error::Limit`], which names `what` is counted.
pub(crate) fn put_count(out: &mut Vec<u8>, what: &'static str, count: usize, most: usize) -> Result<()> {
    check_limit(what, count as u64, (most as u64).min(u64::from(u32::MAX)))?;
    put_u32(out, u32::try_from(count).unwrap_or(u32::MAX));
    Ok(())
}

/// Reads a count of at most `most`.
pub(crate) fn take_count(cursor: &mut Cursor, what: &str, most: usize) -> std::result::Result<usize, Damage> {
    let count = cursor.u32(what)? as usize;
    if count > most {
        return Err(cursor.damage(format!("{count} {what}, the limit is {most}")));
    }
    Ok(count)
}

pub(crate) fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "a wrong number fails the test")]
mod tests {
    use super::*;
    use crate::schema::{Column, Kind};

    fn schema(name: &str) -> Arc<Schema> {
        Arc::new(Schema {
            name: name.into(),
            columns: vec![Column { name: "a".into(), kind: Kind::U32 }],
            primary: vec![0],
            indexes: Vec::new(),
        })
    }

    fn sample() -> Manifest {
        let segment =
            SegmentEntry { number: FileNumber(7), row_count: 10, file_bytes: 3, digest: 5, dead: None };
        let dead = Some(DeadEntry { number: FileNumber(9), dead_count: 4, digest: 6 });
        Manifest {
            version: MANIFEST_VERSION,
            number: 5,
            sequence: 77,
            journal_seed: 0x0123_4567_89ab_cdef,
            tables: vec![
                TableEntry {
                    schema: schema("one"),
                    segments: vec![segment, SegmentEntry { dead, ..segment }],
                },
                TableEntry { schema: schema("two"), segments: Vec::new() },
            ],
            attachments: [("a", &b"bytes"[..]), ("b", b"")]
                .map(|(name, bytes)| (name.into(), bytes.into()))
                .into(),
        }
    }

    fn decode(bytes: &[u8]) -> Result<Manifest> {
        Manifest::decode(Path::new("/store/manifest"), bytes)
    }

    /// Corrects the checksum after a change.
    fn checked(mut bytes: Vec<u8>) -> Vec<u8> {
        let end = bytes.len() - MANIFEST_CHECKSUM_BYTES;
        let checksum = xxh3_64(&bytes[..end]).to_le_bytes();
        bytes[end..].copy_from_slice(&checksum);
        bytes
    }

    #[test]
    fn a_manifest_comes_back_from_its_bytes() {
        assert_eq!(decode(&sample().encode().unwrap()).unwrap(), sample());
    }

    #[test]
    fn every_cut_and_every_flipped_bit_is_said() {
        let bytes = sample().encode().unwrap();
        for length in 0..bytes.len() {
            let message = decode(&bytes[..length]).unwrap_err().to_string();
            assert!(message.contains("/store/manifest"), "{message}");
        }
        for offset in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[offset] ^= 1 << bit;
                let message = decode(&damaged).unwrap_err().to_string();
                assert!(message.contains("/store/manifest"), "{message}");
            }
        }
    }

    #[test]
    fn changed_bytes_under_a_right_checksum_never_panic() {
        let bytes = sample().encode().unwrap();
        for offset in 0..bytes.len() - MANIFEST_CHECKSUM_BYTES {
            for value in [0, 1, 0x7f, 0xff] {
                let mut changed = bytes.clone();
                changed[offset] = value;
                let _ = decode(&checked(changed));
            }
        }
    }

    #[test]
    fn a_newer_version_is_said_as_such() {
        let mut bytes = sample().encode().unwrap();
        bytes[HEAD_VERSION_OFFSET] = 3;
        assert!(matches!(decode(&checked(bytes)), Err(Error::Version { found: 3, newest: 2, .. })));
    }

    #[test]
    fn limits_are_kept_by_the_writer_and_the_reader() {
        let mut manifest = sample();
        manifest
            .attachments
            .insert("c".into(), vec![0; usize::try_from(ATTACHMENT_BYTES_MAX).unwrap()].into());
        assert!(manifest.encode().is_ok());
        manifest
            .attachments
            .insert("c".into(), vec![0; usize::try_from(ATTACHMENT_BYTES_MAX).unwrap() + 1].into());
        assert!(matches!(manifest.encode(), Err(Error::Limit { what: "bytes in an attachment", .. })));
        let mut manifest = sample();
        manifest.attachments = (0..=ATTACHMENTS_MAX).map(|n| (n.to_string(), [].into())).collect();
        assert!(matches!(manifest.encode(), Err(Error::Limit { what: "attachments", .. })));
        let mut manifest = sample();
        manifest.attachments = [("x".repeat(NAME_BYTES_MAX + 1), [].into())].into();
        assert!(matches!(manifest.encode(), Err(Error::Limit { .. })));
        let mut manifest = sample();
        manifest.tables = (0..=TABLES_MAX)
            .map(|n| TableEntry { schema: schema(&n.to_string()), segments: vec![] })
            .collect();
        assert!(matches!(manifest.encode(), Err(Error::Limit { what: "tables", .. })));
        let mut manifest = sample();
        let segment = manifest.tables[0].segments[0];
        manifest.tables[0].segments = vec![segment; SEGMENTS_MAX + 1];
        assert!(matches!(manifest.encode(), Err(Error::Limit { what: "segments in a table", .. })));
    }
}
