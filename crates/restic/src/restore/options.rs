//! What to restore, and what to do with files that are there already.

/// Whether to restore what is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Restore it.
    Take,
    /// Do not restore it, but perhaps something below it.
    Pass,
    /// Restore neither it nor anything below it.
    Skip,
}

impl Choice {
    /// Returns whether to restore what is at a path if only these paths are wanted, and what is below them.
    /// If none is, everything is wanted.
    pub fn among(wanted: &[String], path: &[u8]) -> Choice {
        if wanted.is_empty() {
            return Choice::Take;
        }
        let is_below = |inner: &[u8], outer: &[u8]| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.first().is_none_or(|byte| *byte == b'/'))
        };
        let mut best = Choice::Skip;
        for wanted in wanted {
            let wanted = format!("/{}", wanted.trim_matches('/'));
            if is_below(path, wanted.as_bytes()) {
                return Choice::Take;
            }
            if is_below(wanted.as_bytes(), path) {
                best = Choice::Pass;
            }
        }
        best
    }
}

/// What to do where a file exists already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// Keep it.
    #[default]
    Never,
    /// Replace it if the snapshot's file was modified later.
    IfNewer,
    /// Replace it.
    Always,
}

/// Options of a restore.
pub struct RestoreOptions<'a> {
    /// Decides what to restore, by the path below the tree: "/cur/1:2,S".
    pub choose: &'a (dyn Fn(&[u8]) -> Choice + Sync),
    /// What to do with existing files.
    pub overwrite: Overwrite,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_wanted_is_taken_and_what_leads_there_is_passed() {
        let wanted = ["home/ana/Maildir/".to_owned()];
        for (path, expected) in [
            ("/home", Choice::Pass),
            ("/home/ana/Maildir", Choice::Take),
            ("/home/ana/Maildir/cur/1:2,S", Choice::Take),
            ("/home/ana/Maildirs", Choice::Skip),
            ("/home/bob", Choice::Skip),
        ] {
            assert_eq!(Choice::among(&wanted, path.as_bytes()), expected, "{path}");
            assert_eq!(Choice::among(&[], path.as_bytes()), Choice::Take);
        }
    }
}
