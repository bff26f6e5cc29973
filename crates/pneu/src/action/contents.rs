//! Changes single contents, each in its own way: the flags of their files, and the folders that they are in.
//!
//! Input: contents by their SHA-256, with what is to change. Output: files with other flags, in other
//! folders. All flags of a call are one action, and so are all moves, all copies, and all files that only
//! leave a folder. A copy of a content, which is another content, is not touched. Must not know who asks.

use crate::action::act::Acted;
use crate::action::carry_out::LeftAlone;
use crate::action::log::Kind;
use crate::action::plan::{Action, Plan, PlannedStep, once_each, put_each};
use crate::action::removal::{Removal, Removed};
use crate::error::Result;
use crate::host::Host;
use crate::view::View;
use index::{FoundFile, NumberSet};
use mail::Flags;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use work::Progress;

/// What is to change of one content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContentEdit {
    /// The content.
    pub sha256: [u8; 32],
    /// Flags that all its files get.
    pub add_flags: Flags,
    /// Flags that all its files lose.
    pub remove_flags: Flags,
    /// The paths of folders that it comes into.
    pub add_to: BTreeSet<PathBuf>,
    /// The paths of folders that it leaves. It never leaves the last folder that it is in.
    pub remove_from: BTreeSet<PathBuf>,
}

/// The folders of one content that change.
#[derive(Debug, Default, PartialEq, Eq)]
struct Ways {
    /// From where to where its files are moved.
    moves: Vec<(PathBuf, PathBuf)>,
    /// Where a file of it is copied to.
    copies: Vec<PathBuf>,
    /// Where its files are removed.
    unfiled: Vec<PathBuf>,
}

/// The files of contents, each with their own.
type Files = HashMap<[u8; 32], Vec<FoundFile>>;

impl Host {
    /// Changes flags and folders of contents. A content that leaves a folder and comes into another one is
    /// moved. One that comes into a further folder is copied, and one that only leaves a folder has its files
    /// there removed. A content without a file is left out. What was done can be undone; the next view shows
    /// it. Returns what was left alone.
    ///
    /// # Errors
    /// As [`Host::act`]. What was done before stays.
    pub fn edit_contents(&self, edits: &[ContentEdit], progress: &dyn Progress) -> Result<Vec<LeftAlone>> {
        let mut left = Vec::new();
        let has_flags = |edit: &ContentEdit| !(edit.add_flags | edit.remove_flags).is_empty();
        if edits.iter().any(has_flags) {
            left.extend(self.act_on(Kind::Flag, &|| self.plan_flags(edits), progress)?.left);
        }
        if edits.iter().all(|edit| edit.add_to.is_empty() && edit.remove_from.is_empty()) {
            return Ok(left);
        }
        for kind in [Kind::Copy, Kind::Move, Kind::Unfile] {
            let make_plan = || self.plan_ways(kind, edits);
            if !make_plan()?.steps.is_empty() {
                left.extend(self.act_on(kind, &make_plan, progress)?.left);
            }
        }
        Ok(left)
    }

    /// Removes all files of contents for good, and the contents from the index. This cannot be undone.
    ///
    /// # Errors
    /// As [`Host::remove_for_good`].
    pub fn remove_contents(&self, contents: &[[u8; 32]], progress: &dyn Progress) -> Result<Removed> {
        let files = || -> Result<Vec<FoundFile>> {
            Ok(files_of(&self.newest_view()?, contents.iter())?.into_values().flatten().collect())
        };
        let mut found = files()?;
        if self.update_stale(found.iter(), progress)?.is_some() {
            found = files()?;
        }
        found.sort_by_cached_key(FoundFile::path);
        self.remove_for_good(&Removal { files: found, ..Removal::default() }, progress)
    }

    fn act_on(
        &self,
        kind: Kind,
        make_plan: &dyn Fn() -> Result<Plan>,
        progress: &dyn Progress,
    ) -> Result<Acted> {
        self.act_as_planned((kind, None), make_plan, progress)
    }

    fn plan_flags(&self, edits: &[ContentEdit]) -> Result<Plan> {
        let view = self.newest_view()?;
        let mut files = files_of(&view, edits.iter().map(|edit| &edit.sha256))?;
        let mut by_change: BTreeMap<(Flags, Flags), Vec<FoundFile>> = BTreeMap::new();
        for edit in edits {
            let change = (edit.add_flags, edit.remove_flags);
            by_change.entry(change).or_default().extend(files.remove(&edit.sha256).unwrap_or_default());
        }
        let mut plan = Plan::default();
        for ((add, remove), files) in by_change {
            plan.steps.extend(self.plan_files(&view, files, &Action::Flag { add, remove })?.steps);
        }
        Ok(plan)
    }

    /// Plans those steps of edits that are of a kind.
    fn plan_ways(&self, kind: Kind, edits: &[ContentEdit]) -> Result<Plan> {
        let view = self.newest_view()?;
        let mut files = files_of(&view, edits.iter().map(|edit| &edit.sha256))?;
        let mut steps: Vec<(FoundFile, PathBuf)> = Vec::new();
        for edit in edits {
            let files = once_each(files.remove(&edit.sha256).unwrap_or_default());
            steps.extend(steps_of(kind, files, edit));
        }
        if kind == Kind::Unfile {
            let step = |(file, to)| PlannedStep { file, to };
            return Ok(Plan { steps: steps.into_iter().map(step).collect(), ..Plan::default() });
        }
        Ok(put_each(steps, &|| self.unique_name()))
    }
}

/// Returns the files of a content that an action of a kind touches, each with the folder that it goes to, or
/// with the file that stays.
fn steps_of(kind: Kind, files: Vec<FoundFile>, edit: &ContentEdit) -> Vec<(FoundFile, PathBuf)> {
    let Ways { moves, copies, unfiled } = ways(&files, edit);
    let staying = files.iter().find(|file| !edit.remove_from.contains(&file.folder)).cloned();
    match kind {
        // One that leaves is as good a source, as long as it is there.
        Kind::Copy => {
            let source = staying.or_else(|| files.first().cloned());
            source.iter().flat_map(|file| copies.iter().map(|to| (file.clone(), to.clone()))).collect()
        }
        Kind::Move => {
            let target = |file: &FoundFile| moves.iter().find(|(from, _)| *from == file.folder);
            files.into_iter().filter_map(|file| target(&file).cloned().map(|(_, to)| (file, to))).collect()
        }
        _ => {
            let stayed = staying.map(|file| file.path());
            let gone = files.into_iter().filter(|file| unfiled.contains(&file.folder));
            gone.filter_map(|file| Some((file, stayed.clone()?))).collect()
        }
    }
}

/// Decides how a content with these files comes into its new folders.
fn ways(files: &[FoundFile], edit: &ContentEdit) -> Ways {
    let has: BTreeSet<&PathBuf> = files.iter().map(|file| &file.folder).collect();
    let mut added = edit.add_to.iter().filter(|folder| !has.contains(folder));
    let mut removed =
        edit.remove_from.iter().filter(|folder| has.contains(folder) && !edit.add_to.contains(*folder));
    let mut ways = Ways::default();
    loop {
        match (removed.next(), added.next()) {
            (Some(from), Some(to)) => ways.moves.push((from.clone(), to.clone())),
            (None, Some(to)) => ways.copies.push(to.clone()),
            (Some(from), None) => ways.unfiled.push(from.clone()),
            (None, None) => return ways,
        }
    }
}

/// Returns the files of contents.
fn files_of<'c>(view: &View, contents: impl Iterator<Item = &'c [u8; 32]>) -> Result<Files> {
    let mut found = NumberSet::new(view.contents()?.bound());
    for sha256 in contents {
        view.content_hit(sha256)?.iter().for_each(|hit| found.insert(hit.number));
    }
    let mut files = Files::new();
    for file in view.mailbox().found_files(&found)? {
        files.entry(file.sha256).or_default().push(file);
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use crate::action::carry_out::carry_out;
    use crate::action::crashing::{Crashing, ends, recover, undo};
    use crate::action::hands::{Hands, RealHands};
    use crate::action::log::{Log, Place, State, Step};
    use crate::action::tests::Fixture;
    use index::Environment;
    use std::cell::Cell;
    use work::Silent;

    fn content(fixture: &Fixture, subject: &str) -> [u8; 32] {
        let view = fixture.host.view().unwrap();
        let hits = view.sorted(&view.matching(&view.query(subject).unwrap()).unwrap(), &Default::default());
        view.content_ids(&hits.unwrap().list).unwrap()[0]
    }

    /// Returns an edit of the folders of a message.
    fn edit(fixture: &Fixture, subject: &str, add: &[&str], remove: &[&str]) -> ContentEdit {
        let paths = |names: &[&str]| names.iter().map(|name| fixture.mail().join(name)).collect();
        let (add_to, remove_from) = (paths(add), paths(remove));
        ContentEdit { sha256: content(fixture, subject), add_to, remove_from, ..ContentEdit::default() }
    }

    fn kinds(fixture: &Fixture) -> Vec<Kind> {
        fixture.host.undoable().unwrap().iter().map(|action| action.kind).collect()
    }

    #[test]
    fn contents_change_each_in_its_own_way_and_all_comes_back() {
        let fixture = Fixture::new();
        let before = || ["inbox", "archive", "Trash"].map(|folder| fixture.files(folder));
        let at_first = before();
        let two = ContentEdit {
            add_flags: Flags::REPLIED,
            remove_flags: Flags::SEEN,
            ..edit(&fixture, "two", &["archive", "Trash"], &["inbox"])
        };
        let three = ContentEdit { add_flags: Flags::DRAFT, ..edit(&fixture, "three", &["Trash"], &[]) };
        let edits = [two, three, edit(&fixture, "one", &[], &["archive"])];
        assert_eq!(fixture.host.edit_contents(&edits, &Silent).unwrap(), []);
        assert_eq!(fixture.files("inbox"), ["cur/1.a,U=1:2,S", "cur/3.a:2,D"]);
        // What leaves the inbox is moved into the first of the new folders.
        assert_eq!(fixture.files("Trash"), ["cur/2.a:2,FR", "cur/3.a:2,D"]);
        assert_eq!(fixture.files("archive"), ["cur/2.a:2,FR", "cur/4.a:2,S"]);
        assert_eq!(kinds(&fixture), [Kind::Unfile, Kind::Move, Kind::Copy, Kind::Flag]);
        assert_eq!(fixture.count("maildir:/archive and subject:two"), 1);
        assert_eq!(fixture.count("maildir:/archive and subject:one"), 0);
        assert_eq!(fixture.undo(), "Unfile 1");
        assert_eq!(fixture.files("archive"), ["cur/2.a:2,FR", "cur/4.a:2,S", "cur/5.a:2,S"]);
        assert_eq!(fixture.count("maildir:/archive and subject:one"), 1);
        for expected in ["Move 1", "Copy 2", "Flag 2"] {
            assert_eq!(fixture.undo(), expected);
        }
        let after = before();
        assert_eq!(after[0], ["cur/1.a,U=1:2,S", "cur/2.a:2,FS", "new/3.a"]);
        assert_eq!(after[1..], at_first[1..]);
        // What is so already is no action.
        let same = [edit(&fixture, "four", &["archive"], &["inbox"])];
        assert_eq!(fixture.host.edit_contents(&same, &Silent).unwrap(), []);
        assert_eq!(kinds(&fixture), []);
    }

    #[test]
    fn a_content_never_loses_its_last_file_and_its_copies_are_not_touched() {
        let fixture = Fixture::new();
        let edits =
            [edit(&fixture, "one", &[], &["archive", "inbox"]), edit(&fixture, "four", &[], &["archive"])];
        assert_eq!(fixture.host.edit_contents(&edits, &Silent).unwrap(), []);
        assert_eq!((fixture.files("inbox").len(), fixture.files("archive").len()), (3, 2));
        // A copy with another header field is another content.
        let copy =
            "From: ana@example.org\nSubject: four\nMessage-ID: <four@x>\nReceived: by y\n\nbody four\n";
        std::fs::write(fixture.mail().join("inbox/cur/9.a:2,"), copy).unwrap();
        let places = [fixture.mail().join("inbox").as_path()].into_iter().collect();
        fixture.host.update_places(&places, &Default::default(), &Silent).unwrap();
        let view = fixture.host.view().unwrap();
        let hit = view.mailbox().by_path(&fixture.mail().join("archive/cur/4.a:2,S")).unwrap();
        let four = view.content_ids(&hit).unwrap()[0];
        let flagged = ContentEdit { sha256: four, add_flags: Flags::FLAGGED, ..ContentEdit::default() };
        fixture.host.edit_contents(&[flagged], &Silent).unwrap();
        assert_eq!(fixture.files("archive"), ["cur/4.a:2,FS", "cur/5.a:2,S"]);
        let removed = fixture.host.remove_contents(&[four, [7; 32]], &Silent).unwrap();
        assert_eq!((removed.file_count, removed.forgotten_count, removed.left), (1, 1, vec![]));
        assert_eq!(fixture.files("archive"), ["cur/5.a:2,S"]);
        assert_eq!(fixture.count("subject:four"), 1, "its copy is there");
    }

    #[test]
    fn a_file_stays_if_the_one_in_the_other_folder_has_other_bytes_or_is_the_same_one() {
        let fixture = Fixture::new();
        let gone = edit(&fixture, "one", &[], &["archive"]);
        let stays = fixture.mail().join("inbox/cur/1.a,U=1:2,S");
        let written = stays.metadata().unwrap().modified().unwrap();
        let text = std::fs::read_to_string(&stays).unwrap();
        std::fs::write(&stays, text.replace("body", "bode")).unwrap();
        std::fs::File::options().write(true).open(&stays).unwrap().set_modified(written).unwrap();
        let left = fixture.host.edit_contents(&[gone], &Silent).unwrap();
        assert_eq!(left[0].why, "the file in the other folder has other bytes");
        std::fs::remove_file(&stays).unwrap();
        std::os::unix::fs::symlink(fixture.mail().join("archive/cur/5.a:2,S"), &stays).unwrap();
        let left = fixture.host.edit_contents(&[edit(&fixture, "one", &[], &["archive"])], &Silent).unwrap();
        assert!(left.iter().all(|left| !left.why.is_empty()), "{left:?}");
        assert!(fixture.files("archive").contains(&"cur/5.a:2,S".to_owned()));
    }

    #[test]
    fn after_a_crash_at_any_operation_a_message_that_leaves_a_folder_is_somewhere_and_comes_back() {
        for operation in 0.. {
            let place = tempfile::tempdir().unwrap();
            let environment: Environment = Settings::new(place.path().join("data")).environment;
            let paths = ["a/cur/1:2,S", "b/cur/7:2,"].map(|path| place.path().join(path));
            ["a", "b"].iter().for_each(|folder| mail::create_folder(&place.path().join(folder)).unwrap());
            paths.iter().for_each(|path| std::fs::write(path, "a letter").unwrap());
            let stat = mail::stat_entry(&paths[0]).unwrap();
            let step = Step {
                from: Place(paths[0].clone()),
                to: Place(paths[1].clone()),
                inode: stat.inode,
                new_inode: None,
                size_bytes: stat.size_bytes,
                mtime_ns: stat.mtime_ns,
                sha256: None,
                is_done: false,
                left: None,
            };
            let act = |hands: &dyn Hands| {
                let log = Log::take(&environment, &Silent).unwrap();
                let mut entry = log.begin(Kind::Unfile, vec![step.clone()]).unwrap();
                carry_out(&log, hands, &mut entry).unwrap();
                undo(&log, hands, &mut entry);
            };
            let is_through = ends(&|| act(&Crashing { left: Cell::new(operation) }));
            for again in 0..3 {
                assert!(paths[1].exists(), "{operation}");
                ends(&|| {
                    let log = Log::take(&environment, &Silent).unwrap();
                    recover(&log, &Crashing { left: Cell::new(again) });
                });
            }
            let log = Log::take(&environment, &Silent).unwrap();
            recover(&log, &RealHands);
            let entry = log.names().unwrap().first().map(|name| log.read(*name).unwrap());
            if let Some(mut entry) = entry.filter(|entry| entry.state != State::Undone) {
                assert!(!paths[0].exists(), "{operation}");
                assert_eq!(undo(&log, &RealHands, &mut entry), [], "{operation}");
            }
            let count = std::fs::read_dir(place.path().join("a/cur")).unwrap().count();
            assert!(paths[0].exists() && count == 1, "{operation}: {count}");
            if is_through {
                assert!(operation > 3, "there was something to crash at");
                return;
            }
        }
    }

    /// Gives up at once.
    struct Impatient;

    impl Progress for Impatient {
        fn gives_up(&self) -> bool {
            true
        }
    }

    #[test]
    fn who_gives_up_does_not_wait_for_another_process() {
        let fixture = Fixture::new();
        let edits = [edit(&fixture, "one", &[], &["archive"])];
        {
            let _log = Log::take(&fixture.host.settings().environment, &Silent).unwrap();
            let given_up = fixture.host.edit_contents(&edits, &Impatient);
            assert!(matches!(given_up, Err(crate::Error::Cancelled)), "{given_up:?}");
        }
        let directory = fixture.host.settings().environment.index_directory();
        let disk = &fixture.host.settings().environment.disk;
        {
            let _writer = disk.lock(&directory.join("lock"), "another", disk::Wait::Refuse).unwrap();
            let given_up = fixture.host.edit_contents(&edits, &Impatient);
            assert!(matches!(given_up, Err(crate::Error::Cancelled)), "{given_up:?}");
        }
        assert_eq!(fixture.host.edit_contents(&edits, &Impatient).unwrap(), []);
        assert_eq!(fixture.count("subject:one"), 1);
    }
}
