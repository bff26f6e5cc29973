//! Decimal digits.

/// Appends a number with at least `digit_count` digits, at most 20.
pub(crate) fn push_decimal(out: &mut Vec<u8>, number: u64, digit_count: usize) {
    let mut digits = [b'0'; 20];
    let (mut rest, mut begin) = (number, digits.len());
    for (place, digit) in digits.iter_mut().enumerate().rev() {
        if rest == 0 {
            break;
        }
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        begin = place;
    }
    out.extend_from_slice(&digits[begin.min(digits.len() - digit_count)..]);
}
