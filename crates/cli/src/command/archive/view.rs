//! `pneu archive view`: shows messages and other files from the archive.

use super::select;
use crate::archive::repository::{ConfiguredRepository, LockOptions, RepositoryOptions};
use crate::command::view::{self, Format, How};
use crate::exit::{NotFound, Outcome};
use crate::output::Output;
use crate::progress;
use crate::sanitise::many_lines;
use crate::search::locate::{self, Located};
use crate::session::Session;
use anyhow::{Result, anyhow, bail};
use clap::Args;
use mail::{Compression, FileContent, Unpacked};
use pneu::archive::Archive;
use restic::{BlobKind, Id, Node, NodeKind, Reading, Repository, Snapshot};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use terminal::command_line::Run;
use terminal::signals;
use work::Silent;

/// Most bytes of a file that are read to show it.
const FILE_BYTES_MAX: usize = 100 << 20;

/// Show messages and other files from the archive
///
/// Shows a message like "pneu view", whether its file still exists or not. Prints any other file unchanged.
/// MESSAGE is SNAPSHOT:PATH, as printed by "pneu archive find" and "ls"; an absolute PATH, which is taken
/// from the newest snapshot that has it; or one of the names that "pneu view" accepts: id: and a Message-ID,
/// a prefix of a SHA-256, or a query that matches exactly one message. These names are looked up in the
/// index, which may also have messages whose files are long gone.
#[derive(Debug, Args)]
#[command(
    visible_alias = "show",
    after_help = "\
Examples:
  pneu archive view latest:/home/ana/Maildir/cur/1700000000.1.host:2,S
  pneu archive view /home/ana/Maildir/dovecot-keywords
  pneu archive view --format raw id:1234@example.org > message.eml"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    #[command(flatten)]
    lock: LockOptions,
    /// SNAPSHOT:/PATH, /PATH, id: and a Message-ID, a prefix of a SHA-256, or a query
    #[arg(value_name = "MESSAGE", required = true)]
    messages: Vec<OsString>,
    #[command(flatten)]
    how: How,
}

/// A file that is asked for.
enum Wanted<'a> {
    /// A path of a snapshot.
    Of(&'a str, &'a [u8]),
    /// A path of the newest snapshot that has it.
    Newest(&'a [u8]),
}

/// A file of a snapshot.
struct File {
    /// The snapshot and the path.
    place: PathBuf,
    node: Node<'static>,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no such message, or it cannot be read; of several only if none can be shown; the repository
    /// cannot be opened or reached.
    fn run(&self, session: &Session) -> Result<Outcome> {
        if self.how.format == Format::Raw && self.messages.len() > 1 {
            bail!("--format raw shows one message");
        }
        let place = ConfiguredRepository::new(&self.repository, session)?;
        let repository = place.open()?;
        let lock = place.lock_to_read(&repository, self.lock)?;
        let snapshots = select::all(&repository)?.snapshots;
        if let [only] = self.messages.as_slice()
            && let Some(file) = file(&repository, &snapshots, only)?
            && (self.how.format == Format::Raw || !is_message(&file.place))
        {
            if !matches!(self.how.format, Format::Raw | Format::Plain) {
                bail!("{} is not a message; only --format raw and plain show it", file.place.display());
            }
            let mut output = session.paged_output(self.how.paging);
            write(&repository, &file, self.how.format, &mut output)?;
            lock.release()?;
            output.finish()?;
            return Ok(Outcome::Done);
        }
        let locate = |message: &OsString| match file(&repository, &snapshots, message)? {
            Some(file) => read(&repository, &file),
            None => by_content(&repository, &message.to_string_lossy(), session),
        };
        let (found, outcome) = view::located(&self.messages, &locate)?;
        lock.release()?;
        signals::only_prints();
        match view::show(&found, self.how, session)? {
            Outcome::Done => Ok(outcome),
            other => Ok(other),
        }
    }
}

/// Parses what the user wrote. `None` if it is not a path, but names a message.
fn wanted(text: &OsStr) -> Option<Wanted<'_>> {
    let bytes = text.as_bytes();
    if bytes.first() == Some(&b'/') {
        return Some(Wanted::Newest(bytes));
    }
    // "b:" may also be a field of a query, but the path of a snapshot begins with a slash.
    let colon = bytes.windows(2).position(|pair| pair == b":/");
    let colon = colon?;
    let name = std::str::from_utf8(bytes.get(..colon)?).ok()?;
    let is_name = name == "latest" || !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then_some(Wanted::Of(name, bytes.get(colon + 1..)?))
}

/// Finds a file by its path. `None` if the user named none.
fn file(repository: &Repository, snapshots: &[(Id, Snapshot)], text: &OsStr) -> Result<Option<File>> {
    let (path, among) = match wanted(text) {
        Some(Wanted::Of(name, path)) => (path, vec![select::named(snapshots, name)?]),
        Some(Wanted::Newest(path)) => (path, snapshots.iter().rev().collect()),
        None => return Ok(None),
    };
    for (id, snapshot) in among {
        let Some(node) = restic::node_at(repository, &snapshot.tree, path)? else { continue };
        let place = [id.short().as_bytes(), b":", path].concat();
        let place = PathBuf::from(OsStr::from_bytes(&place));
        return match node.kind {
            NodeKind::File => Ok(Some(File { place, node })),
            NodeKind::Directory => bail!("{} is a directory; see: pneu archive ls", place.display()),
            _ => bail!("{} is not a file that can be shown", place.display()),
        };
    }
    Err(NotFound(format!("no snapshot has {}", Path::new(text).display())).into())
}

/// Returns whether a file is where messages are.
fn is_message(place: &Path) -> bool {
    place.parent().is_some_and(|parent| parent.ends_with("cur") || parent.ends_with("new"))
}

/// Reads a message from its file.
fn read(repository: &Repository, file: &File) -> Result<Located> {
    let (mut stored, mut content) = (Vec::new(), FileContent::default());
    each_piece(repository, file, &mut |bytes| {
        let room = FILE_BYTES_MAX.saturating_sub(stored.len()).min(bytes.len());
        stored.extend_from_slice(bytes.get(..room).unwrap_or_default());
        Ok(if stored.len() < FILE_BYTES_MAX { More::Wanted } else { More::Unwanted })
    })?;
    content.truncated = file.node.size > FILE_BYTES_MAX as u64;
    unpack(stored, &mut content)
        .map_err(|error| anyhow!("{} cannot be unpacked: {error}", file.place.display()))?;
    Ok(Located::new(Some(file.place.clone()), content))
}

fn unpack(stored: Vec<u8>, content: &mut FileContent) -> std::io::Result<()> {
    match Compression::of(&stored) {
        Compression::Plain => content.bytes = stored,
        compression => {
            let unpacked = mail::unpack(&stored, compression, FILE_BYTES_MAX, &mut content.bytes)?;
            content.truncated |= unpacked == Unpacked::Cut;
        }
    }
    Ok(())
}

/// Writes a file unchanged; on a terminal and in text, harmful characters are replaced.
fn write(repository: &Repository, file: &File, format: Format, output: &mut Output) -> Result<()> {
    if format == Format::Raw && !output.terminal.is_terminal() {
        return each_piece(repository, file, &mut |bytes| output.bytes(bytes).map(|()| More::Wanted));
    }
    let located = read(repository, file)?;
    output.bytes(many_lines(&String::from_utf8_lossy(&located.content.bytes)).as_bytes())
}

/// Whether the pieces after one are read: a snapshot may name as many as it likes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum More {
    Wanted,
    Unwanted,
}

fn each_piece(
    repository: &Repository,
    file: &File,
    take: &mut dyn FnMut(&[u8]) -> Result<More>,
) -> Result<()> {
    let mut reading = Reading::default();
    for piece in file.node.content.as_deref().unwrap_or_default() {
        progress::check()?;
        if take(repository.load_blob_with(&mut reading, BlobKind::Data, piece)?)? == More::Unwanted {
            break;
        }
    }
    Ok(())
}

/// Reads a message that the index knows, or that is named by its complete SHA-256.
fn by_content(repository: &Repository, handle: &str, session: &Session) -> Result<Located> {
    let sha256 = match handle.parse::<Id>() {
        Ok(id) => id.0,
        Err(_) => locate::content_of(handle, session)?,
    };
    match Archive::new(session.host()?.settings(), repository, &Silent).message(&sha256)? {
        Some(bytes) => {
            let mut content = FileContent::default();
            content.bytes = bytes;
            Ok(Located::new(None, content))
        }
        None => Err(NotFound(format!("the archive does not have {handle}")).into()),
    }
}
