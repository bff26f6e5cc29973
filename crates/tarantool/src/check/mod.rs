//! Checks whole files: which blocks and rows are sound, and what is lost.
//!
//! Blocks are read on several threads (`blocks`), then each file is scanned in order (`scan`). A `loss`
//! describes what could not be read. Nothing here knows spaces, or whether files are consecutive.

pub(crate) mod blocks;
pub(crate) mod loss;
pub(crate) mod scan;
