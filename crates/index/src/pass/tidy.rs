//! Merges segments after a pass, so that queries look into few: the store's and the text index's.
//!
//! In: an environment. Out: fewer segments, the same answers. What is new is visible before this begins; a pass ends with a bounded
//! amount of merging, and leaves the rest to the next one.

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::open;
use crate::pass::NoObserver;
use crate::pass::commit::TEXT_MERGE_LOCK;
use crate::state::{self, ATTACHMENT, TextSegment};
use crate::text::{self, TextFiles, TextMerge, remove_unnamed};
use disk::Wait;
use store::{MergeOptions, Transaction};

/// Most merges of each kind that one pass does.
const MERGES_PER_PASS: usize = 4;

/// Merges what is due, but not without end.
///
/// # Errors
/// Damage, a full disk.
pub(super) fn merge_bounded(environment: &Environment) -> Result<()> {
    for _ in 0..MERGES_PER_PASS {
        if !merge_rows(environment)? {
            break;
        }
    }
    for _ in 0..MERGES_PER_PASS {
        if !merge_text(environment)? {
            break;
        }
    }
    Ok(())
}

/// Merges one group of segments of one table; says whether there was one.
fn merge_rows(environment: &Environment) -> Result<bool> {
    let options = MergeOptions {
        holder: environment.holder.clone(),
        seed: environment.seed,
        ..MergeOptions::default()
    };
    match store::merge(&environment.disk, &environment.index_directory(), &options) {
        Ok(report) => Ok(report.is_some()),
        // Somebody else merges: that will do.
        Err(store::Error::Io(disk::Error::Locked { .. })) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Merges one group of segments of the text index; says whether there was one.
fn merge_text(environment: &Environment) -> Result<bool> {
    let disk = environment.disk.as_ref();
    let files = TextFiles::new(&environment.disk, &environment.text_directory());
    let lock = match disk.lock(&files.path().join(TEXT_MERGE_LOCK), &environment.holder, Wait::Refuse) {
        Ok(lock) => lock,
        Err(disk::Error::Locked { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let before = open::state(&open::snapshot(environment)?, &environment.index_directory())?;
    let Some(chosen) = text::choose(&before.text) else { return Ok(false) };
    let wrap = |source| Error::Text { path: files.path().to_owned(), source };
    let merged = text::merge(&files, &chosen).map_err(wrap)?;
    disk.sync_directory(files.path())?;

    let mut writer = open::writer(environment, &NoObserver)?;
    let mut now = open::state(&writer.snapshot()?, &environment.index_directory())?;
    now.text = exchange(now.text, merged);
    let mut transaction = Transaction::default();
    transaction.attachments.push((ATTACHMENT.into(), state::encode(&now)));
    writer.commit(transaction)?;
    // Still under both locks: nobody is writing a segment that is not named yet.
    let named = now.text.iter().map(|segment| segment.id.as_str()).collect();
    remove_unnamed(disk, files.path(), &named)?;
    drop(lock);
    Ok(true)
}

/// Puts merged segments in the place of the first that went.
fn exchange(segments: Vec<TextSegment>, merged: TextMerge) -> Vec<TextSegment> {
    let mut new = Some(merged.new);
    let mut out = Vec::with_capacity(segments.len());
    for segment in segments {
        if merged.old.contains(&segment.id) {
            out.extend(new.take().into_iter().flatten());
        } else {
            out.push(segment);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_segments_stand_where_the_first_old_one_stood() {
        let segment = |id: &str| TextSegment { id: id.into(), document_count: 1 };
        let merged = TextMerge { old: vec!["b".into(), "d".into()], new: vec![segment("x")] };
        let out = exchange(["a", "b", "c", "d", "e"].map(segment).to_vec(), merged);
        assert_eq!(out, ["a", "x", "c", "e"].map(segment));
    }
}
