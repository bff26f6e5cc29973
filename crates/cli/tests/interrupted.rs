//! Tests work that is stopped in the middle: by Ctrl-C, SIGTERM or SIGHUP, by kill -9, by another process.
//!
//! Input: signals at moments that a held lock or a written file determines. Output: whether the next pass
//! gives the same result as a single pass, and whether a repository is unlocked. Does not depend on how much
//! was kept.

use crate::archive::{Archived, archived};
use crate::support::{Home, Run, by_env, end, letter};
use disk::{Disk, Lock, RealDisk, Wait};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader};
use std::mem::MaybeUninit;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use testkit::corpus::{CorpusOptions, generate};

const MESSAGES: u32 = 1500;

fn signal(child: &Child, signal: Signal) {
    let id = i32::try_from(child.id()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
}

/// Makes a home with an index of one message, and more mail beside it that is not indexed yet.
fn home() -> Home {
    let home = Home::indexed();
    generate(&home.mail().join("more"), &CorpusOptions { folders: 5, ..CorpusOptions::varied(MESSAGES, 7) })
        .unwrap();
    home
}

fn hold_lock(home: &Home) -> Lock {
    RealDisk.lock(&home.index_directory().join("lock"), "a test", Wait::Refuse).unwrap()
}

/// Starts an index while the lock is held, and returns when it waits.
fn waiting(home: &Home) -> (Child, BufReader<ChildStderr>) {
    until_waiting(start(&mut home.command(&["index"])))
}

/// Starts the program as a shell does for a user, who ignores no signal, whatever this test was started by.
pub(crate) fn start(command: &mut Command) -> Child {
    start_by(&["--default-signal=INT,TERM,HUP"], command)
}

fn start_by(env: &[&str], command: &mut Command) -> Child {
    by_env(command, env).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Returns when a started program says that it waits.
fn until_waiting(mut child: Child) -> (Child, BufReader<ChildStderr>) {
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    errors.read_line(&mut line).unwrap();
    assert_eq!(line, "pneu: waiting for another process: a test\n");
    (child, errors)
}

/// Indexes again, and fails unless the result is that of one pass.
fn assert_complete_after_next_pass(home: &Home) {
    home.good(&["index"]);
    assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
    let fresh = ["--data", "fresh"];
    home.good(&[&fresh[..], &["index", "--maildir", "Mail"]].concat());
    let list = ["find", "--fields", "i l g", "--files"];
    let expected = home.good(&[&fresh[..], &list].concat());
    assert!(expected.lines().count() > MESSAGES as usize);
    assert_eq!(home.good(&list), expected);
    let again = home.good(&["index"]);
    assert!(again.contains(" 0 added, 0 moved, 0 changed, 0 gone, 0 unreadable"), "{again}");
}

#[test]
fn a_second_writer_waits_and_says_for_whom() {
    let home = home();
    let lock = hold_lock(&home);
    let (child, _errors) = waiting(&home);
    assert_eq!(home.good(&["count", "hello"]), "2\n", "readers wait for nobody");
    drop(lock);
    assert_eq!(end(child).code, Some(0));
    assert_complete_after_next_pass(&home);
}

#[test]
fn ctrl_c_while_waiting_ends_at_once() {
    let home = home();
    let lock = hold_lock(&home);
    let (child, _errors) = waiting(&home);
    signal(&child, Signal::INT);
    assert_eq!(end(child).code, Some(130));
    drop(lock);
    assert_complete_after_next_pass(&home);
}

/// Starts the program, sends Ctrl-C when it is at work, and returns what it says then.
fn interrupt_when(home: &Home, arguments: &[&str], is_at_work: impl Fn(&Child) -> bool) -> Run {
    signal_when(Signal::INT, &mut home.command(arguments), is_at_work)
}

/// Starts the program, sends a signal when it is at work, and returns what it says then.
fn signal_when(sent: Signal, command: &mut Command, is_at_work: impl Fn(&Child) -> bool) -> Run {
    signal_if(sent, command, is_at_work).expect("it ended before it was interrupted")
}

/// Does the same; `None` if the program ended before it was seen at work.
fn signal_if(sent: Signal, command: &mut Command, is_at_work: impl Fn(&Child) -> bool) -> Option<Run> {
    let mut child = start(command);
    while child.try_wait().unwrap().is_none() && !is_at_work(&child) {
        std::thread::yield_now();
    }
    if child.try_wait().unwrap().is_some() {
        return None;
    }
    signal(&child, sent);
    Some(end(child))
}

/// Its second thread starts when there is work to do, long after it began to listen.
fn has_two_threads(child: &Child) -> bool {
    std::fs::read_dir(format!("/proc/{}/task", child.id())).map_or(0, Iterator::count) >= 2
}

#[test]
fn signals_while_working_keep_what_is_done() {
    for (sent, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let home = home();
        let run = signal_when(sent, &mut home.command(&["index"]), has_two_threads);
        let said = "pneu: interrupted; what was done so far is kept; run \"pneu index\" again for the rest\n";
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(code), "", said), "{sent:?}");
        assert_complete_after_next_pass(&home);
    }
}

#[test]
fn what_is_ignored_at_the_start_stays_ignored() {
    let home = home();
    let mut child = start_by(&["--ignore-signal=HUP"], &mut home.command(&["index"]));
    while child.try_wait().unwrap().is_none() && !has_two_threads(&child) {
        std::thread::yield_now();
    }
    signal(&child, Signal::HUP);
    let run = end(child);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    assert_complete_after_next_pass(&home);
}

fn locks(home: &Archived) -> usize {
    std::fs::read_dir(home.home.path().join("repository/locks")).unwrap().count()
}

#[test]
fn signals_take_the_lock_of_a_repository_away() {
    let home = archived();
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    for arguments in [&["archive", "backup", "--no-index"][..], &["archive", "ls"]] {
        // It may be done before anybody sees its lock, and before it looks for a signal.
        let attempt = || signal_if(Signal::TERM, &mut home.command(arguments), |_| locks(&home) > 0);
        let is_ended = |run: &Run| {
            assert_eq!(locks(&home), 0, "{arguments:?}: {run:?}");
            run.code == Some(143) && run.out.is_empty()
        };
        assert!((0..100).any(|_| attempt().is_some_and(|run| is_ended(&run))), "{arguments:?}");
    }
    // There is something for a pass to write.
    home.home.deliver("", "9:2,", &letter("9", "New", "text"));
    for (sent, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        // Under the lock it waits for the index, where nothing asks whether to stop.
        let held = hold_lock(&home.home);
        let (child, _errors) = until_waiting(start(&mut home.command(&["archive", "prune"])));
        assert_eq!(locks(&home), 1);
        signal(&child, sent);
        assert_eq!((end(child).code, locks(&home)), (Some(code), 0), "{sent:?}");
        drop(held);
    }
    assert_eq!(home.run(&["archive", "prune"]).code, Some(0));
}

#[test]
fn a_second_sigterm_is_no_reason_to_leave_a_lock() {
    let home = archived();
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    let mut child = start(&mut home.command(&["archive", "backup", "--no-index"]));
    while child.try_wait().unwrap().is_none() && locks(&home) == 0 {
        std::thread::yield_now();
    }
    // As timeout(1) does it.
    for sent in [Signal::TERM, Signal::TERM, Signal::HUP, Signal::TERM] {
        signal(&child, sent);
        wait_until_taken(&child, sent);
    }
    // It ends by the last signal that it takes: it may be gone before the others come.
    let code = end(child).code;
    assert!(matches!(code, Some(129 | 143)) && locks(&home) == 0, "{code:?}");
}

#[test]
fn the_next_command_removes_the_lock_of_a_killed_one() {
    let home = archived();
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    home.home.deliver("", "9:2,", &letter("9", "New", "text"));
    let held = hold_lock(&home.home);
    let (mut child, _errors) = until_waiting(start(&mut home.command(&["archive", "prune"])));
    let refused = home.run(&["archive", "snapshots"]);
    assert!(refused.code == Some(11) && !refused.err.contains("seems to be gone"), "it lives: {refused:?}");
    child.kill().unwrap();
    // It has ended before its parent has waited for it.
    let stat = format!("/proc/{}/stat", child.id());
    while !std::fs::read_to_string(&stat).unwrap().contains(") Z ") {
        std::thread::yield_now();
    }
    drop(held);
    assert_eq!(locks(&home), 1);
    let next = home.run(&["archive", "backup"]);
    assert!(next.err.starts_with("pneu: a lock was removed, because its process has ended: "), "{next:?}");
    assert!(next.err.contains(&format!(", process {}, since ", child.id())) && next.err.lines().count() == 1);
    assert_eq!((next.code, locks(&home)), (Some(0), 0));
    child.wait().unwrap();
}

#[test]
fn ctrl_c_while_an_index_is_made_anew_keeps_the_old_one_and_nothing_else() {
    let home = home();
    let config = home.path().join(".config/pneu");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "headers = [\"X-Score\"]\n").unwrap();
    // It begins to listen before it makes anything.
    let lock = home.data().join("rebuild/lock");
    let run = interrupt_when(&home, &["check", "--quiet", "--repair"], |_| lock.exists());
    let said = "pneu: interrupted; the index is unchanged; run the same command again to start over\n";
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(130), "", said));
    assert_eq!(home.good(&["count", "*"]), "4\n");
    assert_complete_after_next_pass(&home);
}

/// What a process does with a lock.
#[derive(Clone, Copy, PartialEq)]
enum Locking {
    Holds,
    WaitsFor,
}

/// Returns whether a process holds a lock, or waits for it, as the kernel tells. Trying the lock itself would
/// interfere.
fn is_locking(child: &Child, locking: Locking, path: &Path) -> bool {
    let (process, inode) = (child.id().to_string(), std::fs::metadata(path).unwrap().ino().to_string());
    let is_it = |line: &str| {
        let waits = line.contains("->");
        let words: Vec<_> = line.split_whitespace().filter(|word| *word != "->").collect();
        words.get(4) == Some(&process.as_str())
            && words.get(5).is_some_and(|file| file.rsplit(':').next() == Some(&inode))
            && waits == (locking == Locking::WaitsFor)
    };
    std::fs::read_to_string("/proc/locks").unwrap().lines().any(is_it)
}

/// Returns when a process holds a lock, or waits for it.
fn wait_until_locking(child: &mut Child, locking: Locking, path: &Path) {
    while !is_locking(child, locking, path) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it locked");
        std::thread::yield_now();
    }
}

/// Returns when a process that holds a lock tries another one, which somebody else holds, and for which it
/// waits by trying it again.
fn wait_until_trying(child: &mut Child, tried: &Path, held: &Path) {
    wait_until_locking(child, Locking::Holds, held);
    let kernel = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
    inotify::add_watch(&kernel, tried, WatchFlags::OPEN).unwrap();
    let mut buffer = [MaybeUninit::uninit(); 1024];
    let mut attempts = inotify::Reader::new(&kernel, &mut buffer);
    while attempts.next().is_err() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it tried");
        std::thread::yield_now();
    }
    assert!(is_locking(child, Locking::Holds, held), "it is the one that tried");
}

/// Returns when a process has taken note of a signal that was sent to it.
fn wait_until_taken(child: &Child, signal: Signal) {
    let status = format!("/proc/{}/status", child.id());
    let is_pending = || {
        // One that has ended has taken them all.
        let status = std::fs::read_to_string(&status).unwrap();
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).unwrap_or("0");
        u64::from_str_radix(pending.trim(), 16).unwrap() & 1 << (signal.as_raw() - 1) != 0
    };
    while is_pending() {
        std::thread::yield_now();
    }
}

#[test]
fn a_second_ctrl_c_ends_a_pass_at_once() {
    let home = home();
    home.good(&["query", "kept", "hello"]);
    // As an earlier version left them: a pass writes the second copy, and looks for no signal meanwhile.
    let user = home.data().join("user");
    std::fs::remove_dir_all(user.join("copy")).unwrap();
    let lock = user.join("queries.lock");
    let held = RealDisk.lock(&lock, "a test", Wait::Block).unwrap();
    let mut child = start(&mut home.command(&["index"]));
    wait_until_locking(&mut child, Locking::WaitsFor, &lock);
    signal(&child, Signal::INT);
    // The kernel takes the wait away before it hands over the signal: it waits again, so one is no reason to
    // end.
    wait_until_taken(&child, Signal::INT);
    wait_until_locking(&mut child, Locking::WaitsFor, &lock);
    signal(&child, Signal::INT);
    let run = end(child);
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(130), "", ""));
    drop(held);
    assert_complete_after_next_pass(&home);
    assert_eq!(home.good(&["count", "query:kept"]), home.good(&["count", "hello"]));
}

#[test]
fn the_end_of_a_watch_waits_for_no_merge_and_no_lock() {
    const COUNT: i32 = 8;
    let home = Home::indexed();
    let index = home.index_directory();
    let mergers = [index.join("merger.lock"), index.join("text/merger.lock")];
    let hold = |path: &Path| RealDisk.lock(path, "a test", Wait::Block).unwrap();
    for (round, sent, code) in [(1, Signal::INT, 130), (2, Signal::TERM, 143)] {
        // Nobody merges: so many segments of text gather that the first merge takes them.
        let held = mergers.each_ref().map(|path| hold(path));
        for number in 0..COUNT {
            let number = (10 * round + number).to_string();
            home.deliver("", &format!("{number}:2,"), &letter(&number, "More", "text"));
            home.good(&["index"]);
        }
        let mut child = start(&mut home.command(&["index", "--watch"]));
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        assert!(line.starts_with("pneu: watching "), "{line}");
        // It can merge now, but not publish what it merged, as if that writer were stopped.
        let writer = hold(&index.join("lock"));
        drop(held);
        wait_until_trying(&mut child, &index.join("lock"), &mergers[1]);
        signal(&child, sent);
        assert_eq!(end(child).code, Some(code));
        drop(writer);
        assert_eq!(home.good(&["index"]).lines().count(), 1);
        assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
        assert_eq!(home.good(&["count", "subject:more"]), format!("{}\n", COUNT * round));
    }
}

#[test]
fn kill_9_at_any_moment_loses_nothing() {
    let home = home();
    let lock = hold_lock(&home);
    let (mut child, _errors) = waiting(&home);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(lock);
    for file_count in [1, 3, 5] {
        let mut child = home.start(&["index"]);
        wait_for_text(&home, &mut child, file_count);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(home.good(&["check", "--deep"]), "no damage found\n");
        assert_eq!(home.good(&["count", "hello pneumatic"]), "1\n");
    }
    assert_complete_after_next_pass(&home);
}

#[test]
fn a_disk_that_takes_no_more_is_an_error_and_loses_nothing() {
    let home = home();
    // A file may have 64 KiB, as if the disk were full then.
    let full = home.pneu_after("trap '' XFSZ; ulimit -f 128", &["index"]);
    assert_eq!((full.code, full.out.as_str()), (Some(2), ""), "{full:?}");
    let index = home.index_directory().display().to_string();
    assert!(full.err.starts_with("pneu: ") && full.err.contains(&index), "{}", full.err);
    assert!(full.err.contains("File too large"), "{}", full.err);
    assert_eq!(home.good(&["count", "hello"]), "2\n");
    assert_complete_after_next_pass(&home);
}

/// Returns when a started pass has written so many more files for text, or has ended.
fn wait_for_text(home: &Home, child: &mut Child, file_count: usize) {
    let count = || std::fs::read_dir(home.index_directory().join("text")).map_or(0, Iterator::count);
    let before = count();
    while count() < before + file_count && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
}
