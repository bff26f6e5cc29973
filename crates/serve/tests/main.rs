//! All integration tests of the crate, in one binary: a server of a small Maildir, and clients over sockets
//! of this machine.
//!
//! Input: mail, requests. Output: answers and events. Nothing here measures time: tests wait for what must
//! happen.

// What follows is compiled for tests alone. It is said again for clippy, which lets tests panic.
#[cfg(test)]
mod access;
#[cfg(test)]
mod api;
#[cfg(test)]
mod downloads;
#[cfg(test)]
mod events;
#[cfg(test)]
mod shown;
#[cfg(test)]
mod support;
