//! Records of CSV by RFC 4180: which values they have, and which of these are quoted.
//!
//! Input: lines. Output: values. A library that keeps apart an empty value and an empty text, which is in
//! quotes, was not found. Does not know files.

/// The most values of a record.
const VALUES_MAX: usize = 10_000;

/// A record that is read line by line.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// All values, one after the other.
    text: String,
    /// Where each value ends, and whether it was in quotes.
    ends: Vec<(usize, bool)>,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// At the beginning of a value.
    #[default]
    Begin,
    Plain,
    Quoted,
    /// After a quote in a quoted value: its end, or the first of two that stand for one.
    Quote,
}

impl Record {
    /// Forgets the values.
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.state = State::Begin;
    }

    /// Returns how many bytes the values have.
    pub(super) fn length_bytes(&self) -> usize {
        self.text.len()
    }

    /// Adds a line without its line feed. Returns whether the record ends with it; if not, a value in quotes
    /// goes on with the next line.
    ///
    /// # Errors
    /// A quote is where none may be.
    pub(super) fn add(&mut self, line: &str) -> Result<bool, String> {
        let (line, has_return) = match line.strip_suffix('\r') {
            Some(line) => (line, true),
            None => (line, false),
        };
        for letter in line.chars() {
            if self.ends.len() >= VALUES_MAX {
                return Err(format!("a record has more than {VALUES_MAX} values"));
            }
            self.state = match (self.state, letter) {
                (State::Begin, '"') => State::Quoted,
                (State::Begin | State::Plain, ',') => self.end(false),
                (State::Plain, '"') => {
                    return Err("a quote is within a value that does not begin with one".to_owned());
                }
                (State::Quoted, '"') => State::Quote,
                (State::Quote, '"') => {
                    self.text.push('"');
                    State::Quoted
                }
                (State::Quote, ',') => self.end(true),
                (State::Quote, _) => return Err("text is after the quote that ends a value".to_owned()),
                (State::Quoted, letter) => {
                    self.text.push(letter);
                    State::Quoted
                }
                (State::Begin | State::Plain, letter) => {
                    self.text.push(letter);
                    State::Plain
                }
            };
        }
        match self.state {
            State::Quoted => {
                self.text.push_str(if has_return { "\r\n" } else { "\n" });
                return Ok(false);
            }
            State::Quote => self.end(true),
            State::Begin | State::Plain => self.end(false),
        };

        Ok(true)
    }

    /// Ends a value.
    fn end(&mut self, is_quoted: bool) -> State {
        self.ends.push((self.text.len(), is_quoted));
        State::Begin
    }

    /// Returns the values: `None` for those without any text that are not in quotes.
    pub(super) fn values(&self) -> impl Iterator<Item = Option<&str>> {
        let mut start = 0;
        self.ends.iter().map(move |(end, is_quoted)| {
            let value = self.text.get(start..*end).unwrap_or_default();
            start = *end;
            (*is_quoted || !value.is_empty()).then_some(value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the values of records.
    fn read(text: &str) -> Result<Vec<Vec<Option<String>>>, String> {
        let (mut record, mut records) = (Record::default(), Vec::new());
        for line in text.split_terminator('\n') {
            if record.add(line)? {
                records.push(record.values().map(|value| value.map(str::to_owned)).collect());
                record.clear();
            }
        }
        Ok(records)
    }

    fn some(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    #[test]
    fn values_are_told_apart() {
        let text = "a,\"b\"\"c\",,\"\"\r\n\"1\r\n2,3\",é\r\n,\n\n";
        let expected = vec![
            vec![some("a"), some("b\"c"), None, some("")],
            vec![some("1\r\n2,3"), some("é")],
            vec![None, None],
            vec![None],
        ];
        assert_eq!(read(text), Ok(expected));
    }

    #[test]
    fn quotes_in_odd_places_are_refused() {
        assert!(read("a\"b").is_err());
        assert!(read("\"a\"b").is_err());
        assert!(read("\"a\"\r\"b\"").is_err());
        assert!(read(&",".repeat(10_001)).is_err());
        assert_eq!(read("\"a\n"), Ok(vec![]), "it never ends");
    }
}
