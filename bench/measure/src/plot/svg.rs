//! The elements of a plot, as SVG: its frame, lines of text.
//!
//! Input: texts and positions. Output: SVG. Does not know what is drawn.

use std::fmt::Write;

/// A file with a plot.
#[derive(Debug)]
pub struct Plot {
    /// Its title.
    pub title: String,
    /// Its name in the directory of the run.
    pub file_name: String,
    /// What is in it.
    pub svg: String,
}

/// The width of every plot.
pub(super) const WIDTH: f64 = 960.0;
/// The distance to the left and right edge.
pub(super) const MARGIN: f64 = 16.0;

/// Returns the beginning of a plot: its title, and a comment for readers of the file.
pub(super) fn begin(height: f64, title: &str, comment: &str) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 \
         {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#111827\" \
         stroke-width=\"2\">\n\
         <title>{0}</title>\n\
         <style>.grid {{ stroke: #d1d5db; stroke-width: 1 }} .floor {{ stroke: #6b7280; stroke-width: 3 \
         }}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{0}</text>\n",
        escaped(title)
    );
    put(&mut svg, &format!("<!-- {comment} -->"));
    svg
}

/// Adds a text. `anchor` says which of its ends is at `x`.
pub(super) fn text(svg: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    put(svg, &format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>", escaped(text)));
}

/// Adds an element.
pub(super) fn put(svg: &mut String, element: &str) {
    writeln!(svg, "{element}").expect("writing to a string");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
