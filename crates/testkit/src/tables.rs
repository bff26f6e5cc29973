//! Other programs that read Parquet and Arrow files: DuckDB, polars and Arrow's own library; and Python's
//! reader of CSV.
//!
//! Input: a file. Output: its rows as each of them sees it. Does not know what is in it.

use crate::ask::{is_ci, may_ask};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints the rows of a file.
const SCRIPT: &str = include_str!("tables.py");
/// What each of them can read.
const READERS: [(&str, &[&str]); 4] = [
    ("duckdb", &["parquet"]),
    ("polars", &["parquet", "arrow"]),
    ("pyarrow", &["parquet", "arrow"]),
    ("csv", &["csv"]),
];

/// Returns the rows of a file as JSON, as each reader of its format sees them, with the reader's name. The
/// format is known by the end of the file's name: `.parquet`, `.arrow` or `.csv`. Times are in milliseconds
/// since 1970; of CSV all values are texts.
///
/// If there is no Python with these readers, prints a line and returns none; the test is then skipped.
///
/// # Panics
/// If there is none though CI is `true`, or a reader refuses the file.
pub fn table_rows(path: &Path) -> Vec<(&'static str, Vec<String>)> {
    let python = python();
    let imports = "import duckdb, polars, pyarrow";
    let is_there =
        Command::new(&python).args(["-c", imports]).output().is_ok_and(|output| output.status.success());
    if !may_ask("Python with duckdb, polars and pyarrow", ".ci/tables installs it", is_there, is_ci()) {
        return Vec::new();
    }
    let format = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let readers = READERS.iter().filter(|(_, formats)| formats.contains(&format));
    readers.map(|(reader, _)| (*reader, rows(&python, reader, path))).collect()
}

fn rows(python: &Path, reader: &str, path: &Path) -> Vec<String> {
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT, reader]).arg(path).env("PYTHONUTF8", "1");
    let output = command.output().expect("Python is there");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{reader} refuses {}: {said}", path.display());
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Returns the Python to ask: that of `.ci/tables`, or else the one in the search path.
fn python() -> PathBuf {
    let own = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache/pneu-tables/bin/python3"));
    own.filter(|python| python.exists()).unwrap_or_else(|| "python3".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_none_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.arrow");
        std::fs::write(&path, "ARROW1").unwrap();
        // Without readers there is nothing to see.
        let result = std::panic::catch_unwind(|| table_rows(&path));
        assert!(result.is_err() || result.is_ok_and(|rows| rows.is_empty()));
    }
}
