//! What messages are grouped by. Must not know how.

/// What messages are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// The year of the date.
    Year,
    /// Its month.
    Month,
    /// The hour of the day.
    Hour,
    /// The day of the week.
    Weekday,
    /// The folder. A message counts in each of its folders.
    Folder,
    /// The sender's address.
    Sender,
    /// The mailing list's id.
    List,
    /// MIME types. A message counts for each type of its parts.
    Type,
    /// The language of the text, where it is certain.
    Language,
}

impl Dimension {
    /// Returns whether its groups have an order in time.
    pub fn is_time(self) -> bool {
        matches!(self, Dimension::Year | Dimension::Month | Dimension::Hour | Dimension::Weekday)
    }
}
