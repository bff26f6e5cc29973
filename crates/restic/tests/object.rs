//! An object store that fails, stalls, cuts its answers or returns nonsense. Each case has its own message,
//! and no message contains a key.

use crate::retry::{listener, surroundings, waits};
use crate::server::{Reply, Server, answer_of, refusal};
use restic::address::{Address, Credentials, IDLE_MAX, S3Address};
use restic::{Error, FileKind, FileName, Id, Limits, ObjectStorage, Result, Storage};
use restic::{StorageOptions, open_storage};
use std::sync::Arc;
use std::time::Duration;

const SECRET: &str = "SecretThatNobodySees";
const TOKEN: &str = "TokenThatNobodySees";

fn credentials() -> Credentials {
    Credentials {
        access_key_id: Some("AKIAEXAMPLE".to_owned()),
        secret_access_key: Some(SECRET.to_owned()),
        session_token: Some(TOKEN.to_owned()),
        region: None,
    }
}

fn place(port: u16) -> S3Address {
    match Address::parse(&format!("s3:http://127.0.0.1:{port}/bucket/some/prefix")).unwrap() {
        Address::S3(place) => place,
        Address::Local(_) => unreachable!("it begins with s3:"),
    }
}

/// Returns the storage of a test server, with `idle_max` as its timeout.
fn at_within(port: u16, idle_max: Duration) -> ObjectStorage {
    ObjectStorage::new(&place(port), &credentials(), Limits { idle_max, ..Limits::default() }).unwrap()
}

fn at(server: &Server) -> ObjectStorage {
    at_within(server.port(), Duration::from_secs(60))
}

/// Returns the storage of a server that never answers, with a short timeout.
fn at_silent(server: &Server) -> ObjectStorage {
    at_within(server.port(), Duration::from_millis(100))
}

/// Returns an error's message without the parts that differ from run to run, after a word on whether a retry
/// may help.
fn said<T>(server: &Server, result: Result<T>) -> String {
    let error = result.err().unwrap();
    let passing = if matches!(error, Error::Passing { .. }) { "passing" } else { "lasting" };
    let sentence = format!("{passing}: {error}").replace(&format!(":{}/", server.port()), ":PORT/");
    assert!(!sentence.contains(SECRET) && !sentence.contains(TOKEN), "{sentence}");
    sentence
}

fn key() -> FileName {
    FileName { kind: FileKind::Key, id: Id([0xab; Id::BYTES]) }
}

fn key_path() -> String {
    format!("keys/{}", "ab".repeat(32))
}

/// Answers with `body` as the bytes `range` of a file of `size` bytes.
fn partial(range: &str, size: u64, body: &str) -> Reply {
    Reply::Bytes(answer_of("206 Partial Content", &[&format!("Content-Range: bytes {range}/{size}")], body))
}

#[test]
fn each_request_returns_the_right_data() {
    let server = Server::start(|number, head| match number {
        0 => {
            assert!(
                head.to_ascii_lowercase()
                    .contains(&format!("x-amz-security-token: {}", TOKEN.to_lowercase()))
            );
            Reply::Bytes(answer_of("200 OK", &[], "all of it"))
        }
        1 => {
            assert!(head.to_ascii_lowercase().contains("range: bytes=4-5\r\n"), "{head}");
            partial("4-5", 9, "of")
        }
        2 => Reply::Bytes(answer_of("200 OK", &["Content-Length: 9"], "")),
        3 => {
            assert!(head.to_ascii_lowercase().contains("content-length: 200000\r\n"), "{head}");
            Reply::Bytes(answer_of("200 OK", &["ETag: \"1\""], ""))
        }
        _ => Reply::Bytes(answer_of("204 No Content", &[], "")),
    });
    let storage = at(&server);
    assert_eq!(storage.read(key()).unwrap(), b"all of it");
    assert_eq!(storage.read_range(key(), 4, 2).unwrap(), b"of");
    assert_eq!(storage.size(key()).unwrap(), Some(9));
    storage.write(key(), &[7; 200_000]).unwrap();
    storage.remove(key()).unwrap();
    let path = format!("/bucket/some/prefix/{}", key_path());
    let expected = ["GET", "GET", "HEAD", "PUT", "DELETE"].map(|method| format!("{method} {path}"));
    assert_eq!(server.requests(), expected);
    assert_eq!(storage.address(), format!("s3:http://127.0.0.1:{}/bucket/some/prefix", server.port()));
    assert!(!format!("{storage:?}").contains(SECRET));
}

#[test]
fn a_server_that_is_down_is_waited_for() {
    let server = Server::start(|_, _| Reply::Deaf);
    // Nothing listens on a port that was just released.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let sentence = said(&server, at_within(free, Duration::from_secs(60)).read(key()));
    assert_eq!(
        sentence.replace(&free.to_string(), "PORT"),
        format!(
            "passing: cannot read {} at s3:http://127.0.0.1:PORT/bucket/some/prefix: the server cannot be \
             reached: Connection refused (os error 111)",
            key_path()
        )
    );
}

#[test]
fn a_busy_server_is_asked_again_until_it_answers() {
    let server = Server::start(|number, _| match number {
        0 => refusal("503 Slow Down", "SlowDown", "Please reduce your request rate."),
        1 => Reply::Bytes(answer_of("502 Bad Gateway", &[], "<html>a proxy</html>")),
        2 => refusal("400 Bad Request", "RequestTimeout", "Your socket was idle"),
        _ => Reply::Bytes(answer_of("200 OK", &[], "at last")),
    });
    let (told, heard) = listener();
    let means = StorageOptions {
        disk: Arc::new(disk::RealDisk),
        credentials: credentials(),
        idle_max: IDLE_MAX,
        told,
    };
    let storage = open_storage(&Address::S3(place(server.port())), &means, &surroundings()).unwrap();
    assert_eq!(storage.read(key()).unwrap(), b"at last");
    assert_eq!((waits(), server.requests().len()), (vec![1, 2, 4], 4));
    let heard = heard.lock().unwrap().join("\n").replace(&server.port().to_string(), "PORT");
    let cannot = format!(
        "cannot read {} at s3:http://127.0.0.1:PORT/bucket/some/prefix: the server answers",
        key_path()
    );
    let expected = format!(
        "{cannot} 503 Service Unavailable (SlowDown: Please reduce your request rate.); trying again in 1 s\n\
         {cannot} 502 Bad Gateway; trying again in 2 s\n\
         {cannot} 400 Bad Request (RequestTimeout: Your socket was idle); trying again in 4 s"
    );
    assert_eq!(heard, expected);
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let server = Server::start(|_, _| refusal("500 Internal Server Error", "InternalError", "We are sorry."));
    let (told, _) = listener();
    let means = StorageOptions {
        disk: Arc::new(disk::RealDisk),
        credentials: credentials(),
        idle_max: IDLE_MAX,
        told,
    };
    let storage = open_storage(&Address::S3(place(server.port())), &means, &surroundings()).unwrap();
    let sentence = said(&server, storage.write(key(), b"bytes"));
    assert_eq!(
        sentence,
        format!(
            "lasting: cannot write {} at s3:http://127.0.0.1:PORT/bucket/some/prefix: the server answers 500 \
             Internal Server Error (InternalError: We are sorry.); tried 21 times in 15 minutes",
            key_path()
        )
    );
    assert_eq!(server.requests().len(), 21);
}

#[test]
fn a_refused_key_is_told_at_once() {
    let server = Server::start(|number, _| match number {
        0 => refusal("403 Forbidden", "InvalidAccessKeyId", "No such key."),
        1 => refusal("403 Forbidden", "SignatureDoesNotMatch", &format!("We expected {SECRET}")),
        _ => refusal("403 Forbidden", "AccessDenied", &format!("With {TOKEN}\u{1b}[31m")),
    });
    let storage = at(&server);
    let cannot =
        format!("lasting: cannot read {} at s3:http://127.0.0.1:PORT/bucket/some/prefix", key_path());
    let answers = [
        "403 Forbidden (InvalidAccessKeyId: No such key.)",
        "403 Forbidden (SignatureDoesNotMatch)",
        "403 Forbidden (AccessDenied)",
    ];
    for answer in answers {
        assert_eq!(said(&server, storage.read(key())), format!("{cannot}: the server answers {answer}"));
    }
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_file_that_does_not_exist_is_missing() {
    let server = Server::start(|_, _| refusal("404 Not Found", "NoSuchKey", "Not here."));
    let storage = at(&server);
    assert!(matches!(storage.read(key()), Err(Error::Missing { file, .. }) if file == key()));
    assert!(matches!(storage.read_range(key(), 1, 1), Err(Error::Missing { .. })));
    assert!(matches!(storage.read_range(key(), 1, 0), Err(Error::Missing { .. })));
    assert!(matches!(storage.read(FileName::CONFIG), Err(Error::NoRepository { .. })));
    assert_eq!((storage.size(key()).unwrap(), storage.list(FileKind::Config).unwrap()), (None, Vec::new()));
    storage.remove(key()).unwrap();
}

#[test]
fn a_missing_bucket_is_empty_and_refuses_writes() {
    let server = Server::start(|_, _| refusal("404 Not Found", "NoSuchBucket", "No bucket."));
    let storage = at(&server);
    assert_eq!(storage.list(FileKind::Pack).unwrap(), []);
    assert!(matches!(storage.read(FileName::CONFIG), Err(Error::NoRepository { .. })));
    let expected = "lasting: cannot write config at s3:http://127.0.0.1:PORT/bucket/some/prefix: the server \
        answers 404 Not Found (NoSuchBucket: No bucket.)";
    assert_eq!(said(&server, storage.write(FileName::CONFIG, b"config")), expected);
}

#[test]
fn a_bucket_seen_before_is_not_reported_as_missing() {
    let empty = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
    let server = Server::start(move |number, _| match number {
        0 => Reply::Bytes(answer_of("200 OK", &[], empty)),
        1..=3 => refusal("404 Not Found", "NoSuchBucket", "Not here yet."),
        _ => Reply::Bytes(answer_of("404 Not Found", &[], "<html>no such page</html>")),
    });
    let storage = at(&server);
    assert_eq!(storage.list(FileKind::Key).unwrap(), []);
    let cannot = |action: &str, answer: &str| {
        format!(
            "passing: cannot {action} at s3:http://127.0.0.1:PORT/bucket/some/prefix: the server answers 404 \
             Not Found{answer}"
        )
    };
    let (read, remove) = (format!("read {}", key_path()), format!("remove {}", key_path()));
    let bucket = " (NoSuchBucket: Not here yet.)";
    assert_eq!(said(&server, storage.list(FileKind::Snapshot)), cannot("list snapshots", bucket));
    assert_eq!(said(&server, storage.read(key())), cannot(&read, bucket));
    assert_eq!(said(&server, storage.write(key(), b"x")), cannot(&format!("write {}", key_path()), bucket));
    assert_eq!(said(&server, storage.read(key())), cannot(&read, ""));
    assert_eq!(said(&server, storage.remove(key())), cannot(&remove, ""));
    assert_eq!(said(&server, storage.list(FileKind::Lock)), cannot("list locks", ""));
}

#[test]
fn a_missing_bucket_is_created() {
    let server = Server::start(|number, head| match number {
        0 => refusal("404 Not Found", "NoSuchBucket", "No bucket."),
        _ => {
            assert!(head.starts_with("PUT /bucket/?X-Amz-"), "{head}");
            Reply::Bytes(answer_of("200 OK", &[], ""))
        }
    });
    at(&server).create().unwrap();
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_silent_server_is_given_up_after_the_timeout() {
    let server = Server::start(|number, _| match number {
        0 => Reply::ThenSilence(Vec::new()),
        1 => Reply::ThenSilence(answer_of("200 OK", &["Content-Length: 100"], "a part")),
        2 => Reply::ThenSilence(answer_of("200 OK", &["Content-Length: 1000"], "<ListBucketResult>")),
        _ => Reply::Deaf,
    });
    let storage = at_silent(&server);
    let cannot = |action: &str| {
        format!(
            "passing: cannot {action} at s3:http://127.0.0.1:PORT/bucket/some/prefix: the server did not \
             respond for 100ms"
        )
    };
    assert_eq!(said(&server, storage.read(key())), cannot(&format!("read {}", key_path())));
    assert_eq!(said(&server, storage.read(key())), cannot(&format!("read {}", key_path())));
    assert_eq!(said(&server, storage.list(FileKind::Key)), cannot("list keys"));
    // More than the buffers on the way can hold.
    let much = vec![7; 32 * 1024 * 1024];
    assert_eq!(said(&server, storage.write(key(), &much)), cannot(&format!("write {}", key_path())));
}

#[test]
fn a_cut_answer_is_requested_again() {
    let server = Server::start(|number, _| match number {
        0 => Reply::Bytes(answer_of("200 OK", &["Content-Length: 100"], "a part")),
        1 => Reply::Bytes(answer_of(
            "206 Partial Content",
            &["Content-Range: bytes 0-9/100", "Content-Length: 10"],
            "a part",
        )),
        2 => Reply::Bytes(answer_of("200 OK", &["Content-Length: 1000"], "<ListBucketResult>")),
        _ => Reply::Bytes(b"HTTP/1.1 200".to_vec()),
    });
    let storage = at(&server);
    let expected = |action: String| {
        format!(
            "passing: cannot {action} at s3:http://127.0.0.1:PORT/bucket/some/prefix: the connection broke: "
        )
    };
    let read = expected(format!("read {}", key_path()));
    let cut = "end of file before message length reached";
    assert_eq!(said(&server, storage.read(key())), format!("{read}{cut}"));
    assert_eq!(said(&server, storage.read_range(key(), 0, 10)), format!("{read}{cut}"));
    assert_eq!(
        said(&server, storage.list(FileKind::Key)),
        format!("{}{cut}", expected("list keys".to_owned()))
    );
    assert_eq!(
        said(&server, storage.read(key())),
        format!("{read}connection closed before message completed")
    );
}

#[test]
fn a_range_that_was_not_requested_is_refused() {
    let server = Server::start(|number, _| match number {
        0 => partial("0-9", 100, "0123456789"),
        1 => Reply::Bytes(answer_of("200 OK", &[], "everything")),
        _ => partial("10-19", 100, "01234"),
    });
    let storage = at(&server);
    let cannot =
        format!("passing: cannot read {} at s3:http://127.0.0.1:PORT/bucket/some/prefix: ", key_path());
    for what in [
        "the server sent an invalid response: Requested 10..20, got 0..10",
        "the server sent an invalid response: Received non-partial response when range requested",
        "5 bytes came of 10",
    ] {
        assert_eq!(said(&server, storage.read_range(key(), 10, 10)), format!("{cannot}{what}"));
    }
}

#[test]
fn a_file_that_ends_too_early_is_damaged() {
    let server = Server::start(|_, head| match head {
        head if head.starts_with("HEAD") => Reply::Bytes(answer_of("200 OK", &["Content-Length: 12"], "")),
        head if head.to_ascii_lowercase().contains("range: bytes=10-19") => partial("10-11", 12, "ab"),
        _ => refusal("416 Range Not Satisfiable", "InvalidRange", "No."),
    });
    let storage = at(&server);
    for (offset, length, end) in [(10, 10, 20), (12, 3, 15), (13, 0, 13)] {
        let expected = format!(
            "lasting: {} at s3:http://127.0.0.1:PORT/bucket/some/prefix is damaged: it has 12 bytes, {end} \
             expected; put a copy of the file back, or use the password of another key",
            key_path()
        );
        assert_eq!(said(&server, storage.read_range(key(), offset, length)), expected);
    }
    assert_eq!(storage.read_range(key(), 12, 0).unwrap(), b"");
}

#[test]
fn a_server_without_s3_is_refused() {
    let server = Server::start(|number, _| match number {
        0 => Reply::Bytes(answer_of("200 OK", &[], "<html>Please log in</html>")),
        1 => Reply::Bytes(answer_of("301 Moved Permanently", &["Location: http://127.0.0.1:1/"], "")),
        _ => Reply::Bytes(b"220 mail.example.org ESMTP\r\n".to_vec()),
    });
    let storage = at(&server);
    let at = "at s3:http://127.0.0.1:PORT/bucket/some/prefix";
    let senseless =
        format!("passing: cannot list keys {at}: the server sent an invalid response: it is not a list");
    assert_eq!(said(&server, storage.list(FileKind::Key)), senseless);
    let moved = format!("lasting: cannot read config {at}: the server answers 301 Moved Permanently");
    assert_eq!(said(&server, storage.read(FileName::CONFIG)), moved);
    let other =
        format!("passing: cannot read config {at}: the connection broke: invalid HTTP version parsed");
    assert_eq!(said(&server, storage.read(FileName::CONFIG)), other);
}

/// Answers a request for a list with the packs whose names start with the requested prefix.
fn listed(head: &str, packs: &[Id]) -> Reply {
    let line = head.lines().next().unwrap().replace("%2F", "/");
    let prefix = line.split("prefix=").nth(1).unwrap().split(['&', ' ']).next().unwrap();
    let mut contents = String::new();
    for id in packs {
        let path = format!("some/prefix/{}", FileName { kind: FileKind::Pack, id: *id });
        if path.starts_with(prefix) {
            contents += &format!(
                "<Contents><Key>{path}</Key><Size>5</Size><LastModified>2026-11-21T10:00:00.000Z</LastModified></Contents>"
            );
        }
    }
    let odd = "<Contents><Key>some/prefix/data/00/README</Key><Size>5</Size>\
               <LastModified>2026-11-21T10:00:00.000Z</LastModified></Contents>";
    // Before all packs, because a page of a list is sorted by name.
    let xml = format!("<ListBucketResult><IsTruncated>false</IsTruncated>{odd}{contents}</ListBucketResult>");
    Reply::Bytes(answer_of("200 OK", &[], &xml))
}

#[test]
fn many_packs_are_listed_in_parts() {
    let packs: Vec<Id> = (0..=99).map(|number| Id([number * 2; Id::BYTES])).collect();
    let mut expected: Vec<(Id, u64)> = packs.iter().map(|id| (*id, 5)).collect();
    let server = Server::start(move |_, head| listed(head, &packs));
    for (listed_alone_max, requests) in [(1000, 1), (50, 257)] {
        let before = server.requests().len();
        let limits = Limits { listed_alone_max, ..Limits::default() };
        let storage = ObjectStorage::new(&place(server.port()), &credentials(), limits).unwrap();
        let mut found = storage.list(FileKind::Pack).unwrap();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(server.requests().len() - before, requests);
    }
}

#[test]
fn an_endless_list_is_refused() {
    let page = |head: &str| {
        let number = head.split("continuation-token=").nth(1).map_or(0, |rest| {
            rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap()
        });
        let key = FileName { kind: FileKind::Key, id: Id([number; Id::BYTES]) };
        format!(
            "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>{}</NextContinuationToken><Contents><Key>some/prefix/{key}</Key><Size>5</Size><LastModified>2026-11-21T10:00:00.000Z</LastModified></Contents></ListBucketResult>",
            number + 1
        )
    };
    let server = Server::start(move |_, head| Reply::Bytes(answer_of("200 OK", &[], &page(head))));
    let limits = Limits { listed_max: 10, ..Limits::default() };
    let storage = ObjectStorage::new(&place(server.port()), &credentials(), limits).unwrap();
    let there = "at s3:http://127.0.0.1:PORT/bucket/some/prefix";
    let invalid = format!("passing: cannot list keys {there}: the server sent an invalid response");
    let sentence = format!("{invalid}: the list has no end");
    assert_eq!(said(&server, storage.list(FileKind::Key)), sentence);
    assert_eq!(server.requests().len(), 11);
    let long = format!("<ListBucketResult>{}", " ".repeat(17 << 20));
    let server = Server::start(move |_, _| Reply::Bytes(answer_of("200 OK", &[], &long)));
    let sentence = format!("{invalid}: a page of the list is too long");
    assert_eq!(said(&server, at(&server).list(FileKind::Key)), sentence);
}

#[test]
fn a_file_of_impossible_size_is_refused_at_once() {
    let server =
        Server::start(|_, _| Reply::ThenSilence(answer_of("200 OK", &["Content-Length: 1048577"], "{")));
    let said = said(&server, at(&server).read(key()));
    let what = "is damaged: it has 1048577 bytes, and no such file has more than 1048576";
    assert!(said.contains(what), "{said}");
}

#[test]
fn a_bucket_is_created_on_servers_that_require_a_length() {
    for (region, body_bytes) in [(None, 0), (Some("eu-west-9"), 105)] {
        let server = Server::start(move |number, head| {
            let length = format!("content-length: {body_bytes}\r\n");
            match (number, head.to_ascii_lowercase()) {
                (0, _) => refusal("404 Not Found", "NoSuchBucket", "There is none."),
                (_, head) if !head.contains(&length) || head.contains("transfer-encoding") => {
                    refusal("411 Length Required", "MissingContentLength", "How long is it?")
                }
                _ => Reply::Bytes(answer_of("200 OK", &[], "")),
            }
        });
        let credentials = Credentials { region: region.map(str::to_owned), ..credentials() };
        let storage = ObjectStorage::new(&place(server.port()), &credentials, Limits::default()).unwrap();
        storage.create().unwrap();
        assert!(server.requests()[1].starts_with("PUT /bucket"), "{:?}", server.requests());
    }
}

#[test]
fn without_keys_no_request_is_sent() {
    let error = ObjectStorage::new(&place(1), &Credentials::default(), Limits::default()).unwrap_err();
    let expected = "s3:http://127.0.0.1:1/bucket/some/prefix asks for an access key and a secret key";
    assert_eq!(error.to_string(), expected);
}
