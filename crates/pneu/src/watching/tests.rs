//! A host that follows a mailbox while other programs change it.

use super::todo::{Todo, Watched};
use super::{FollowNote, FollowObserver};
use crate::{Host, Root, Settings, Summary, UpdateOptions, View};
use index::Places;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use watch::{Entry, Interest, Report};
use work::{Cancel, Progress, Silent};

/// Longer than anything takes: what does not come by then never comes.
const LONG: Duration = Duration::from_secs(60);

struct Fixture {
    place: tempfile::TempDir,
    host: Arc<Host>,
    cancel: Cancel,
}

/// Passes on that something happened.
struct Teller(Sender<Summary>);

impl FollowObserver for Teller {
    fn updated(&self, summary: &Summary) {
        let _ = self.0.send(summary.clone());
    }

    fn notes(&self, note: FollowNote) {
        assert!(matches!(note, FollowNote::Watching { .. }), "{note:?}");
    }
}

impl Progress for Fixture {
    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }
}

impl Fixture {
    fn new() -> Fixture {
        let place = tempfile::tempdir().unwrap();
        let host = Arc::new(Host::new(Settings::new(place.path().join("data"))));
        let fixture = Fixture { place, host, cancel: Cancel::new() };
        fixture.put("inbox/cur/1.a:2,S", "one");
        fixture.put("other/cur/2.a:2,S", "two");
        fixture.host.update(&fixture.roots(), &UpdateOptions::default(), &Silent).unwrap();
        fixture
    }

    fn roots(&self) -> Vec<Root> {
        vec![Root { name: "mail".into(), path: self.at("") }]
    }

    fn at(&self, path: &str) -> PathBuf {
        self.place.path().join("above/Mail").join(path)
    }

    /// Delivers as mail programs do: the file is whole when it gets its place.
    fn put(&self, path: &str, subject: &str) {
        let path = self.at(path);
        let folder = path.parent().unwrap().parent().unwrap();
        ["cur", "new", "tmp"].iter().for_each(|name| fs::create_dir_all(folder.join(name)).unwrap());
        let temporary = folder.join("tmp").join(path.file_name().unwrap());
        fs::write(&temporary, format!("Subject: {subject}\n\n{subject}\n")).unwrap();
        fs::rename(temporary, path).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.at(from), self.at(to)).unwrap();
    }

    /// Returns the files in the index, by their places below the root.
    fn files(&self) -> BTreeSet<String> {
        let view: View = self.host.newest_view().unwrap();
        let found = view.matching(&view.query("*").unwrap()).unwrap();
        let files = view.mailbox().found_files(&found).unwrap();
        let place = |path: PathBuf| path.strip_prefix(self.at("")).unwrap().display().to_string();
        files.iter().map(|file| place(file.path())).collect()
    }

    /// Waits for passes until these are the files in the index.
    fn expect(&self, passes: &Receiver<Summary>, files: &[&str]) -> Summary {
        let mut all = Summary::default();
        loop {
            let summary = passes.recv_timeout(LONG).unwrap_or_else(|_| panic!("{:?}", self.files()));
            all.added += summary.added;
            all.moved += summary.moved;
            all.gone += summary.gone;
            if self.files() == files.iter().map(|file| (*file).to_owned()).collect() {
                return all;
            }
        }
    }
}

#[test]
fn what_other_programs_do_is_in_the_index_soon() {
    let fixture = Fixture::new();
    let (sender, passes) = channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let options = UpdateOptions::default();
            fixture.host.follow_mail(&fixture.roots(), &options, &fixture, &Teller(sender))
        });
        // Whatever fails, the thread ends.
        let ended = Ended(&fixture);
        passes.recv_timeout(LONG).unwrap();
        fixture.put("inbox/new/3.a", "three");
        let summary = fixture.expect(&passes, &["inbox/cur/1.a:2,S", "other/cur/2.a:2,S", "inbox/new/3.a"]);
        assert_eq!((summary.added, summary.moved, summary.gone), (1, 0, 0));
        // A move between two folders stays a move.
        fixture.rename("inbox/cur/1.a:2,S", "other/cur/1.a:2,FS");
        let summary = fixture.expect(&passes, &["other/cur/1.a:2,FS", "other/cur/2.a:2,S", "inbox/new/3.a"]);
        assert_eq!((summary.added, summary.moved, summary.gone), (0, 1, 0));
        fs::remove_file(fixture.at("inbox/new/3.a")).unwrap();
        fixture.expect(&passes, &["other/cur/1.a:2,FS", "other/cur/2.a:2,S"]);
        // A new folder is watched from then on, also under another name.
        fixture.put("fresh/below/cur/4.a:2,", "four");
        fixture.expect(&passes, &["other/cur/1.a:2,FS", "other/cur/2.a:2,S", "fresh/below/cur/4.a:2,"]);
        fixture.put("fresh/below/cur/5.a:2,", "five");
        let files =
            ["other/cur/1.a:2,FS", "other/cur/2.a:2,S", "fresh/below/cur/4.a:2,", "fresh/below/cur/5.a:2,"];
        fixture.expect(&passes, &files);
        fixture.rename("fresh", "old");
        let files =
            ["other/cur/1.a:2,FS", "other/cur/2.a:2,S", "old/below/cur/4.a:2,", "old/below/cur/5.a:2,"];
        fixture.expect(&passes, &files);
        fixture.rename("old/below/cur/5.a:2,", "old/below/cur/5.a:2,F");
        fixture.expect(&passes, &[files[0], files[1], files[2], "old/below/cur/5.a:2,F"]);
        // The directory above the root goes, and comes back.
        let (place, away) = (fixture.place.path().join("above"), fixture.place.path().join("away"));
        fs::rename(&place, &away).unwrap();
        fs::rename(&away, &place).unwrap();
        fixture.rename("old/below/cur/5.a:2,F", "old/below/cur/5.a:2,FS");
        fixture.expect(&passes, &[files[0], files[1], files[2], "old/below/cur/5.a:2,FS"]);
        // What is excluded is out of the index.
        fs::write(fixture.at("old/.noindex"), "").unwrap();
        fixture.expect(&passes, &files[..2]);
        drop(ended);
    });
}

/// Ends a host that follows.
struct Ended<'a>(&'a Fixture);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.cancel.cancel();
        // It looks whether to stop when something happens.
        self.0.put("inbox/new/last", "last");
    }
}

#[test]
fn a_wait_ends_at_the_first_message_that_matches_and_did_not_before() {
    let fixture = Fixture::new();
    let query = fixture.host.newest_view().unwrap().query("subject:three or flag:flagged").unwrap();
    let wait = |timeout| fixture.host.wait_for(&query, timeout, &Silent, &|| {}).unwrap();
    assert!(wait(Some(Duration::ZERO)).is_none());
    let subjects = |found: Option<(View, index::NumberSet)>| {
        let (view, found) = found.expect("it comes before the time is up");
        let hits = view.sorted(&found, &crate::Order::default()).unwrap().list;
        view.lines(&hits).unwrap().into_iter().map(|line| line.subject).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| subjects(wait(Some(LONG))));
        // It may begin after the first of these: then it ends at a later one.
        for number in 0.. {
            if waits.is_finished() {
                break;
            }
            for (name, subject) in [("other", "four"), ("wanted", "three")] {
                let path = format!("inbox/new/{number}.{name}");
                fixture.put(&path, &format!("{subject} {number}"));
                let mut places = Places::default();
                places.add_file(&fixture.at(&path));
                fixture.host.update_places(&places, &UpdateOptions::default(), &Silent).unwrap();
            }
        }
        let found = waits.join().unwrap();
        assert!(found.iter().all(|subject| subject.starts_with("three")) && !found.is_empty(), "{found:?}");
    });
}

fn entry(directory: &str, interest: Interest, name: &str, is_directory: bool) -> Report {
    let entry = Entry { directory: directory.into(), interest, name: name.as_bytes().to_vec(), is_directory };
    Report { entries: vec![entry], ..Report::default() }
}

#[test]
fn a_pass_looks_at_what_changed_and_at_everything_only_if_it_must() {
    let directories = ["/m", "/m/a", "/m/link"].map(PathBuf::from).into();
    let configuration = vec![PathBuf::from("/home/ana/.config/pneu/config.toml")];
    let known = Watched { roots: vec!["/m".into(), "/home/ana/mail".into()], directories, configuration };
    let todo = |report: &Report| {
        let mut todo = Todo::default();
        todo.add(report, &known);
        todo
    };
    let (names, contents) = (Interest::Names, Interest::NamesAndContents);
    let mut file = Places::default();
    file.add_file(Path::new("/m/a/cur/1:2,S"));
    let found = todo(&entry("/m/a/cur", contents, "1:2,S", false));
    assert_eq!(found, Todo { places: file, ..Todo::default() });
    let folder = [Path::new("/m/a")].into_iter().collect();
    let found = todo(&entry("/m/a", names, "dovecot-keywords", false));
    assert_eq!(found, Todo { places: folder, ..Todo::default() });
    for (directory, interest, name, is_it) in [
        ("/home/ana/.config/pneu", contents, "config.toml", true),
        ("/home/ana/.config/pneu", contents, "config.toml~", false),
        ("/home/ana/.config", names, "pneu", true),
        ("/home/ana", names, ".config", true),
        ("/home/ana", names, ".cache", false),
    ] {
        let found = todo(&entry(directory, interest, name, false));
        assert_eq!(found, Todo { is_reconfigured: is_it, ..Todo::default() }, "{directory}/{name}");
    }
    for report in [
        entry("/m/a/cur", contents, ".hidden", false),
        entry("/m/a/cur", contents, "directory", true),
        entry("/m/a", names, "dovecot-uidlist.lock", false),
        entry("/home", names, "bo", true),
        entry("/home/ana", names, "file", false),
        Report::default(),
    ] {
        assert!(todo(&report).is_empty(), "{report:?}");
    }
    for report in [
        entry("/m", names, "new", true),
        entry("/m/a", names, ".noindex", false),
        entry("/m/a", names, ".noupdate", false),
        entry("/m", names, "link", false),
        entry("/home", names, "ana", true),
        // A root that is a link leads elsewhere now.
        entry("/home/ana", names, "mail", false),
        Report { gone: vec!["/m/a/cur".into()], ..Report::default() },
        Report { is_uncertain: true, ..Report::default() },
    ] {
        assert!(todo(&report).is_everything, "{report:?}");
    }
}
