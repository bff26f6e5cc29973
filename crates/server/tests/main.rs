//! All integration tests of the crate, in one binary. They talk to servers over sockets of this machine.
//!
//! Input: requests. Output: whether the answers are those that the crate promises. Nothing here measures
//! time: tests wait for what must happen, and a socket that hears nothing for a minute fails its test.

// What follows is compiled for tests alone. It is said again for clippy, which lets tests panic.
#[cfg(test)]
mod allowed;
#[cfg(test)]
mod events;
#[cfg(test)]
mod headers;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod listening;
#[cfg(test)]
mod login;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod support;
