//! Whose program is at the other end of a connection. Input: both ends, and the kernel's table of sockets.
//! Output: whether it may use what a browser was given. Does not know what is said.
//!
//! A browser sends its cookie to all ports of a host, so that a server of another user can learn it (RFC
//! 6265, section 8.5). Within one machine the kernel knows who sends it back.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;

/// The sockets of TCP over IPv4 and over IPv6, and their users.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// How often the tables are read before a socket is none: one that is there can be missed while others go.
const TRIES: usize = 3;
/// How often it is looked for the program that accepts a connection, and how long it is waited in between.
const ACCEPT_TRIES: usize = 200;
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// The other end of a connection.
pub(crate) enum Peer {
    /// The kernel, or a proxy, lets nobody else connect; or nobody can tell.
    Trusted,
    /// A program of this machine.
    Local {
        /// Our end and its end.
        ends: [SocketAddr; 2],
        /// Whose programs may use cookies, beside root.
        user: u32,
        /// What was found.
        may_use_cookies: OnceLock<bool>,
    },
}

impl Peer {
    /// `user` is whose programs may use cookies.
    pub(crate) fn local(own: SocketAddr, other: SocketAddr, user: u32) -> Peer {
        Peer::Local { ends: [own, other], user, may_use_cookies: OnceLock::new() }
    }

    /// Returns whether a cookie that it sends may be the one that a browser of the user was given. Reads
    /// the kernel's table, the first time.
    pub(crate) fn may_use_cookies(&self) -> bool {
        let Peer::Local { ends, user, may_use_cookies } = self else { return true };
        *may_use_cookies.get_or_init(|| {
            let owner = (0..TRIES).find_map(|_| owner_in_tables(*ends));
            owner.is_some_and(|owner| may_use(owner, *user))
        })
    }
}

/// Returns whether a program of the user, or of root, is at the other end of a connection that we made. Waits
/// for it a little: as long as nobody has accepted the connection, it is nobody's.
pub(crate) fn is_server_of(ends: [SocketAddr; 2], user: u32) -> bool {
    let owner = (0..ACCEPT_TRIES).find_map(|_| {
        let owner = owner_in_tables(ends);
        if owner.is_none() {
            thread::sleep(ACCEPT_PAUSE);
        }
        owner
    });
    owner.is_some_and(|owner| may_use(owner, user))
}

/// Returns whether programs of `owner` may use cookies of `user`. Root may do everything anyway.
fn may_use(owner: u32, user: u32) -> bool {
    owner == user || owner == 0
}

/// Returns whether the kernel says whose sockets there are.
pub(crate) fn is_known() -> bool {
    let [table, _] = TABLES;
    is_table(Path::new(table))
}

fn is_table(path: &Path) -> bool {
    let mut line = String::new();
    File::open(path).is_ok_and(|file| BufReader::new(file).read_line(&mut line).is_ok_and(|count| count > 0))
}

/// Returns the user of the socket at the other end.
fn owner_in_tables(ends: [SocketAddr; 2]) -> Option<u32> {
    // A program may reach IPv4 with a socket of IPv6.
    TABLES.iter().find_map(|path| owner(BufReader::new(File::open(path).ok()?), ends).ok()?)
}

/// Returns the user of the socket at the other end, if a table has it.
fn owner(mut table: impl BufRead, [own, other]: [SocketAddr; 2]) -> io::Result<Option<u32>> {
    let mut line = Vec::new();
    loop {
        line.clear();
        match table.read_until(b'\n', &mut line) {
            Ok(0) => return Ok(None),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
            Ok(_) => {}
        }
        if let Some(socket) = socket(&line)
            && (canonical(socket.local), canonical(socket.remote)) == (canonical(other), canonical(own))
        {
            return Ok(Some(socket.user));
        }
    }
}

/// A socket of a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Socket {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) user: u32,
}

/// Reads a line of a table (proc_net_tcp in the kernel's documentation). A socket that no program has any
/// more is none: the kernel says that it is root's.
pub(crate) fn socket(line: &[u8]) -> Option<Socket> {
    let mut fields = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let (local, remote) = (address(fields.nth(1)?)?, address(fields.next()?)?);
    let user = fields.nth(4)?.parse().ok()?;
    let inode: u64 = fields.nth(1)?.parse().ok()?;
    (inode != 0).then_some(Socket { local, remote, user })
}

/// Reads an address: words of the machine, whose bytes are those of the network, and a port.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let ip = match ip.len() {
        8 => IpAddr::from(word(ip)?),
        32 => {
            let mut bytes = [0; 16];
            for (place, bytes) in bytes.chunks_exact_mut(4).enumerate() {
                bytes.copy_from_slice(&word(ip.get(place * 8..place * 8 + 8)?)?);
            }
            IpAddr::from(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

fn word(text: &str) -> Option<[u8; 4]> {
    Some(u32::from_str_radix(text, 16).ok()?.to_ne_bytes())
}

/// Returns an address without its scope, and one of IPv4 as such.
fn canonical(address: SocketAddr) -> (IpAddr, u16) {
    (address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};

    fn ends(listener: &TcpListener) -> ([SocketAddr; 2], [TcpStream; 2]) {
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, other) = listener.accept().unwrap();
        ([stream.local_addr().unwrap(), other], [client, stream])
    }

    #[test]
    fn the_kernel_says_whose_socket_it_is() {
        let own = rustix::process::geteuid().as_raw();
        assert!(is_known() && !is_table(Path::new("/proc/net/none")) && !is_table(Path::new("/dev/null")));
        for address in [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)] {
            let listener = TcpListener::bind((address, 0)).unwrap();
            let ([ours, other], [client, _stream]) = ends(&listener);
            assert_eq!(owner_in_tables([ours, other]), Some(own));
            assert_eq!(owner_in_tables([other, ours]), Some(own), "this one is ours, too");
            assert!(Peer::local(ours, other, own).may_use_cookies());
            let elsewhere = SocketAddr::new(ours.ip(), 0);
            assert!(!Peer::local(elsewhere, other, own).may_use_cookies());
            // Whoever has gone is nobody.
            drop(client);
            assert!(!Peer::local(ours, other, own).may_use_cookies());
        }
        // A socket of IPv6 that reaches IPv4.
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let ends = [client.local_addr().unwrap(), client.peer_addr().unwrap()];
        let (_stream, _) = listener.accept().unwrap();
        assert_eq!(owner_in_tables(ends), Some(own));
    }

    const HEAD: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  \
                        timeout inode\n";

    /// Returns a table with a socket at 127.0.0.1:4660 that is connected to 127.0.0.1:7638.
    fn table(user: &str, inode: &str) -> String {
        let one = u32::from_ne_bytes([127, 0, 0, 1]);
        let line = |local: &str, remote: &str, user: &str| {
            let ends = format!("{one:08X}:{local} {one:08X}:{remote}");
            format!("   0: {ends} 01 00000000:00000000 00:00000000 00000000 {user} 0 {inode} 1 0 20\n")
        };
        format!("{HEAD}{}{}", line("1DD6", "1234", "7"), line("1234", "1DD6", user))
    }

    #[test]
    fn only_the_end_that_sends_counts() {
        let ends = [7638, 0x1234].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let found = |text: String| owner(text.as_bytes(), ends).unwrap();
        assert_eq!(found(table("1000", "5")), Some(1000));
        assert_eq!(found(table("0", "0")), None, "no program has it");
        assert_eq!(found(table("-1", "5")), None);
        assert_eq!(found(HEAD.to_owned()), None);
        let mapped = format!("0000000000000000{:08X}", u32::from_ne_bytes([0, 0, 255, 255]));
        let one = format!("{:08X}:", u32::from_ne_bytes([127, 0, 0, 1]));
        assert_eq!(found(table("1000", "5").replace(&one, &format!("{mapped}{one}"))), Some(1000));
        for cut in 0..table("1000", "5").len() {
            let text = table("1000", "5");
            assert!(matches!(found(text[..cut].to_owned()), None | Some(1000)));
            assert!(socket(&text.as_bytes()[cut..]).is_none_or(|socket| socket.user != 0));
        }
    }

    #[test]
    fn others_may_not_use_a_cookie_and_root_may() {
        assert!(may_use(1000, 1000) && may_use(0, 1000) && !may_use(1001, 1000));
    }
}
