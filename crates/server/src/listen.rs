//! Where clients connect. Input: an address. Output: connections, each a stream of bytes. Does not know HTTP.
//!
//! TLS would wrap what [`Listener::accept`] returns: nothing after it knows what carries the bytes. A
//! handshake waits for the client, so it belongs to the connection's own task, within the time for a head.

use crate::error::{Error, Result};
use crate::peer::Peer;
use crate::socket_file::{self, SocketFile};
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::path::PathBuf;
use tokio::io::{AsyncRead, AsyncWrite};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// 127.0.0.1 or `[::1]`, or behind a proxy any address. Port 0 is any port that is free.
    Tcp(SocketAddr),
    /// A socket, in a directory that only the user can enter. Only the user's own processes can connect.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(out),
            Address::Unix(path) => path.display().fmt(out),
        }
    }
}

/// A stream of bytes to and from a client.
pub(crate) trait Stream: AsyncRead + AsyncWrite + AsFd + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + AsFd + Send + Unpin> Stream for T {}

/// A socket that clients can connect to, although nobody accepts them yet.
#[derive(Debug)]
pub(crate) enum Bound {
    Tcp(std::net::TcpListener),
    Unix(std::os::unix::net::UnixListener, SocketFile),
}

/// Listens on an address. Returns also the address with its port.
pub(crate) fn bind(address: &Address, is_behind_proxy: bool) -> Result<(Bound, Address)> {
    let tcp = match address {
        Address::Unix(path) => {
            let (listener, file) = socket_file::bind(path)?;
            return Ok((Bound::Unix(listener, file), address.clone()));
        }
        Address::Tcp(tcp) => tcp,
    };
    let is_own = tcp.ip() == Ipv4Addr::LOCALHOST || tcp.ip() == Ipv6Addr::LOCALHOST;
    if !is_own && !is_behind_proxy {
        return Err(Error::NotLoopback { address: tcp.to_string() });
    }
    let failed = |source| Error::Listen { address: tcp.to_string(), source };
    let listener = std::net::TcpListener::bind(tcp).map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((Bound::Tcp(listener), Address::Tcp(bound)))
}

/// A socket that accepts clients. A socket's file goes with it.
pub(crate) enum Listener {
    Tcp {
        listener: tokio::net::TcpListener,
        /// Whose programs may use cookies; `None` if nobody can tell, or a proxy leads here.
        user: Option<u32>,
    },
    Unix {
        listener: tokio::net::UnixListener,
        /// Whose processes may connect.
        user: u32,
        _file: SocketFile,
    },
}

impl Listener {
    /// Must be called within the runtime that will accept. `knows_peers` says whether programs of other users
    /// are told apart.
    pub(crate) fn new(bound: Bound, knows_peers: bool) -> io::Result<Listener> {
        let user = rustix::process::geteuid().as_raw();
        Ok(match bound {
            Bound::Tcp(listener) => {
                listener.set_nonblocking(true)?;
                let listener = tokio::net::TcpListener::from_std(listener)?;
                Listener::Tcp { listener, user: knows_peers.then_some(user) }
            }
            Bound::Unix(listener, file) => {
                listener.set_nonblocking(true)?;
                let listener = tokio::net::UnixListener::from_std(listener)?;
                Listener::Unix { listener, user, _file: file }
            }
        })
    }

    /// Waits for a client. Returns `None` if it may not connect, or has gone already.
    pub(crate) async fn accept(&self) -> io::Result<Option<(Box<dyn Stream>, Peer)>> {
        Ok(Some(match self {
            Listener::Tcp { listener, user } => {
                let (stream, other) = listener.accept().await?;
                // Answers are written whole: there is nothing to wait for. Without this they only come later.
                let _ = stream.set_nodelay(true);
                let peer = match user {
                    Some(user) => Peer::local(stream.local_addr()?, other, *user),
                    None => Peer::Trusted,
                };
                (Box::new(stream), peer)
            }
            Listener::Unix { listener, user, .. } => {
                let (stream, _) = listener.accept().await?;
                if !is_of_user(&stream, *user) {
                    return Ok(None);
                }
                (Box::new(stream), Peer::Trusted)
            }
        }))
    }
}

/// Returns whether a process of this user is at the other end.
pub(crate) fn is_of_user(stream: &impl AsFd, user: u32) -> bool {
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|peer| peer.uid.as_raw() == user)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixStream;

    /// Returns whether a process of ours may connect, if those of the user `user` may.
    fn may_connect(user: u32) -> bool {
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let path = directory.path().join("socket");
        let (bound, _) = bind(&Address::Unix(path.clone()), false).unwrap();
        let _client = UnixStream::connect(&path).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        let accepted = runtime.block_on(async {
            let Listener::Unix { listener, _file, .. } = Listener::new(bound, false).unwrap() else {
                panic!()
            };
            Listener::Unix { listener, user, _file }.accept().await.unwrap()
        });
        accepted.is_some()
    }

    #[test]
    fn only_processes_of_the_user_may_connect() {
        let own = rustix::process::geteuid().as_raw();
        assert!(may_connect(own));
        assert!(!may_connect(own + 1));
    }
}
