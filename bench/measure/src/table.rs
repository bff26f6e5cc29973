//! What is compared: programs beside each other at the same work, how far ours is from the floor, and what is
//! wanted.
//!
//! Plain values: rows that name series. Knows neither figures nor how they are written.

use crate::quantity::{Quantity, Unit};
use std::collections::HashMap;

/// Several programs at several pieces of work.
#[derive(Debug, Clone)]
pub struct Table {
    /// A word for file names.
    pub name: &'static str,
    /// The heading.
    pub title: String,
    /// What stands below the heading.
    pub about: String,
    /// The programs; ours is the first.
    pub columns: Vec<&'static str>,
    /// The work.
    pub rows: Vec<Row>,
    /// How the work grows.
    pub growths: Vec<Growth>,
}

/// One quantity of one piece of work.
#[derive(Debug, Clone)]
pub struct Row {
    /// The work, as people read it; and with the program before it the name of a series.
    pub work: String,
    /// What of it is compared.
    pub quantity: Quantity,
    pub(crate) goal: Goal,
    /// The series that nothing can be below.
    pub(crate) floor: Option<String>,
    /// Series that are called otherwise.
    pub(crate) others: Vec<(&'static str, String)>,
    pub(crate) is_cold: bool,
    pub(crate) is_plotted: bool,
}

/// The same work at several sizes, as a plot of wall time.
#[derive(Debug, Clone)]
pub struct Growth {
    /// A word for file names.
    pub name: &'static str,
    /// The heading.
    pub title: String,
    /// What is counted by sizes.
    pub of: &'static str,
    /// For each program sizes and names of series.
    pub lines: Vec<(&'static str, Vec<(f64, String)>)>,
}

/// What is to be reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// So many times less than this program.
    Times(f64, &'static str),
    /// No more than so much.
    AtMost(f64),
    /// No more than so many times the floor.
    AtMostOfFloor(f64),
    /// Less than each other program.
    LessThanAll,
    /// It is shown because it belongs to the picture.
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
        }
    }

    /// Returns the row with what is to be reached.
    pub fn want(self, goal: Goal) -> Row {
        Row { goal, ..self }
    }

    /// Returns the row with the series that nothing can be below.
    pub fn floor(self, series: &str) -> Row {
        Row { floor: Some(series.to_owned()), ..self }
    }

    /// Returns the row with a series that is called otherwise.
    pub fn of(mut self, column: &'static str, series: &str) -> Row {
        self.others.push((column, series.to_owned()));
        self
    }

    /// Returns the row as one that was measured with an empty page cache; its work says so, too, since it is
    /// another series.
    pub fn cold(self) -> Row {
        Row { is_cold: true, ..self }
    }

    /// Returns the row with a line in the plot of its table.
    pub fn plotted(self) -> Row {
        Row { is_plotted: true, ..self }
    }
}

impl Table {
    /// Returns the table with a floor for each row of wall or CPU time whose work has one in another such
    /// row: what takes the least time takes the least of each kind of time.
    pub fn with_floors_of_work(mut self) -> Table {
        let is_time = |row: &Row| row.quantity.unit() == Unit::Seconds;
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
