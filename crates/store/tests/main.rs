//! All integration tests of the crate `store`, in one binary.
//!
//! Comes in: the crate as its users see it, on simulated and real disks. Goes out: failures. Must not know the crate's insides.

mod crash;
mod damage;
mod limits;
mod readers;
mod support;
mod twin;
mod writer;
