//! Failed operations are repeated as long as that may help, and then reported.

use restic::{Error, FileKind, FileName, Id, Result, Retry, Storage, Surroundings, Told};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use work::{Cancel, Context};

thread_local! {
    /// The slices of each wait, and a zero for each check whether to stop. Two zeros in a row start a new
    /// wait.
    static WAITS: RefCell<Vec<Duration>> = const { RefCell::new(Vec::new()) };
    /// From this time on, the user wants to stop.
    static STOP_NS: Cell<i64> = const { Cell::new(i64::MAX) };
    /// The duration of each attempt.
    static TAKES: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static NOW_NS: Cell<i64> = const { Cell::new(0) };
}

/// Returns surroundings in which no call really waits. [`waits`] returns the waits of this thread.
pub(crate) fn surroundings() -> Surroundings {
    Surroundings {
        context: Context::new(|| NOW_NS.get(), 2).with_cancel(Cancel::when(is_stopped)),
        fill_random: |bytes| bytes.fill(7),
        sleep: |wait| {
            WAITS.with_borrow_mut(|waits| waits.push(wait));
            pass(wait);
        },
        hostname: "tower".to_owned(),
        username: "ana".to_owned(),
        uid: 1000,
        gid: 1000,
        process: 42,
        is_alive: |_| true,
        place: None,
        started: |_| None,
    }
}

fn is_stopped() -> bool {
    WAITS.with_borrow_mut(|waits| waits.push(Duration::ZERO));
    NOW_NS.get() >= STOP_NS.get()
}

fn pass(time: Duration) {
    NOW_NS.set(NOW_NS.get() + i64::try_from(time.as_nanos()).unwrap());
}

/// Returns the waits of this thread since the last call, in seconds.
pub(crate) fn waits() -> Vec<u64> {
    let slices = WAITS.take();
    let mut waits: Vec<Duration> = Vec::new();
    for (place, slice) in slices.iter().enumerate() {
        let is_first = place.checked_sub(2).is_none_or(|before| slices[before].is_zero());
        match waits.last_mut() {
            _ if slice.is_zero() => {}
            Some(wait) if !is_first => *wait += *slice,
            _ => waits.push(*slice),
        }
    }
    waits.iter().map(Duration::as_secs).collect()
}

/// Returns a listener that records messages, and the recorded messages.
pub(crate) fn listener() -> (Told, Arc<Mutex<Vec<String>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = {
        let heard = Arc::clone(&heard);
        move |sentence: &str| heard.lock().unwrap().push(sentence.to_owned())
    };
    (Arc::new(told), heard)
}

/// A storage that always gives the same answer.
#[derive(Debug)]
struct Fickle {
    failures: Mutex<usize>,
    error: fn() -> Error,
}

impl Fickle {
    fn ask<T>(&self, value: T) -> Result<T> {
        pass(TAKES.get());
        let mut failures = self.failures.lock().unwrap();
        if *failures == 0 {
            return Ok(value);
        }
        *failures -= 1;
        Err((self.error)())
    }
}

impl Storage for Fickle {
    fn address(&self) -> String {
        "s3:http://host/bucket".to_owned()
    }

    fn create(&self) -> Result<()> {
        self.ask(())
    }

    fn list(&self, _: FileKind) -> Result<Vec<(Id, u64)>> {
        self.ask(vec![(Id::default(), 1)])
    }

    fn read(&self, _: FileName) -> Result<Vec<u8>> {
        self.ask(b"all".to_vec())
    }

    fn read_range(&self, _: FileName, offset: u64, length: u32) -> Result<Vec<u8>> {
        self.ask(format!("{offset}+{length}").into_bytes())
    }

    fn size(&self, _: FileName) -> Result<Option<u64>> {
        self.ask(Some(3))
    }

    fn write(&self, _: FileName, bytes: &[u8]) -> Result<()> {
        assert_eq!(bytes, b"all");
        self.ask(())
    }

    fn remove(&self, _: FileName) -> Result<()> {
        self.ask(())
    }
}

fn passing() -> Error {
    let (action, address) = ("read config".to_owned(), "s3:http://host/bucket".to_owned());
    Error::Passing { action, address, what: "the server answers 503".to_owned() }
}

fn missing() -> Error {
    Error::Missing { file: FileName::CONFIG, address: "s3:http://host/bucket".to_owned() }
}

fn patient(failures: usize, error: fn() -> Error) -> (Retry<Fickle>, Arc<Mutex<Vec<String>>>) {
    let (told, heard) = listener();
    (Retry::new(Fickle { failures: Mutex::new(failures), error }, &surroundings(), told), heard)
}

#[test]
fn temporary_failures_are_waited_for() {
    let (storage, heard) = patient(3, passing);
    assert_eq!(storage.read(FileName::CONFIG).unwrap(), b"all");
    assert_eq!(waits(), [1, 2, 4]);
    let sentence = "cannot read config at s3:http://host/bucket: the server answers 503; trying again in 4 s";
    assert_eq!(heard.lock().unwrap()[2], sentence);
}

#[test]
fn everything_a_storage_does_is_tried_again() {
    let again = |ask: &dyn Fn(&dyn Storage)| {
        ask(&patient(1, passing).0);
        assert_eq!(waits(), [1]);
    };
    again(&|storage| storage.create().unwrap());
    again(&|storage| assert_eq!(storage.list(FileKind::Key).unwrap(), [(Id::default(), 1)]));
    again(&|storage| assert_eq!(storage.read(FileName::CONFIG).unwrap(), b"all"));
    again(&|storage| assert_eq!(storage.read_range(FileName::CONFIG, 4, 2).unwrap(), b"4+2"));
    again(&|storage| assert_eq!(storage.size(FileName::CONFIG).unwrap(), Some(3)));
    again(&|storage| storage.write(FileName::CONFIG, b"all").unwrap());
    again(&|storage| storage.remove(FileName::CONFIG).unwrap());
}

#[test]
fn retries_end_at_their_time_limit() {
    let (storage, heard) = patient(usize::MAX, passing);
    let error = storage.read(FileName::CONFIG).unwrap_err();
    let expected =
        "cannot read config at s3:http://host/bucket: the server answers 503; tried 21 times in 15 minutes";
    assert!(matches!(error, Error::Storage { .. }));
    assert_eq!(error.to_string(), expected);
    let waits = waits();
    assert_eq!(
        (waits.len(), waits[..7].to_vec(), waits.iter().sum::<u64>()),
        (20, vec![1, 2, 4, 8, 16, 32, 60], 900)
    );
    assert_eq!(heard.lock().unwrap().len(), 20);
}

#[test]
fn a_cancelled_wait_ends_at_once() {
    let (storage, heard) = patient(usize::MAX, passing);
    STOP_NS.set(NOW_NS.get() + 10_000_000_000);
    assert!(matches!(storage.read(FileName::CONFIG), Err(Error::Interrupted)));
    let late = Duration::from_nanos((NOW_NS.get() - STOP_NS.get()).unsigned_abs());
    assert!(late <= Duration::from_millis(500), "{late:?}");
    // It stopped in the middle of the fourth wait.
    assert_eq!((waits(), heard.lock().unwrap().len()), (vec![1, 2, 4, 3], 4));
    // From then on, each operation is tried only once.
    assert!(matches!(storage.remove(FileName::CONFIG), Err(Error::Interrupted)));
    assert_eq!((waits(), heard.lock().unwrap().len()), (Vec::new(), 4));
    let (storage, _) = patient(0, passing);
    storage.remove(FileName::CONFIG).unwrap();
    STOP_NS.set(i64::MAX);
}

#[test]
fn long_attempts_count_towards_the_limit() {
    TAKES.set(Duration::from_secs(300));
    let (storage, _) = patient(usize::MAX, passing);
    let error = storage.read(FileName::CONFIG).unwrap_err().to_string();
    assert!(error.ends_with("; tried 3 times in 15 minutes"), "{error}");
    TAKES.set(Duration::from_secs(3600));
    let error = storage.read(FileName::CONFIG).unwrap_err().to_string();
    assert!(error.ends_with("; tried once in 60 minutes"), "{error}");
    TAKES.set(Duration::ZERO);
}

/// An operation that is tried only while a condition holds.
type Attempt<'a> = &'a dyn Fn(&dyn Storage, &dyn Fn() -> Result<()>) -> Result<()>;

#[test]
fn the_condition_is_checked_before_each_attempt() {
    let lost = || Error::LockLost { address: "s3:http://host/bucket".to_owned() };
    let write: Attempt<'_> = &|storage, may_still| storage.write_while(FileName::CONFIG, b"all", may_still);
    let remove: Attempt<'_> = &|storage, may_still| storage.remove_while(FileName::CONFIG, may_still);
    for attempt in [write, remove] {
        let asked = Cell::new(0);
        // The third attempt would succeed.
        let may_still = || {
            asked.set(asked.get() + 1);
            if asked.get() < 3 { Ok(()) } else { Err(lost()) }
        };
        let (storage, _) = patient(2, passing);
        assert!(matches!(attempt(&storage, &may_still), Err(Error::LockLost { .. })));
        assert_eq!((waits(), asked.get()), (vec![1, 2], 3));
        attempt(&patient(1, passing).0, &|| Ok(())).unwrap();
        waits();
    }
}

#[test]
fn permanent_failures_are_reported_at_once() {
    let (storage, heard) = patient(1, missing);
    assert!(matches!(storage.read(FileName::CONFIG), Err(Error::Missing { .. })));
    assert_eq!((waits(), heard.lock().unwrap().len()), (Vec::new(), 0));
}
