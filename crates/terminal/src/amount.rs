//! Formats amounts for people: sizes, and numbers with their nouns.

/// Returns a number of bytes as people read it.
pub fn people(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "bytes");
    for larger in ["KiB", "MiB", "GiB", "TiB"] {
        if value >= 1024.0 {
            (value, unit) = (value / 1024.0, larger);
        }
    }
    if unit == "bytes" { format!("{bytes} bytes") } else { format!("{value:.1} {unit}") }
}

/// Returns a number with its noun: "1 pack", "12 packs", "2 copies".
pub fn count(number: u64, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("1 {noun}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{number} {stem}ies"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_for_people() {
        let pairs = [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (1_483_564, "1.4 MiB"),
            (3 << 30, "3.0 GiB"),
        ];
        for (bytes, text) in pairs {
            assert_eq!(people(bytes), text);
        }
    }

    #[test]
    fn one_has_no_s() {
        assert_eq!((count(1, "pack"), count(0, "pack")), ("1 pack".into(), "0 packs".into()));
        assert_eq!((count(1, "copy"), count(2, "directory")), ("1 copy".into(), "2 directories".into()));
        assert_eq!(count(3, "key"), "3 keys");
    }
}
