//! For tests, benchmarks and `xtask` only: a simulated disk, a server that fails, a client of HTTP, generated
//! mail, real mail, Tarantool, restic, readers of tables.
//!
//! Input: seeds and options. Output: Maildirs and misbehaving disks, the same ones each time. It is the one
//! library that may read the environment (PNEU_REAL_MAIL, CI, UPDATE) and print, because it runs beside
//! tests. Depends on none of the crates that it helps to test, except `disk`, whose trait it implements.

pub mod ask;
pub mod corpus;
mod documents;
pub mod http;
mod object_server;
mod picture;
mod random;
mod real_mail;
mod restic;
mod session;
pub mod sim_disk;
mod tables;
mod tarantool;
mod tour;

pub use ask::{is_ci, may_ask};
pub use documents::{check_help_page, check_manual_pages};
pub use object_server::{Fate, ObjectServer};
pub use picture::draw_terminal;
pub use random::Random;
pub use real_mail::{RealMail, real_mail};
pub use restic::{Answer, Restic, restic};
pub use session::{Printed, Session};
pub use sim_disk::SimDisk;
pub use tables::table_rows;
pub use tarantool::tarantool;
pub use tour::{check_tour, check_tour_in};
