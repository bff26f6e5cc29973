//! The figures in README.md: what a run of `bench/peers` wrote for it, between two marks, the first of which names the run.
//!
//! Comes in: README.md, the run's `readme.md`. Goes out: README.md with the figures of that run. Must not know what they mean.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// The mark before the figures is this, the directory of the run, and [`BEGIN_END`].
const BEGIN: &str = "<!-- figures of ";
const BEGIN_END: &str = " -->\n";
/// The mark behind them.
const END: &str = "<!-- end of figures -->";
/// What a run writes for README.md.
const PIECE: &str = "readme.md";

/// Figures in a text: what stands there, and of which run.
pub(crate) struct Figures<'a> {
    /// The directory of the run.
    pub(crate) run: &'a str,
    before: &'a str,
    /// What stands between the marks.
    pub(crate) piece: &'a str,
    behind: &'a str,
}

impl Figures<'_> {
    /// Returns where the run keeps what has to stand there.
    pub(crate) fn source(&self) -> String {
        format!("{}/{PIECE}", self.run)
    }

    /// Returns the whole text with other figures.
    fn with(&self, piece: &str) -> String {
        format!("{}{BEGIN}{}{BEGIN_END}{piece}{}", self.before, self.run, self.behind)
    }
}

/// Finds the figures in a text, if it has both marks.
pub(crate) fn find(text: &str) -> Option<Figures<'_>> {
    let begin = text.find(BEGIN)?;
    let (run, rest) = text[begin + BEGIN.len()..].split_once(BEGIN_END)?;
    let end = rest.find(END)?;
    Some(Figures { run, before: &text[..begin], piece: &rest[..end], behind: &rest[end..] })
}

/// Puts the figures of the run that README.md names into it.
///
/// # Errors
/// If README.md has no marks, or the run is not there.
pub fn update(root: &Path) -> Result<()> {
    let path = root.join("README.md");
    let text = fs::read_to_string(&path).context("cannot read README.md")?;
    let Some(figures) = find(&text) else {
        bail!("README.md has no figures between {BEGIN}RUN --> and {END}")
    };
    let source = root.join(figures.source());
    let piece = fs::read_to_string(&source).with_context(|| format!("cannot read {}", source.display()))?;
    let updated = figures.with(&piece);
    if updated != text {
        fs::write(&path, updated).context("cannot write README.md")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_named_run_are_put_between_the_marks() {
        let place = tempfile::tempdir().unwrap();
        let readme = place.path().join("README.md");
        fs::create_dir_all(place.path().join("runs/one")).unwrap();
        fs::write(place.path().join("runs/one/readme.md"), "new\n").unwrap();
        fs::write(&readme, format!("before\n{BEGIN}runs/one{BEGIN_END}old\n{END}\nbehind\n")).unwrap();
        update(place.path()).unwrap();
        let text = fs::read_to_string(&readme).unwrap();
        assert_eq!(text, format!("before\n{BEGIN}runs/one{BEGIN_END}new\n{END}\nbehind\n"));
        update(place.path()).unwrap();
        assert_eq!(fs::read_to_string(&readme).unwrap(), text);
    }

    #[test]
    fn a_text_without_marks_and_a_run_that_is_gone_are_errors() {
        let place = tempfile::tempdir().unwrap();
        let readme = place.path().join("README.md");
        fs::write(&readme, "text\n").unwrap();
        assert!(update(place.path()).unwrap_err().to_string().contains("has no figures"));
        fs::write(&readme, format!("{BEGIN}runs/none{BEGIN_END}{END}")).unwrap();
        assert!(format!("{:#}", update(place.path()).unwrap_err()).contains("runs/none/readme.md"));
    }
}
