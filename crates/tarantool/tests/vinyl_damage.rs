//! Damaged files of vinyl: refused, or salvaged with a list of what is lost.
//!
//! Input: files that Tarantool wrote, then changed. Output: failures. Does not depend on how files are read.

use crate::vinyl::{files, ours, recovered, theirs, written};
use std::fs;
use std::path::{Path, PathBuf};
use tarantool::{Mode, Step, read_head};

/// Two runs of one space: numbers up to 500, and newer tuples of every third.
const SCRIPT: &str = "
local v = box.schema.space.create('v', {engine = 'vinyl'})
v:create_index('pk', {page_size = 1024, run_count_per_level = 100})
for i = 1, 500 do v:replace{i, text(i)} end
dump()
for i = 1, 500, 3 do v:replace{i, 'newer'} end
dump()
";

/// The first and the second run.
fn runs(directory: &Path) -> (PathBuf, PathBuf) {
    let mut runs = files(directory, "run").into_iter();
    (runs.next().unwrap(), runs.next().unwrap())
}

/// Returns where the blocks of a file begin and end.
fn blocks(path: &Path) -> Vec<(usize, usize)> {
    let bytes = fs::read(path).unwrap();
    let mut at = tarantool::Header::parse(&bytes).unwrap().1;
    let mut blocks = Vec::new();
    while let Ok(Step::Block(place)) = read_head(&bytes, at) {
        blocks.push((at, place.payload.end));
        at = place.payload.end;
    }
    blocks
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[track_caller]
fn refused(directory: &Path, what: &str) {
    let error = recovered(directory, Mode::Strict, None).unwrap_err().to_string();
    let error = error.replace(&directory.display().to_string(), "DIR");
    assert!(error.contains(what), "{error}");
}

/// Returns the tuples of a salvage, and what it lost.
fn salvaged(directory: &Path) -> (Vec<String>, Vec<String>) {
    let salvaged = recovered(directory, Mode::Salvage, None).unwrap();
    let lost = salvaged.left_out.iter().map(|line| line.replace(&directory.display().to_string(), "DIR"));
    (ours(&salvaged), lost.collect())
}

#[test]
fn a_damaged_page_is_refused_or_told() {
    let Some(directory) = written(SCRIPT) else { return };
    let whole = theirs(directory.path());
    let (_, second) = runs(directory.path());
    let page = blocks(&second)[1];
    flip(&second, page.1 - 1);
    refused(directory.path(), &format!("is damaged at byte {}: a block's checksum does not fit", page.0));
    let (rows, lost) = salvaged(directory.path());
    let name = second.file_name().unwrap().to_str().unwrap();
    assert_eq!(lost.len(), 1);
    let expected =
        format!("space v (512): DIR/512/0/{name}: at byte {}: a block's checksum does not fit: ", page.0);
    assert!(
        lost[0].starts_with(&expected) && lost[0].ends_with(" rows are missing, or older than they were"),
        "{lost:?}"
    );
    // The older tuples of the page are there, and all others.
    assert_eq!(rows.len(), whole.len());
    let count = |rows: &[String]| rows.iter().filter(|row| row.contains("newer")).count();
    assert!(count(&rows) < count(&whole) && count(&rows) > 100, "{} of {}", count(&rows), count(&whole));
}

#[test]
fn a_missing_run_is_refused_or_told() {
    let Some(directory) = written(SCRIPT) else { return };
    let (first, second) = runs(directory.path());
    let kept = fs::read(&first).unwrap();
    fs::remove_file(&first).unwrap();
    refused(directory.path(), "a run of vinyl cannot be read: ");
    let (rows, lost) = salvaged(directory.path());
    assert!(lost.len() == 1 && lost[0].contains("the whole run is left out"), "{lost:?}");
    assert_eq!(rows.len(), 1 + 167);
    fs::write(&first, &kept).unwrap();
    // Without its index a run has all of its rows, but only salvage looks for them.
    let index = second.with_extension("index");
    fs::remove_file(&index).unwrap();
    refused(directory.path(), "a run of vinyl cannot be read: ");
    let (rows, lost) = salvaged(directory.path());
    assert_eq!((rows.len(), lost), (1 + 500, Vec::new()));
    // A file with the end cut off.
    fs::write(&first, &kept[..kept.len() - 4]).unwrap();
    fs::copy(first.with_extension("index"), &index).unwrap();
    refused(directory.path(), "is damaged at byte ");
}

#[test]
fn a_run_with_a_damaged_index_is_read_without_it() {
    let Some(directory) = written(SCRIPT) else { return };
    let whole = theirs(directory.path());
    let (_, second) = runs(directory.path());
    let index = second.with_extension("index");
    flip(&index, blocks(&index)[0].1 - 1);
    refused(directory.path(), "a block's checksum does not fit");
    let (rows, lost) = salvaged(directory.path());
    assert_eq!((rows, lost), (whole.clone(), Vec::new()));
    // The index of another run says something else about the pages.
    let (first, _) = runs(directory.path());
    fs::copy(first.with_extension("index"), &index).unwrap();
    refused(directory.path(), "a page of a run is not as long as its index says");
    let (rows, lost) = salvaged(directory.path());
    assert_eq!(rows, whole);
    assert!(
        lost.len() == 1 && lost[0].contains("its index tells of ") && lost[0].contains(" more pages: "),
        "{lost:?}"
    );
}

#[test]
fn a_run_that_is_cut_off_between_two_pages_is_told() {
    let Some(directory) = written(SCRIPT) else { return };
    let (_, second) = runs(directory.path());
    let (bytes, blocks) = (fs::read(&second).unwrap(), blocks(&second));
    let pages = blocks.iter().filter(|block| block.1 < bytes.len() / 2).count();
    for end in [blocks[pages - 1].1, blocks[pages - 1].1 + 3, bytes.len() - 4] {
        fs::write(&second, &bytes[..end]).unwrap();
        assert!(recovered(directory.path(), Mode::Strict, None).is_err(), "{end}");
        let (_, lost) = salvaged(directory.path());
        assert!(
            lost.len() == 1 && lost[0].ends_with("rows of it are missing, or older than they were"),
            "{lost:?}"
        );
    }
}

#[test]
fn a_log_that_is_cut_off_or_damaged_is_refused_or_told() {
    let later = "
    local w = box.schema.space.create('w', {engine = 'vinyl'})
    w:create_index('pk')
    w:replace{1}
    ";
    let Some(directory) = written(&[SCRIPT, later].concat()) else { return };
    let whole = theirs(directory.path());
    let log = files(directory.path(), "vylog").pop().unwrap();
    let (bytes, blocks) = (fs::read(&log).unwrap(), blocks(&log));
    // A crash tore the last record: the rows of that dump are in the log of all spaces.
    let last = *blocks.last().unwrap();
    assert!(blocks.len() >= 2, "{blocks:?}");
    fs::write(&log, &bytes[..blocks[0].1 - 5]).unwrap();
    refused(directory.path(), "vinyl's log is cut off within the state at its snapshot");
    let (rows, lost) = salvaged(directory.path());
    assert!(rows.len() <= whole.len() && !lost.is_empty());
    fs::write(&log, [&bytes[..last.1], b"no block begins like this"].concat()).unwrap();
    refused(directory.path(), "neither a block nor the end mark begins here");
    fs::write(&log, &bytes).unwrap();
    flip(&log, blocks[0].1 - 1);
    refused(directory.path(), "a block's checksum does not fit");
    let (_, lost) = salvaged(directory.path());
    assert!(lost.iter().any(|line| line.contains("rows of vinyl may be missing or older")), "{lost:?}");
    fs::write(&log, &bytes[..last.1 - 3]).unwrap();
    let told = recovered(directory.path(), Mode::Strict, None).unwrap();
    assert_eq!(ours(&told), whole);
    assert!(told.left_out.is_empty() && told.remarks.len() == 1, "{told:?}");
    fs::remove_file(&log).unwrap();
    let other = files(directory.path(), "vylog");
    for other in other {
        fs::remove_file(other).unwrap();
    }
    refused(directory.path(), "name the directory of vinyl with --vinyl-dir");
    let (rows, lost) = salvaged(directory.path());
    assert_eq!(rows, ["space v index pk", "space w index pk", "[1]"]);
    assert_eq!(
        lost,
        ["space v (512): all rows from before the snapshot, which vinyl keeps in its own files"]
    );
}
