//! Text from mail and files, made safe to print: on a terminal, in JSON.
//!
//! A subject may hold escape sequences that repaint a terminal, or marks that turn text around. Everything
//! that a program of this project prints passes through here. This crate knows neither terminals nor mail.

pub mod json;
pub mod sanitise;

/// What a piece of text is, and so how a front end may mark it. A colour is never the only carrier of a
/// meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Ordinary text.
    Plain,
    /// A date.
    Date,
    /// A sender.
    Person,
    /// The name of a header field.
    Label,
    /// Something that accompanies the text, such as a signature.
    Aside,
    /// A quotation, and how deep it is nested.
    Quote(usize),
}

/// Returns bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| DIGITS[usize::from(half & 15)];
    let mut out = vec![0; 2 * bytes.len()];
    for (pair, byte) in out.chunks_exact_mut(2).zip(bytes) {
        pair.copy_from_slice(&[digit(byte >> 4), digit(*byte)]);
    }
    String::from_utf8(out).expect("digits are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_every_byte() {
        let all: Vec<u8> = (0..=255).collect();
        let slow: String = all.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex(&all), slow);
    }
}
