//! Hosts and views: newer states are taken over, older ones stay, requests can be stopped.

use crate::support::{Fixture, query, subjects};
use pneu::{
    Cancel, Context, Duplicates, Error, Host, IndexRemedy, Order, PeopleQuestion, Progress, Remedy,
    Selection, Settings, Stage, TagChange,
};
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

fn tag(name: &str) -> TagChange {
    TagChange { add: [name.to_owned()].into(), ..TagChange::default() }
}

#[test]
fn a_view_stays_what_it_is_and_the_next_one_is_newer() {
    let fixture = Fixture::new();
    let before = fixture.view();
    let gone = fixture.put("2", "second", "more words");
    fixture.update();
    assert_eq!(subjects(&before, "words"), ["first"]);
    let between = fixture.view();
    assert_eq!(subjects(&between, "words"), ["first", "second"]);
    fs::remove_file(gone).unwrap();
    fixture.update();
    assert_eq!(subjects(&fixture.view(), "words"), ["first"]);
    assert_eq!(subjects(&between, "words"), ["first", "second"]);
}

#[test]
fn a_view_shows_index_and_tags_of_one_time() {
    let fixture = Fixture::new();
    let before = fixture.view();
    let summary = fixture.host.tag(&query(&before, "first"), &tag("urgent")).unwrap();
    assert_eq!((summary.messages, summary.changed), (1, 1));
    assert!(before.tags().unwrap().is_empty());
    assert!(subjects(&before, "tag:urgent").is_empty());
    assert_eq!(subjects(&fixture.view(), "tag:urgent"), ["first"]);
}

#[test]
fn what_another_process_commits_is_taken_over_when_it_is_asked_for() {
    let fixture = Fixture::new();
    let other = Host::new(fixture.host.settings().clone());
    assert_eq!(subjects(&other.view().unwrap(), "words"), ["first"]);
    fixture.put("2", "second", "more words");
    fixture.update();
    fixture.host.tag(&query(&fixture.view(), "second"), &tag("new")).unwrap();
    assert_eq!(subjects(&other.view().unwrap(), "words"), ["first"], "nobody asked yet");
    assert!(other.refresh().unwrap());
    assert_eq!(subjects(&other.view().unwrap(), "tag:new"), ["second"]);
    assert!(!other.refresh().unwrap(), "nothing is newer");
}

#[test]
fn commits_of_all_processes_are_told_once() {
    let fixture = Fixture::new();
    let other = other_host(&fixture);
    let none = Some(Duration::ZERO);
    let mut commits = fixture.host.commits();
    let (view, first) = commits.next(none, &pneu::Silent).unwrap().expect("the newest state comes first");
    assert_eq!(subjects(&view, "words"), ["first"]);
    assert!(commits.next(none, &pneu::Silent).unwrap().is_none(), "nothing was committed");
    // By this host, which takes it over itself, and by another one.
    fixture.put("2", "second", "more words");
    fixture.update();
    let (view, second) = commits.next(none, &pneu::Silent).unwrap().unwrap();
    assert_eq!(subjects(&view, "words"), ["first", "second"]);
    let wait = || commits.next(None, &pneu::Silent).unwrap().unwrap();
    let (view, third) = std::thread::scope(|scope| {
        let waits = scope.spawn(wait);
        other.tag(&query(&other.view().unwrap(), "second"), &tag("new")).unwrap();
        waits.join().unwrap()
    });
    assert_eq!(subjects(&view, "tag:new"), ["second"]);
    assert!(first != second && second != third && first != third);
    // Saved queries have no part in the token.
    let patience = Some(Duration::from_secs(20));
    let wait = || commits.next(patience, &pneu::Silent).unwrap().unwrap();
    let (view, same) = std::thread::scope(|scope| {
        let waits = scope.spawn(wait);
        other.save_query("new", "tag:new").unwrap();
        waits.join().unwrap()
    });
    assert_eq!((subjects(&view, "query:new"), same), (vec!["second".to_owned()], third.clone()));
    assert!(commits.next(none, &pneu::Silent).unwrap().is_none());
    struct Stops;
    impl Progress for Stops {
        fn is_cancelled(&self) -> bool {
            true
        }
    }
    for timeout in [None, Some(Duration::MAX)] {
        assert!(matches!(commits.next(timeout, &Stops), Err(Error::Cancelled)));
    }
}

/// Returns a host as another process would make it.
fn other_host(fixture: &Fixture) -> Host {
    let mut settings = fixture.host.settings().clone();
    settings.environment.seed ^= 1 << 32;
    Host::new(settings)
}

#[test]
fn an_index_that_is_deleted_and_made_again_is_read_anew() {
    let fixture = Fixture::new();
    fixture.put("2", "second", "more words");
    fixture.update();
    let before = fixture.view();
    let other = other_host(&fixture);
    for (writer, names) in [(&other, ["8", "9"]), (&fixture.host, ["5", "6"])] {
        // As many commits as before, of other mail.
        let index = fixture.host.settings().environment.index_directory();
        fs::remove_dir_all(index).unwrap();
        fs::remove_dir_all(&fixture.roots[0].path).unwrap();
        for name in names {
            fixture.put(name, name, "quite other words");
            writer.update(&fixture.roots, &Default::default(), &pneu::Silent).unwrap();
        }
        for reader in [&fixture.host, &other] {
            reader.refresh().unwrap();
            assert_eq!(subjects(&reader.view().unwrap(), "words"), names);
        }
        assert_eq!(subjects(&before, "words"), ["first", "second"]);
    }
}

#[test]
fn an_index_that_is_deleted_is_missed() {
    let fixture = Fixture::new();
    let before = fixture.view();
    fs::remove_dir_all(fixture.host.settings().environment.index_directory()).unwrap();
    let error = fixture.host.refresh().unwrap_err();
    assert_eq!(error.remedy(), Some(Remedy::Index(IndexRemedy::MakeIndex)), "{error}");
    assert_eq!(subjects(&before, "words"), ["first"]);
}

#[test]
fn tags_that_are_deleted_and_made_again_are_read_anew() {
    let fixture = Fixture::new();
    fixture.host.tag(&query(&fixture.view(), "first"), &tag("old")).unwrap();
    assert_eq!(subjects(&fixture.view(), "tag:old"), ["first"]);
    // As many commits as before, of another tag.
    fs::remove_dir_all(fixture.host.settings().environment.user_directory()).unwrap();
    let other = other_host(&fixture);
    other.tag(&query(&other.view().unwrap(), "first"), &tag("new")).unwrap();
    assert!(fixture.host.refresh().unwrap());
    assert_eq!(subjects(&fixture.view(), "tag:new"), ["first"]);
    assert!(subjects(&fixture.view(), "tag:old").is_empty());
}

#[test]
fn an_old_view_answers_after_its_files_were_merged_away() {
    let fixture = Fixture::new();
    let mut views = vec![fixture.view()];
    for number in 2..40 {
        fixture.put(&number.to_string(), "later", &format!("word{number}"));
        fixture.update();
        views.push(fixture.view());
    }
    for (at, view) in views.iter().enumerate() {
        // A regular expression reads lists that are otherwise opened when they are needed.
        assert_eq!(subjects(view, "body:/word[0-9]+$/").len(), at);
        assert_eq!(subjects(view, "flag:personal").len(), at + 1);
    }
}

#[test]
fn a_hit_of_an_older_view_names_the_same_message_in_a_newer_one() {
    let fixture = Fixture::new();
    let mut hits = Vec::new();
    for number in 2..40 {
        fixture.put(&number.to_string(), &format!("number {number}"), "words");
        fixture.update();
        let view = fixture.view();
        let order = Order { limit: None, ..Order::default() };
        for hit in view.find(&query(&view, "words"), &order).unwrap().list {
            hits.push((hit, view.lines(&[hit]).unwrap()));
        }
    }
    let newest = fixture.view();
    for (hit, lines) in &hits {
        assert_eq!(newest.lines(&[*hit]).unwrap(), *lines);
        assert_eq!(newest.message(hit).unwrap().line, lines[0]);
    }
    let (hit, _) = hits.into_iter().find(|(_, lines)| lines[0].subject == "first").unwrap();
    fs::remove_file(fixture.roots[0].path.join("cur/1.x:2,")).unwrap();
    fixture.update();
    assert!(fixture.view().is_absent(&hit).unwrap());
    assert_eq!(fixture.view().lines(&[hit]).unwrap()[0].subject, "first");
    fixture.host.sweep(-1, None, &pneu::Silent).unwrap();
    for error in [fixture.view().lines(&[hit]).unwrap_err(), fixture.view().message(&hit).unwrap_err()] {
        let is_removed = |error: &Error| error.to_string().contains("was removed from the index");
        assert!(is_removed(&error), "{error}");
    }
}

#[test]
fn a_request_that_was_stopped_says_so_and_disturbs_no_other() {
    let fixture = Fixture::new();
    let view = fixture.view();
    let all = query(&view, "words");
    let cancel = Cancel::new();
    let stopped = view.clone().with_cancel(cancel.clone());
    assert_eq!(stopped.count(&all).unwrap(), 1);
    cancel.cancel();
    assert!(matches!(stopped.count(&all), Err(Error::Cancelled)));
    assert!(matches!(stopped.find(&all, &Order::default()), Err(Error::Cancelled)));
    let late = view.clone().with_cancel(Cancel::new().with_deadline(Instant::now()));
    assert!(matches!(late.count(&all), Err(Error::Cancelled)));
    assert_eq!(view.count(&all).unwrap(), 1);
}

#[test]
fn every_method_of_a_view_obeys_its_request() {
    let fixture = Fixture::new();
    let view = fixture.view();
    let all = query(&view, "words");
    let hit = view.find(&all, &Order::default()).unwrap().list[0];
    let message = view.message(&hit).unwrap();
    let stopped = view.with_cancel(Cancel::new().with_deadline(Instant::now()));
    let errors = [
        stopped.message(&hit).err(),
        stopped.lines(&[hit]).err(),
        stopped.is_absent(&hit).err(),
        stopped.resolve("id:1@x").err(),
        stopped.read(&message).err(),
        stopped.hints(&all).err(),
        stopped.tags().err(),
        stopped.counts().err(),
        stopped.people(&PeopleQuestion::default()).err(),
        stopped.analyze(&all).err(),
        stopped.pin().err(),
    ];
    for (at, error) in errors.iter().enumerate() {
        assert!(matches!(error, Some(Error::Cancelled)), "{at}: {error:?}");
    }
}

static ASKED_COUNT: AtomicUsize = AtomicUsize::new(0);

#[test]
fn long_steps_of_a_query_look_whether_they_are_still_wanted() {
    let fixture = Fixture::new();
    for number in 2..40 {
        fixture.put(&number.to_string(), &format!("number {number}"), "words");
    }
    fixture.update();
    let view = fixture.view().with_cancel(Cancel::when(|| {
        ASKED_COUNT.fetch_add(1, Ordering::Relaxed);
        false
    }));
    let count = |work: &dyn Fn()| {
        let before = ASKED_COUNT.load(Ordering::Relaxed);
        work();
        ASKED_COUNT.load(Ordering::Relaxed) - before
    };
    let asked = |text: &str| {
        count(&|| {
            view.count(&query(&view, text)).unwrap();
        })
    };
    let usual = asked("size:1..");
    assert!(asked("path:*nothing*") >= usual + 39, "each path");
    for text in ["from:/nothing/", "wor*", "maildir:*nothing*"] {
        assert!(asked(text) > usual, "{text}");
    }
    let newest = Order { limit: Some(1), ..Order::default() };
    let all = view.matching(&query(&view, "*")).unwrap();
    assert!(count(&|| drop(view.sorted(&all, &newest).unwrap())) > 1, "the walk by date");
    let selection = |with_related, duplicates| {
        let selection = Selection { with_related, duplicates };
        count(&|| drop(view.select(&query(&view, "*"), selection).unwrap()))
    };
    let plain = selection(false, Duplicates::Copies);
    assert!(selection(true, Duplicates::Copies) > plain + 1);
    assert!(selection(false, Duplicates::MessageId) > plain);
}

/// Says on how many threads the work is that asks for the time.
static THREAD_COUNT: AtomicUsize = AtomicUsize::new(0);

fn clock_of_threads() -> i64 {
    THREAD_COUNT.store(rayon::current_num_threads(), Ordering::Relaxed);
    1_900_000_000_000_000_000
}

/// Notes on how many threads a stage of a pass begins.
#[derive(Default)]
struct StageThreads(Mutex<Vec<usize>>);

impl Progress for StageThreads {
    fn stage(&self, _stage: Stage) {
        self.0.lock().unwrap().push(rayon::current_num_threads());
    }
}

#[test]
fn a_host_works_on_as_many_threads_as_it_was_given() {
    for (allowed, expected) in [(0, 1), (1, 1), (5, 5)] {
        let fixture = Fixture::new();
        let mut settings = fixture.host.settings().clone();
        settings.environment.context = Context::new(clock_of_threads, allowed);
        let host = Host::new(settings);
        fixture.put("2", "second", "more words");
        let stages = StageThreads::default();
        host.update(&fixture.roots, &Default::default(), &stages).unwrap();
        let stages = stages.0.into_inner().unwrap();
        assert!(!stages.is_empty() && stages.iter().all(|count| *count == expected), "{stages:?}");
        let view = host.view().unwrap();
        let asked = query(&view, "words");
        THREAD_COUNT.store(0, Ordering::Relaxed);
        view.analyze(&asked).unwrap();
        assert_eq!(THREAD_COUNT.load(Ordering::Relaxed), expected);
    }
}

/// Sets a tag while a pass is under way.
struct TagsMeanwhile<'a> {
    host: &'a Host,
    was_set: AtomicBool,
}

impl Progress for TagsMeanwhile<'_> {
    fn stage(&self, stage: Stage) {
        if stage == Stage::Read {
            let all = query(&self.host.view().unwrap(), "*");
            self.host.tag(&all, &tag("meanwhile")).unwrap();
            self.was_set.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_tag_does_not_wait_for_a_pass() {
    let fixture = Fixture::new();
    fixture.put("2", "second", "more words");
    let progress = TagsMeanwhile { host: &fixture.host, was_set: AtomicBool::new(false) };
    fixture.host.update(&fixture.roots, &Default::default(), &progress).unwrap();
    assert!(progress.was_set.into_inner());
    assert_eq!(subjects(&fixture.view(), "tag:meanwhile"), ["first"]);
}

#[test]
fn a_writer_whose_program_is_stopped_does_not_begin() {
    let fixture = Fixture::new();
    let all = query(&fixture.view(), "*");
    fixture.host.settings().environment.context.cancel.cancel();
    assert!(matches!(fixture.host.tag(&all, &tag("late")), Err(Error::Cancelled)));
    assert!(matches!(fixture.host.save_query("late", "*"), Err(Error::Cancelled)));
}

#[test]
fn folders_are_updated_and_taken_over() {
    let fixture = Fixture::new();
    let root = fixture.roots[0].path.clone();
    let before = fixture.view();
    fixture.put("2", "second", "more words");
    for place in ["cur", "new", "tmp"] {
        fs::create_dir_all(root.join(".other").join(place)).unwrap();
    }
    fs::write(root.join(".other/cur/3.x:2,"), "Subject: third\n\nother words\n").unwrap();
    let update = |folder: &std::path::Path| {
        let places = [folder].into_iter().collect();
        fixture.host.update_places(&places, &Default::default(), &pneu::Silent).unwrap()
    };
    assert_eq!(update(&root.join(".other")).added, 1);
    assert_eq!(subjects(&fixture.view(), "words"), ["first", "third"]);
    assert_eq!(update(&root).added, 1);
    assert_eq!(subjects(&fixture.view(), "words"), ["first", "second", "third"]);
    assert_eq!(subjects(&before, "words"), ["first"]);
    assert_eq!(update("/nowhere".as_ref()).problems.len(), 1);
}

#[test]
fn errors_are_data_with_a_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let error = Host::new(Settings::new(directory.path())).view().unwrap_err();
    assert_eq!(error.remedy(), Some(Remedy::Index(IndexRemedy::MakeIndex)));
    let fixture = Fixture::new();
    let error = fixture.view().query("date:nonsense").unwrap_err();
    assert!(matches!(&error, Error::Parse(query) if query.span == (5..13)), "{error:?}");
    assert_eq!(error.remedy(), None);
}

#[test]
fn threads_ask_while_one_writes() {
    let fixture = Fixture::new();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut last = 0;
                    while !is_done.load(Ordering::Relaxed) {
                        let view = fixture.view();
                        let count = view.count(&query(&view, "*")).unwrap();
                        assert!(count >= last, "a newer view lacks a message");
                        assert_eq!(subjects(&view, "*").len() as u64, count, "a view has one answer");
                        last = count;
                    }
                })
            })
            .collect();
        for number in 2..30 {
            fixture.put(&number.to_string(), "later", "words");
            fixture.update();
            let view = fixture.view();
            fixture.host.tag(&query(&view, "later"), &tag(&format!("t{}", number % 3))).unwrap();
        }
        is_done.store(true, Ordering::Relaxed);
        asking.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert_eq!(fixture.view().tags().unwrap().len(), 3);
}
