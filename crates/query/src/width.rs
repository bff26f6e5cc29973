//! The width of characters on a terminal, so that a caret stands below the right one. Input: a character.
//! Output: columns. Knows nothing of errors or queries.

use unicode_normalization::char::is_combining_mark;

/// What stands in for a character that a terminal would act on.
const REPLACEMENT: char = '\u{fffd}';

/// Returns what to print for the character. Control characters and those that change the writing direction
/// never reach a terminal; a tab becomes one space.
pub(crate) fn printable(c: char) -> char {
    match c {
        _ if c.is_whitespace() => ' ',
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}' => {
            REPLACEMENT
        }
        _ if c.is_control() => REPLACEMENT,
        _ => c,
    }
}

/// Returns how many columns a printable character takes.
pub(crate) fn columns(c: char) -> usize {
    match c {
        ' '..='~' => 1,
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1160}'..='\u{11ff}' => 0,
        _ if is_combining_mark(c) => 0,
        // East Asian wide and fullwidth characters, and emoji.
        '\u{1100}'..='\u{115f}'
        | '\u{231a}'..='\u{231b}'
        | '\u{23e9}'..='\u{23ec}'
        | '\u{25fd}'..='\u{25fe}'
        | '\u{2614}'..='\u{2615}'
        | '\u{2648}'..='\u{2653}'
        | '\u{26aa}'..='\u{26ab}'
        | '\u{26bd}'..='\u{26be}'
        | '\u{26c4}'..='\u{26c5}'
        | '\u{2705}'
        | '\u{270a}'..='\u{270b}'
        | '\u{2728}'
        | '\u{274c}'
        | '\u{2753}'..='\u{2755}'
        | '\u{2795}'..='\u{2797}'
        | '\u{2b1b}'..='\u{2b1c}'
        | '\u{2b50}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{a960}'..='\u{a97f}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff01}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{16fe0}'..='\u{1b2ff}'
        | '\u{1f004}'
        | '\u{1f0cf}'
        | '\u{1f18e}'
        | '\u{1f191}'..='\u{1f19a}'
        | '\u{1f200}'..='\u{1f320}'
        | '\u{1f32d}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f7e0}'..='\u{1f7eb}'
        | '\u{1f90c}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}
