//! Which problems of a pass are those of a folder that moved while it was looked at.
//!
//! Input: problems, roots. Output: the problems that the next pass mends, taken out. Asks the disk only
//! whether a path is there.

use index::{Problem, Root};
use std::io::ErrorKind;

/// Takes out the problems of places below the roots that are not there any more. The next pass looks where
/// they went. One that the last pass had as well, in `before`, stays.
pub(super) fn take_moved(problems: &mut Vec<Problem>, roots: &[Root], before: &[Problem]) -> Vec<Problem> {
    let is_below =
        |problem: &Problem, root: &Root| problem.path.starts_with(&root.path) && problem.path != root.path;
    let has_moved = |problem: &mut Problem| {
        problem.remedy.is_none()
            && !before.contains(problem)
            && roots.iter().any(|root| is_below(problem, root))
            && problem.path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
    };
    problems.extract_if(.., has_moved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use index::Remedy;

    #[test]
    fn a_place_that_is_gone_is_told_if_the_next_pass_misses_it_too() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        std::fs::create_dir_all(root.join("there")).unwrap();
        let problem = |path: &str, remedy| Problem {
            path: place.path().join(path),
            what: "cannot be opened".into(),
            remedy,
        };
        let (gone, there) = (problem("root/gone", None), problem("root/there", None));
        let unmounted = problem("root/other", Some(Remedy::AcceptLossOfFolder));
        let (lost, outside) = (problem("lost", None), problem("outside/x", None));
        let roots =
            [root, place.path().join("lost")].map(|path| Root { name: path.display().to_string(), path });
        let all = vec![gone.clone(), there.clone(), unmounted.clone(), lost.clone(), outside.clone()];
        let mut first = all.clone();
        assert_eq!(take_moved(&mut first, &roots, &[]), std::slice::from_ref(&gone));
        assert_eq!(first, [there, unmounted, lost, outside]);
        let mut second = all.clone();
        assert_eq!(take_moved(&mut second, &roots, &[gone]), []);
        assert_eq!(second, all);
    }
}
