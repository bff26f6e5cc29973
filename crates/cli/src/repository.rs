//! Finds and opens the repository that the user means.
//!
//! In: options, the environment's variables, the configuration, in this order; the terminal, for a password that nobody gave. Out: an open
//! repository. Must not know what is done with it. A password is never printed, and stands in no list of processes but those of the
//! programs that the user himself names.

use crate::config::Archive;
use crate::environment::{self, RepositoryVariables};
use crate::output;
use crate::session::Session;
use anyhow::{Context, Result, anyhow, bail};
use archive::address::{self, Means};
use archive::{Address, CacheDirectory, HeldLock, LockKind, Password, Repository, Storage};
use clap::Args;
use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Where the merged index is kept, below the directory of all caches.
const CACHE: &str = "pneu/archive";
/// The most that is read as a password.
const PASSWORD_BYTES_MAX: usize = 64 << 10;

/// Which repository, and what opens it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "The repository")]
pub(crate) struct RepositoryOptions {
    /// Its address: a directory, or s3:https://HOST/BUCKET/PREFIX. Default: $RESTIC_REPOSITORY, or what the configuration names
    #[arg(long, short = 'r', value_name = "REPOSITORY")]
    pub repo: Option<String>,
    /// A file with its password. Default: $RESTIC_PASSWORD, $RESTIC_PASSWORD_FILE, $RESTIC_PASSWORD_COMMAND, or what the
    /// configuration names; else it is asked for
    #[arg(long, short = 'p', value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// A program that prints its password
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
        let surroundings = environment::archive_surroundings();
        let means = Means {
            disk: Arc::clone(&session.index.disk),
            credentials: variables.credentials.clone(),
            told: Arc::new(|what: &str| output::complain(what)),
        };
        let address = match Address::parse(&text)? {
            Address::Local(path) => Address::Local(
                environment::current_directory().context("the current directory is gone")?.join(path),
            ),
            other => other,
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
        // Before the password is asked for.
        if self.storage.size(archive::FileName::CONFIG)?.is_none() {
            return Err(archive::Error::NoRepository { address: self.storage.address() }.into());
        }
        let password = self.password(Typing::Once)?;
        let (storage, cache) = (Arc::clone(&self.storage), self.cache.clone());
        Ok(Repository::open(storage, &password, cache, self.surroundings.clone())?)
    }

    /// Locks the repository, and waits for others as long as the user said.
    ///
    /// # Errors
    /// Somebody else has it locked.
    pub(crate) fn lock(&self, repository: &Repository, kind: LockKind) -> Result<HeldLock> {
        Ok(repository.lock(kind, self.options.retry_lock, &|what| {
            output::complain(what);
            Ok(())
        })?)
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
        if let Some(file) = password_file {
            return from_file(file);
        }
        if let Some(command) = password_command {
            return from_command(command).map(Password::new);
        }
        if let Some(password) = environment::repository_password() {
            return Ok(password);
        }
        let file = self.variables.password_file.as_deref();
        let command = self.variables.password_command.as_deref();
        let is_said = file.is_some() || command.is_some();
        // What the environment says counts before the configuration, whichever way it says it.
        let file = file.or_else(|| configured.filter(|_| !is_said)?.password_file.as_deref());
        let command = command.or_else(|| configured.filter(|_| !is_said)?.password_command.as_deref());
        match (file, command) {
            (Some(file), _) => from_file(file),
            (None, Some(command)) => from_command(command).map(Password::new),
            (None, None) => typed(&self.storage.address(), typing),
        }
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
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read RESTIC_REPOSITORY_FILE {}", path.display()))?;
        return Ok(text.trim().to_owned());
    }
    match configured {
        Some(archive) => Ok(archive.repository.clone()),
        None => bail!(
            "no repository is named: say one with --repo, RESTIC_REPOSITORY, or in the configuration under [archive]"
        ),
    }
}

fn from_file(path: &Path) -> Result<Password> {
    let bytes =
        std::fs::read(path).with_context(|| format!("cannot read the password file {}", path.display()))?;
    checked(bytes, &format!("the password file {}", path.display())).map(Password::new)
}

/// Runs the user's program by the shell, as restic does in effect: words and quotes are understood.
fn from_command(command: &str) -> Result<Vec<u8>> {
    let output =
        Command::new("sh").args(["-c", command]).stdin(Stdio::inherit()).stderr(Stdio::inherit()).output();
    let output = output.context("cannot start a shell for the password command")?;
    if !output.status.success() {
        bail!("the password command failed: {}", output.status);
    }
    checked(output.stdout, "what the password command printed")
}

/// Takes the line's end off, and refuses what cannot be meant.
fn checked(mut bytes: Vec<u8>, source: &str) -> Result<Vec<u8>> {
    // A byte order mark is no part of a password, as restic sees it.
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    while matches!(bytes.last(), Some(b'\n' | b'\r')) {
        bytes.pop();
    }
    match bytes.len() {
        0 => bail!("{source} is empty"),
        length if length > PASSWORD_BYTES_MAX => bail!("{source} is too long to be a password"),
        _ => Ok(bytes),
    }
}

/// Asks on the terminal; from a pipe one line is read.
fn typed(address: &str, typing: Typing) -> Result<Password> {
    if !std::io::stdin().is_terminal() {
        let mut line = Vec::new();
        std::io::stdin().lock().read_until(b'\n', &mut line).context("cannot read the password")?;
        if line.is_empty() {
            bail!("no password: set RESTIC_PASSWORD, or name a file with --password-file");
        }
        return checked(line, "the password on standard input").map(Password::new);
    }
    let password = asked(&format!("password of {address}: "))?;
    if typing == Typing::Twice && asked("once more: ")? != password {
        bail!("these were two passwords; nothing was made");
    }
    checked(password.into_bytes(), "the password").map(Password::new)
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
    fn passwords_end_before_the_line_does() {
        let read = |bytes: &[u8]| checked(bytes.to_vec(), "it");
        assert_eq!(read(b"secret\r\n").unwrap(), b"secret");
        assert_eq!(read(b" a b \n\n").unwrap(), b" a b ");
        assert_eq!(read(b"\xef\xbb\xbfsecret").unwrap(), b"secret");
        assert_eq!(read(b"\n").unwrap_err().to_string(), "it is empty");
        assert!(read(&[b'x'; PASSWORD_BYTES_MAX + 1]).is_err() && read(&[b'x'; PASSWORD_BYTES_MAX]).is_ok());
    }

    #[test]
    fn programs_print_passwords_or_fail() {
        assert_eq!(from_command("echo 'a b'").unwrap(), b"a b");
        assert!(from_command("exit 3").unwrap_err().to_string().contains("failed"));
        assert!(from_command("true").unwrap_err().to_string().contains("empty"));
    }

    #[test]
    fn waits_have_a_unit() {
        assert_eq!((wait("5m"), wait("0s")), (Ok(Duration::from_secs(300)), Ok(Duration::ZERO)));
        for mistake in ["", "5", "m", "-1s", "1.5h", "5d"] {
            assert!(wait(mistake).is_err(), "{mistake}");
        }
    }
}
