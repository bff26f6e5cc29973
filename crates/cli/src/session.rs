//! What every command uses: the place of the index, the roots, the abilities of the terminal.
//!
//! Made of the options of all commands and the surroundings of the process. Opens mailboxes and outputs. Does
//! not know any command.

use crate::environment::{self, Surroundings};
use crate::exit::{NotFound, Outcome};
use crate::options::{Common, Paging};
use crate::output::Output;
use crate::pager::{self, PagerOptions};
use anyhow::{Context, Result, anyhow, bail};
use disk::RealDisk;
use index::{Environment, Root};
use pneu::setup::configuration::{self as config, Configuration};
use pneu::setup::discover::Whereabouts;
use pneu::setup::roots::{self, GivenRoot, RootsError};
use pneu::{Host, Settings, View};
use restic::Repository;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use terminal::screen::Terminal;

/// Where the configuration lies below the directory of all configurations.
const CONFIGURATION: &str = "pneu/config.toml";
/// The default data directory below the directory of all data.
const DATA: &str = "pneu";

/// What a command uses.
#[derive(Debug)]
pub(crate) struct Session {
    /// Where the index is, and what the library may use.
    pub environment: Environment,
    /// Made when the configuration is needed.
    host: OnceLock<Host>,
    /// The repository that the environment or the configuration names, once it was opened.
    pub named_repository: OnceLock<Repository>,
    /// The roots that the command line names.
    pub given_roots: Vec<GivenRoot>,
    /// The abilities of standard output.
    pub terminal: Terminal,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
    /// Whether there is a terminal, so that the user can be asked.
    pub can_ask: bool,
    /// Whether to print results and errors only.
    pub is_quiet: bool,
    /// Whether cleanup is to be done the slow way.
    pub wants_legacy_cleanup: bool,
    /// Where the configuration is, or would be.
    pub configuration: Option<PathBuf>,
    /// The user's home directory.
    pub home: Option<PathBuf>,
    /// Where to look for the user's mail.
    pub whereabouts: Whereabouts,
    /// Returns the definition of the command line as help shows it.
    pub definition: fn() -> clap::Command,
    screen: terminal::environment::Surroundings,
}

impl Session {
    /// Makes it of the options, the surroundings and the definition of the command line as help shows it.
    ///
    /// # Errors
    /// There is no place for the index; a root is not valid.
    pub(crate) fn new(
        common: &Common,
        surroundings: Surroundings,
        definition: fn() -> clap::Command,
    ) -> Result<Session> {
        let screen = surroundings.terminal;
        let data = match (&common.data, &surroundings.data_home) {
            (Some(data), _) if data.is_absolute() => data.clone(),
            (Some(data), _) => {
                environment::current_directory().context("the current directory is gone")?.join(data)
            }
            (None, Some(home)) => home.join(DATA),
            (None, None) => {
                bail!("HOME is not set; give a directory for the index with --data DIR")
            }
        };
        let given_roots = if common.maildir.is_empty() {
            Vec::new()
        } else {
            let current = environment::current_directory().context("the current directory is gone")?;
            roots::from_arguments(&common.maildir, &current).map_err(|error| refused(&error))?
        };
        let environment = Environment {
            disk: Arc::new(RealDisk),
            data,
            seed: environment::seed(),
            holder: format!("pneu, process {}", std::process::id()),
            changes_kept_seconds: index::CHANGES_KEPT_SECONDS,
            text_slots: index::TEXT_SLOTS,
            opened: index::Opened::default(),
            context: work::Context::new(environment::clock_ns, environment::threads()),
        };
        let whereabouts = Whereabouts {
            home: surroundings.home.clone(),
            config_home: surroundings.config_home.clone(),
            cache_home: surroundings.cache_home,
            maildir: surroundings.maildir,
            notmuch_config: surroundings.notmuch_config,
            user: surroundings.user,
        };
        Ok(Session {
            environment,
            host: OnceLock::new(),
            named_repository: OnceLock::new(),
            given_roots,
            terminal: Terminal::new(screen.columns, screen.no_color, common.color.unwrap_or_default()),
            stderr_is_terminal: screen.stderr_is_terminal,
            can_ask: screen.stdin_is_terminal && screen.stderr_is_terminal,
            is_quiet: common.quiet,
            wants_legacy_cleanup: surroundings.legacy_cleanup,
            configuration: surroundings.config_home.map(|home| home.join(CONFIGURATION)),
            home: surroundings.home,
            whereabouts,
            definition,
            screen,
        })
    }

    /// Returns the same session for another thread. It reads the configuration for itself.
    pub(crate) fn for_thread(&self) -> Session {
        Session {
            environment: self.environment.clone(),
            host: OnceLock::new(),
            named_repository: OnceLock::new(),
            given_roots: self.given_roots.clone(),
            terminal: self.terminal,
            stderr_is_terminal: self.stderr_is_terminal,
            can_ask: self.can_ask,
            is_quiet: self.is_quiet,
            wants_legacy_cleanup: self.wants_legacy_cleanup,
            configuration: self.configuration.clone(),
            home: self.home.clone(),
            whereabouts: self.whereabouts.clone(),
            definition: self.definition,
            screen: self.screen.clone(),
        }
    }

    /// Returns the library's host of the index.
    ///
    /// # Errors
    /// As [`Session::configured`].
    pub(crate) fn host(&self) -> Result<&Host> {
        if let Some(host) = self.host.get() {
            return Ok(host);
        }
        let settings = self.settings(self.read_configuration()?);
        Ok(self.host.get_or_init(|| Host::new(settings)))
    }

    /// Returns the settings of a host with a configuration.
    pub(crate) fn settings(&self, configuration: Configuration) -> Settings {
        let zone = environment::now().time_zone().clone();
        let filter_variables = environment::filter_variables();
        Settings { environment: self.environment.clone(), configuration, zone, filter_variables }
    }

    /// Opens the index for reading.
    ///
    /// # Errors
    /// There is none, it is damaged or newer; the command line names a root that is not in it; the
    /// configuration cannot be read.
    pub(crate) fn view(&self) -> Result<View> {
        let view = self.host()?.open_view()?;
        self.expect_given(view.roots())?;
        Ok(view)
    }

    /// Opens the index for work that does not need it. Ignores all errors of the index and the configuration.
    pub(crate) fn view_if_sound(&self) -> Option<View> {
        self.with_any_host(|host| host.open_view().ok())
    }

    /// Does what needs no configuration, and may be done with a wrong one.
    pub(crate) fn with_any_host<T>(&self, work: impl FnOnce(&Host) -> T) -> T {
        match self.host() {
            Ok(host) => work(host),
            Err(_) => work(&Host::new(self.settings(Configuration::default()))),
        }
    }

    /// Returns the roots that are indexed.
    ///
    /// # Errors
    /// As [`Session::view`].
    pub(crate) fn roots(&self) -> Result<Vec<Root>> {
        let roots = index::roots(&self.environment)?;
        self.expect_given(&roots)?;
        Ok(roots)
    }

    /// Refuses a root of the command line that is not among those that are indexed.
    fn expect_given(&self, indexed: &[Root]) -> Result<()> {
        for given in &self.given_roots {
            if !indexed.iter().any(|root| root.path == given.root.path) {
                let path = given.root.path.display();
                bail!("{path} is not indexed; run \"pneu index --maildir {path}\" first");
            }
        }
        Ok(())
    }

    /// Ends a command that found nothing, with the message `what` unless `--quiet` is given.
    ///
    /// # Errors
    /// Always, unless only results are to be printed: the sentence.
    pub(crate) fn nothing(&self, what: impl Into<String>) -> Result<Outcome> {
        if self.is_quiet { Ok(Outcome::Nothing) } else { Err(NotFound(what.into()).into()) }
    }

    /// Ends a command that has changed something: prints a line that says what, unless `--quiet` is given.
    /// The end is `outcome`, unless the line cannot be written: see [`Output::conclude`].
    pub(crate) fn conclude(&self, done: &str, outcome: Outcome) -> Outcome {
        self.output().conclude((!self.is_quiet).then_some(done), outcome)
    }

    /// Takes standard output.
    pub(crate) fn output(&self) -> Output {
        Output::new(self.terminal)
    }

    /// Returns whether the locale shows more than ASCII.
    pub(crate) fn shows_unicode(&self) -> bool {
        self.screen.is_utf8
    }

    /// Takes standard output; on a terminal through a pager, unless the user wants none.
    pub(crate) fn paged_output(&self, paging: Paging) -> Output {
        if paging.no_pager || !self.terminal.is_terminal() {
            return self.output();
        }
        let screen = &self.screen;
        // Errors in the configuration do not stop the output.
        let configured = || self.configured().ok().and_then(|configuration| configuration.pager.clone());
        let command = screen.own_pager.clone().or_else(configured).or_else(|| screen.pager.clone());
        let options = PagerOptions {
            command: command.as_deref(),
            has_less_options: screen.has_less_options,
            has_less_charset: screen.has_less_charset,
            has_lv_options: screen.has_lv_options,
        };
        match pager::start(options, &pneu::SECRET_VARIABLES) {
            Some(started) => Output::paged(self.terminal, started),
            None => self.output(),
        }
    }

    /// Returns the configuration; an empty one if there is no file.
    ///
    /// # Errors
    /// It cannot be read, or is not valid.
    pub(crate) fn configured(&self) -> Result<&Configuration> {
        Ok(&self.host()?.settings().configuration)
    }

    /// Reads the configuration, which is empty if there is no file.
    ///
    /// # Errors
    /// It cannot be read, or is not valid.
    fn read_configuration(&self) -> Result<Configuration> {
        Ok(self.configuration_there()?.unwrap_or_default())
    }

    /// Reads the configuration as it is now. Returns `None` if there is no file.
    ///
    /// # Errors
    /// It cannot be read, or is not valid.
    pub(crate) fn configuration_there(&self) -> Result<Option<Configuration>> {
        let Some(path) = &self.configuration else { return Ok(None) };
        match config::read(path) {
            Ok(text) => config::parse(&text, self.home.as_deref())
                .map(Some)
                .map_err(|what| anyhow!("configuration {}: {what}", path.display())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(anyhow!("cannot read the configuration {}: {error}", path.display())),
        }
    }
}

fn refused(error: &RootsError) -> anyhow::Error {
    match error {
        RootsError::Unnamed => {
            anyhow!("--maildir: several directories have a name each: --maildir work=DIR --maildir home=DIR")
        }
        other => anyhow!("--maildir: {other}"),
    }
}
