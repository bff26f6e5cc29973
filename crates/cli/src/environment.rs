//! Reads the surroundings of a program that works with mail and repositories: environment variables, user,
//! machine. Only this file and `terminal::environment` do.
//!
//! Returns values, and does not know what they are used for.

use terminal::environment::is_waiting_left_out;
pub(crate) use terminal::environment::{arguments, clock_ns, current_directory, now, seed, threads};

use restic::Password;
use restic::address::Credentials;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;
use work::{Cancel, Context};

/// Returns the path of this program.
///
/// # Errors
/// The system does not tell.
pub(crate) fn program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// The surroundings of the process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Surroundings {
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// Where programs keep data, and so the parent of the default data directory.
    pub data_home: Option<PathBuf>,
    /// Where programs keep their configuration.
    pub config_home: Option<PathBuf>,
    /// Whether cleanup is to be done the slow way (`PNEU_NO_INCREMENTAL_CLEANUP`), to compare with.
    pub legacy_cleanup: bool,
    /// What the program prints to.
    pub terminal: terminal::environment::Surroundings,
    /// Where the user's mail is, if set (`MAILDIR`).
    pub maildir: Option<PathBuf>,
    /// Where programs keep caches.
    pub cache_home: Option<PathBuf>,
    /// Where notmuch's configuration is, if set (`NOTMUCH_CONFIG`).
    pub notmuch_config: Option<PathBuf>,
    /// The user's name (`USER`).
    pub user: Option<String>,
}

/// The settings for repositories in the environment, in restic's variables. Never printed, because it
/// contains keys.
pub(crate) struct RepositoryVariables {
    /// `RESTIC_REPOSITORY`: its address.
    pub repository: Option<String>,
    /// `RESTIC_REPOSITORY_FILE`: a file that holds it.
    pub repository_file: Option<PathBuf>,
    /// `RESTIC_PASSWORD_FILE`: a file that holds it.
    pub password_file: Option<PathBuf>,
    /// `RESTIC_PASSWORD_COMMAND`: a program that prints it.
    pub password_command: Option<String>,
    /// The access keys for object stores.
    pub credentials: Credentials,
    /// Where programs keep caches.
    pub cache_home: Option<PathBuf>,
}

/// Returns the settings for repositories in the environment.
pub(crate) fn repository_variables() -> RepositoryVariables {
    repository_from_variables(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
}

/// Returns the password of a repository that the environment holds (`RESTIC_PASSWORD`).
pub(crate) fn repository_password() -> Option<Password> {
    let value = std::env::var_os("RESTIC_PASSWORD").filter(|value| !value.is_empty())?;
    Some(Password::new(value.into_vec()))
}

/// Removes passwords and keys from the environment of a program that does not need them.
pub(crate) fn without_secrets(command: &mut Command) -> &mut Command {
    pneu::SECRET_VARIABLES.iter().fold(command, |command, name| command.env_remove(name))
}

/// Returns the variables for commands that read attachments.
pub(crate) fn filter_variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os().filter(|(name, _)| pneu::is_for_filters(name)).collect()
}

fn repository_from_variables(variable: impl Fn(&str) -> Option<OsString>) -> RepositoryVariables {
    // What is no text is not left out: then another repository might be used.
    let text = |name| variable(name).map(|value| value.to_string_lossy().into_owned());
    let directory = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    RepositoryVariables {
        repository: text("RESTIC_REPOSITORY"),
        repository_file: variable("RESTIC_REPOSITORY_FILE").map(PathBuf::from),
        password_file: variable("RESTIC_PASSWORD_FILE").map(PathBuf::from),
        password_command: text("RESTIC_PASSWORD_COMMAND"),
        credentials: Credentials {
            access_key_id: text("AWS_ACCESS_KEY_ID"),
            secret_access_key: text("AWS_SECRET_ACCESS_KEY"),
            session_token: text("AWS_SESSION_TOKEN"),
            region: text("AWS_DEFAULT_REGION"),
        },
        cache_home: directory("XDG_CACHE_HOME").or_else(|| Some(directory("HOME")?.join(".cache"))),
    }
}

/// Returns the surroundings for work on repositories.
pub(crate) fn archive_surroundings() -> restic::Surroundings {
    let context =
        Context::new(clock_ns, threads()).with_cancel(Cancel::when(terminal::signals::is_interrupted));
    let surroundings = restic::Surroundings::of_this_process(context);
    if is_waiting_left_out() { restic::Surroundings { sleep: |_| (), ..surroundings } } else { surroundings }
}

/// Returns the number of the user that the process acts as.
pub(crate) fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns how long an object store may send nothing.
pub(crate) fn idle_max() -> Duration {
    if is_waiting_left_out() { IDLE_MAX_OF_TESTS } else { restic::address::IDLE_MAX }
}

/// Enough for a server on the same machine.
const IDLE_MAX_OF_TESTS: Duration = Duration::from_millis(500);
/// Returns the surroundings of the process.
pub(crate) fn surroundings() -> Surroundings {
    Surroundings {
        terminal: terminal::environment::surroundings(),
        ..from_variables(|name| std::env::var_os(name))
    }
}

/// Reads variables by the rules of the XDG base directory specification: a path that is not absolute is
/// ignored.
fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Surroundings {
    let directory = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = directory("HOME");
    let below_home = |path| home.as_ref().map(|home| home.join(path));
    let text = |name| variable(name).and_then(|value| value.into_string().ok());
    let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
    Surroundings {
        data_home: directory("XDG_DATA_HOME").or_else(|| below_home(".local/share")),
        config_home: directory("XDG_CONFIG_HOME").or_else(|| below_home(".config")),
        maildir: directory("MAILDIR"),
        cache_home: directory("XDG_CACHE_HOME").or_else(|| below_home(".cache")),
        notmuch_config: directory("NOTMUCH_CONFIG"),
        user: text("USER"),
        legacy_cleanup: is_set("PNEU_NO_INCREMENTAL_CLEANUP"),
        home,
        ..Surroundings::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &[(&str, &str)]) -> Surroundings {
        from_variables(|name| {
            pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn directories_follow_the_specification() {
        let plain = from(&[("HOME", "/home/ana")]);
        assert_eq!(plain.data_home, Some("/home/ana/.local/share".into()));
        assert_eq!(plain.config_home, Some("/home/ana/.config".into()));
        let named =
            from(&[("HOME", "/home/ana"), ("XDG_DATA_HOME", "/data"), ("XDG_CONFIG_HOME", "not/absolute")]);
        assert_eq!(named.data_home, Some("/data".into()));
        assert_eq!(named.config_home, Some("/home/ana/.config".into()));
        assert_eq!(from(&[]), Surroundings::default());
    }

    #[test]
    fn the_slow_cleanup_is_for_whoever_asks() {
        assert!(from(&[("PNEU_NO_INCREMENTAL_CLEANUP", "yes")]).legacy_cleanup);
        assert!(!from(&[("PNEU_NO_INCREMENTAL_CLEANUP", "")]).legacy_cleanup);
        assert!(!from(&[]).legacy_cleanup);
    }
}
