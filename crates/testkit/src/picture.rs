//! Draws what a terminal shows as an SVG.
//!
//! Input: text as a program writes it to a terminal, with escape sequences for colours. Output: the
//! picture. Does not depend on the programs. A character takes one column: text in wide characters comes
//! out too narrow.

use std::fmt::Write;

/// The width of a column, in tenths of a pixel.
const COLUMN_TENTHS: usize = 84;
const LINE_HEIGHT: usize = 20;
const MARGIN: usize = 16;
/// The bar with three dots above the text.
const BAR_HEIGHT: usize = 32;
const PAPER: &str = "#1d2129";
const INK: &str = "#d8dee9";

/// The style of text from some position on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Style {
    is_bold: bool,
    is_dim: bool,
    /// 0 to 7 in the numbering of terminals; `None` for the default colour.
    colour: Option<usize>,
}

/// Black, red, green, yellow, blue, magenta, cyan, white.
const COLOURS: [&str; 8] =
    ["#4c566a", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#eceff4"];

/// Returns an SVG of a terminal that shows `text` and is as wide as `columns` characters.
pub fn draw_terminal(text: &str, title: &str, columns: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let width = (columns * COLUMN_TENTHS).div_ceil(10) + 2 * MARGIN;
    let height = BAR_HEIGHT + lines.len() * LINE_HEIGHT + MARGIN;
    let title = escaped(title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"{title}\">\n<title>{title}</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{PAPER}\"/>\n"
    );
    for (place, colour) in ["#e06c75", "#e5c07b", "#98c379"].iter().enumerate() {
        let x = MARGIN + 6 + place * 20;
        writeln!(svg, "<circle cx=\"{x}\" cy=\"{MARGIN}\" r=\"6\" fill=\"{colour}\"/>").expect("to a string");
    }
    writeln!(
        svg,
        "<g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\" \
         fill=\"{INK}\" xml:space=\"preserve\">"
    )
    .expect("to a string");
    let mut style = Style::default();
    for (index, line) in lines.iter().enumerate() {
        let y = BAR_HEIGHT + (index + 1) * LINE_HEIGHT - 5;
        draw_line(&mut svg, line, y, &mut style);
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// Draws one line, each piece of one style at its column. The style continues in the next line.
fn draw_line(svg: &mut String, line: &str, y: usize, style: &mut Style) {
    let mut column = 0;
    for (index, piece) in line.split("\x1b[").enumerate() {
        let mut shown = piece;
        if index > 0 {
            let end = piece.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(piece.len());
            *style = style_after(*style, &piece[..end]);
            shown = piece.get(end + 1..).unwrap_or_default();
        }
        let length = shown.chars().count();
        let spaces = length - shown.trim_start().chars().count();
        let visible = shown.trim();
        if !visible.is_empty() {
            let x = pixels(MARGIN * 10 + (column + spaces) * COLUMN_TENTHS);
            let wide = pixels(visible.chars().count() * COLUMN_TENTHS);
            let (looks, visible) = (attributes(*style), escaped(visible));
            writeln!(svg, "<text x=\"{x}\" y=\"{y}\" textLength=\"{wide}\"{looks}>{visible}</text>")
                .expect("to a string");
        }
        column += length;
    }
}

/// Returns tenths of a pixel as pixels.
fn pixels(tenths: usize) -> String {
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Returns the style after an escape sequence such as `1;36`. Unknown numbers change nothing.
fn style_after(style: Style, numbers: &str) -> Style {
    numbers.split(';').fold(style, |style, number| match number.parse::<usize>().unwrap_or(0) {
        0 => Style::default(),
        1 => Style { is_bold: true, ..style },
        2 => Style { is_dim: true, ..style },
        22 => Style { is_bold: false, is_dim: false, ..style },
        39 => Style { colour: None, ..style },
        number @ 30..=37 => Style { colour: Some(number - 30), ..style },
        number @ 90..=97 => Style { colour: Some(number - 90), ..style },
        _ => style,
    })
}

fn attributes(style: Style) -> String {
    let mut text = String::new();
    if let Some(colour) = style.colour.and_then(|colour| COLOURS.get(colour)) {
        write!(text, " fill=\"{colour}\"").expect("to a string");
    }
    text.push_str(if style.is_bold { " font-weight=\"bold\"" } else { "" });
    text.push_str(if style.is_dim { " opacity=\"0.6\"" } else { "" });
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_stands_at_its_column_in_its_style() {
        let svg = draw_terminal("ab \x1b[36m  c\x1b[0m<d\n\x1b[1;2me", "a & b", 10);
        let texts: Vec<&str> = svg.lines().filter(|line| line.starts_with("<text")).collect();
        assert_eq!(
            texts,
            [
                "<text x=\"16.0\" y=\"47\" textLength=\"16.8\">ab</text>",
                "<text x=\"58.0\" y=\"47\" textLength=\"8.4\" fill=\"#56b6c2\">c</text>",
                "<text x=\"66.4\" y=\"47\" textLength=\"16.8\">&lt;d</text>",
                "<text x=\"16.0\" y=\"67\" textLength=\"8.4\" font-weight=\"bold\" opacity=\"0.6\">e</text>"
            ]
        );
        assert!(svg.contains("<title>a &amp; b</title>") && svg.contains("viewBox=\"0 0 116 88\""), "{svg}");
    }
}
