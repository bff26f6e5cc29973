//! Documents that the program itself writes: docs/tarantool-cli.md and docs/man from its help, and the output
//! of the commands in docs/tarantool.md.
//!
//! Checks that the documents are what the built program would write; with UPDATE=1 they are written anew.

use std::path::{Path, PathBuf};
use testkit::{Session, check_help_page, check_manual_pages, check_tour_in, tarantool};

const PROGRAM: &str = env!("CARGO_BIN_EXE_pneu-tarantool");

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

#[test]
fn the_command_line_is_documented() {
    let introduction = "\
# The command line of pneu-tarantool

What `pneu-tarantool --help` and `pneu-tarantool COMMAND --help` print. [tarantool.md](tarantool.md) tells \
what it is for,
[OUTPUT.md](OUTPUT.md) describes output and exit codes.";
    let checked = check_help_page(&project("docs/tarantool-cli.md"), introduction, Path::new(PROGRAM));
    checked.unwrap_or_else(|what| panic!("{what}"));
}

#[test]
fn the_manual_pages_are_those_of_the_program() {
    let is_own = |name: &str| name.starts_with("pneu-tarantool");
    let checked = check_manual_pages(&project("docs/man"), is_own, Path::new(PROGRAM));
    checked.unwrap_or_else(|what| panic!("{what}"));
}

#[test]
fn the_morning_after_a_crash_is_as_it_is_told() {
    let directory = tempfile::tempdir().unwrap();
    // The commands begin and end with Tarantool.
    let Some(_) = tarantool(directory.path(), "os.exit(0)") else { return };
    let crashed = Path::new("testdata/tarantool-crash/shop");
    let session = Session::with(Path::new(PROGRAM), crashed, "shop").unwrap();
    check_tour_in(session, &project("docs/tarantool.md")).unwrap_or_else(|what| panic!("{what}"));
}
