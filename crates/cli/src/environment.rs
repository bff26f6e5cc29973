//! Reads the surroundings of a program that works with mail and repositories: environment variables, user,
//! machine. Only this file and `terminal::environment` do.
//!
//! Returns values, and does not know what they are used for.

use terminal::environment::is_waiting_left_out;
pub(crate) use terminal::environment::{arguments, clock_ns, current_directory, now, seed, thread_count};

use disk::Source;
use restic::Password;
use restic::address::Credentials;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use work::{Cancel, Context};

/// Variables that hold passwords and keys.
pub(crate) const SECRETS: [&str; 3] = ["RESTIC_PASSWORD", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

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
    SECRETS.iter().fold(command, |command, name| command.env_remove(name))
}

fn repository_from_variables(variable: impl Fn(&str) -> Option<OsString>) -> RepositoryVariables {
    let text = |name| variable(name).and_then(|value| value.into_string().ok());
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
    restic::Surroundings {
        context: Context::new(clock_ns, thread_count())
            .with_cancel(Cancel::when(terminal::signals::is_interrupted)),
        fill_random,
        sleep: if is_waiting_left_out() { |_| () } else { std::thread::sleep },
        hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        username: user_name(rustix::process::geteuid().as_raw()),
        uid: rustix::process::geteuid().as_raw(),
        gid: rustix::process::getegid().as_raw(),
        process: std::process::id(),
        is_alive,
        place: place(),
        started,
    }
}

/// Returns the number of the user that the process acts as.
pub(crate) fn user_id() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Returns how long an object store may send nothing.
pub(crate) fn idle_max() -> Duration {
    if is_waiting_left_out() { IDLE_MAX_OF_TESTS } else { restic::address::IDLE_MAX }
}

/// Fills a buffer with random bytes from the kernel.
fn fill_random(mut bytes: &mut [u8]) {
    while !bytes.is_empty() {
        match rustix::rand::getrandom(&mut *bytes, rustix::rand::GetRandomFlags::empty()) {
            Ok(count) => bytes = &mut bytes[count..],
            Err(rustix::io::Errno::INTR) => {}
            // Without random bytes nothing can be encrypted safely, so the program cannot continue.
            Err(error) => panic!("the kernel gives no random bytes: {error}"),
        }
    }
}

fn is_alive(process: u32) -> bool {
    let known = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    // A process of another user cannot be signalled, but exists.
    known.is_some_and(|process| {
        !matches!(rustix::process::test_kill_process(process), Err(rustix::io::Errno::SRCH))
    })
}

/// Returns the boot of the kernel and the namespaces within which process numbers and start times are unique;
/// `None` if the system does not tell, or if /proc belongs to another namespace.
fn place() -> Option<String> {
    let own = std::fs::read_link("/proc/self").ok()?;
    (own.to_str()? == std::process::id().to_string()).then_some(())?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = |name| std::fs::read_link(Path::new("/proc/self/ns").join(name)).ok();
    // Older kernels have no time namespaces.
    let (processes, time) = (namespace("pid")?, namespace("time").unwrap_or_default());
    Some(format!("{} {} {}", boot.trim(), processes.display(), time.display()))
}

/// Returns when a process started, in ticks since boot.
fn started(process: u32) -> Option<u64> {
    /// The position of the time after the program's name, which may contain spaces and parentheses.
    const FIELD: usize = 19;
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    stat.rsplit_once(')')?.1.split_whitespace().nth(FIELD)?.parse().ok()
}

/// Where the system keeps names of users, and the largest size that is read.
const USERS: &str = "/etc/passwd";
const USERS_BYTES_MAX: usize = 64 << 20;

/// Returns a user's name from the system's file, or else the number.
fn user_name(number: u32) -> String {
    let users = disk::read_small(Path::new(USERS), USERS_BYTES_MAX, Source::File).unwrap_or_default();
    let users = String::from_utf8_lossy(&users);
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == number.to_string()).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| number.to_string())
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

    #[test]
    fn a_process_is_known_by_its_place_and_its_start() {
        let own = started(std::process::id()).unwrap();
        assert_eq!((started(std::process::id()), started(u32::MAX)), (Some(own), None));
        assert!(started(1).is_some_and(|first| first <= own));
        let place = place().unwrap();
        assert!(place.contains(" pid:[") && place.split(' ').count() == 3, "{place}");
    }
}
