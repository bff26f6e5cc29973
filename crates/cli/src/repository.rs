//! Finds and opens the repository that the user means.
//!
//! In: options, the environment's variables, the configuration, in this order; the terminal, for a password that nobody gave. Out: an open
//! repository. Must not know what is done with it. A password is never printed, and stands in no list of processes but those of the
//! programs that the user himself names.

use crate::config::Archive;
use crate::ending;
use crate::environment::{self, RepositoryVariables};
use crate::output;
use crate::progress;
use crate::session::Session;
use crate::words;
use anyhow::{Context, Result, anyhow, bail};
use archive::address::{self, Means};
use archive::{Address, CacheDirectory, HeldLock, LockKind, Password, Repository, Storage};
use clap::Args;
use disk::Source;
use std::cell::RefCell;
use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Where the merged index is kept, below the directory of all caches.
const CACHE: &str = "pneu/archive";
/// How many requests are sent to an object store at the same time, at least, as restic does it: most of the time they wait.
const REQUEST_COUNT: usize = 5;
/// The most that is read as a password.
const PASSWORD_BYTES_MAX: usize = 64 << 10;
/// The most that is read as an address.
const ADDRESS_BYTES_MAX: usize = 64 << 10;

/// Said where a repository is needed and none is named.
pub(crate) const NO_REPOSITORY: &str =
    "no repository is named: say one with --repo, RESTIC_REPOSITORY, or in the configuration under [archive]";

/// Which repository, and what opens it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "The repository")]
pub(crate) struct RepositoryOptions {
    /// Its address: a directory, or s3:https://HOST/BUCKET/PREFIX. Default: $RESTIC_REPOSITORY, or what the configuration names
    #[arg(long, short = 'r', value_name = "REPOSITORY")]
    pub repo: Option<String>,
    /// A file with its password. Default: what $RESTIC_PASSWORD_COMMAND prints, $RESTIC_PASSWORD_FILE holds or $RESTIC_PASSWORD is, or
    /// what the configuration names; else it is asked for. White space around it does not count, as for restic
    #[arg(long, short = 'p', value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// A program that prints its password, with its arguments; no shell runs it
    #[arg(long, value_name = "COMMAND", conflicts_with = "password_file")]
    pub password_command: Option<String>,
    /// Keep no merged index in the cache directory
    #[arg(long)]
    pub no_cache: bool,
    /// Wait so long for others who work on it: a number and s, m or h
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = wait)]
    pub retry_lock: Duration,
}

/// How a repository is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct LockOptions {
    /// Leave no lock in the archive, which then may be read-only; who prunes it meanwhile may remove what is being read
    #[arg(long)]
    pub no_lock: bool,
}

/// A repository's place, and what the user said of it.
pub(crate) struct Place {
    options: RepositoryOptions,
    variables: RepositoryVariables,
    configured: Option<Archive>,
    storage: Arc<dyn Storage>,
    surroundings: archive::Surroundings,
    cache: Option<CacheDirectory>,
}

/// A lock, or none because none was wanted.
#[derive(Debug)]
pub(crate) struct ReadLock(Option<HeldLock>);

impl ReadLock {
    /// Returns the lock, if one is held.
    pub(crate) fn held(&self) -> Option<&HeldLock> {
        self.0.as_ref()
    }

    /// Gives it up.
    ///
    /// # Errors
    /// What the storage says.
    pub(crate) fn release(self) -> Result<()> {
        Ok(self.0.map_or(Ok(()), HeldLock::release)?)
    }
}

/// Whether a password that is typed is typed once or twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Typing {
    Once,
    /// For a new repository: a mistake would lock it for good.
    Twice,
}

impl Place {
    /// Finds out which repository is meant. Nothing is asked of it yet.
    ///
    /// # Errors
    /// Nobody says, or the address cannot be understood.
    pub(crate) fn new(options: &RepositoryOptions, session: &Session) -> Result<Place> {
        let variables = environment::repository_variables();
        let configured = session.configured()?.archive;
        let text = address_text(options, &variables, configured.as_ref())?;
        let mut surroundings = environment::archive_surroundings();
        let means = Means {
            disk: Arc::clone(&session.index.disk),
            credentials: variables.credentials.clone(),
            idle_max: environment::idle_max(),
            told: Arc::new(|what: &str| output::complain(what)),
        };
        let address = match Address::parse(&text)? {
            Address::Local(path) => Address::Local(
                environment::current_directory().context("the current directory is gone")?.join(path),
            ),
            other => {
                surroundings.thread_count = surroundings.thread_count.max(REQUEST_COUNT);
                other
            }
        };
        let storage = address::open(&address, &means, &surroundings)?;
        let home = variables.cache_home.as_ref().filter(|_| !options.no_cache);
        let disk = &session.index.disk;
        let cache = home.map(|home| CacheDirectory { disk: Arc::clone(disk), path: home.join(CACHE) });
        Ok(Place { options: options.clone(), variables, configured, storage, surroundings, cache })
    }

    /// Says whether anybody names a repository.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub(crate) fn is_named(options: &RepositoryOptions, session: &Session) -> Result<bool> {
        let variables = environment::repository_variables();
        let is_said = variables.repository.is_some() || variables.repository_file.is_some();
        Ok(options.repo.is_some() || is_said || session.configured()?.archive.is_some())
    }

    /// Makes the repository.
    ///
    /// # Errors
    /// There is one, or it cannot be made; no password.
    pub(crate) fn init(&self) -> Result<Repository> {
        let password = self.password(Typing::Twice)?;
        let (storage, cache) = (Arc::clone(&self.storage), self.cache.clone());
        let cost = archive::Cost::default();
        Ok(Repository::init(storage, &password, cost, cache, self.surroundings.clone())?)
    }

    /// Opens the repository.
    ///
    /// # Errors
    /// There is none, the password is wrong, its keys or its config are damaged.
    pub(crate) fn open(&self) -> Result<Repository> {
        self.unlock(&self.asked()?)
    }

    /// Returns the password, asked for if nobody says it; only of a repository that is there.
    ///
    /// # Errors
    /// There is none, nothing can be asked of it, no password.
    pub(crate) fn asked(&self) -> Result<Password> {
        if self.storage.size(archive::FileName::CONFIG)?.is_none() {
            return Err(archive::config::absence(&*self.storage)?.into());
        }
        self.password(Typing::Once)
    }

    /// Opens the repository with its password. That takes a good part of a second of one core, on purpose.
    ///
    /// # Errors
    /// The password is wrong, its keys or its config are damaged.
    pub(crate) fn unlock(&self, password: &Password) -> Result<Repository> {
        let (storage, cache) = (Arc::clone(&self.storage), self.cache.clone());
        Ok(Repository::open(storage, password, cache, self.surroundings.clone())?)
    }

    /// Locks the repository, and waits for others as long as the user said. From here on no signal that asks
    /// for an end ends the process, which would leave the lock behind: whoever works under it asks
    /// [`progress::check`].
    ///
    /// # Errors
    /// Somebody else has it locked; a signal.
    pub(crate) fn lock(&self, repository: &Repository, kind: LockKind) -> Result<HeldLock> {
        progress::listen().map_err(|error| anyhow!("cannot listen to Ctrl-C: {error}"))?;
        let told = RefCell::new(String::new());
        let lock = repository.lock(kind, self.options.retry_lock, &|what| {
            // It is asked each second, and told whenever somebody else has the lock, or left it.
            if told.replace(what.to_owned()) != what {
                output::complain(what);
            }
            progress::check()
        })?;
        ending::holds(lock.surrender());
        progress::check()?;
        Ok(lock)
    }

    /// Locks the repository for reading, beside others who read or back up, unless the user wants no lock.
    ///
    /// # Errors
    /// Somebody else has it locked for himself alone, or no lock can be written.
    pub(crate) fn lock_to_read(&self, repository: &Repository, options: LockOptions) -> Result<ReadLock> {
        self.lock_unless(repository, LockKind::Shared, options)
    }

    /// Locks the repository, unless the user wants no lock.
    ///
    /// # Errors
    /// Somebody else has it locked, or no lock can be written.
    pub(crate) fn lock_unless(
        &self,
        repository: &Repository,
        kind: LockKind,
        options: LockOptions,
    ) -> Result<ReadLock> {
        if options.no_lock {
            return Ok(ReadLock(None));
        }
        let way_out = |error: anyhow::Error| match error.downcast_ref() {
            Some(archive::Error::Disk(_) | archive::Error::Storage { .. }) => {
                anyhow!("{error}; what may only be read is read with --no-lock")
            }
            _ => error,
        };
        self.lock(repository, kind).map(|lock| ReadLock(Some(lock))).map_err(way_out)
    }

    fn password(&self, typing: Typing) -> Result<Password> {
        let RepositoryOptions { password_file, password_command, .. } = &self.options;
        let configured = self.configured.as_ref();
        // Each that was said leaves no doubt: an option, then what the environment says in restic's order, then the configuration.
        if let Some(named) = Named::one(password_file.as_deref(), password_command.as_deref(), "the options")?
        {
            return named.read();
        }
        let variables = &self.variables;
        let (file, command) = (variables.password_file.as_deref(), variables.password_command.as_deref());
        if let Some(named) = Named::one(file, command, "RESTIC_PASSWORD_FILE and RESTIC_PASSWORD_COMMAND")? {
            return named.read();
        }
        if let Some(password) = environment::repository_password() {
            return Ok(password);
        }
        let file = configured.and_then(|archive| archive.password_file.as_deref());
        let command = configured.and_then(|archive| archive.password_command.as_deref());
        match Named::one(file, command, "the configuration")? {
            Some(named) => named.read(),
            None => typed(&self.storage.address(), typing),
        }
    }
}

/// Who knows the password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named<'a> {
    File(&'a Path),
    Command(&'a str),
}

impl<'a> Named<'a> {
    /// Returns the one that is named, if one is.
    fn one(file: Option<&'a Path>, command: Option<&'a str>, by: &str) -> Result<Option<Named<'a>>> {
        match (file, command) {
            (Some(_), Some(_)) => bail!("{by}: a password file and a password command; say one of them"),
            (Some(file), None) => Ok(Some(Named::File(file))),
            (None, command) => Ok(command.map(Named::Command)),
        }
    }

    fn read(self) -> Result<Password> {
        match self {
            Named::File(path) => from_file(path),
            Named::Command(command) => from_command(command),
        }
        .map(Password::new)
    }
}

/// Returns the address that the user means.
fn address_text(
    options: &RepositoryOptions,
    variables: &RepositoryVariables,
    configured: Option<&Archive>,
) -> Result<String> {
    if let Some(repository) = options.repo.as_ref().or(variables.repository.as_ref()) {
        return Ok(repository.clone());
    }
    if let Some(path) = &variables.repository_file {
        let bytes = disk::read_small(path, ADDRESS_BYTES_MAX, Source::Anything)
            .map_err(|error| anyhow!("cannot read RESTIC_REPOSITORY_FILE {}: {error}", path.display()))?;
        return Ok(String::from_utf8_lossy(&bytes).trim().to_owned());
    }
    match configured {
        Some(archive) => Ok(archive.repository.clone()),
        None => bail!("{NO_REPOSITORY}"),
    }
}

fn from_file(path: &Path) -> Result<Vec<u8>> {
    let bytes = disk::read_small(path, PASSWORD_BYTES_MAX, Source::Anything)
        .map_err(|error| anyhow!("cannot read the password file {}: {error}", path.display()))?;
    checked(trimmed(&decoded(bytes)), &format!("the password file {}", path.display()))
}

/// Runs the user's program, without a shell.
fn from_command(command: &str) -> Result<Vec<u8>> {
    let words = words::split(command).map_err(|what| anyhow!("the password command: {what}"))?;
    let (program, arguments) = words.split_first().context("the password command is empty")?;
    let failed = |error: std::io::Error| anyhow!("cannot run the password command {program}: {error}");
    let mut child = Command::new(program).args(arguments).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let printed = child.stdout.take().map(|output| disk::read_to_limit(output, PASSWORD_BYTES_MAX));
    let printed = printed.transpose().inspect_err(|_| {
        // It may have ended by now, as one does whom nobody reads any more.
        let _ = child.kill();
    });
    let status = child.wait().map_err(failed)?;
    let printed = printed
        .map_err(|error| anyhow!("cannot read what the password command prints: {error}"))?
        .unwrap_or_default();
    if !status.success() {
        bail!("the password command failed: {status}");
    }
    checked(trimmed(&printed), "what the password command printed")
}

/// Returns a text file's content as UTF-8: editors of Windows begin it with a byte order mark, or write UTF-16.
fn decoded(mut bytes: Vec<u8>) -> Vec<u8> {
    let text = |bytes: &[u8], unit: fn([u8; 2]) -> u16| -> Vec<u8> {
        let units: Vec<u16> = bytes.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
        String::from_utf16_lossy(&units).into_bytes()
    };
    match bytes.as_slice() {
        [0xff, 0xfe, rest @ ..] => text(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => text(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, ..] => bytes.split_off(3),
        _ => bytes,
    }
}

/// Takes off the white space at both ends, as restic does: what it takes for the password counts.
fn trimmed(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.trim().as_bytes(),
        Err(_) => bytes.trim_ascii(),
    }
}

/// Refuses what cannot be meant.
fn checked(bytes: &[u8], source: &str) -> Result<Vec<u8>> {
    match bytes.len() {
        0 => bail!("{source} is empty"),
        length if length > PASSWORD_BYTES_MAX => bail!("{source} is too long to be a password"),
        _ => Ok(bytes.to_vec()),
    }
}

/// Takes the line's end off.
fn line(bytes: &[u8]) -> &[u8] {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Asks on the terminal; from a pipe one line is read.
fn typed(address: &str, typing: Typing) -> Result<Password> {
    if !std::io::stdin().is_terminal() {
        let mut line = Vec::new();
        let limit = PASSWORD_BYTES_MAX as u64 + 2;
        std::io::stdin()
            .lock()
            .take(limit)
            .read_until(b'\n', &mut line)
            .context("cannot read the password")?;
        if line.is_empty() {
            bail!("no password: set RESTIC_PASSWORD, or name a file with --password-file");
        }
        return checked(self::line(&line), "the password on standard input").map(Password::new);
    }
    let password = asked(&format!("password of {address}: "))?;
    if typing == Typing::Twice && asked("once more: ")? != password {
        bail!("these were two passwords; nothing was made");
    }
    checked(password.as_bytes(), "the password").map(Password::new)
}

fn asked(prompt: &str) -> Result<String> {
    let mut stderr = std::io::stderr();
    stderr
        .write_all(prompt.as_bytes())
        .and_then(|()| stderr.flush())
        .context("cannot ask for the password")?;
    rpassword::read_password().map_err(|error| anyhow!("cannot read the password: {error}"))
}

/// Reads a time, such as 5m.
fn wait(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(digits) => (digits, text.as_bytes()[digits.len()]),
        None => return Err("write a number and s, m or h: 5m".to_owned()),
    };
    let number: u32 = digits.parse().map_err(|_| format!("\"{digits}\" is no number"))?;
    let seconds = match unit {
        b's' => 1,
        b'm' => 60,
        _ => 3600,
    };
    Ok(Duration::from_secs(u64::from(number) * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_around_a_password_and_marks_of_editors_do_not_count() {
        let read = |bytes: &[u8]| checked(trimmed(&decoded(bytes.to_vec())), "it").map(String::from_utf8);
        for text in [
            &b"a b"[..],
            b"a b\r\n",
            b" \t\x0ba b \n\n",
            b"\xef\xbb\xbfa b\n",
            b"\xff\xfea\0 \0b\0\n\0",
            b"\xfe\xff\0a\0 \0b\0\n",
            "\u{a0}a b\u{2003}".as_bytes(),
        ] {
            assert_eq!(read(text).unwrap().unwrap(), "a b", "{text:?}");
        }
        assert_eq!(trimmed(b" \xff \n"), b"\xff");
        assert_eq!(read(b" \n").unwrap_err().to_string(), "it is empty");
        assert!(checked(&[b'x'; PASSWORD_BYTES_MAX + 1], "").is_err());
        assert!(checked(&[b'x'; PASSWORD_BYTES_MAX], "").is_ok());
    }

    #[test]
    fn of_a_line_only_its_end_does_not_count() {
        assert_eq!((line(b" a \r\n"), line(b"a\n\n"), line(b"a")), (&b" a "[..], &b"a\n"[..], &b"a"[..]));
    }

    #[test]
    fn programs_print_passwords_or_fail() {
        assert_eq!(from_command("echo ' a b' '; exit 1' $HOME").unwrap(), b"a b ; exit 1 $HOME");
        assert!(from_command("false").unwrap_err().to_string().contains("failed"));
        assert!(from_command("true").unwrap_err().to_string().contains("empty"));
        assert!(from_command("no-such-program-at-all").unwrap_err().to_string().contains("cannot run"));
        assert!(from_command("echo 'a").is_err());
    }

    #[test]
    fn what_never_ends_is_no_password() {
        for endless in ["cat /dev/zero", "yes", "sh -c 'cat /dev/zero; exit 0'"] {
            let said = format!("{:#}", from_command(endless).unwrap_err());
            assert_eq!(said, "cannot read what the password command prints: it has more than 65536 bytes");
        }
        let said = format!("{:#}", from_file(Path::new("/dev/zero")).unwrap_err());
        assert_eq!(said, "cannot read the password file /dev/zero: it has more than 65536 bytes");
        assert!(from_file(Path::new("/dev/null")).unwrap_err().to_string().ends_with("is empty"));
    }

    #[test]
    fn one_of_file_and_command_is_named() {
        let (file, command) = (Some(Path::new("/f")), Some("c"));
        let one = |file, command| Named::one(file, command, "they").map_err(|error| error.to_string());
        assert_eq!(one(file, None), Ok(Some(Named::File(Path::new("/f")))));
        assert_eq!(one(None, command), Ok(Some(Named::Command("c"))));
        assert_eq!(one(None, None), Ok(None));
        assert!(one(file, command).unwrap_err().starts_with("they: "));
    }

    #[test]
    fn waits_have_a_unit() {
        assert_eq!((wait("5m"), wait("0s")), (Ok(Duration::from_secs(300)), Ok(Duration::ZERO)));
        for mistake in ["", "5", "m", "-1s", "1.5h", "5d"] {
            assert!(wait(mistake).is_err(), "{mistake}");
        }
    }
}
