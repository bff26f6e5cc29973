//! Real S3 servers: every operation of a storage, and the files that are left when daemons are killed during
//! writes.
//!
//! Ceph's gateways are required if `CI` is `true`. Without servers, the tests are skipped.

use crate::retry::{listener, surroundings};
use restic::address::{Address, Credentials, S3Address};
use restic::{Error, FileKind, FileName, Id, Limits, ObjectStorage, Retry, Storage, Surroundings};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use work::Context;

/// The kinds of servers that tests can start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ceph,
    Garage,
}

/// A running cluster. Its script stops it when the script's standard input is closed, which happens when this
/// process ends for any reason.
struct Cluster {
    kind: Kind,
    directory: PathBuf,
    port: u16,
    _script: Mutex<(Child, ChildStdin)>,
}

static CEPH: OnceLock<Option<Cluster>> = OnceLock::new();
static GARAGE: OnceLock<Option<Cluster>> = OnceLock::new();

impl Cluster {
    /// Returns the cluster that all tests of this process share, if it is installed.
    fn shared(kind: Kind) -> Option<&'static Cluster> {
        let cell = match kind {
            Kind::Ceph => &CEPH,
            Kind::Garage => &GARAGE,
        };
        cell.get_or_init(|| kind.is_to_be_used().then(|| Cluster::start(kind))).as_ref()
    }

    fn start(kind: Kind) -> Cluster {
        let directory = tempfile::tempdir().unwrap().keep();
        let port = free_ports();
        let mut script = Command::new(kind.script())
            .arg("run")
            .arg(&directory)
            .arg(port.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = script.stdin.take().unwrap();
        let mut line = String::new();
        BufReader::new(script.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n", "{kind:?} starts");
        Cluster { kind, directory, port, _script: Mutex::new((script, input)) }
    }

    /// Tells the script to kill or start a daemon.
    fn order(&self, action: &str, name: &str) {
        let status = Command::new(self.kind.script()).arg(action).arg(&self.directory).arg(name).status();
        assert!(status.unwrap().success(), "{action} {name}");
    }

    fn place(&self, gateway: u16, bucket: &str) -> S3Address {
        let text = format!("s3:http://127.0.0.1:{}/{bucket}/a/repository", self.port + gateway);
        match Address::parse(&text).unwrap() {
            Address::S3(place) => place,
            Address::Local(_) => unreachable!("it begins with s3:"),
        }
    }

    fn storage(&self, gateway: u16, bucket: &str) -> ObjectStorage {
        let limits = Limits { listed_alone_max: 10, ..Limits::default() };
        ObjectStorage::new(&self.place(gateway, bucket), &self.kind.credentials(), limits).unwrap()
    }
}

impl Kind {
    fn script(self) -> PathBuf {
        let name = match self {
            Kind::Ceph => "ceph.sh",
            Kind::Garage => "garage.sh",
        };
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/servers").join(name)
    }

    fn credentials(self) -> Credentials {
        let (key, secret, region) = match self {
            Kind::Ceph => ("testaccess".to_owned(), "testsecret1".to_owned(), None),
            Kind::Garage => {
                ("GK746573746163636573730000".to_owned(), "7".repeat(64), Some("garage".to_owned()))
            }
        };
        let (access_key_id, secret_access_key) = (Some(key), Some(secret));
        Credentials { access_key_id, secret_access_key, session_token: None, region }
    }

    /// Returns whether it is installed. Prints a line if not.
    fn is_to_be_used(self) -> bool {
        let programs: &[&str] = match self {
            Kind::Ceph => &["ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "ceph", "monmaptool"],
            Kind::Garage => &["garage"],
        };
        let is_there = |program: &&str| {
            Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
        };
        let way_out = match self {
            Kind::Ceph => "apt-get install ceph-mon ceph-osd radosgw ceph-common",
            Kind::Garage => "cargo install garage --version 2.5.0 --locked",
        };
        let must_be = self == Kind::Ceph && testkit::is_ci();
        testkit::may_ask(&format!("{self:?}"), way_out, programs.iter().all(is_there), must_be)
    }
}

/// Returns the first of a hundred ports below the system's range of automatic ports. Other runs of this test
/// start at other ports.
fn free_ports() -> u16 {
    let begin = std::process::id() % 100;
    let first = |number: u32| u16::try_from(20_000 + (begin + number) % 100 * 100).unwrap();
    let is_free = |port: &u16| (0..10).all(|more| TcpListener::bind(("127.0.0.1", port + more)).is_ok());
    (0..100).map(first).find(is_free).expect("not all ports are taken")
}

fn name(kind: FileKind, number: u32) -> FileName {
    let mut id = Id([7; Id::BYTES]);
    // Distinct, and spread over the directories.
    id.0[..4].copy_from_slice(&number.wrapping_mul(0x9e37_79b1).to_be_bytes());
    FileName { kind, id }
}

fn content(name: FileName, length_bytes: usize) -> Vec<u8> {
    name.id.0.iter().copied().cycle().take(length_bytes).collect()
}

/// Runs every operation of a storage, in a bucket that does not exist yet.
fn check_everything(storage: &ObjectStorage) {
    assert_eq!(storage.list(FileKind::Pack).unwrap(), []);
    assert!(matches!(storage.read(FileName::CONFIG), Err(Error::NoRepository { .. })));
    storage.create().unwrap();
    storage.create().unwrap();
    assert_eq!(storage.size(FileName::CONFIG).unwrap(), None);
    storage.write(FileName::CONFIG, b"config").unwrap();
    assert_eq!(storage.list(FileKind::Config).unwrap(), [(FileName::CONFIG.id, 6)]);
    // First fewer packs than one list request returns, then more.
    let mut expected = BTreeSet::new();
    for number in 0..15_u32 {
        let pack = name(FileKind::Pack, number);
        storage.write(pack, &content(pack, 1000 + number as usize)).unwrap();
        expected.insert((pack.id, 1000 + u64::from(number)));
        if number == 5 || number == 14 {
            assert_eq!(storage.list(FileKind::Pack).unwrap().into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }
    for kind in [FileKind::Key, FileKind::Lock, FileKind::Snapshot, FileKind::Index] {
        let file = name(kind, 1);
        storage.write(file, b"").unwrap();
        storage.write(file, b"what is written twice is there once").unwrap();
        assert_eq!(storage.list(kind).unwrap(), [(file.id, 35)]);
        assert_eq!(storage.read(file).unwrap(), b"what is written twice is there once");
    }
    let large = name(FileKind::Pack, 100);
    let bytes = content(large, 20 * 1024 * 1024 + 1);
    storage.write(large, &bytes).unwrap();
    assert_eq!(storage.size(large).unwrap(), Some(bytes.len() as u64));
    assert!(storage.read(large).unwrap() == bytes);
    assert!(storage.read_range(large, 20 * 1024 * 1024 - 5, 6).unwrap() == bytes[bytes.len() - 6..]);
    let (length, end) = (bytes.len(), bytes.len() + 4);
    for (offset, count) in [(length as u64 - 1, 5), (length as u64 + 3, 1)] {
        let error = storage.read_range(large, offset, count).unwrap_err();
        let expected = format!("is damaged: it has {length} bytes, {end} expected");
        assert!(error.to_string().ends_with(&expected), "{error}");
    }
    storage.remove(large).unwrap();
    storage.remove(large).unwrap();
    assert_eq!(storage.size(large).unwrap(), None);
    assert!(matches!(storage.read(large), Err(Error::Missing { file, .. }) if file == large));
    assert!(matches!(storage.read_range(large, 0, 9), Err(Error::Missing { .. })));
}

/// Checks that wrong keys give a clear error.
fn check_wrong_keys(cluster: &Cluster) {
    let right = cluster.kind.credentials();
    let unknown =
        Credentials { access_key_id: Some("GK000000000000000000000000".to_owned()), ..right.clone() };
    let wrong = Credentials { secret_access_key: Some("8".repeat(64)), ..right };
    for credentials in [unknown, wrong] {
        let storage = ObjectStorage::new(&cluster.place(0, "keys"), &credentials, Limits::default()).unwrap();
        let error = storage.create().unwrap_err();
        let sentence = error.to_string();
        assert!(
            matches!(error, Error::Storage { .. }) && sentence.contains("the server answers 403"),
            "{sentence}"
        );
    }
}

/// The progress of all writers.
#[derive(Default)]
struct Progress {
    next: AtomicUsize,
    acknowledged: AtomicUsize,
}

const PACK_COUNT: usize = 400;
const PACK_BYTES: usize = 100_000;
const WRITERS: usize = 6;

/// Real waits, shortened to a twentieth: servers need some time.
fn hurried() -> Surroundings {
    let context = Context { clock_ns: || 0, ..surroundings().context };
    Surroundings { context, sleep: |wait| thread::sleep(wait / 20), ..surroundings() }
}

/// Writes packs until none is left. The writer that completes a quarter of them calls `kill`.
fn write_packs(storage: &dyn Storage, progress: &Progress, kill: &(dyn Fn() + Sync)) {
    loop {
        let number = progress.next.fetch_add(1, Ordering::Relaxed);
        if number >= PACK_COUNT {
            return;
        }
        let pack = name(FileKind::Pack, u32::try_from(number).unwrap());
        storage.write(pack, &content(pack, PACK_BYTES)).unwrap();
        if progress.acknowledged.fetch_add(1, Ordering::Relaxed) == PACK_COUNT / 4 {
            kill();
        }
    }
}

/// Writes many packs through `gateway`, and calls `kill` after some of them. Afterwards every gateway must
/// have all of them.
fn check_killing(cluster: &Cluster, kill: impl Fn() + Sync) {
    let (told, heard) = listener();
    let storage = Retry::new(cluster.storage(1, "killing"), &hurried(), told);
    storage.create().unwrap();
    let progress = Progress::default();
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(|| write_packs(&storage, &progress, &kill));
        }
    });
    let other = cluster.storage(0, "killing");
    let found: BTreeSet<_> = other.list(FileKind::Pack).unwrap().into_iter().collect();
    assert_eq!(found.len(), PACK_COUNT);
    for number in 0..PACK_COUNT {
        let pack = name(FileKind::Pack, u32::try_from(number).unwrap());
        assert!(other.read(pack).unwrap() == content(pack, PACK_BYTES), "{pack}");
    }
    let heard = heard.lock().unwrap();
    assert!(heard.iter().any(|sentence| sentence.contains("; trying again in 1 s")), "{heard:?}");
    let is_plain = |sentence: &String| sentence.starts_with("cannot write data/");
    assert!(heard.iter().all(is_plain), "{heard:?}");
}

#[test]
fn ceph_does_everything() {
    let Some(cluster) = Cluster::shared(Kind::Ceph) else { return };
    check_everything(&cluster.storage(0, "everything"));
    check_wrong_keys(cluster);
}

#[test]
fn nothing_that_ceph_acknowledged_is_lost_with_a_storage_daemon_and_a_gateway() {
    let Some(cluster) = Cluster::shared(Kind::Ceph) else { return };
    check_killing(cluster, || {
        cluster.order("kill", "osd1");
        cluster.order("kill", "gateway1");
        // The address names a single gateway, so the storage waits for it.
        cluster.order("start", "gateway1");
    });
}

#[test]
fn garage_does_everything() {
    let Some(cluster) = Cluster::shared(Kind::Garage) else { return };
    check_everything(&cluster.storage(0, "everything"));
    check_wrong_keys(cluster);
}

#[test]
fn nothing_that_garage_acknowledged_is_lost_with_a_node() {
    let Some(cluster) = Cluster::shared(Kind::Garage) else { return };
    check_killing(cluster, || {
        cluster.order("kill", "node1");
        cluster.order("start", "node1");
    });
}
