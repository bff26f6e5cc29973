//! A home directory with mail in it, and the program run there as a user would.
//!
//! Input: messages and arguments. Output: exit codes and what was printed. Does not depend on what is tested.

use rustix::pty::{self, OpenptFlags};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// The user that has no rights anywhere.
const NOBODY: &str = "65534";

/// A home directory; the mail is in `Mail`, the index where it is by default.
pub(crate) struct Home {
    directory: TempDir,
}

/// What a run of the program left.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) bytes: Vec<u8>,
}

impl Home {
    /// Makes a home with an empty Maildir.
    pub(crate) fn new() -> Home {
        let home = Home { directory: tempfile::tempdir().unwrap() };
        home.folder("");
        home
    }

    /// Makes a home with [`SAMPLE`] indexed.
    pub(crate) fn indexed() -> Home {
        let home = Home::new();
        for (folder, name, subject, body) in SAMPLE {
            home.deliver(folder, name, &letter(name.split(':').next().unwrap(), subject, body));
        }
        home.first_index();
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn mail(&self) -> PathBuf {
        self.path().join("Mail")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path().join(".local/share/pneu")
    }

    pub(crate) fn index_directory(&self) -> PathBuf {
        self.data().join("index")
    }

    /// Makes a folder with its three directories.
    pub(crate) fn folder(&self, folder: &str) -> PathBuf {
        let path = self.mail().join(folder);
        for place in ["cur", "new", "tmp"] {
            fs::create_dir_all(path.join(place)).unwrap();
        }
        path
    }

    /// Writes a message into a folder's `cur`.
    pub(crate) fn deliver(&self, folder: &str, name: &str, content: &[u8]) -> PathBuf {
        self.deliver_bytes(folder, name.as_bytes(), content)
    }

    /// Writes a message into a folder's `cur`, under a name that may not be text.
    pub(crate) fn deliver_bytes(&self, folder: &str, name: &[u8], content: &[u8]) -> PathBuf {
        let path = self.folder(folder).join("cur").join(OsStr::from_bytes(name));
        fs::write(&path, content).unwrap();
        path
    }

    /// Returns the command that runs the program here, with nothing of the test's own environment.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pneu"));
        command.args(arguments).env_clear().current_dir(self.path()).stdin(Stdio::null());
        command
            .env("HOME", self.path())
            .env("TZ", "UTC")
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
        command
    }

    /// Runs the program from a shell that first does `setup`, to its limits or its umask.
    pub(crate) fn pneu_after(&self, setup: &str, arguments: &[&str]) -> Run {
        let own = self.command(arguments);
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("{setup}; exec \"$@\""), "sh"])
            .arg(own.get_program())
            .args(own.get_args());
        let variables = own.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.env_clear().envs(variables).current_dir(self.path());
        run(&mut command)
    }

    /// Runs the program.
    pub(crate) fn pneu(&self, arguments: &[&str]) -> Run {
        run(&mut self.command(arguments))
    }

    /// Runs the program with a terminal of 80 columns as standard output, and returns what a person sees.
    pub(crate) fn on_terminal(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Run {
        let master = pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        pty::grantpt(&master).unwrap();
        pty::unlockpt(&master).unwrap();
        let name = pty::ptsname(&master, Vec::new()).unwrap();
        let terminal =
            OpenOptions::new().read(true).write(true).open(OsStr::from_bytes(name.as_bytes())).unwrap();
        let mut command = self.command(arguments);
        command.env("TERM", "xterm").envs(variables.iter().copied());
        let mut command = by_env(&command, &["--default-signal=INT,TERM,HUP"]);
        command.stdout(terminal).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // The terminal is at its end when nobody has it open: neither the program nor we, by the command.
        drop(command);
        let (mut shown, mut master) = (Vec::new(), fs::File::from(master));
        let _ = master.read_to_end(&mut shown);
        let run = end(child);
        let out = String::from_utf8_lossy(&shown).replace("\r\n", "\n");
        Run { out, bytes: shown, ..run }
    }

    /// Runs the program with a terminal as input and outputs, at which somebody types this. Returns all that
    /// a person sees as `out`.
    pub(crate) fn answering(&self, arguments: &[&str], answer: &str) -> Run {
        let master = pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        pty::grantpt(&master).unwrap();
        pty::unlockpt(&master).unwrap();
        let name = pty::ptsname(&master, Vec::new()).unwrap();
        let terminal =
            || OpenOptions::new().read(true).write(true).open(OsStr::from_bytes(name.as_bytes())).unwrap();
        let mut master = fs::File::from(master);
        let mut command = self.command(arguments);
        command.env("TERM", "xterm").env("PAGER", "");
        command.stdin(terminal()).stdout(terminal()).stderr(terminal());
        let mut child = command.spawn().unwrap();
        drop(command);
        master.write_all(answer.as_bytes()).unwrap();
        let mut shown = Vec::new();
        let _ = master.read_to_end(&mut shown);
        let code = child.wait().unwrap().code();
        let out = String::from_utf8_lossy(&shown).replace("\r\n", "\n");
        Run { code, out, err: String::new(), bytes: shown }
    }

    /// Runs the program and returns what it printed; fails unless it ended with 0 and said nothing else.
    pub(crate) fn good(&self, arguments: &[&str]) -> String {
        let run = self.pneu(arguments);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}: {run:?}");
        run.out
    }

    /// Writes the configuration.
    pub(crate) fn configure(&self, text: &str) {
        let directory = self.path().join(".config/pneu");
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("config.toml"), text).unwrap();
    }

    /// Indexes for the first time.
    pub(crate) fn first_index(&self) -> String {
        self.good(&["index", "--maildir", "Mail"])
    }

    /// Returns the subjects that a query finds.
    pub(crate) fn subjects(&self, query: &str) -> Vec<String> {
        let run = self.pneu(&["find", "--fields", "s", query]);
        assert!(matches!(run.code, Some(0 | 1)), "{query}: {run:?}");
        run.out.lines().map(str::to_owned).collect()
    }

    /// Starts the program and leaves it running, its outputs to be read.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs the program as a user for whom modes count, as they do not for root: all of the home then is that
    /// user's.
    pub(crate) fn without_rights(&self, arguments: &[&str]) -> Run {
        if is_root() {
            run_ok(Command::new("chown").args(["-R", &format!("{NOBODY}:{NOBODY}")]).arg(self.path()));
        }
        self.unprivileged(arguments)
    }

    /// Does the same after a shell has done `setup`.
    pub(crate) fn without_rights_after(&self, setup: &str, arguments: &[&str]) -> Run {
        if is_root() {
            run_ok(Command::new("chown").args(["-R", &format!("{NOBODY}:{NOBODY}")]).arg(self.path()));
        }
        self.unprivileged_after(setup, arguments)
    }

    /// Runs the program as a user who owns nothing here, if we may; else as ourselves.
    pub(crate) fn unprivileged(&self, arguments: &[&str]) -> Run {
        self.unprivileged_after("true", arguments)
    }

    fn unprivileged_after(&self, setup: &str, arguments: &[&str]) -> Run {
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(self.path(), Permissions::from_mode(0o755)).unwrap();
        let copy = place.path().join("pneu");
        // A process of its own makes the copy: a descriptor for writing that another thread's child had
        // inherited here would keep it from being run.
        run_ok(Command::new("cp").arg(env!("CARGO_BIN_EXE_pneu")).arg(&copy));
        let script = format!(
            "{setup}; if test $(id -u) = 0; then exec setpriv --reuid={NOBODY} --regid={NOBODY} \
             --clear-groups \"$@\"; else exec \"$@\"; fi"
        );
        let own = self.command(arguments);
        let mut command = Command::new("sh");
        command
            .args(["-c", &script, "sh"])
            .arg(&copy)
            .args(own.get_args())
            .env_clear()
            .current_dir(self.path());
        command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
        run(&mut command)
    }
}

/// Says whether the tests run as root, for whom no mode counts.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn run_ok(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command) -> Run {
    outcome(command.output().unwrap())
}

/// Runs a command with something on its standard input.
pub(crate) fn run_with_input(command: &mut Command, input: &[u8]) -> Run {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that ends early, for instance with an error, need not read its input.
    if let Err(error) = child.stdin.take().unwrap().write_all(input) {
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "{error}");
    }
    outcome(child.wait_with_output().unwrap())
}

/// Returns the same command, started by env(1) with these options. With `--default-signal=..` it is started
/// as a shell does it for a user, who ignores no signal, whatever this test was started by.
pub(crate) fn by_env(command: &Command, env: &[&str]) -> Command {
    let mut started = Command::new("env");
    started.args(env).arg(command.get_program()).args(command.get_args());
    started.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    started.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::null());
    started
}

/// Waits for a started program.
pub(crate) fn end(child: Child) -> Run {
    outcome(child.wait_with_output().unwrap())
}

fn outcome(output: Output) -> Run {
    Run {
        code: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
        bytes: output.stdout,
    }
}

/// Messages that most tests begin with: folder, file name, subject, text. Dates rise, a day each; sizes with
/// the text.
pub(crate) const SAMPLE: [(&str, &str, &str, &str); 4] = [
    ("", "1:2,S", "First steps", "hello pneumatic world"),
    ("", "2:2,", "Second thoughts", "hello again, with more words than before"),
    ("lists/rust", "3:2,FS", "Third time", "tubes under the city"),
    (
        ".Archive.2024",
        "4:2,S",
        "A fourth",
        "dispatch by dispatch by dispatch, letter after letter, longest of all",
    ),
];

/// Returns a message with so many words that its text goes to a file.
pub(crate) fn long_letter(id: &str, subject: &str, body: &str) -> Vec<u8> {
    let words: Vec<String> = (0..6000).map(|number| format!("w{number}")).collect();
    letter(id, subject, &format!("{body}\n{}", words.join("\n")))
}

/// Returns a message. Its Message-ID is `ID@example.org` and its day of March 2024 the number.
pub(crate) fn letter(id: &str, subject: &str, body: &str) -> Vec<u8> {
    let day: u32 =
        id.bytes().filter(u8::is_ascii_digit).fold(0, |day, digit| (day * 10 + u32::from(digit - b'0')) % 27);
    format!(
        "From: Ana Example <ana@example.org>\nTo: bo@example.org\nSubject: {subject}\nDate: {:02} Mar 2024 \
         12:00:00 +0000\n\
         Message-ID: <{id}@example.org>\n\n{body}\n",
        day + 1
    )
    .into_bytes()
}
