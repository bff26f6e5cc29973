//! The chores of the project as functions: what `cargo xtask` does.
//!
//! Input: the workspace. Output: generated mail and docs, findings, an exit. Does not know how pneu works: it
//! runs cargo and the built program.

pub mod bench;
pub mod ci;
pub mod damage;
pub mod demo;
pub mod deny;
pub mod directory;
pub mod dist;
pub mod docs;
pub mod figures;
pub mod fuzz;
pub mod generate;
pub mod page;
pub mod run;
pub mod test_dist;
pub mod tidy;
