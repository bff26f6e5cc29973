//! Tests `pneu serve`: how it starts, whom it answers, and how it ends.
//!
//! Input: a home with mail, requests over sockets. Output: what is printed and answered, and exit codes.
//! `crates/serve` tests the answers, `crates/server` who gets them.

use crate::support::{Home, by_env, end, letter};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, BufWriter, Lines, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use testkit::http::{Client, Reply, wait_until};

/// A program that serves.
struct Served {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// What it printed first.
    address: String,
}

impl Served {
    fn start(home: &Home, arguments: &[&str]) -> Served {
        Served::of(home.command(&[&["serve"], arguments].concat()))
    }

    fn of(command: Command) -> Served {
        let mut command = by_env(&command, &["--default-signal=INT,TERM,HUP"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let Some(Ok(address)) = lines.next() else { panic!("{:?}", end(child)) };
        Served { child, lines, address }
    }

    fn host(&self) -> &str {
        self.address.strip_prefix("http://").unwrap().strip_suffix('/').unwrap()
    }

    fn connect(&self) -> Client<std::net::TcpStream> {
        Client::connect(self.host().parse().unwrap())
    }

    fn ask(&self, line: &str, fields: &[&str]) -> Reply {
        self.connect().ask(&head(line, self.host(), fields))
    }

    /// Ends it by a signal, and returns its code and what it said.
    fn end(self, signal: &str) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
        let run = end(self.child);
        (run.code, run.err)
    }
}

fn head(line: &str, host: &str, fields: &[&str]) -> String {
    let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
    format!("{line} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n")
}

fn bearer(home: &Home) -> String {
    format!("Authorization: Bearer {}", home.good(&["serve", "--print-token"]).trim_end())
}

/// Returns a request for the subjects of all emails.
fn query(host: &str, bearer: &str) -> String {
    let body = r##"{"using":["urn:ietf:params:jmap:core","urn:ietf:params:jmap:mail"],"methodCalls":[
        ["Email/query",{"accountId":"mail"},"a"],
        ["Email/get",{"accountId":"mail","properties":["subject"],
            "#ids":{"resultOf":"a","name":"Email/query","path":"/ids"}},"b"]]}"##;
    post(host, bearer, body)
}

/// Returns a request of JMAP.
fn post(host: &str, bearer: &str, body: &str) -> String {
    let length = format!("Content-Length: {}", body.len());
    head("POST /jmap/api", host, &[bearer, "Content-Type: application/json", &length]) + body
}

#[test]
fn it_answers_follows_the_mail_and_ends_at_a_signal() {
    let home = Home::indexed();
    let mut served = Served::start(&home, &["--port", "0", "--link"]);
    let bearer = bearer(&home);
    assert_eq!(served.ask("GET /jmap/session", &[]).status, 401);
    let session = served.ask("GET /.well-known/jmap", &[&bearer]);
    assert_eq!(session.status, 200);
    assert!(session.text().contains(&format!("\"apiUrl\":\"{}jmap/api\"", served.address)));
    // The link logs a browser in.
    let link = served.lines.next().unwrap().unwrap();
    let path = link.strip_prefix(served.address.trim_end_matches('/')).unwrap();
    let reply = served.ask(&format!("GET {path}"), &[]);
    let cookie = format!("Cookie: {}", reply.field("set-cookie").unwrap().split(';').next().unwrap());
    assert_eq!(served.ask("GET /jmap/session", &[&cookie]).status, 200);
    // Mail that comes is told, and found.
    let mut events = served.connect();
    events.send(&head("GET /jmap/eventsource?types=Email", served.host(), &[&bearer, "Last-Event-ID: old"]));
    assert_eq!(events.reply_head().status, 200);
    let mut event = || String::from_utf8(events.chunk().unwrap()).unwrap();
    event();
    home.deliver("", "later:2,", &letter("9", "Later", "a"));
    let asks = || served.connect().ask(&query(served.host(), &bearer)).text().to_owned();
    assert!(event().contains("\"@type\":\"StateChange\""));
    wait_until(|| asks().contains("\"subject\":\"Later\""));
    assert!(asks().contains("\"subject\":\"First steps\""));
    // Streams that are open hold nothing up.
    assert_eq!(served.end("TERM").0, Some(143));
    assert_eq!(home.good(&["check"]).lines().count(), 1);
}

#[test]
fn a_socket_is_for_the_user_and_goes_with_the_program() {
    let home = Home::indexed();
    let socket = home.path().join("run/socket");
    let served = Served::start(&home, &["--socket", socket.to_str().unwrap(), "--no-watch"]);
    assert_eq!(Path::new(&served.address), socket);
    assert_eq!(fs::metadata(home.path().join("run")).unwrap().permissions().mode() & 0o777, 0o700);
    let bearer = bearer(&home);
    let reply = Client::connect_to_file(&socket).ask(&query("localhost", &bearer));
    assert_eq!(reply.status, 200);
    assert!(reply.text().contains("\"subject\":\"First steps\""));
    let second = home.pneu(&["serve", "--socket", socket.to_str().unwrap()]);
    assert_eq!(second.code, Some(2), "{second:?}");
    assert!(second.err.contains("another process listens on"), "{}", second.err);
    let (code, said) = served.end("INT");
    assert_eq!((code, said.as_str()), (Some(130), ""));
    assert!(!socket.exists());
}

#[test]
fn without_a_watch_it_tells_what_others_index() {
    let home = Home::indexed();
    let served = Served::start(&home, &["--port", "0", "--no-watch"]);
    let bearer = bearer(&home);
    let mut events = served.connect();
    events.send(&head("GET /jmap/eventsource?types=Email", served.host(), &[&bearer, "Last-Event-ID: old"]));
    events.reply_head();
    events.chunk();
    home.deliver("", "later:2,", &letter("9", "Later", "a"));
    home.good(&["index"]);
    assert!(String::from_utf8(events.chunk().unwrap()).unwrap().contains("\"Email\""));
    assert!(served.connect().ask(&query(served.host(), &bearer)).text().contains("\"subject\":\"Later\""));
    assert_eq!(served.end("HUP").0, Some(129));
}

#[test]
fn a_new_configuration_is_used_at_once() {
    let home = Home::indexed();
    let served = Served::start(&home, &["--port", "0"]);
    home.configure("[[rule]]\nquery = \"subject:later\"\ntag = \"+told\"\n");
    let mut number = 0;
    // The watch may see the configuration after the mail.
    wait_until(|| {
        number += 1;
        home.deliver("", &format!("later{number}:2,"), &letter(&number.to_string(), "Later", "a"));
        !home.subjects("tag:told").is_empty()
    });
    assert_eq!(served.ask("GET /jmap/session", &[&bearer(&home)]).status, 200);
    assert_eq!(served.end("TERM").0, Some(143));
}

/// Returns the text of a message that no file has any more, or why the archive does not give it.
fn archived(served: &Served, bearer: &str) -> String {
    let body = r##"{"using":["urn:ietf:params:jmap:core","urn:ietf:params:jmap:mail",
            "urn:pneu:params:jmap:archive"],"methodCalls":[
        ["Email/query",{"accountId":"mail","archived":"only"},"a"],
        ["Email/get",{"accountId":"mail","properties":["bodyValues"],"fetchTextBodyValues":true,
            "#ids":{"resultOf":"a","name":"Email/query","path":"/ids"}},"b"]]}"##;
    served.connect().ask(&post(served.host(), bearer, body)).text().to_owned()
}

#[test]
fn an_archive_that_is_named_or_made_later_is_used_at_once() {
    let home = Home::indexed();
    let (first, second) = (home.path().join("first"), home.path().join("second"));
    fs::write(home.path().join("password"), "pneumatic").unwrap();
    let options = ["--repo", first.to_str().unwrap(), "--password-file", "password"];
    for command in ["init", "backup"] {
        let run = home.pneu(&[&["archive", command], &options[..]].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let served = Served::start(&home, &["--port", "0"]);
    let bearer = bearer(&home);
    fs::remove_file(home.mail().join("cur/2:2,")).unwrap();
    wait_until(|| archived(&served, &bearer).contains("no repository is named"));
    let named = |place: &Path| {
        let (place, password) = (place.display(), home.path().join("password"));
        let password = password.display();
        home.configure(&format!("[archive]\nrepository = \"{place}\"\npassword_file = \"{password}\"\n"));
    };
    named(&first);
    wait_until(|| archived(&served, &bearer).contains("hello again"));
    // Another one is named before it is there.
    named(&second);
    wait_until(|| archived(&served, &bearer).contains("the archive cannot be opened"));
    fs::rename(&first, &second).unwrap();
    assert!(archived(&served, &bearer).contains("hello again"));
    // What does not concern the archive leaves it open: its password is not needed again.
    fs::remove_file(home.path().join("password")).unwrap();
    let text = fs::read_to_string(home.path().join(".config/pneu/config.toml")).unwrap();
    home.configure(&format!("[[rule]]\nquery = \"subject:later\"\ntag = \"+told\"\n{text}"));
    let mut number = 0;
    wait_until(|| {
        number += 1;
        home.deliver("", &format!("later{number}:2,"), &letter(&number.to_string(), "Later", "a"));
        !home.subjects("tag:told").is_empty()
    });
    assert!(archived(&served, &bearer).contains("hello again"));
    assert_eq!(served.end("TERM").0, Some(143));
}

/// Bytes of the large attachment: whole lines of base64.
const ATTACHED_BYTES: usize = 57 * 1_800_000;

/// Bytes of memory that the server may have for itself while it serves that message: 16 MiB of the message
/// are held, and its texts.
const OWN_BYTES_MAX: u64 = 64 << 20;

/// Delivers a message with a text, an attachment that nobody holds in memory, and a text. Returns the SHA-256
/// of the attachment.
fn deliver_large(home: &Home) -> [u8; 32] {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let path = home.deliver("", "1:2,S", b"");
    let mut file = BufWriter::new(File::create(path).unwrap());
    let head = "From: ana@example.org\nSubject: large\nMIME-Version: 1.0\n\
        Content-Type: multipart/mixed; boundary=b\n\n--b\n\nThe first text.\n--b\n\
        Content-Type: application/octet-stream; name=large\nContent-Transfer-Encoding: base64\n\n";
    file.write_all(head.as_bytes()).unwrap();
    let (mut hasher, mut state) = (Sha256::new(), 1_u64);
    let mut line = Vec::new();
    for _ in 0..ATTACHED_BYTES / 57 {
        line.clear();
        let mut bytes = [0; 57];
        for three in bytes.chunks_exact_mut(3) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            three.copy_from_slice(&state.to_be_bytes()[..3]);
            line.extend([58, 52, 46, 40].map(|shift| LETTERS[(state >> shift & 63) as usize]));
        }
        hasher.update(bytes);
        line.push(b'\n');
        file.write_all(&line).unwrap();
    }
    file.write_all(b"--b\nContent-Type: text/html\n\n<p>The last text.\n--b--\n").unwrap();
    file.flush().unwrap();
    hasher.finalize().into()
}

/// Returns the bytes of memory that a process has for itself: those of no file.
fn own_bytes(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().strip_suffix("kB").unwrap().trim().parse::<u64>().unwrap() << 10
}

/// Says that the work has ended, whatever the reason.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does some work. Returns what it returns, and the most memory that a process had for itself meanwhile.
fn watched<T>(process: u32, work: impl FnOnce() -> T) -> (T, u64) {
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = own_bytes(process);
            while !has_ended.load(Ordering::Relaxed) {
                most = most.max(own_bytes(process));
                thread::yield_now();
            }
            most
        });
        let ended = Ended(&has_ended);
        let done = work();
        drop(ended);
        (done, watcher.join().unwrap())
    })
}

#[test]
fn a_part_of_a_hundred_megabytes_is_only_downloaded() {
    let home = Home::new();
    let sha256 = deliver_large(&home);
    home.first_index();
    let served = Served::start(&home, &["--port", "0", "--no-watch"]);
    let bearer = bearer(&home);
    let body = r##"{"using":["urn:ietf:params:jmap:core","urn:ietf:params:jmap:mail"],"methodCalls":[
        ["Email/query",{"accountId":"mail"},"a"],
        ["Email/get",{"accountId":"mail","properties":["bodyStructure","bodyValues","attachments"],
            "bodyProperties":["partId","blobId","size"],"fetchAllBodyValues":true,
            "#ids":{"resultOf":"a","name":"Email/query","path":"/ids"}},"b"]]}"##;
    let ask = || served.connect().ask(&post(served.host(), &bearer, body)).text().to_owned();
    let (text, most) = watched(served.child.id(), ask);
    assert!(most < OWN_BYTES_MAX, "{most} bytes for Email/get");
    let answer: Value = serde_json::from_str(&text).unwrap();
    let email = &answer["methodResponses"][1][1]["list"][0];
    assert_eq!(email["bodyValues"]["1"]["value"], "The first text.", "{text}");
    assert_eq!(email["bodyValues"]["3"]["value"], "<p>The last text.");
    let parts = email["bodyStructure"]["subParts"].as_array().unwrap();
    let sizes: Vec<u64> = parts.iter().map(|part| part["size"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [15, ATTACHED_BYTES as u64, 17]);
    let path = format!("/jmap/download/mail/{}/large", email["attachments"][0]["blobId"].as_str().unwrap());
    let download = || {
        let mut client = served.connect();
        client.send(&head(&format!("GET {path}"), served.host(), &[&bearer]));
        let reply = client.reply_head();
        assert_eq!((reply.status, reply.field("content-length")), (200, Some(&*ATTACHED_BYTES.to_string())));
        let mut hasher = Sha256::new();
        hasher.update(&client.unread);
        let mut read = client.unread.len();
        while read < ATTACHED_BYTES {
            client.unread.clear();
            assert!(client.read_more(), "the download is cut after {read} bytes");
            hasher.update(&client.unread);
            read += client.unread.len();
        }
        (read, hasher.finalize())
    };
    let ((read, found), most) = watched(served.child.id(), download);
    assert_eq!((read, found.as_slice()), (ATTACHED_BYTES, &sha256[..]));
    assert!(most < OWN_BYTES_MAX, "{most} bytes for a download");
    assert_eq!(served.end("TERM").0, Some(143));
}

#[test]
fn what_cannot_be_served_is_refused() {
    let home = Home::new();
    let none = home.pneu(&["serve", "--port", "0"]);
    assert_eq!((none.code, &none.err), (Some(2), &home.pneu(&["find"]).err), "{none:?}");
    assert!(none.err.contains("pneu index"), "{}", none.err);
    home.first_index();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    let used = home.pneu(&["serve", "--port", &port]);
    assert_eq!((used.code, used.out.as_str()), (Some(2), ""), "{used:?}");
    assert!(used.err.contains(&format!("127.0.0.1:{port}; stop it, or use another port")), "{}", used.err);
    for (arguments, what) in [
        (&["--address", "0.0.0.0"][..], "other machines may reach"),
        (&["--proxy-host", "https://mail.example.org"], "is not the name of a host"),
        (&["--socket", "/tmp/socket"], "use a directory of your own"),
    ] {
        let run = home.pneu(&[&["serve"], arguments].concat());
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.err.contains(what), "{}", run.err);
    }
}

#[test]
fn the_token_stays_and_only_a_proxys_host_is_told_elsewhere() {
    let home = Home::indexed();
    let token = home.good(&["serve", "--print-token"]);
    assert_eq!(token.trim_end().len(), 43);
    assert_eq!(home.good(&["--data", home.data().to_str().unwrap(), "serve", "--print-token"]), token);
    let file = home.data().join("serve-token");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!home.good(&["check", "--deep"]).contains("serve-token"));
    let mut served = Served::start(&home, &["--port", "0", "--no-watch", "--proxy-host", "mail.example.org"]);
    assert_eq!(served.address, "https://mail.example.org/");
    let id = served.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    // In a pipe or a log there is no link.
    assert!(served.lines.next().is_none());
    assert_eq!(end(served.child).code, Some(143));
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    let refused = home.pneu(&["serve", "--port", "0"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("others may read the token"), "{}", refused.err);
}

/// Writes a program that opens files, as a desktop has one. It keeps the mode and the text of what it opens.
fn opener(home: &Home) -> PathBuf {
    let bin = home.path().join("bin");
    fs::create_dir(&bin).unwrap();
    // A process of its own writes it: a descriptor that another thread's child had inherited here would keep
    // it from being run.
    let script = "#!/bin/sh\nstat -c %a \"$1\" >mode\ncp \"$1\" new && mv new opened\n";
    let mut cat = Command::new("sh");
    cat.args(["-c", "cat >\"$1\"; chmod 755 \"$1\"", "sh"]).arg(bin.join("xdg-open")).stdin(Stdio::piped());
    let mut cat = cat.spawn().unwrap();
    cat.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    assert!(cat.wait().unwrap().success());
    bin
}

#[test]
fn a_browser_gets_a_file_that_leads_to_the_link() {
    let home = Home::indexed();
    let bin = opener(&home);
    let mut command = home.command(&["serve", "--port", "0", "--no-watch", "--open"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let served = Served::of(command);
    wait_until(|| home.path().join("opened").exists());
    assert_eq!(fs::read_to_string(home.path().join("mode")).unwrap(), "600\n");
    let page = fs::read_to_string(home.path().join("opened")).unwrap();
    let path = page.split_once(served.address.trim_end_matches('/')).unwrap().1;
    let path = path.split_once('"').unwrap().0;
    assert_eq!(served.ask(&format!("GET {path}"), &[]).status, 303);
    let files = || fs::read_dir(home.data()).unwrap().map(|entry| entry.unwrap().file_name());
    let is_page = |name: &std::ffi::OsString| name.to_string_lossy().starts_with("login-");
    assert_eq!(files().filter(is_page).count(), 1);
    let mut served = served;
    let mut said = served.child.stderr.take().unwrap();
    assert_eq!(served.end("TERM").0, Some(143));
    let mut text = String::new();
    said.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), files().filter(is_page).count()), ("", 0));
}

#[test]
fn a_server_that_runs_gives_another_link_and_opens_it() {
    let home = Home::indexed();
    let served = Served::start(&home, &["--port", "0", "--no-watch"]);
    let port = served.host().rsplit_once(':').unwrap().1.to_owned();
    let link = home.good(&["serve", "--new-link", "--port", &port]);
    let path = link.trim_end().strip_prefix(served.address.trim_end_matches('/')).unwrap();
    assert_eq!(served.ask(&format!("GET {path}"), &[]).status, 303);
    assert_eq!(served.ask(&format!("GET {path}"), &[]).status, 403);
    // It opens the page of that server, and is no second one.
    let bin = opener(&home);
    let mut command = home.command(&["serve", "--port", &port, "--open"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    let run = end(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), "", ""));
    wait_until(|| home.path().join("opened").exists());
    assert_eq!(fs::read_to_string(home.path().join("mode")).unwrap(), "600\n");
    let page = fs::read_to_string(home.path().join("opened")).unwrap();
    let path = page.split_once(served.address.trim_end_matches('/')).unwrap().1.split_once('"').unwrap().0;
    assert_eq!(served.ask(&format!("GET {path}"), &[]).status, 303);
    let refused = home.pneu(&["serve", "--port", &port]);
    assert!(refused.code == Some(2) && refused.err.contains("--new-link"), "{refused:?}");
    served.end("TERM");
    let nobody = home.pneu(&["serve", "--new-link", "--port", &port]);
    assert!(nobody.code == Some(2) && nobody.err.contains("no server can be reached"), "{nobody:?}");
}
