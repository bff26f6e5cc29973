//! The tables: programs with the same work, the distance to the floor, and the goals.
//!
//! Plain values: rows that name series. Does not know figures, or how they are written.

use crate::quantity::{Quantity, Unit};
use std::collections::HashMap;

/// Several programs at several pieces of work.
#[derive(Debug, Clone)]
pub struct Table {
    /// A word for file names.
    pub name: &'static str,
    /// The heading.
    pub title: String,
    /// The text below the heading.
    pub about: String,
    /// The programs; ours is the first.
    pub columns: Vec<&'static str>,
    /// The work.
    pub rows: Vec<Row>,
    /// The growth of the work.
    pub growths: Vec<Growth>,
}

/// One quantity of some work.
#[derive(Debug, Clone)]
pub struct Row {
    /// The name of the work. With the program before it, it is the name of a series.
    pub work: String,
    /// The compared quantity.
    pub quantity: Quantity,
    pub(crate) goal: Goal,
    /// The series of the lowest possible value.
    pub(crate) floor: Option<String>,
    /// Series with other names.
    pub(crate) others: Vec<(&'static str, String)>,
    pub(crate) is_cold: bool,
    pub(crate) is_plotted: bool,
    /// What the values are divided by.
    pub(crate) ratio: Option<Ratio>,
}

/// A row that shows values divided by those of another series.
#[derive(Debug, Clone)]
pub(crate) struct Ratio {
    /// The other series.
    pub(crate) over: String,
    /// How the result is shown.
    pub(crate) unit: Unit,
}

/// The same work at several sizes, as a plot of wall time.
#[derive(Debug, Clone)]
pub struct Growth {
    /// A word for file names.
    pub name: &'static str,
    /// The heading.
    pub title: String,
    /// What sizes count.
    pub of: &'static str,
    /// For each program, sizes and names of series.
    pub lines: Vec<(&'static str, Vec<(f64, String)>)>,
}

/// A goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// This many times less than this program.
    Times(f64, &'static str),
    /// At most this much.
    AtMost(f64),
    /// At least this much.
    AtLeast(f64),
    /// At most this many times the floor.
    AtMostOfFloor(f64),
    /// Less than every other program.
    LessThanAll,
    /// None. The row completes the comparison.
    Shown,
}

impl Row {
    /// Returns the row of some work, with each program's series named by [`crate::series::named`].
    pub fn new(work: &str, quantity: Quantity) -> Row {
        Row {
            work: work.to_owned(),
            quantity,
            goal: Goal::Shown,
            floor: None,
            others: Vec::new(),
            is_cold: false,
            is_plotted: false,
            ratio: None,
        }
    }

    /// Returns the row with a goal.
    pub fn want(self, goal: Goal) -> Row {
        Row { goal, ..self }
    }

    /// Returns the row with the series of the lowest possible value.
    pub fn floor(self, series: &str) -> Row {
        Row { floor: Some(series.to_owned()), ..self }
    }

    /// Returns the row with a series of another name.
    pub fn of(mut self, column: &'static str, series: &str) -> Row {
        self.others.push((column, series.to_owned()));
        self
    }

    /// Returns the row with the quotient of two series of one program, as a number: round by round, because
    /// they take turns. With different numbers of rounds it is the quotient of the medians, from
    /// the least value over the most to the most over the least.
    pub fn quotient(self, column: &'static str, series: &str, over: &str) -> Row {
        self.divided(column, series, over, Unit::Quotient)
    }

    /// Returns the row with the quotient of two series of one program, as a percentage.
    pub fn share(self, column: &'static str, series: &str, over: &str) -> Row {
        self.divided(column, series, over, Unit::Share)
    }

    fn divided(self, column: &'static str, series: &str, over: &str, unit: Unit) -> Row {
        Row { ratio: Some(Ratio { over: over.to_owned(), unit }), ..self.of(column, series) }
    }

    /// Returns the unit of the row's values.
    pub(crate) fn unit(&self) -> Unit {
        self.ratio.as_ref().map_or_else(|| self.quantity.unit(), |ratio| ratio.unit)
    }

    /// Returns the row as one that was measured with an empty page cache. Its work is named so, too, because
    /// it is another series.
    pub fn cold(self) -> Row {
        Row { is_cold: true, ..self }
    }

    /// Returns the row with a line in the plot of its table.
    pub fn plotted(self) -> Row {
        Row { is_plotted: true, ..self }
    }
}

impl Table {
    /// Returns the table with floors for all rows of wall or CPU time. A row without one takes the floor of
    /// another such row of the same work: the floor is the least of every kind of time.
    pub fn with_floors_of_work(mut self) -> Table {
        let is_time = |row: &Row| row.unit() == Unit::Seconds;
        let mut floors = HashMap::new();
        for row in self.rows.iter().filter(|row| is_time(row)) {
            if let Some(floor) = &row.floor {
                floors.entry(row.work.clone()).or_insert_with(|| floor.clone());
            }
        }
        for row in self.rows.iter_mut().filter(|row| is_time(row) && row.floor.is_none()) {
            row.floor = floors.get(&row.work).cloned();
        }
        self
    }
}
