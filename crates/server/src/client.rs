//! Asks a server that runs for a login link.
//!
//! Input: its address, the token. Output: a link, or why there is none. The token goes to programs of the
//! user only: somebody else may listen where the server was. Does not know who wants the link.

use crate::allowed::Names;
use crate::answer::{LOGIN_PATH, NEW_LINK_PATH};
use crate::error::{Error, Result};
use crate::listen::{Address, is_of_user};
use crate::login::Login;
use crate::peer;
use crate::token::Secret;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How long each step may take. A wrong token is answered late.
const TIME: Duration = Duration::from_secs(10);
/// More than the answer has.
const ANSWER_BYTES_MAX: u64 = 16 * 1024;

/// Returns a link that logs a browser in, once, within two minutes, from the server of the user that runs at
/// an address.
///
/// # Errors
/// [`Error::Unreached`], [`Error::NotOwn`], [`Error::NoLink`].
pub fn new_login(address: &Address, token: &Secret) -> Result<Login> {
    let user = rustix::process::geteuid().as_raw();
    let unreached = |source| Error::Unreached { address: address.to_string(), source };
    let answer = match address {
        Address::Tcp(tcp) => {
            let stream = TcpStream::connect_timeout(&reached(*tcp), TIME).map_err(unreached)?;
            let ends = [stream.local_addr(), stream.peer_addr()];
            let [Ok(own), Ok(other)] = ends else {
                return Err(Error::NotOwn { address: address.to_string() });
            };
            if !peer::is_server_of([own, other], user) {
                return Err(Error::NotOwn { address: address.to_string() });
            }
            stream.set_read_timeout(Some(TIME)).map_err(unreached)?;
            ask(stream, address, token).map_err(unreached)?
        }
        Address::Unix(path) => {
            let stream = UnixStream::connect(path).map_err(unreached)?;
            if !is_of_user(&stream, user) {
                return Err(Error::NotOwn { address: address.to_string() });
            }
            stream.set_read_timeout(Some(TIME)).map_err(unreached)?;
            ask(stream, address, token).map_err(unreached)?
        }
    };
    link_in(&answer).map_err(|what| Error::NoLink { address: address.to_string(), what })
}

/// A server on all addresses is reached over this machine's own.
fn reached(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn ask(mut stream: impl Read + Write, address: &Address, token: &Secret) -> io::Result<Vec<u8>> {
    let origin = Names::new(address, None).main_origin();
    let host = origin.strip_prefix("http://").unwrap_or_default();
    let request = format!(
        "POST {NEW_LINK_PATH} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nContent-Length: \
         0\r\nConnection: close\r\n\r\n",
        token.text()
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
    Ok(answer)
}

/// Reads an answer. Returns what is wrong with it if it has no link.
fn link_in(answer: &[u8]) -> std::result::Result<Login, String> {
    let text = std::str::from_utf8(answer).unwrap_or_default();
    let status = text.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)).unwrap_or_default();
    let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body).trim_end();
    let is_link = body.starts_with("http")
        && body.contains(&format!("{LOGIN_PATH}?token="))
        && body.bytes().all(|byte| byte.is_ascii_graphic());
    match status {
        "200" if is_link => Ok(Login { url: body.to_owned() }),
        "401" => Err("its token is another one; does it use another data directory?".to_owned()),
        "404" => Err("it is an older version; start it again".to_owned()),
        _ => Err("it does not answer as pneu serve does".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_a_link_or_says_why_not() {
        let answer = |status: &str, body: &str| {
            let text = format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\n\r\n{body}\n");
            link_in(text.as_bytes()).map(|login| login.url)
        };
        let url = "http://127.0.0.1:7638/login?token=abc";
        assert_eq!(answer("200 OK", url).as_deref(), Ok(url));
        for (status, body, expected) in [
            ("401 Unauthorized", url, "another one"),
            ("404 Not Found", "", "older version"),
            ("200 OK", "", "does not answer"),
            ("200 OK", "http://x/login?token=a b", "does not answer"),
            ("200 OK", "file:///login?token=a", "does not answer"),
            ("500 x", url, "does not answer"),
        ] {
            assert!(answer(status, body).unwrap_err().contains(expected), "{status} {body}");
        }
        assert!(link_in(b"\xff").is_err());
    }

    #[test]
    fn all_addresses_are_those_of_this_machine() {
        for (address, expected) in
            [("0.0.0.0:7", "127.0.0.1:7"), ("[::]:7", "[::1]:7"), ("127.0.0.1:7", "127.0.0.1:7")]
        {
            assert_eq!(reached(address.parse().unwrap()).to_string(), expected);
        }
    }
}
