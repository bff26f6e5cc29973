//! Tests `pneu serve`: how it starts, whom it answers, and how it ends.
//!
//! Input: a home with mail, requests over sockets. Output: what is printed and answered, and exit codes.
//! `crates/serve` tests the answers, `crates/server` who gets them.

use crate::support::{Home, by_env, end, letter};
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
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
