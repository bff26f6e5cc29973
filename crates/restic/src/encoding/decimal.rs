//! Decimal digits.

/// The digits of each number below 100.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0_u8;
    while number < 100 {
        pairs[number as usize] = [b'0' + number / 10, b'0' + number % 10];
        number += 1;
    }
    pairs
};

/// Appends a number with at least `digit_count` digits, at most 20.
pub(crate) fn push_decimal(out: &mut Vec<u8>, number: u64, digit_count: usize) {
    let mut digits = [b'0'; 20];
    let begin = put_decimal(&mut digits, number);
    out.extend_from_slice(&digits[begin.min(digits.len() - digit_count)..]);
}

/// Writes a number to the end of `digits`, which are zeros, as far as there is room. Returns where its first
/// digit other than zero is, or the end for zero.
pub(crate) fn put_decimal(digits: &mut [u8], number: u64) -> usize {
    let (mut rest, mut begin) = (number, digits.len());
    while rest >= 10 && begin >= 2 {
        begin -= 2;
        digits[begin..begin + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
        rest /= 100;
    }
    if rest > 0 && begin > 0 {
        begin -= 1;
        digits[begin] = b'0' + (rest % 10) as u8;
    }
    begin
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_they_need_or_are_asked_for() {
        let powers = (0..20).map(|power| 10_u64.pow(power));
        let near = powers.flat_map(|power| [power - 1, power, power + 1, power / 7 * 9, power / 3 * 2]);
        for number in near.chain([0, u64::MAX]) {
            for digit_count in [1, 2, 4, 9, 20] {
                let mut out = b"x".to_vec();
                push_decimal(&mut out, number, digit_count);
                assert_eq!(String::from_utf8(out).unwrap(), format!("x{number:0digit_count$}"));
            }
        }
    }
}
