//! All integration tests of the crate `testkit`, in one binary.

#![expect(
    clippy::unwrap_used,
    reason = "a test that fails names its line, and clippy's leave for tests stops at helpers"
)]

mod sim_disk_drive;
mod sim_disk_faults;
mod sim_disk_images;
mod sim_disk_twin;
