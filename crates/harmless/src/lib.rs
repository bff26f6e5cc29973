//! HTML that others wrote, of which nothing is left that runs or loads anything.
//!
//! Input: HTML of a message. Output: HTML for a page: its text and links ([`formatted`]), or all of its looks
//! ([`styled`]). What would take too much time or memory is refused. This crate knows neither mail nor who
//! shows the HTML.

mod cost;
mod formatted;
mod stoppable;
pub mod styled;

pub use cost::HTML_BYTES_MAX;
pub use formatted::formatted;
