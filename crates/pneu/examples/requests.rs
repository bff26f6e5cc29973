//! Answers 10,000 requests from 8 threads while a pass, tags and merges run beside them, and prints what that
//! took.
//!
//! Run it with `cargo run --release -p pneu --example requests`, or `-- MESSAGES` for another number of
//! generated messages. It makes a Maildir and an index in a temporary directory and removes both at the end.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example prints, and ends where something fails"
)]

use pneu::{Host, Order, Root, Settings, Silent, TagChange, ThreadOrder, UpdateOptions, View};
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const REQUEST_COUNT: usize = 10_000;
const THREAD_COUNT: usize = 8;
/// How long a request may take.
const DEADLINE: Duration = Duration::from_secs(10);
/// What requests ask, in turn.
const QUESTIONS: [&str; 6] =
    ["maildir:/a flag:unread", "word7*", "tag:even", "subject:report and not flag:seen", "thread:1@x", "*"];

fn main() {
    let message_count = std::env::args().nth(1).map_or(20_000, |count| count.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let mail = directory.path().join("mail");
    put(&mail, 0..message_count);
    let host = Host::new(Settings::new(directory.path().join("data")));
    let roots = [Root { name: "mail".to_owned(), path: mail.clone() }];
    host.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
    println!("{message_count} messages; memory before: {} MiB", resident_mib());

    let (asked, is_done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let times = Mutex::new(Vec::new());
    let (mut commits, mut refreshes) = (0, Vec::new());
    let started = Instant::now();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREAD_COUNT)
            .map(|_| {
                scope.spawn(|| {
                    let mut own = Vec::new();
                    loop {
                        let number = asked.fetch_add(1, Ordering::Relaxed);
                        if number >= REQUEST_COUNT {
                            break;
                        }
                        let started = Instant::now();
                        answer(&host, number);
                        own.push(started.elapsed());
                    }
                    times.lock().unwrap().extend(own);
                })
            })
            .collect();
        let writer = scope.spawn(|| {
            let (mut next, mut refreshes) = (message_count, Vec::new());
            while !is_done.load(Ordering::Relaxed) {
                put(&mail, next..next + 100);
                next += 100;
                host.update(&roots, &UpdateOptions::default(), &Silent).unwrap();
                let view = host.view().unwrap();
                let tag = if (next / 100).is_multiple_of(2) { "even" } else { "odd" };
                let change = TagChange { add: [tag.to_owned()].into(), ..TagChange::default() };
                host.tag(&view.query(&format!("msgid:{}@x", next - 1)).unwrap(), &change).unwrap();
                let started = Instant::now();
                host.refresh().unwrap();
                refreshes.push(started.elapsed());
            }
            (next, refreshes)
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        is_done.store(true, Ordering::Relaxed);
        let (next, taken) = writer.join().unwrap();
        (commits, refreshes) = ((next - message_count) / 100 * 2, taken);
    });
    let wall = started.elapsed();
    let mut times = times.into_inner().unwrap();
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100];
    println!(
        "{} requests from {THREAD_COUNT} threads in {:.1} s beside {commits} commits: median {:?}, 99 % \
         {:?}, longest {:?}",
        times.len(),
        wall.as_secs_f64(),
        at(50),
        at(99),
        at(100)
    );
    println!("memory after: {} MiB; segments {:?}", resident_mib(), segments(&host));
    assert!(!refreshes.is_empty());
}

/// Answers one request with a view of its own: folders, flags, words, tags, threads.
fn answer(host: &Host, number: usize) {
    let cancel = pneu::Cancel::new().with_deadline(Instant::now() + DEADLINE);
    let view: View = host.view().unwrap().with_cancel(cancel);
    let query = view.query(QUESTIONS[number % QUESTIONS.len()]).unwrap();
    if number.is_multiple_of(10) {
        let found = view.matching(&query).unwrap();
        let threads =
            view.threads(&found, &ThreadOrder { limit: Some(20), ..ThreadOrder::default() }).unwrap();
        assert!(threads.list.len() <= 20);
        return;
    }
    let hits = view.find(&query, &Order { limit: Some(20), ..Order::default() }).unwrap();
    assert_eq!(view.lines(&hits.list).unwrap().len(), hits.list.len());
    if let Some(hit) = hits.list.first() {
        let message = view.message(hit).unwrap();
        assert!(message.rest.message_id.ends_with("@x"));
        view.read(&message).unwrap();
    }
}

/// Writes messages into two folders; every third answers the one before.
fn put(mail: &Path, numbers: std::ops::Range<usize>) {
    for folder in ["a", "b"] {
        for place in ["cur", "new", "tmp"] {
            fs::create_dir_all(mail.join(folder).join(place)).unwrap();
        }
    }
    for number in numbers {
        let folder = if number.is_multiple_of(3) { "a" } else { "b" };
        let answers =
            if number % 3 == 2 { format!("In-Reply-To: <{}@x>\n", number - 1) } else { String::new() };
        let flags = if number.is_multiple_of(4) { "" } else { "S" };
        let text = format!(
            "From: Ana <ana@example.org>\nTo: bo@example.org\nSubject: report {number}\nMessage-ID: \
             <{number}@x>\n\
             {answers}Date: Tue, 4 Mar 2025 10:{:02}:{:02} +0000\n\nword{} word{} and more of them\n",
            number / 60 % 60,
            number % 60,
            number % 100,
            number % 1009
        );
        fs::write(mail.join(folder).join("cur").join(format!("{number}.example:2,{flags}")), text).unwrap();
    }
}

fn segments(host: &Host) -> (u64, u64) {
    let counts = host.view().unwrap().counts().unwrap();
    (counts.store_segments, counts.text_segments)
}

/// Returns the memory of this process, files that are mapped not counted.
fn resident_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or_default() / 1024
}
