//! Finds, opens and locks the repository that the user means.
//!
//! Reads the options, then the environment's variables, then the configuration. Asks on the terminal for a
//! password that none of them gives. Does not know what the repository is used for.

use super::password::{PasswordSource, Typing, typed};
use crate::environment::{self, RepositoryVariables};
use crate::output;
use crate::progress;
use crate::remedy;
use crate::sanitise::one_line;
use crate::session::Session;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use disk::Source;
use pneu::archive::{PlaceOptions, RepositoryPlace, SharedArchive, Unopened};
use pneu::setup::configuration::ArchiveConfiguration;
use restic::{Address, FileKind, HeldLock, Id, LockKind, Password, Repository};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use terminal::signals;

/// Most bytes that are read as an address.
const ADDRESS_BYTES_MAX: usize = 64 << 10;

/// The message if a repository is needed and none is named.
pub(crate) const NO_REPOSITORY: &str = "no repository is named: give one with --repo, \
    RESTIC_REPOSITORY, or in the configuration under [archive]";

/// Most entries of a directory of snapshots that are read to complete a word.
const LISTED_COUNT_MAX: usize = 100_000;

/// Which repository, and what opens it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = "The repository")]
pub(crate) struct RepositoryOptions {
    /// Address of the repository: a directory, or s3:https://HOST/BUCKET/PREFIX. Default: $RESTIC_REPOSITORY,
    /// or the repository in the configuration
    #[arg(long, short = 'r', value_name = "REPOSITORY")]
    pub repo: Option<String>,
    /// File that holds the password. Default: the output of $RESTIC_PASSWORD_COMMAND, the content of
    /// $RESTIC_PASSWORD_FILE, $RESTIC_PASSWORD, or the configuration; otherwise you are asked for it. Leading
    /// and trailing white space is ignored, as in restic
    #[arg(long, short = 'p', value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Command that prints the password. It is run without a shell
    #[arg(long, value_name = "COMMAND", conflicts_with = "password_file")]
    pub password_command: Option<String>,
    /// Do not keep a merged index in the cache directory
    #[arg(long)]
    pub no_cache: bool,
    /// Wait this long if the repository is locked: a number and s, m or h
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = wait)]
    pub retry_lock: Duration,
}

/// How a repository is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct LockOptions {
    /// Do not lock the archive, so that a read-only archive can be read. A prune that runs at the same time
    /// may break this read
    #[arg(long)]
    pub no_lock: bool,
}

/// A repository's place, and the options for it.
pub(crate) struct ConfiguredRepository {
    options: RepositoryOptions,
    variables: RepositoryVariables,
    configured: Option<ArchiveConfiguration>,
    place: RepositoryPlace,
}

/// A lock, or none because none was wanted.
#[derive(Debug)]
pub(crate) struct ReadLock(Option<HeldLock>);

impl ReadLock {
    /// Returns the lock, if one is held.
    pub(crate) fn held(&self) -> Option<&HeldLock> {
        self.0.as_ref()
    }

    /// Returns the lock, if one is held.
    pub(crate) fn into_held(self) -> Option<HeldLock> {
        self.0
    }

    /// Releases it.
    ///
    /// # Errors
    /// An error of the storage.
    pub(crate) fn release(self) -> Result<()> {
        Ok(self.0.map_or(Ok(()), HeldLock::release)?)
    }
}

/// Returns the snapshots of the repository that the user means, with their files, if it is a directory. Opens
/// no repository, waits for no pipe, and ignores all errors.
pub(crate) fn local_snapshots(options: &RepositoryOptions, session: &Session) -> Vec<(Id, PathBuf)> {
    let variables = environment::repository_variables();
    let configured = session.configured().ok().and_then(|configured| configured.archive.as_ref());
    let address = address_text(options, &variables, configured, Source::File).ok();
    let Some(Address::Local(place)) = address.and_then(|text| Address::parse(&text).ok()) else {
        return Vec::new();
    };
    let files = std::fs::read_dir(place.join(FileKind::Snapshot.directory())).into_iter().flatten().flatten();
    let files = files.take(LISTED_COUNT_MAX);
    files.filter_map(|file| Some((file.file_name().to_str()?.parse().ok()?, file.path()))).collect()
}

impl ConfiguredRepository {
    /// Finds out which repository is meant. Does not access it yet.
    ///
    /// # Errors
    /// None is named, or the address cannot be understood.
    pub(crate) fn new(options: &RepositoryOptions, session: &Session) -> Result<ConfiguredRepository> {
        ConfiguredRepository::of(options, session.configured()?.archive.clone(), session)
    }

    /// Finds out which repository is meant by a configuration.
    fn of(
        options: &RepositoryOptions,
        configured: Option<ArchiveConfiguration>,
        session: &Session,
    ) -> Result<ConfiguredRepository> {
        let variables = environment::repository_variables();
        let text = address_text(options, &variables, configured.as_ref(), Source::Anything)?;
        let place_options = PlaceOptions {
            disk: Arc::clone(&session.environment.disk),
            credentials: variables.credentials.clone(),
            idle_max: environment::idle_max(),
            told: Arc::new(|what: &str| output::complain(what)),
            caches: variables.cache_home.clone().filter(|_| !options.no_cache),
            surroundings: environment::archive_surroundings(),
        };
        let current = || environment::current_directory().context("the current directory is gone");
        let place = RepositoryPlace::new(&text, current, place_options)?;
        Ok(ConfiguredRepository { options: options.clone(), variables, configured, place })
    }

    /// Returns whether a repository is named.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub(crate) fn is_named(options: &RepositoryOptions, session: &Session) -> Result<bool> {
        Ok(options.repo.is_some() || is_named_by(session.configured()?.archive.as_ref()))
    }

    /// Creates the repository.
    ///
    /// # Errors
    /// It exists already, or cannot be created; no password.
    pub(crate) fn init(&self) -> Result<Repository> {
        Ok(self.place.init(&self.password(Typing::Twice)?)?)
    }

    /// Opens the repository.
    ///
    /// # Errors
    /// There is none, the password is wrong, its keys or its config are damaged.
    pub(crate) fn open(&self) -> Result<Repository> {
        self.unlock(&self.asked()?)
    }

    /// Returns the password, and asks for it if it is not given; only for a repository that exists.
    ///
    /// # Errors
    /// There is none, it cannot be reached, no password.
    pub(crate) fn asked(&self) -> Result<Password> {
        self.place.expect_repository()?;
        self.password(Typing::Once)
    }

    /// Opens the repository with its password. By design, that takes a good part of a second of one core.
    ///
    /// # Errors
    /// The password is wrong, its keys or its config are damaged.
    pub(crate) fn unlock(&self, password: &Password) -> Result<Repository> {
        Ok(self.place.open(password)?)
    }

    /// Locks the repository. Waits for other processes as long as the user said. From here on SIGINT, SIGTERM
    /// and SIGHUP do not end the process, which would leave the lock: code that runs under the lock calls
    /// [`progress::check`].
    ///
    /// # Errors
    /// Another process has locked it; a signal.
    pub(crate) fn lock(&self, repository: &Repository, kind: LockKind) -> Result<HeldLock> {
        lock(repository, kind, self.options.retry_lock)
    }

    /// Locks the repository for reading, unless the user wants no lock. Others may read and back up
    /// meanwhile.
    ///
    /// # Errors
    /// Another process has locked it exclusively, or no lock can be written.
    pub(crate) fn lock_to_read(&self, repository: &Repository, options: LockOptions) -> Result<ReadLock> {
        self.lock_unless(repository, LockKind::Shared, options)
    }

    /// Locks the repository, unless the user wants no lock.
    ///
    /// # Errors
    /// Another process has locked it, or no lock can be written.
    pub(crate) fn lock_unless(
        &self,
        repository: &Repository,
        kind: LockKind,
        options: LockOptions,
    ) -> Result<ReadLock> {
        lock_unless(repository, (kind, self.options.retry_lock), options)
    }

    fn password(&self, typing: Typing) -> Result<Password> {
        match self.given_password()? {
            Some(password) => Ok(password),
            None => typed(&self.place.address(), typing),
        }
    }

    /// Returns the password, if the options, the environment or the configuration give it.
    fn given_password(&self) -> Result<Option<Password>> {
        let RepositoryOptions { password_file, password_command, .. } = &self.options;
        let configured = self.configured.as_ref();
        // The first of these that is given counts: an option, then the environment in restic's order, then
        // the configuration.
        if let Some(named) =
            PasswordSource::one(password_file.as_deref(), password_command.as_deref(), "the options")?
        {
            return named.read().map(Some);
        }
        let variables = &self.variables;
        let (file, command) = (variables.password_file.as_deref(), variables.password_command.as_deref());
        if let Some(named) =
            PasswordSource::one(file, command, "RESTIC_PASSWORD_FILE and RESTIC_PASSWORD_COMMAND")?
        {
            return named.read().map(Some);
        }
        if let Some(password) = environment::repository_password() {
            return Ok(Some(password));
        }
        let file = configured.and_then(|archive| archive.password_file.as_deref());
        let command = configured.and_then(|archive| archive.password_command.as_deref());
        PasswordSource::one(file, command, "the configuration")?.map(PasswordSource::read).transpose()
    }

    /// Opens the repository without asking anybody.
    fn open_unasked(&self) -> std::result::Result<Repository, Unopened> {
        let failed = |error: anyhow::Error| {
            let what = format!("{error:#}");
            output::complain(one_line(&format!("the archive cannot be opened: {what}")));
            Unopened::Failed(what)
        };
        self.place.expect_repository().map_err(|error| failed(error.into()))?;
        let password = self.given_password().map_err(failed)?.ok_or(Unopened::NeedsPassword)?;
        self.unlock(&password).map_err(failed)
    }
}

/// Returns whether the environment or a configuration names a repository.
fn is_named_by(configured: Option<&ArchiveConfiguration>) -> bool {
    let variables = environment::repository_variables();
    variables.repository.is_some() || variables.repository_file.is_some() || configured.is_some()
}

/// Returns the repository that the environment or a configuration names, for a server: it is opened when it
/// is first needed, and nobody is asked for its password. One that is not there yet is looked for again each
/// time.
///
/// # Errors
/// The address cannot be understood.
pub(crate) fn shared(session: &Session, configured: Option<ArchiveConfiguration>) -> Result<SharedArchive> {
    let is_named = is_named_by(configured.as_ref());
    let of = || ConfiguredRepository::of(&RepositoryOptions::default(), configured, session);
    let found = is_named.then(of).transpose()?;
    Ok(SharedArchive::new(move || found.as_ref().ok_or(Unopened::NotNamed)?.open_unasked()))
}

/// Opens the repository if one is named.
///
/// # Errors
/// As [`open_named`].
pub(crate) fn open_if_named(session: &Session) -> Result<Option<Repository>> {
    let is_named = ConfiguredRepository::is_named(&RepositoryOptions::default(), session)?;
    is_named.then(|| open_named(session)).transpose()
}

/// Returns the repository that the environment or the configuration names. It is opened once for the whole
/// command: its key takes time, and its password may have to be typed. Its index is read anew, so that it is
/// read under the lock, if there is to be one.
///
/// # Errors
/// None is named, or it cannot be opened.
pub(crate) fn open_named(session: &Session) -> Result<Repository> {
    let kept = &session.named_repository;
    if let Some(repository) = kept.get() {
        return Ok(repository.reread());
    }
    let repository = ConfiguredRepository::new(&RepositoryOptions::default(), session)?.open()?;
    Ok(kept.get_or_init(|| repository).reread())
}

/// Locks a repository that is named for reading, as [`ConfiguredRepository::lock_to_read`] does.
///
/// # Errors
/// Somebody else has it locked for himself alone, or no lock can be written.
pub(crate) fn lock_to_read(repository: &Repository, options: LockOptions) -> Result<ReadLock> {
    lock_unless(repository, (LockKind::Shared, RepositoryOptions::default().retry_lock), options)
}

fn lock_unless(
    repository: &Repository,
    (kind, patience): (LockKind, Duration),
    options: LockOptions,
) -> Result<ReadLock> {
    if options.no_lock {
        return Ok(ReadLock(None));
    }
    let way_out = |error: anyhow::Error| match error.downcast_ref() {
        Some(restic::Error::Disk(_) | restic::Error::Storage { .. }) => {
            anyhow!("{error}; to read a read-only repository, use --no-lock")
        }
        _ => error,
    };
    lock(repository, kind, patience).map(|lock| ReadLock(Some(lock))).map_err(way_out)
}

fn lock(repository: &Repository, kind: LockKind, patience: Duration) -> Result<HeldLock> {
    signals::listen().map_err(|error| anyhow!("cannot handle Ctrl-C: {error}"))?;
    let told = RefCell::new(String::new());
    let lock = repository.lock(kind, patience, &|what, helps| {
        // It is called each second, and whenever the holder of the lock changes.
        if told.replace(what.to_owned()) != what {
            output::complain(remedy::repository_sentence(what, helps));
        }
        progress::check()
    })?;
    signals::holds(Box::new(RepositoryLock(lock.releaser())));
    progress::check()?;
    Ok(lock)
}

/// The lock on a repository. A signal releases it before it ends the process.
#[derive(Debug)]
struct RepositoryLock(restic::LockReleaser);

impl signals::Lock for RepositoryLock {
    fn is_held(&self) -> bool {
        self.0.is_held()
    }

    fn give_up(&self) {
        self.0.release();
    }
}

/// Returns the address that the user means. `from` says what a file that holds it may be.
fn address_text(
    options: &RepositoryOptions,
    variables: &RepositoryVariables,
    configured: Option<&ArchiveConfiguration>,
    from: Source,
) -> Result<String> {
    if let Some(repository) = options.repo.as_ref().or(variables.repository.as_ref()) {
        return Ok(repository.clone());
    }
    if let Some(path) = &variables.repository_file {
        let bytes = disk::read_small(path, ADDRESS_BYTES_MAX, from)
            .map_err(|error| anyhow!("cannot read RESTIC_REPOSITORY_FILE {}: {error}", path.display()))?;
        return Ok(String::from_utf8_lossy(&bytes).trim().to_owned());
    }
    match configured {
        Some(archive) => Ok(archive.repository.clone()),
        None => bail!("{NO_REPOSITORY}"),
    }
}

/// Reads a time, such as 5m.
fn wait(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(digits) => (digits, text.as_bytes()[digits.len()]),
        None => return Err("write a number and s, m or h: 5m".to_owned()),
    };
    let number: u32 = digits.parse().map_err(|_| format!("\"{digits}\" is not a number"))?;
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
    fn waits_have_a_unit() {
        assert_eq!((wait("5m"), wait("0s")), (Ok(Duration::from_secs(300)), Ok(Duration::ZERO)));
        for mistake in ["", "5", "m", "-1s", "1.5h", "5d"] {
            assert!(wait(mistake).is_err(), "{mistake}");
        }
    }
}
