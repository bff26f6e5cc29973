//! Documents that the program writes: docs/cli.md and docs/man from its help, the sessions in documents and
//! the picture in README.md from its output.
//!
//! Input: the built program. Output: whether the documents are still what it would write; with UPDATE=1 they
//! are written anew. Knows nothing of what help says.

use rustix::pty::{self, OpenptFlags};
use rustix::termios::{self, Winsize};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use testkit::{Session, check_help_page, check_manual_pages};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pneu");

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
fn the_command_line_is_documented() {
    let introduction = "\
# The command line

What `pneu --help` and `pneu COMMAND --help` print. Queries are explained in [query.md](query.md), output \
and \
exit codes in [OUTPUT.md](OUTPUT.md).";
    let checked = check_help_page(&project("docs/cli.md"), introduction, Path::new(PROGRAM));
    checked.unwrap_or_else(|what| panic!("{what}"));
}

#[test]
fn the_manual_pages_are_those_of_the_program() {
    let is_own = |name: &str| !name.starts_with("pneu-tarantool");
    let checked = check_manual_pages(&project("docs/man"), is_own, Path::new(PROGRAM));
    checked.unwrap_or_else(|what| panic!("{what}"));
}

/// Documents whose commands are run.
const TOURS: [&str; 8] = [
    "README.md",
    "docs/tutorial.md",
    "docs/backup.md",
    "docs/from-mu.md",
    "docs/from-notmuch.md",
    "docs/from-mairix.md",
    "docs/from-neomutt.md",
    "docs/from-restic.md",
];

#[test]
fn commands_in_documents_print_what_is_shown() {
    let failures: Vec<String> = TOURS
        .iter()
        .filter_map(|page| testkit::check_tour(&project(page), Path::new(PROGRAM)).err())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The session in the picture of README.md.
const SESSION: [&str; 5] = [
    "pneu find 'engine or invoice' --max 5",
    "pneu find --threads 'subject:\"north line\"'",
    "pneu find date:2025-08.. 'file:*.pdf' --fields 'date,size,attachment'",
    "pneu count café",
    "pneu view 'from:bo minutes' | head -n 12",
];
const SESSION_COLUMNS: u16 = 88;

#[test]
fn the_picture_of_a_session_is_that_of_the_program() {
    let path = project("docs/session.svg");
    let mut session = Session::new(Path::new(PROGRAM)).unwrap();
    assert!(session.run("pneu index").unwrap().is_success);
    let mut shown = String::new();
    for line in SESSION {
        let printed = on_terminal(session.command(line), SESSION_COLUMNS);
        shown.push_str(&format!("\x1b[32m$\x1b[0m \x1b[1m{line}\x1b[0m\n{printed}"));
    }
    shown = shown.replace(session.home().to_str().unwrap(), "~");
    let picture = testkit::draw_terminal(&shown, "A session with pneu", SESSION_COLUMNS.into());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &picture).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == picture, "{} is out of date: cargo xtask docs", path.display());
}

/// Returns all that a command shows on a terminal of this width.
fn on_terminal(mut command: Command, columns: u16) -> String {
    let master = pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    pty::grantpt(&master).unwrap();
    pty::unlockpt(&master).unwrap();
    let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    termios::tcsetwinsize(&master, size).unwrap();
    let name = pty::ptsname(&master, Vec::new()).unwrap();
    let path = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
    let terminal = || fs::OpenOptions::new().read(true).write(true).open(path).unwrap();
    command.env("TERM", "xterm").env("PAGER", "").stdout(terminal()).stderr(terminal());
    let mut child = command.spawn().unwrap();
    // The terminal ends when nobody has it open: neither the program nor this command.
    drop(command);
    let (mut shown, mut master) = (Vec::new(), fs::File::from(master));
    // Linux ends this with an error, EIO.
    let _ = master.read_to_end(&mut shown);
    assert!(child.wait().unwrap().success());
    String::from_utf8(shown).unwrap().replace("\r\n", "\n")
}
