//! A logarithmic axis: the position of values on it, and the marked values.
//!
//! Input: the values that must fit. Output: positions. Does not know what is drawn.

/// Values from the minimum to the maximum, mapped to a range of positions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    least: f64,
    most: f64,
    /// The position of the minimum.
    pub(super) from: f64,
    /// The position of the maximum.
    pub(super) to: f64,
}

impl Axis {
    /// Returns the axis on which all values above zero fit, or `None` if there are none.
    pub(super) fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Option<Axis> {
        let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
        for value in values.filter(|value| value.is_finite() && *value > 0.0) {
            (least, most) = (least.min(value), most.max(value));
        }
        if most == 0.0 {
            return None;
        }
        // Some room on both sides, so that an axis for a single value works, too.
        Some(Axis { least: least / 1.25, most: most * 1.25, from, to })
    }

    /// Returns the position of a value. A value that does not fit is at the end.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = (value.max(self.least).min(self.most) / self.least).ln() / (self.most / self.least).ln();
        self.from + share * (self.to - self.from)
    }

    /// Returns positions and values of the marks: powers of ten, and 2 and 5 of each if there is room.
    pub(super) fn marks(&self) -> Vec<(f64, f64)> {
        let decades = (self.most / self.least).log10();
        let steps: &[f64] = if decades > 4.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let first = 10_f64.powf(self.least.log10().floor());
        let powers = std::iter::successors(Some(first), |power| Some(power * 10.0));
        let powers = powers.take_while(|power| *power <= self.most);
        let values = powers.flat_map(|power| steps.iter().map(move |step| step * power));
        values
            .filter(|value| (self.least..=self.most).contains(value))
            .map(|value| (self.place(value), value))
            .collect()
    }
}

/// Returns an integer with commas: 1,370,000.
pub fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ratios_are_equal_distances() {
        let axis = Axis::over([0.0, 1.0, 100.0, f64::NAN].into_iter(), 50.0, 250.0).unwrap();
        let (one, ten, hundred) = (axis.place(1.0), axis.place(10.0), axis.place(100.0));
        assert!((ten - one - (hundred - ten)).abs() < 1e-9 && one > 50.0 && hundred < 250.0);
        assert_eq!((axis.place(0.001), axis.place(1e9)), (50.0, 250.0));
        let down = Axis::over([1.0, 100.0].into_iter(), 400.0, 100.0).unwrap();
        assert!(down.place(100.0) < down.place(1.0));
        assert!(Axis::over([0.0, f64::NAN].into_iter(), 0.0, 1.0).is_none());
    }

    #[test]
    fn round_values_are_marked() {
        let marks = |least, most| -> Vec<f64> {
            let axis = Axis::over([least, most].into_iter(), 0.0, 100.0).unwrap();
            axis.marks().into_iter().map(|(_, value)| value).collect()
        };
        assert_eq!(marks(1.0, 40.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(marks(3.0, 2e6), [10.0, 100.0, 1000.0, 10_000.0, 100_000.0, 1e6]);
        assert_eq!(marks(1.0, 1.0), [1.0]);
    }

    #[test]
    fn large_numbers_have_commas() {
        assert_eq!([1.0, 999.0, 1000.0, 1_370_000.0].map(thousands), ["1", "999", "1,000", "1,370,000"]);
    }
}
