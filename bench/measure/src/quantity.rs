//! The quantities of a series, their units, and their texts.
//!
//! Input: a series. Output: median, minimum and maximum, and text. Does not know which program was measured,
//! or its goal.

use crate::child::Sample;
use crate::series::{Series, Spread, seconds};

/// A quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// Wall time, in seconds.
    Wall,
    /// CPU time in the program and in the system for it, in seconds.
    Cpu,
    /// CPU time in the program, in seconds.
    User,
    /// CPU time in the system for the program, in seconds.
    System,
    /// Wall time of one of this many items, in nanoseconds.
    WallOfEach(f64),
    /// CPU time of one of this many items, in nanoseconds.
    CpuOfEach(f64),
    /// The highest peak of memory, in bytes.
    Peak,
    /// The highest peak of memory for one of this many items, in bytes.
    PeakOfEach(f64),
    /// Page faults without disk reads.
    MinorFaults,
    /// Page faults with disk reads.
    MajorFaults,
    /// Blocks of 512 bytes that were made dirty.
    Outputs,
    /// Bytes on the disk.
    Size,
}

/// Quantities of the same unit, which can share an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Seconds,
    NanosecondsEach,
    Bytes,
    BytesEach,
    Count,
    /// How many times as much.
    Quotient,
    /// A part of the whole.
    Share,
}

impl Quantity {
    /// Returns median, minimum and maximum of a series.
    pub(crate) fn of(self, series: &Series) -> Spread {
        let peak = series.peak_bytes() as f64;
        let each = |(median, least, most): Spread, count: f64| {
            (median * 1e9 / count, least * 1e9 / count, most * 1e9 / count)
        };
        let count = |value: fn(&Sample) -> u64| series.spread(|sample| value(sample) as f64);
        match self {
            Quantity::Wall => series.wall(),
            Quantity::Cpu => series.cpu(),
            Quantity::User => series.spread(|sample| sample.user_seconds),
            Quantity::System => series.spread(|sample| sample.system_seconds),
            Quantity::WallOfEach(count) => each(series.wall(), count),
            Quantity::CpuOfEach(count) => each(series.cpu(), count),
            Quantity::Peak => (peak, peak, peak),
            Quantity::PeakOfEach(count) => (peak / count, peak / count, peak / count),
            Quantity::MinorFaults => count(|sample| sample.minor_faults),
            Quantity::MajorFaults => count(|sample| sample.major_faults),
            Quantity::Outputs => count(|sample| sample.outputs),
            Quantity::Size => count(|sample| sample.size_bytes),
        }
    }

    pub(crate) fn unit(self) -> Unit {
        match self {
            Quantity::Wall | Quantity::Cpu | Quantity::User | Quantity::System => Unit::Seconds,
            Quantity::WallOfEach(_) | Quantity::CpuOfEach(_) => Unit::NanosecondsEach,
            Quantity::Peak | Quantity::Size => Unit::Bytes,
            Quantity::PeakOfEach(_) => Unit::BytesEach,
            Quantity::MinorFaults | Quantity::MajorFaults | Quantity::Outputs => Unit::Count,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Quantity::Wall => "wall",
            Quantity::Cpu => "CPU",
            Quantity::User => "user",
            Quantity::System => "system",
            Quantity::WallOfEach(_) => "wall, each",
            Quantity::CpuOfEach(_) => "CPU, each",
            Quantity::Peak => "peak memory",
            Quantity::PeakOfEach(_) => "peak memory, each",
            Quantity::MinorFaults => "minor faults",
            Quantity::MajorFaults => "major faults",
            Quantity::Outputs => "outputs",
            Quantity::Size => "size",
        }
    }
}

impl Unit {
    /// Returns a value as text.
    pub(crate) fn text(self, value: f64) -> String {
        match self {
            Unit::Seconds => seconds(value),
            Unit::NanosecondsEach if value >= 10_000.0 => format!("{:.2} µs", value / 1000.0),
            Unit::NanosecondsEach => format!("{value:.0} ns"),
            Unit::Bytes if value < 1e7 => format!("{:.2} MB", value / 1e6),
            Unit::Bytes => format!("{:.0} MB", value / 1e6),
            Unit::BytesEach => format!("{value:.1} B"),
            Unit::Count if value >= 1e5 => format!("{:.0} k", value / 1e3),
            Unit::Count => format!("{value:.0}"),
            Unit::Quotient => format!("{value:.2}"),
            Unit::Share => format!("{:.1} %", value * 100.0),
        }
    }
}
