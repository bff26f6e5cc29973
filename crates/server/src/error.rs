//! What can go wrong before and beside requests. Output: a sentence that says what to do.

use std::io;
use std::path::PathBuf;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a server does not run. No variant has a token.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refuses the address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Other machines could reach the address, and nobody said that there is a proxy.
    #[error(
        "other machines may reach {address}; listen on 127.0.0.1, on [::1] or on a unix socket, or name the \
         host of the proxy in front of it"
    )]
    NotLoopback {
        /// The address.
        address: String,
    },
    /// The name of the proxy's host cannot be one.
    #[error("{host:?} is not the name of a host, or such a name with a port")]
    Host {
        /// The name.
        host: String,
    },
    /// Other users could reach the socket.
    #[error("the socket's directory {path} {what}; use a directory of your own with mode 0700")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// Another process listens on the socket.
    #[error("another process listens on {path}; stop it, or use another path")]
    InUse {
        /// The socket.
        path: PathBuf,
    },
    /// There is a file in the socket's place.
    #[error("{path} exists and is not a socket; use another path")]
    NotSocket {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// No server answers.
    #[error("no server can be reached at {address}: {source}")]
    Unreached {
        /// The address.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
    /// A program of another user listens there, or nobody can tell.
    #[error("the program that listens on {address} is not known to be yours, so it does not get the token")]
    NotOwn {
        /// The address.
        address: String,
    },
    /// A program of the user listens there, and gives no link.
    #[error("the program that listens on {address} gives no login link: {what}")]
    NoLink {
        /// The address.
        address: String,
        /// What it answered.
        what: String,
    },
    /// A text is not a token.
    #[error("a token has 43 characters: 256 bits in base64url")]
    Token,
    /// The kernel gives no random bytes, so there can be no tokens.
    #[error("the kernel gives no random bytes: {0}")]
    Random(io::Error),
    /// The system refuses what a server needs to run.
    #[error("cannot start a server: {0}")]
    Start(io::Error),
}
