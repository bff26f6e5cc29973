//! The measured figures in README.md and docs/FIGURES.md, taken from the run of `bench/peers` that each of
//! them names.
//!
//! Input: a document with two marks, the first of which names the run, and the `readme.md` of that run.
//! Output: the document with the figures of that run: docs/FIGURES.md gets all of them, README.md gets eight.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// The file that a run writes for documents.
const PIECE: &str = "readme.md";
/// The end of the mark before the figures. The run's directory comes before it.
const MARK_END: &str = " -->\n";
/// The mark after the figures.
const END: &str = "<!-- end of figures -->";

/// A document that shows figures of a run.
pub(crate) struct Document {
    /// Its path in the workspace.
    pub(crate) path: &'static str,
    /// The beginning of the mark before the figures.
    mark: &'static str,
    shows: Shows,
}

/// Which figures of a run a document shows.
enum Shows {
    /// All of them.
    All,
    /// The rows of [`MAIN`].
    Main,
}

/// Every document with figures.
pub(crate) const DOCUMENTS: [Document; 2] = [
    Document { path: "docs/FIGURES.md", mark: "<!-- figures of ", shows: Shows::All },
    Document { path: "README.md", mark: "<!-- main figures of ", shows: Shows::Main },
];

/// The rows that README.md shows: the label there, and the table and row of the run.
const MAIN: [(&str, &str, &str); 8] = [
    ("first index of 1,370,000 small messages", "Index and cleanup", "1.37 M: first index"),
    ("first index of 20,000 messages with text", "Index and cleanup", "20 k with text: first index"),
    ("index, nothing changed, 1,370,000 messages", "Index and cleanup", "1.37 M: nothing changed, full"),
    ("the same with `--lazy`", "Index and cleanup", "1.37 M: nothing changed, lazy"),
    ("find 17 of 1,370,000 messages", "Index and cleanup", "1.37 M: a query for 17 hits"),
    ("list a folder of 200,000 by date", "Header cache: open a folder", "200 k messages: reload"),
    (
        "backup of 200,000 messages, nothing changed",
        "Index merge, and backups",
        "backup of 200 k messages, nothing changed",
    ),
    ("restore of 200,000 messages", "Index merge, and backups", "restore of 200 k messages"),
];
/// The measure in all of these rows.
const QUANTITY: &str = "wall";
/// The columns of a run's table before those of the programs: work, measure, goal.
const COLUMNS_BEFORE_PROGRAMS: usize = 3;
/// The columns after those of the programs: floor, verdict.
const COLUMNS_AFTER_PROGRAMS: usize = 2;

/// The figures in a text, and their run.
pub(crate) struct Figures<'a> {
    /// The directory of the run.
    pub(crate) run: &'a str,
    before: &'a str,
    /// The text between the marks.
    pub(crate) piece: &'a str,
    after: &'a str,
}

impl Document {
    /// Finds the figures in the document's text, if it has both marks.
    pub(crate) fn find<'a>(&self, text: &'a str) -> Option<Figures<'a>> {
        let begin = text.find(self.mark)?;
        let (run, rest) = text[begin + self.mark.len()..].split_once(MARK_END)?;
        let end = rest.find(END)?;
        Some(Figures { run, before: &text[..begin], piece: &rest[..end], after: &rest[end..] })
    }

    /// Returns what must be between the marks, made from the run's `readme.md`.
    ///
    /// # Errors
    /// A sentence, if the run lacks a required row.
    pub(crate) fn wanted(&self, piece: &str) -> Result<String, String> {
        match self.shows {
            // Links as they are in `docs/`.
            Shows::All => Ok(piece.replace("](bench/runs/", "](../bench/runs/")),
            Shows::Main => main_table(piece),
        }
    }
}

impl Figures<'_> {
    /// Returns the path of a run's figures for documents.
    pub(crate) fn source(&self) -> String {
        format!("{}/{PIECE}", self.run)
    }
}

/// Returns the line about the run and the rows of [`MAIN`] as one table.
fn main_table(piece: &str) -> Result<String, String> {
    let facts = piece.lines().next().unwrap_or_default();
    let mut text = format!("{facts}\n\n| work | pneu | other programs |\n|---|---|---|\n");
    for (label, section, work) in MAIN {
        let (own, others) = row(piece, section, work)
            .ok_or_else(|| format!("has no row \"{work}\" of {QUANTITY} in \"{section}\""))?;
        text.push_str(&format!("| {label} | {own} | {others} |\n"));
    }
    text.push('\n');
    Ok(text)
}

/// Finds a row, and returns what pneu took and what the others took, each with its name.
fn row(piece: &str, section: &str, work: &str) -> Option<(String, String)> {
    let section = piece.split("\n### ").find(|part| part.lines().next() == Some(section))?;
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let header = cells(section.lines().find(|line| line.starts_with("| work |"))?);
    let row = section
        .lines()
        .map(cells)
        .find(|cells| matches!(&cells[..], [first, second, ..] if first == work && second == QUANTITY))?;
    let programs = COLUMNS_BEFORE_PROGRAMS..header.len().checked_sub(COLUMNS_AFTER_PROGRAMS)?;
    let times = header.get(programs.clone())?.iter().zip(row.get(programs)?);
    let mut took = times
        .filter(|(_, cell)| *cell != "—")
        .map(|(name, cell)| (name, cell.split(',').next().unwrap_or(cell)));
    let (_, own) = took.next()?;
    let others: Vec<String> = took.map(|(name, time)| format!("{name} {time}")).collect();
    Some((own.to_owned(), others.join(", ")))
}

/// Puts the figures of the runs that the documents name into them.
///
/// # Errors
/// If a document has no marks, the run is not there, or it has no such row.
pub fn update(root: &Path) -> Result<()> {
    DOCUMENTS.iter().try_for_each(|document| update_document(root, document))
}

fn update_document(root: &Path, document: &Document) -> Result<()> {
    let (name, path) = (document.path, root.join(document.path));
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {name}"))?;
    let Some(figures) = document.find(&text) else {
        bail!("{name} has no figures between {}RUN --> and {END}", document.mark)
    };
    let source = root.join(figures.source());
    let piece = fs::read_to_string(&source).with_context(|| format!("cannot read {}", source.display()))?;
    let wanted = document.wanted(&piece).map_err(|what| anyhow::anyhow!("{} {what}", source.display()))?;
    let updated =
        format!("{}{}{}{MARK_END}{wanted}{}", figures.before, document.mark, figures.run, figures.after);
    if updated != text {
        fs::write(&path, updated).with_context(|| format!("cannot write {name}"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A workspace whose documents name the run `runs/one`.
    fn workspace(piece: &str) -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        fs::create_dir_all(place.path().join("runs/one")).unwrap();
        fs::create_dir_all(place.path().join("docs")).unwrap();
        fs::write(place.path().join("runs/one/readme.md"), piece).unwrap();
        for document in &DOCUMENTS {
            let text = format!("before\n{}runs/one{MARK_END}old\n{END}\nafter\n", document.mark);
            fs::write(place.path().join(document.path), text).unwrap();
        }
        place
    }

    /// A `readme.md` with all rows of [`MAIN`].
    fn piece() -> String {
        let mut text = "facts [table](bench/runs/one/table.md)\n".to_owned();
        for (_, section, work) in MAIN {
            text.push_str(&format!(
                "\n### {section}\n\n| work | measure | goal | pneu | mu | mairix | floor | reached |\n|---|\n\
                 | {work} | CPU |  | 9 ms | 9 ms | — | — |  |\n\
                 | {work} | wall |  | 1 ms | 3 ms, 3.0 x | — | — | yes |\n"
            ));
        }
        // Sections repeat here: rows are looked for in the first, so that all rows go there too.
        let rows: Vec<String> =
            text.lines().filter(|line| line.contains("| wall |")).map(str::to_owned).collect();
        text.replace("|---|\n", &format!("|---|\n{}\n", rows.join("\n")))
    }

    #[test]
    fn figures_of_the_named_run_are_put_between_the_marks() {
        let place = workspace(&piece());
        update(place.path()).unwrap();
        let read = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
        let (figures, readme) = (read("docs/FIGURES.md"), read("README.md"));
        assert!(figures.starts_with("before\n<!-- figures of runs/one -->\nfacts"), "{figures}");
        assert!(figures.contains("(../bench/runs/one/table.md)") && figures.ends_with("-->\nafter\n"));
        assert_eq!(readme.matches(" | 1 ms | mu 3 ms |\n").count(), MAIN.len(), "{readme}");
        assert!(readme.contains("-->\nfacts [table](bench/runs/one/table.md)\n\n| work |"), "{readme}");
        assert!(readme.ends_with("|\n\n<!-- end of figures -->\nafter\n"), "{readme}");
        update(place.path()).unwrap();
        assert_eq!((read("docs/FIGURES.md"), read("README.md")), (figures, readme));
    }

    #[test]
    fn missing_marks_runs_and_rows_are_errors() {
        let place = workspace("no rows\n");
        let error = || format!("{:#}", update(place.path()).unwrap_err());
        assert!(error().contains("has no row \"1.37 M: first index\" of wall"), "{}", error());
        fs::remove_file(place.path().join("runs/one/readme.md")).unwrap();
        assert!(error().contains("runs/one/readme.md"));
        fs::write(place.path().join("docs/FIGURES.md"), "text\n").unwrap();
        assert!(error().contains("docs/FIGURES.md has no figures"));
    }
}
