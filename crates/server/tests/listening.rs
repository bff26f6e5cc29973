//! Where a server listens, and who can reach it there.

use crate::support::{Client, Fixture, PATIENCE, Small, settings, text, wait_until};
use server::{Address, Error, Limits, Server, Settings};
use std::fs::{self, Permissions};
use std::net::{Ipv6Addr, SocketAddr};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use work::Cancel;

fn bind(address: Address) -> Result<Server, Error> {
    Server::bind(Settings { address, ..settings() })
}

#[test]
fn a_server_listens_on_this_machine() {
    let fixture = Fixture::new(|_| text("four"));
    assert_ne!(fixture.address.port(), 0);
    assert_eq!(fixture.ask("GET /x", &[]).text(), "four");

    let address = Address::Tcp(SocketAddr::from((Ipv6Addr::LOCALHOST, 0)));
    let fixture = Fixture::of(Settings { address, ..settings() }, Small(Box::new(|_| text("six"))));
    assert!(fixture.host().starts_with("[::1]:"));
    assert_eq!(fixture.ask("GET /x", &[]).text(), "six");
    let taken = bind(Address::Tcp(fixture.address)).unwrap_err();
    assert!(matches!(taken, Error::Listen { .. }), "{taken}");
}

#[test]
fn other_machines_reach_it_over_a_proxy_or_not_at_all() {
    for address in ["0.0.0.0:0", "[::]:0", "127.0.0.2:0", "192.0.2.1:0", "[::ffff:127.0.0.1]:0"] {
        let error = bind(Address::Tcp(address.parse().unwrap())).unwrap_err();
        assert!(matches!(error, Error::NotLoopback { .. }), "{address}: {error}");
    }
    let address = Address::Tcp(([0, 0, 0, 0], 0).into());
    let proxy =
        |host: &str| Settings { address: address.clone(), behind_proxy: Some(host.to_owned()), ..settings() };
    let server = Server::bind(proxy("mail.example.org")).unwrap();
    assert!(server.new_login().unwrap().url.starts_with("https://mail.example.org/login?token="));
    assert!(matches!(Server::bind(proxy("https://mail.example.org")), Err(Error::Host { .. })));
}

/// A server on a socket, until this value goes.
struct OnSocket {
    token: String,
    handle: server::Handle,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl OnSocket {
    fn new(path: &Path) -> OnSocket {
        let limits = Limits { answer_wait: PATIENCE, ..Limits::default() };
        let address = Address::Unix(path.to_owned());
        let server = Server::bind(Settings { address, limits, ..settings() }).unwrap();
        let (token, handle) = (server.token().text(), server.handle());
        let application = Arc::new(Small(Box::new(|request| {
            if request.path == "/wait" {
                wait_until(|| request.cancel.is_cancelled());
            }
            text(&request.origin)
        })));
        let thread = Some(std::thread::spawn(move || server.run(application, &Cancel::new()).unwrap()));
        OnSocket { token, handle, thread }
    }

    fn ask(&self, path: &Path, host: &str) -> u16 {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut client = Client { stream, unread: Vec::new() };
        let bearer = format!("Authorization: Bearer {}", self.token);
        client.ask(&format!("GET /x HTTP/1.1\r\nHost: {host}\r\n{bearer}\r\n\r\n")).status
    }
}

impl Drop for OnSocket {
    fn drop(&mut self) {
        self.handle.stop();
        self.thread.take().unwrap().join().unwrap();
    }
}

fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run").join("socket");
    (directory, path)
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_socket_is_for_its_user_and_goes_with_the_server() {
    let (_directory, path) = place();
    let server = OnSocket::new(&path);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(&path), 0o600);
    assert_eq!(server.ask(&path, "localhost"), 200);
    assert_eq!(server.ask(&path, "evil.example"), 421);
    // All answers are busy, until it is noticed that their clients went away.
    for _ in 0..Limits::default().answers_max {
        let mut client = Client::connect_to_file(&path);
        let bearer = format!("Authorization: Bearer {}", server.token);
        client.send(&format!("GET /wait HTTP/1.1\r\nHost: localhost\r\n{bearer}\r\n\r\nG"));
    }
    assert_eq!(server.ask(&path, "localhost"), 200);
    assert!(server.handle.new_login().unwrap().url.starts_with("http://localhost/login?token="));
    drop(server);
    assert!(!path.exists());
}

#[test]
fn a_directory_that_others_can_enter_is_refused() {
    let (directory, path) = place();
    let parent = path.parent().unwrap();
    fs::create_dir(parent).unwrap();
    for wrong in [0o755, 0o710, 0o701, 0o770] {
        fs::set_permissions(parent, Permissions::from_mode(wrong)).unwrap();
        let error = bind(Address::Unix(path.clone())).unwrap_err();
        assert!(error.to_string().contains(&format!("has mode {wrong:04o}")), "{error}");
        assert!(!path.exists());
    }
    fs::set_permissions(parent, Permissions::from_mode(0o700)).unwrap();
    drop(bind(Address::Unix(path.clone())).unwrap());
    symlink(parent, directory.path().join("link")).unwrap();
    let error = bind(Address::Unix(directory.path().join("link").join("socket"))).unwrap_err();
    assert!(matches!(error, Error::Directory { .. }), "{error}");
}

#[test]
fn a_socket_is_replaced_if_nobody_listens() {
    let (_directory, path) = place();
    drop(OnSocket::new(&path));
    // The file of a process that was killed.
    drop(UnixListener::bind(&path).unwrap());
    assert!(fs::symlink_metadata(&path).unwrap().file_type().is_socket());
    let server = OnSocket::new(&path);
    let error = bind(Address::Unix(path.clone())).unwrap_err();
    assert!(matches!(error, Error::InUse { .. }), "{error}");
    assert_eq!(server.ask(&path, "localhost"), 200, "the first one is still there");
}

#[test]
fn what_is_no_socket_stays() {
    let (_directory, path) = place();
    drop(OnSocket::new(&path));
    fs::write(&path, "kept").unwrap();
    let error = bind(Address::Unix(path.clone())).unwrap_err();
    assert!(matches!(error, Error::NotSocket { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "kept");
    // Neither does a link lead elsewhere, nor is what it leads to looked at.
    fs::remove_file(&path).unwrap();
    symlink(path.with_file_name("elsewhere"), &path).unwrap();
    assert!(matches!(bind(Address::Unix(path.clone())), Err(Error::NotSocket { .. })));
}

#[test]
fn a_server_removes_no_file_but_its_own() {
    let (_directory, path) = place();
    let server = OnSocket::new(&path);
    fs::rename(&path, path.with_file_name("moved")).unwrap();
    fs::write(&path, "of another").unwrap();
    drop(server);
    assert_eq!(fs::read_to_string(&path).unwrap(), "of another");
}
