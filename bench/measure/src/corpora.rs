//! Generated mail that is kept between runs.
//!
//! Input: options of mail. Output: its directory. Does not know what is measured with it.

use anyhow::{Context, Result, bail};
use clap::Args;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::corpus::{self, CorpusOptions};

/// The seed of all kept mail.
pub const SEED: u64 = 1;

/// The mail to generate, in a separate process.
#[derive(Args)]
pub struct GenerateArguments {
    directory: PathBuf,
    #[arg(long)]
    messages: u32,
    #[arg(long)]
    seed: u64,
    #[arg(long)]
    small: bool,
    #[arg(long)]
    folders: Option<usize>,
}

/// Generates mail.
///
/// # Errors
/// If it cannot be written.
pub fn generate(arguments: &GenerateArguments) -> Result<()> {
    let mut options = match arguments.small {
        true => CorpusOptions::small(arguments.messages, arguments.seed),
        false => CorpusOptions::varied(arguments.messages, arguments.seed),
    };
    options.folders = arguments.folders.unwrap_or(options.folders);
    corpus::generate(&arguments.directory, &options)?;
    Ok(())
}

/// Generates the mail of `options` in `directory`, in a child process.
///
/// # Errors
/// If it cannot be written.
pub fn make(directory: &Path, options: &CorpusOptions) -> Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("generate").arg(directory);
    command.arg(format!("--messages={}", options.messages)).arg(format!("--seed={}", options.seed));
    command.arg(format!("--folders={}", options.folders));
    if options.profile == corpus::Profile::Small {
        command.arg("--small");
    }
    if !command.status()?.success() {
        bail!("no mail could be made in {}", directory.display());
    }
    Ok(())
}

/// Returns the Maildir with the mail of `options` below `corpora`. Generates it if it does not exist.
///
/// # Errors
/// If it cannot be written.
pub fn kept(corpora: &Path, name: &str, options: &CorpusOptions) -> Result<PathBuf> {
    let directory = corpora.join(format!("{name}-{}", options.messages));
    keep(&directory, |making| make(making, options))?;
    Ok(directory)
}

/// Returns a Maildir with two folders: `Large` has every message file of `text`, `Middle` a tenth of them.
/// The files are links to those of `text`, so they take no space.
///
/// # Errors
/// If they cannot be made.
pub fn kept_folders(corpora: &Path, text: &Path) -> Result<PathBuf> {
    let name = text.file_name().unwrap_or_default().to_string_lossy().replace("text", "folder");
    let directory = corpora.join(name);
    keep(&directory, |making| link_folders(text, making))?;
    Ok(directory)
}

/// Creates `directory` completely or not at all, unless it exists.
///
/// # Errors
/// Errors of `make` and of the disk.
pub fn keep(directory: &Path, make: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if directory.exists() {
        return Ok(());
    }
    let making = directory.with_extension("making");
    if making.exists() {
        fs::remove_dir_all(&making)?;
    }
    make(&making)?;
    fs::rename(&making, directory).with_context(|| format!("cannot keep {}", directory.display()))
}

fn link_folders(text: &Path, making: &Path) -> Result<()> {
    for folder in ["Large", "Middle"] {
        for part in ["cur", "new", "tmp"] {
            fs::create_dir_all(making.join(folder).join(part))?;
        }
    }
    let mut count = 0_u64;
    for file in message_files(text)? {
        // Of a message with two files the second has the same name, but for its folder's habits.
        let name = file.file_name().unwrap_or_default();
        let large = making.join("Large/cur").join(name);
        if large.exists() {
            continue;
        }
        fs::hard_link(&file, &large)?;
        if count.is_multiple_of(10) {
            fs::hard_link(&file, making.join("Middle/cur").join(name))?;
        }
        count += 1;
    }
    Ok(())
}

/// Returns the files in all directories `cur` below `root`, by path.
///
/// # Errors
/// If a directory cannot be read.
pub fn message_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        let in_cur = directory.ends_with("cur");
        for entry in
            fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))?
        {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            } else if in_cur {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Makes a new Maildir `copy` of hard links to all files of another one. Files are renamed and removed in the
/// copy, and the original stays unchanged.
///
/// # Errors
/// If the links cannot be made.
pub fn link_all(maildir: &Path, copy: &Path) -> Result<()> {
    clear(copy)?;
    fs::create_dir_all(copy.parent().context("a Maildir has a parent")?)?;
    match Command::new("cp").arg("-al").arg(maildir).arg(copy).status()? {
        status if status.success() => Ok(()),
        status => bail!("{} could not be linked to {}: {status}", maildir.display(), copy.display()),
    }
}

/// Returns all files in `cur` and `new`.
///
/// # Errors
/// If a directory cannot be read.
pub fn messages(maildir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut waiting = vec![maildir.to_owned()];
    while let Some(directory) = waiting.pop() {
        let has_messages = directory.ends_with("cur") || directory.ends_with("new");
        for entry in
            fs::read_dir(&directory).with_context(|| format!("cannot read {}", directory.display()))?
        {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            } else if has_messages {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}

/// A block of a file, as the system counts it.
const BLOCK_BYTES: u64 = 512;

/// Returns the total disk space of all files below `directory`. Holes in files take none.
///
/// # Errors
/// If a directory cannot be read.
pub fn bytes_below(directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes +=
            if metadata.is_dir() { bytes_below(&entry.path())? } else { metadata.blocks() * BLOCK_BYTES };
    }
    Ok(bytes)
}

/// Reads every message of a Maildir once, so that all are in the cache.
///
/// # Errors
/// If one cannot be read.
pub fn warm(maildir: &Path) -> Result<()> {
    for file in message_files(maildir)? {
        fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    }
    Ok(())
}

/// Empties all files below a directory.
///
/// # Errors
/// If one cannot be written.
pub fn empty(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            empty(&entry.path())?;
        } else if entry.file_type()?.is_file() {
            fs::write(entry.path(), "")
                .with_context(|| format!("cannot empty {}", entry.path().display()))?;
        }
    }
    Ok(())
}

/// Removes a directory, if it is there.
///
/// # Errors
/// If it cannot be removed.
pub fn clear(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", directory.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_links_to_all_and_to_a_tenth() {
        let place = tempfile::tempdir().unwrap();
        let text = place.path().join("text-300");
        corpus::generate(&text, &CorpusOptions::varied(300, 1)).unwrap();
        let folders = kept_folders(place.path(), &text).unwrap();
        assert!(folders.ends_with("folder-300"));
        let large = fs::read_dir(folders.join("Large/cur")).unwrap().count();
        let middle = fs::read_dir(folders.join("Middle/cur")).unwrap().count();
        assert!((280..=315).contains(&large) && middle == large.div_ceil(10), "{large} {middle}");
        assert_eq!(kept_folders(place.path(), &text).unwrap(), folders);
    }

    #[test]
    fn emptied_files_stay_and_take_no_space() {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir(place.path().join("a")).unwrap();
        fs::write(place.path().join("a/file"), "some bytes").unwrap();
        assert!(bytes_below(place.path()).unwrap() > 0);
        empty(place.path()).unwrap();
        assert_eq!(bytes_below(place.path()).unwrap(), 0);
        assert_eq!(fs::metadata(place.path().join("a/file")).unwrap().len(), 0);
        assert!(empty(&place.path().join("none")).is_err());
    }
}
