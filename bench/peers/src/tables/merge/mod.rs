//! Index merge: the work of a repository's index, done by pneu's crates and by restic's own benchmarks on
//! identical data; and commands of both programs: backups, restores, finds, and opening, checking and
//! counting a large repository.
//!
//! Input: sizes, and a directory for files. Output: series, and a table of them.

mod backups;
mod find;
mod load;
mod merges;
mod names;
mod open;
mod pair;
mod restore;
mod rows;

pub(crate) use names::COLUMNS;

use crate::bench::Bench;
use crate::options::{Piece, Sizes};
use anyhow::Result;
use clap::ValueEnum;
use measure::{Table, cold, say};
use std::time::Instant;

/// Returns the rows.
pub(crate) fn table(sizes: &Sizes) -> Table {
    Table {
        name: "merge",
        title: "Index merge, and backups".to_owned(),
        about: "restic's own benchmarks, built from the source of the measured version, and pneu's crates \
            with the same work; then the commands of both programs on the same mail and the same \
            repositories, with no options except the repository and a cache directory. After each backup \
            both snapshots are compared bit by bit; restores are compared file by file. A merge is measured \
            within its process, with all input open, and ends with an index that answers. pneu merges \
            sorted mapped files, restic merges tables in memory. pneu numbers packs when it reads an index \
            file, before the merge; restic numbers them during the merge. The memory of a merge is the \
            memory that belongs to no file, plus, for pneu, the file that it wrote, which is in memory. \
            restic's memory includes the merged tables; another row counts pneu's mapped files. One blob is \
            looked up by a program of pneu's crate, which takes no lock, and by restic with --no-lock. \
            Figures that a process of pneu's crate measures itself have no command of restic to compare \
            with."
            .to_owned(),
        columns: COLUMNS.to_vec(),
        rows: rows::all(sizes),
        growths: Vec::new(),
    }
}

/// Measures the requested pieces, or all.
pub(crate) fn measure(bench: &mut Bench<'_>) -> Result<()> {
    if !cold::is_possible() {
        say("only root can empty the page cache: there are no cold runs");
    }
    for piece in Piece::value_variants() {
        if !bench.options.pieces.is_empty() && !bench.options.pieces.contains(piece) {
            continue;
        }
        say(&format!("= {piece:?}"));
        let begin = Instant::now();
        match piece {
            Piece::Merges => merges::merges(bench)?,
            Piece::Lookups => merges::lookups(bench)?,
            Piece::Load => load::measure(bench)?,
            Piece::Unchanged => backups::unchanged(bench)?,
            Piece::First => backups::first(bench)?,
            Piece::Arrived => backups::arrived(bench)?,
            Piece::Flagged => backups::flagged(bench)?,
            Piece::Find => find::measure(bench)?,
            Piece::Restore => restore::measure(bench)?,
            Piece::Index => {
                let (corpora, blobs) = (bench.options.corpora.clone(), bench.options.sizes().blobs);
                let rounds = bench.rounds();
                bench_own::archive::open(&corpora, blobs, rounds, &mut bench.report)?;
            }
            Piece::Open => open::measure(bench)?,
        }
        bench.save()?;
        say(&format!("= {piece:?} took {:.0} s", begin.elapsed().as_secs_f64()));
    }
    Ok(())
}
