//! Takes the messages of one folder: reads each, and stores those that are not there.
//!
//! Input: sources in order. Output: files, durable batch by batch, counts, and labels. A message is in memory
//! alone, or in a file if it is large.

use crate::action::ImportNotes;
use crate::error::{Error, Result};
use crate::host::Host;
use crate::mail_import::known::KnownOf;
use crate::mail_import::model::{ImportCounts, MailImportOptions};
use crate::mail_import::sources::Source;
use crate::mail_import::tags::{Labelled, tags_of};
use crate::mail_import::targets::Target;
use crate::tagging::with_flags_of;
use mail::{Batch, ContentKind, Draft, Envelope, Flags, Marks, Mbox, Opened, Place, UniqueParts};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use work::Progress;

/// Bytes of a message in which its header is looked for.
const HEADER_BYTES_MAX: usize = 256 << 10;
const NANOSECONDS: i64 = 1_000_000_000;

/// An import into one folder.
pub(super) struct Taking<'a> {
    host: &'a Host,
    notes: &'a ImportNotes,
    options: &'a MailImportOptions,
    known: KnownOf<'a>,
    labelled: &'a mut Labelled,
    progress: &'a dyn Progress,
    /// `None` in a dry run.
    batch: Option<Batch<'static>>,
    draft: Draft,
    counts: ImportCounts,
    host_name: String,
    /// How many bytes were read, and how many of them the progress knows.
    read: Arc<AtomicU64>,
    reported: u64,
}

/// What is known of the messages of a source besides what is written in them.
#[derive(Clone, Copy)]
struct Noted {
    /// Flags.
    flags: Option<Flags>,
    /// Whether the source says their state, so that what is written in them does not count.
    has_state: bool,
    /// When the file was last written, if the source is one message, and is of a Maildir.
    maildir_seconds: Option<i64>,
    /// When the file was last written, if the source is one message.
    written_seconds: Option<i64>,
    /// Whether a message may be one that was deleted, and whose bytes are still there. Only an mbox has such.
    may_be_deleted: bool,
}

/// Which half failed.
enum Failure {
    /// The source cannot be read: the others may.
    Reading(io::Error),
    /// The folder cannot be written.
    Writing(Error),
}

impl<'a> Taking<'a> {
    /// Begins.
    ///
    /// # Errors
    /// The folder cannot be written, or another import writes into it.
    pub(super) fn begin(
        (host, notes): (&'a Host, &'a ImportNotes),
        target: &Target,
        options: &'a MailImportOptions,
        (known, labelled): (KnownOf<'a>, &'a mut Labelled),
        progress: &'a dyn Progress,
    ) -> Result<Taking<'a>> {
        let batch = match options.is_dry {
            true => None,
            false => Some(Batch::open(&target.path).map_err(Error::Delivery)?),
        };
        Ok(Taking {
            host,
            notes,
            options,
            known,
            labelled,
            progress,
            batch,
            draft: Draft::default(),
            counts: ImportCounts::default(),
            host_name: mail::host_name(),
            read: Arc::default(),
            reported: 0,
        })
    }

    /// Takes the messages of a source, up to the end or until the progress asks to stop. Returns why it
    /// cannot be read to its end, if so.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(super) fn source(&mut self, source: Source) -> Result<Option<mail::Error>> {
        let path = source.path.clone();
        let written_seconds = source.written_seconds();
        let noted = Noted {
            flags: source.flags,
            has_state: source.has_state(),
            maildir_seconds: written_seconds.filter(|_| source.is_of_maildir),
            written_seconds,
            may_be_deleted: false,
        };
        let opened = match source.open(&self.read) {
            Ok(opened) => opened,
            Err(error) => return Ok(Some(error)),
        };
        let taken = match opened.kind {
            ContentKind::Mbox => {
                self.mbox(opened, Noted { written_seconds: None, may_be_deleted: true, ..noted })
            }
            ContentKind::Message | ContentKind::Unknown => self.message(opened, noted),
            ContentKind::Empty => Ok(()),
        };
        self.draft.clear();
        match taken {
            Ok(()) => Ok(None),
            Err(Failure::Reading(error)) => Ok(Some(mail::Error::io("read", &path, error))),
            Err(Failure::Writing(error)) => {
                self.batch.iter_mut().for_each(Batch::discard);
                Err(error)
            }
        }
    }

    /// Stores what is not stored yet. Returns what was taken in all.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub(super) fn finish(mut self) -> Result<ImportCounts> {
        self.name_all()?;
        Ok(self.counts)
    }

    fn mbox(&mut self, opened: Opened, noted: Noted) -> std::result::Result<(), Failure> {
        let mut mbox = Mbox::new(opened.reader, self.options.dialect);
        while !self.progress.is_cancelled() {
            self.draft.clear();
            let place = self.temporary();
            let (draft, mut unwritten) = (&mut self.draft, None);
            let next = mbox.next(&mut |piece| push(draft, piece, place.as_deref(), &mut unwritten));
            match (next, unwritten) {
                (_, Some(error)) => return Err(Failure::Writing(error)),
                (Err(error), None) => return Err(Failure::Reading(error)),
                (Ok(None), None) => break,
                (Ok(Some(envelope)), None) => self.take(envelope, noted).map_err(Failure::Writing)?,
            }
        }
        Ok(())
    }

    fn message(&mut self, mut opened: Opened, noted: Noted) -> std::result::Result<(), Failure> {
        self.draft.clear();
        let place = self.temporary();
        loop {
            let bytes = opened.reader.fill_buf().map_err(Failure::Reading)?;
            if bytes.is_empty() {
                return self.take(Envelope::default(), noted).map_err(Failure::Writing);
            }
            let mut unwritten = None;
            let pushed = push(&mut self.draft, bytes, place.as_deref(), &mut unwritten);
            let count = bytes.len();
            if let Some(error) = unwritten {
                return Err(Failure::Writing(error));
            }
            pushed.map_err(Failure::Reading)?;
            opened.reader.consume(count);
        }
    }

    fn temporary(&mut self) -> Option<PathBuf> {
        self.batch.as_mut().map(Batch::temporary)
    }

    /// Takes the message that was read.
    fn take(&mut self, envelope: Envelope, noted: Noted) -> Result<()> {
        let begin = self.draft.begin();
        let now_ns = self.host.settings().environment.context.now_ns();
        let header = begin.get(..HEADER_BYTES_MAX).unwrap_or(begin);
        let marks = mail::marks(header, now_ns.div_euclid(NANOSECONDS));
        let read = self.read.load(Ordering::Relaxed);
        self.progress.add(0, read.saturating_sub(self.reported));
        self.reported = read;
        if marks.is_deleted && noted.may_be_deleted && !noted.has_state {
            self.counts.deleted += 1;
            return Ok(());
        }
        let present = self.known.add(&self.draft)?;
        // The labels are those of the message that is there.
        let tags = tags_of(&marks.labels, &self.options.tags);
        let written = marks.flags.filter(|_| !noted.has_state).unwrap_or_default();
        let flags = written | noted.flags.unwrap_or_default() | self.options.flags;
        let flags = with_flags_of(flags, &tags, self.host.settings().configuration.flag_tags);
        self.labelled.add(present.unwrap_or_else(|| self.draft.sha256()), tags);
        if present.is_some() {
            self.counts.present += 1;
            return Ok(());
        }
        self.counts.imported += 1;
        self.store((envelope, marks, noted), flags, now_ns)
    }

    fn store(
        &mut self,
        (envelope, marks, noted): (Envelope, Marks, Noted),
        flags: Flags,
        now_ns: i64,
    ) -> Result<()> {
        let Some(batch) = &mut self.batch else { return Ok(()) };
        let written = noted.written_seconds.filter(|seconds| *seconds <= now_ns.div_euclid(NANOSECONDS));
        let date_seconds = noted.maildir_seconds.or(envelope.date_seconds).or(marks.date_seconds).or(written);
        // Other programs sort by the time in the name, and a message without a date has this one.
        let time_ns = date_seconds.and_then(|seconds| seconds.checked_mul(NANOSECONDS)).unwrap_or(now_ns);
        let name = mail::unique_name(&UniqueParts {
            now_ns: time_ns,
            process: std::process::id(),
            count: self.host.next_number(),
            random: self.host.settings().environment.seed,
            host: &self.host_name,
        });
        let place = Place { name: &name, flags: Some(flags), date_seconds };
        batch.add(&mut self.draft, place).map_err(Error::Delivery)?;
        if batch.is_full() { self.name_all() } else { Ok(()) }
    }

    fn name_all(&mut self) -> Result<()> {
        let Some(batch) = &mut self.batch else { return Ok(()) };
        self.notes.name(self.host, batch, self.progress)
    }
}

/// Appends a piece of a message. Tells in `unwritten` if the disk is at fault.
fn push(
    draft: &mut Draft,
    piece: &[u8],
    place: Option<&Path>,
    unwritten: &mut Option<Error>,
) -> io::Result<()> {
    draft.push(piece, place).map_err(|error| {
        let path = place.unwrap_or(Path::new("the message"));
        let told = io::Error::new(error.kind(), "it cannot be written");
        *unwritten = Some(Error::Delivery(mail::Error::io("write", path, error)));
        told
    })
}
