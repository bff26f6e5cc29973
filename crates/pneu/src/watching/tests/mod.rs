//! A host that follows a mailbox while other programs change it.

mod merging;

use super::merging::Merger;
use super::todo::{Todo, Watched};
use super::{FollowNote, FollowObserver};
use crate::setup::configuration::Configuration;
use crate::{AttachmentsRead, Host, Root, Settings, Summary, UpdateOptions, View};
use index::{Look, Places};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
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
        Fixture::configured(|_| Configuration::default())
    }

    /// Makes one with a configuration for this directory.
    fn configured(configuration: impl FnOnce(&Path) -> Configuration) -> Fixture {
        let place = tempfile::tempdir().unwrap();
        let configuration = configuration(place.path());
        let settings = Settings { configuration, ..Settings::new(place.path().join("data")) };
        let host = Arc::new(Host::new(settings));
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
        self.put_content(path, &format!("Subject: {subject}\n\n{subject}\n"));
    }

    fn put_content(&self, path: &str, content: &str) {
        let path = self.at(path);
        let folder = path.parent().unwrap().parent().unwrap();
        ["cur", "new", "tmp"].iter().for_each(|name| fs::create_dir_all(folder.join(name)).unwrap());
        let temporary = folder.join("tmp").join(path.file_name().unwrap());
        fs::write(&temporary, content).unwrap();
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

    /// Does something while the mail is followed.
    fn while_followed(&self, observer: impl FollowObserver + Send, work: impl FnOnce()) {
        self.while_followed_by(&Merger::default(), observer, work);
    }

    /// Does something while the mail is followed with this merger.
    fn while_followed_by(&self, merger: &Merger, observer: impl FollowObserver + Send, work: impl FnOnce()) {
        let options = UpdateOptions::default();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let observer = observer;
                self.host.follow_and_merge(merger, (&self.roots(), &options), self, &observer)
            });
            // Whatever fails, the thread ends.
            let _ended = Ended(self);
            work();
        });
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
    fixture.while_followed(Teller(sender), || {
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
    });
}

#[test]
fn links_on_the_way_and_roots_of_other_processes_are_followed() {
    let fixture = Fixture::new();
    // The root is `above/Mail`, which leads over another link to `disk/one/Mail`.
    let at = |path: &str| fixture.place.path().join(path);
    for disk in ["one", "two"] {
        fs::create_dir_all(at("disk").join(disk)).unwrap();
    }
    fs::rename(at("above/Mail"), at("disk/one/Mail")).unwrap();
    fs::create_dir_all(at("disk/two/Mail/inbox/cur")).unwrap();
    fs::create_dir(at("disk/two/Mail/inbox/new")).unwrap();
    fs::write(at("disk/two/Mail/inbox/cur/9.z:2,"), "Subject: nine\n\nnine\n").unwrap();
    symlink("one", at("disk/now")).unwrap();
    symlink("../disk/now/Mail", at("above/Mail")).unwrap();
    let (sender, passes) = channel();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let options = UpdateOptions { loss: index::Loss::Accept, ..UpdateOptions::default() };
            fixture.host.follow_mail(&[], &options, &fixture, &Teller(sender))
        });
        let ended = Ended(&fixture);
        passes.recv_timeout(LONG).unwrap();
        symlink("two", at("disk/next")).unwrap();
        fs::rename(at("disk/next"), at("disk/now")).unwrap();
        fixture.expect(&passes, &["inbox/cur/9.z:2,"]);
        // Another process adds a root.
        let other = Host::new(fixture.host.settings().clone());
        fs::create_dir_all(at("above/Mail2/cur")).unwrap();
        fs::create_dir(at("above/Mail2/new")).unwrap();
        let mut roots = fixture.roots();
        roots.push(Root { name: "more".into(), path: at("above/Mail2") });
        other.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
        loop {
            // The pass that follows the new root.
            passes.recv_timeout(LONG).unwrap();
            if fixture.host.newest_view().unwrap().roots().len() == 2 {
                break;
            }
        }
        fs::write(at("above/Mail2/cur/1.m:2,"), "Subject: more\n\nmore\n").unwrap();
        let found = || fixture.host.newest_view().unwrap().query("subject:more").unwrap();
        while fixture.host.newest_view().unwrap().count(&found()).unwrap() == 0 {
            passes.recv_timeout(LONG).unwrap();
        }
        drop(ended);
    });
}

/// Passes on what happened and what was read of attachments.
struct Hearer(Sender<Summary>, Sender<AttachmentsRead>);

impl FollowObserver for Hearer {
    fn updated(&self, summary: &Summary) {
        let _ = self.0.send(summary.clone());
    }

    fn notes(&self, note: FollowNote) {
        match note {
            FollowNote::Watching { .. } => {}
            FollowNote::Attachments(read) => {
                let _ = self.1.send(read);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn no_mail_waits_for_a_filter() {
    let fixture = Fixture::configured(|place| {
        let pipe = place.join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let filter = format!("cat; read line < '{}'; echo $line", pipe.display());
        let mut configuration = Configuration::default();
        configuration.attachments.filters.insert("a/b".into(), filter);
        configuration.attachments.time_seconds = LONG.as_secs();
        configuration
    });
    let with_part = |number: u32| format!("Subject: part{number}\nContent-Type: a/b\n\n{number}\n");
    let found = |query: &str| {
        let view = fixture.host.newest_view().unwrap();
        view.matching(&view.query(query).unwrap()).unwrap().count()
    };
    let answer = |text: &str| fs::write(fixture.place.path().join("pipe"), text).unwrap();
    let ((sender, passes), (reading, read)) = (channel(), channel());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let options = UpdateOptions::default();
            fixture.host.follow_mail(&fixture.roots(), &options, &fixture, &Hearer(sender, reading))
        });
        let ended = Ended(&fixture);
        passes.recv_timeout(LONG).unwrap();
        // The filter waits for an answer as long as it may. What comes meanwhile is found.
        fixture.put_content("inbox/new/3.a", &with_part(1));
        while found("subject:part1") == 0 {
            passes.recv_timeout(LONG).unwrap();
        }
        fixture.put("inbox/new/4.a", "four");
        while found("subject:four") == 0 {
            passes.recv_timeout(LONG).unwrap();
        }
        assert_eq!(found("embed:answer"), 0);
        answer("answer\n");
        let mut count = 0;
        while count == 0 {
            let some = read.recv_timeout(LONG).unwrap();
            assert_eq!(some.problems, [""; 0]);
            count += some.messages;
        }
        assert_eq!((count, found("embed:answer")), (1, 1));
        // At the end, the filter is killed: the scope waits for its thread.
        fixture.put_content("inbox/new/5.a", &with_part(2));
        while found("subject:part2") == 0 {
            passes.recv_timeout(LONG).unwrap();
        }
        drop(ended);
    });
    assert_eq!(found("embed:answer"), 1);
    // What is left is done later.
    std::thread::scope(|scope| {
        let left = scope.spawn(|| fixture.host.read_attachments(Look::New, &Silent).unwrap().messages);
        answer("answer\n");
        assert_eq!(left.join().unwrap(), 1);
    });
    assert_eq!(found("embed:answer"), 2);
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
    let wait = |timeout| {
        let mut wait = fixture.host.wait(&query, None).unwrap();
        let found = wait.next(timeout, &Silent, &|| {}).unwrap();
        found.map(|found| (wait.view().clone(), found))
    };
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

#[test]
fn a_wait_goes_on_without_a_gap_and_a_rebuilt_index_makes_nothing_new() {
    let fixture = Fixture::new();
    let add = |path: &str, subject: &str| {
        fixture.put(path, subject);
        let mut places = Places::default();
        places.add_file(&fixture.at(path));
        fixture.host.update_places(&places, &UpdateOptions::default(), &Silent).unwrap();
    };
    let view = || fixture.host.newest_view().unwrap();
    let query = |text: &str| view().query(text).unwrap();
    let mut wait = fixture.host.wait(&query("subject:three"), None).unwrap();
    let next = |wait: &mut super::Wait<'_>| {
        let found = wait.next(Some(Duration::ZERO), &Silent, &|| {}).unwrap();
        let hits = found
            .map_or(Vec::new(), |found| wait.view().sorted(&found, &crate::Order::default()).unwrap().list);
        let lines = wait.view().lines(&hits).unwrap();
        lines.into_iter().map(|line| line.subject).collect::<Vec<_>>().join(",")
    };
    let none = String::new();
    assert_eq!(next(&mut wait), none);
    add("inbox/new/3.a", "three");
    add("inbox/new/4.a", "four");
    assert_eq!((next(&mut wait), next(&mut wait)), ("three".into(), none.clone()));

    // Another wait, from a token on.
    let token = view().changes(None).unwrap().token;
    let since = |text: &str| {
        let mut wait = fixture.host.wait(&query(text), Some(&token)).unwrap();
        let first = next(&mut wait);
        assert_eq!(next(&mut wait), none, "it comes once");
        first
    };
    assert_eq!(since("*"), none);
    add("inbox/new/5.a", "three again");
    fixture.rename("inbox/new/4.a", "inbox/cur/4.a:2,F");
    fixture.host.update(&fixture.roots(), &UpdateOptions::default(), &Silent).unwrap();
    assert_eq!((since("subject:three"), since("subject:four")), ("three again".into(), none.clone()));
    // Flags count for a query that asks for them.
    assert_eq!(since("flag:flagged"), "four");
    assert_eq!(since("subject:three and not flag:flagged"), "three again");
    assert_eq!(next(&mut wait), "three again");

    // The rebuilt index gives other numbers.
    fs::remove_file(fixture.at("inbox/cur/1.a:2,S")).unwrap();
    fs::remove_dir_all(fixture.host.settings().environment.index_directory()).unwrap();
    fixture.put("inbox/new/6.a", "three while it is rebuilt");
    let host = Host::new(fixture.host.settings().clone());
    host.update(&fixture.roots(), &UpdateOptions::default(), &Silent).unwrap();
    assert_eq!((next(&mut wait), next(&mut wait)), ("three while it is rebuilt".into(), none.clone()));
    let refused = fixture.host.wait(&query("*"), Some(&token)).err().unwrap();
    assert!(matches!(refused, crate::Error::Index(index::Error::Token { .. })), "{refused:?}");
}

fn entry(directory: &str, interest: Interest, name: &str, is_directory: bool) -> Report {
    let entry = Entry { directory: directory.into(), interest, name: name.as_bytes().to_vec(), is_directory };
    Report { entries: vec![entry], ..Report::default() }
}

#[test]
fn a_pass_looks_at_what_changed_and_at_everything_only_if_it_must() {
    let directories = ["/m", "/m/a", "/m/link"].map(PathBuf::from).into();
    let ways = ["/m", "/home", "/home/ana", "/home/ana/mail", "/disk", "/disk/ana"].map(PathBuf::from).into();
    let configuration = [
        "/home",
        "/home/ana",
        "/home/ana/.config",
        "/home/ana/.config/pneu",
        "/home/ana/.config/pneu/config.toml",
    ]
    .map(PathBuf::from)
    .into();
    let known = Watched { ways, directories, index: "/index".into(), configuration };
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
        // So does a link that another link on the way leads to.
        entry("/disk", names, "ana", false),
        Report { gone: vec!["/m/a/cur".into()], ..Report::default() },
        Report { is_uncertain: true, ..Report::default() },
    ] {
        assert!(todo(&report).is_everything, "{report:?}");
    }
    let found = todo(&entry("/index", contents, "journal", false));
    assert_eq!(found, Todo { has_commit: true, ..Todo::default() });
}
