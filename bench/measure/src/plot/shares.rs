//! A plot of shares over time: for each slice of time a column of bands that together reach the top.
//!
//! Input: shares. Output: SVG. Does not know what they are shares of.

use super::svg::{MARGIN, Plot, WIDTH, begin, put, text};
use crate::series::seconds;

/// What is drawn.
#[derive(Debug)]
pub struct Shares<'a> {
    /// The title.
    pub title: String,
    /// The name of the file in the directory of the run.
    pub file_name: String,
    /// The names of the bands, from the bottom.
    pub bands: Vec<&'a str>,
    /// The time of all slices.
    pub seconds: f64,
    /// For each slice the shares of the bands.
    pub slices: Vec<Vec<f64>>,
}

/// The least is pale, one thread stands out, and the more the darker.
const FIRST_COLOURS: [&str; 2] = ["#e5e7eb", "#c2410c"];
const MORE_COLOURS: [&str; 2] = ["#93c5fd", "#1d4ed8"];
const LEFT: f64 = 66.0;
const RIGHT: f64 = WIDTH - 40.0;
const TOP: f64 = 80.0;
const BOTTOM: f64 = 320.0;
/// Into how many pieces the marks cut both axes.
const MARKS: u32 = 4;

/// Draws the plot.
pub fn shares(shares: &Shares<'_>) -> Plot {
    let mut svg = begin(BOTTOM + 40.0, &shares.title, "Each column is a slice of the time.");
    let mut x = MARGIN;
    for (band, name) in shares.bands.iter().enumerate() {
        put(
            &mut svg,
            &format!(
                "<rect fill=\"{}\" x=\"{x:.1}\" y=\"43\" width=\"14\" height=\"14\"/>",
                colour(shares, band)
            ),
        );
        text(&mut svg, x + 20.0, 54.0, "start", name);
        x += 50.0 + 7.0 * name.chars().count() as f64;
    }
    let width = (RIGHT - LEFT) / shares.slices.len().max(1) as f64;
    for (place, slice) in shares.slices.iter().enumerate() {
        let (left, mut bottom) = (LEFT + width * place as f64, BOTTOM);
        for (band, share) in slice.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let height = share * (BOTTOM - TOP);
            bottom -= height;
            put(
                &mut svg,
                &format!(
                    "<rect class=\"share\" fill=\"{}\" x=\"{left:.1}\" y=\"{bottom:.1}\" width=\"{:.1}\" \
                     height=\"{height:.1}\"/>",
                    colour(shares, band),
                    (width - 1.0).max(0.5)
                ),
            );
        }
    }
    for mark in 0..=MARKS {
        let share = f64::from(mark) / f64::from(MARKS);
        let (x, y) = (LEFT + share * (RIGHT - LEFT), BOTTOM - share * (BOTTOM - TOP));
        put(
            &mut svg,
            &format!("<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{RIGHT}\" y2=\"{y:.1}\"/>"),
        );
        text(&mut svg, LEFT - 10.0, y + 4.0, "end", &format!("{:.0} %", share * 100.0));
        text(&mut svg, x, BOTTOM + 20.0, "middle", &seconds(share * shares.seconds));
    }
    svg.push_str("</svg>\n");
    Plot { title: shares.title.clone(), file_name: shares.file_name.clone(), svg }
}

/// Returns the colour of a band. The last one has the darkest.
fn colour(shares: &Shares<'_>, band: usize) -> &'static str {
    let is_last = band + 1 == shares.bands.len();
    FIRST_COLOURS.get(band).copied().unwrap_or(MORE_COLOURS[usize::from(is_last)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_columns_from_the_bottom() {
        let drawn = shares(&Shares {
            title: "Threads & time".to_owned(),
            file_name: "threads.svg".to_owned(),
            bands: vec!["none", "1", "2 to 3", "4 or more"],
            seconds: 8.0,
            slices: vec![vec![0.0, 0.25, 0.75, 0.0], vec![0.0, 0.0, 0.0, 1.0]],
        });
        assert_eq!((drawn.file_name.as_str(), drawn.title.as_str()), ("threads.svg", "Threads & time"));
        let svg = &drawn.svg;
        assert!(svg.contains(">Threads &amp; time</text>") && svg.ends_with("</svg>\n"), "{svg}");
        let columns: Vec<&str> = svg.lines().filter(|line| line.contains("class=\"share\"")).collect();
        assert_eq!(columns.len(), 3, "what has no share is not drawn: {svg}");
        let all = BOTTOM - TOP;
        for (column, (colour, top, height)) in columns.iter().zip([
            (FIRST_COLOURS[1], BOTTOM - 0.25 * all, 0.25 * all),
            (MORE_COLOURS[0], TOP, 0.75 * all),
            (MORE_COLOURS[1], TOP, all),
        ]) {
            assert!(column.contains(&format!("fill=\"{colour}\"")), "{column}");
            assert!(column.contains(&format!(" y=\"{top:.1}\"")), "{column}");
            assert!(column.contains(&format!(" height=\"{height:.1}\"")), "{column}");
        }
        assert!(svg.contains(">2.00 s</text>") && svg.contains(">75 %</text>"), "{svg}");
    }
}
