//! Lists every folder of every root, and compares it with its rows. Writes nothing.
//!
//! In order: `roots` finds folders, `reader` lists their directories and has `compare` find differences, and
//! `count` counts rows. `named` looks at single files. Input: roots, and the folders of the last commit.
//! Output: a [`Scan`], with one outcome per directory.

mod closer_look;
mod compare;
mod count;
mod file_rows;
mod lazy;
mod lookup;
mod named;
mod reader;
mod roots;
mod scanned;

pub(in crate::pass) use compare::Found;
pub(in crate::pass) use count::count_rows;
pub(in crate::pass) use file_rows::FileRows;
pub(in crate::pass) use lazy::is_drafts_folder;
pub(in crate::pass) use lookup::{LookedUp, look_up};
pub(in crate::pass) use reader::read_directories;
pub(in crate::pass) use roots::find_folders;
pub(crate) use roots::{expect_mail, is_unmounted};
pub(in crate::pass) use scanned::{Extent, Input, Outcome, Scan, ScannedFolder};
