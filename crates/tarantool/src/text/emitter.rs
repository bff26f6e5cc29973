//! Writes YAML as libyaml 0.2 does, with lines of 80 columns.
//!
//! Input: the beginnings and ends of sequences and maps, and scalars. Output: text. Does not know values.
//!
//! Only what `tarantoolctl` needs is here: documents whose maps and sequences are written as blocks down to
//! some level and in brackets below it; plain scalars, and such in single and double quotes.
#![deny(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

/// Lines longer than this are broken at the next chance.
const WIDTH: usize = 80;
const INDENT: usize = 2;
/// The most bytes of a key that is not marked with `?`.
const KEY_BYTES_MAX: usize = 128;

/// How a scalar is written if its characters allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Single,
    /// Plain, with the tag `!!binary` before it.
    Binary,
}

/// What a node is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A value.
    Value,
    /// A key that fits on its line.
    Key,
}

/// Writes a document.
pub(super) struct Emitter<'a> {
    out: &'a mut Vec<u8>,
    column: usize,
    /// `None` before the first map or sequence.
    indent: Option<usize>,
    indents: Vec<Option<usize>>,
    flow_level: usize,
    /// Whether the last character was a blank.
    whitespace: bool,
    /// Whether the line has nothing but indentation.
    indention: bool,
}

/// What the characters of a scalar allow.
struct Analysis {
    is_multiline: bool,
    plain_in_flow: bool,
    plain_in_block: bool,
    single: bool,
}

impl<'a> Emitter<'a> {
    /// Begins a document: `---`.
    pub(super) fn begin(out: &'a mut Vec<u8>) -> Emitter<'a> {
        let mut emitter = Emitter {
            out,
            column: 0,
            indent: None,
            indents: Vec::new(),
            flow_level: 0,
            whitespace: true,
            indention: true,
        };
        emitter.indicator(b"---", true, false, false);
        emitter
    }

    /// Ends the document's last line.
    pub(super) fn end(mut self) {
        self.write_indent();
    }

    /// Begins the pairs of a map that is written as a block.
    pub(super) fn begin_block_map(&mut self) {
        self.increase_indent(false, false);
    }

    /// Begins a pair of such a map, whose key comes next.
    pub(super) fn block_key(&mut self) {
        self.write_indent();
    }

    /// Begins the value after a key of a map.
    pub(super) fn colon(&mut self) {
        self.indicator(b":", false, false, false);
    }

    /// Begins the values of a sequence that is written as a block, as the value of a map.
    pub(super) fn begin_block_sequence(&mut self) {
        self.increase_indent(false, !self.indention);
    }

    /// Begins a value of such a sequence.
    pub(super) fn block_item(&mut self) {
        self.write_indent();
        self.indicator(b"-", true, false, true);
    }

    /// Ends a block.
    pub(super) fn end_block(&mut self) {
        self.indent = self.indents.pop().flatten();
    }

    /// Begins a sequence or map in brackets.
    pub(super) fn begin_flow(&mut self, bracket: u8) {
        self.indicator(&[bracket], true, true, false);
        self.increase_indent(true, false);
        self.flow_level = self.flow_level.saturating_add(1);
    }

    /// Begins a value of a sequence in brackets, or a key of a map.
    pub(super) fn flow_item(&mut self, is_first: bool) {
        if !is_first {
            self.indicator(b",", false, false, false);
        }
        if self.column > WIDTH {
            self.write_indent();
        }
    }

    /// Marks a key that is not simple.
    pub(super) fn question(&mut self) {
        self.indicator(b"?", true, false, false);
    }

    /// Begins the value after a key that is not simple.
    pub(super) fn late_colon(&mut self) {
        if self.column > WIDTH {
            self.write_indent();
        }
        self.indicator(b":", true, false, false);
    }

    /// Ends a sequence or map in brackets.
    pub(super) fn end_flow(&mut self, bracket: u8) {
        self.flow_level = self.flow_level.saturating_sub(1);
        self.indent = self.indents.pop().flatten();
        self.indicator(&[bracket], false, false, false);
    }

    /// Writes a scalar.
    pub(super) fn scalar(&mut self, text: &str, style: Style, role: Role) {
        let analysis = analyse(text);
        let in_flow = self.flow_level > 0;
        let is_key = role == Role::Key;
        if style == Style::Binary {
            if !self.whitespace {
                self.put(' ');
            }
            self.put_all("!!binary");
            (self.whitespace, self.indention) = (false, false);
        }
        self.increase_indent(true, false);
        let plain = if in_flow { analysis.plain_in_flow } else { analysis.plain_in_block };
        let is_empty = text.is_empty() && (in_flow || is_key);
        if style != Style::Single && plain && !is_empty && !(is_key && analysis.is_multiline) {
            self.plain(text, !is_key);
        } else if analysis.single && !(is_key && analysis.is_multiline) {
            self.single(text, !is_key);
        } else {
            self.double(text, !is_key);
        }
        self.indent = self.indents.pop().flatten();
    }

    fn increase_indent(&mut self, is_flow: bool, is_indentless: bool) {
        self.indents.push(self.indent);
        self.indent = Some(match self.indent {
            None if is_flow => INDENT,
            None => 0,
            Some(indent) if is_indentless => indent,
            Some(indent) => indent.saturating_add(INDENT),
        });
    }

    fn write_indent(&mut self) {
        let indent = self.indent.unwrap_or(0);
        if !self.indention || self.column > indent || (self.column == indent && !self.whitespace) {
            self.line_break();
        }
        while self.column < indent {
            self.put(' ');
        }
        (self.whitespace, self.indention) = (true, true);
    }

    fn indicator(&mut self, text: &[u8], needs_blank: bool, is_blank: bool, is_indention: bool) {
        if needs_blank && !self.whitespace {
            self.put(' ');
        }
        self.out.extend_from_slice(text);
        self.column = self.column.saturating_add(text.len());
        self.whitespace = is_blank;
        self.indention &= is_indention;
    }

    fn line_break(&mut self) {
        self.out.push(b'\n');
        self.column = 0;
    }

    fn put(&mut self, character: char) {
        self.out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        self.column = self.column.saturating_add(1);
    }

    fn put_all(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
        self.column = self.column.saturating_add(text.chars().count());
    }

    fn plain(&mut self, text: &str, may_break: bool) {
        if !self.whitespace && (!text.is_empty() || self.flow_level > 0) {
            self.put(' ');
        }
        self.body(text, may_break, false);
        (self.whitespace, self.indention) = (false, false);
    }

    fn single(&mut self, text: &str, may_break: bool) {
        self.indicator(b"'", true, false, false);
        if self.body(text, may_break, true) {
            self.write_indent();
        }
        self.indicator(b"'", false, false, false);
        (self.whitespace, self.indention) = (false, false);
    }

    /// Writes text whose line breaks are doubled, because single ones are read as blanks. Returns whether it
    /// ends with a line break.
    fn body(&mut self, text: &str, may_break: bool, is_quoted: bool) -> bool {
        let (mut after_blank, mut after_break) = (false, false);
        let mut rest = text.char_indices().peekable();
        let last = text.len().saturating_sub(1);
        while let Some((at, character)) = rest.next() {
            let next_is_blank = rest.peek().is_some_and(|&(_, next)| next == ' ');
            if character == ' ' {
                let is_within = !is_quoted || (at != 0 && at != last);
                if may_break && !after_blank && self.column > WIDTH && is_within && !next_is_blank {
                    self.write_indent();
                } else {
                    self.put(' ');
                }
                after_blank = true;
            } else if is_break(character) {
                if !after_break && character == '\n' {
                    self.line_break();
                }
                self.put(character);
                self.column = 0;
                self.indention = true;
                after_break = true;
            } else {
                if after_break {
                    self.write_indent();
                }
                if is_quoted && character == '\'' {
                    self.put('\'');
                }
                self.put(character);
                self.indention = false;
                (after_blank, after_break) = (false, false);
            }
        }
        after_break
    }

    fn double(&mut self, text: &str, may_break: bool) {
        self.indicator(b"\"", true, false, false);
        let mut after_blank = false;
        let mut rest = text.char_indices().peekable();
        let last = text.len().saturating_sub(1);
        while let Some((at, character)) = rest.next() {
            if character == ' ' {
                if may_break && !after_blank && self.column > WIDTH && at != 0 && at != last {
                    self.write_indent();
                    if rest.peek().is_some_and(|&(_, next)| next == ' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(' ');
                }
                after_blank = true;
                continue;
            }
            after_blank = false;
            if is_printable(character) && !is_break(character) && !matches!(character, '"' | '\\') {
                self.put(character);
            } else {
                self.put_all(&escape(character));
            }
        }
        self.indicator(b"\"", false, false, false);
        (self.whitespace, self.indention) = (false, false);
    }
}

/// Returns whether a scalar may be a key without a mark.
pub(super) fn is_simple_key(text: &str, style: Style) -> bool {
    let tag_bytes = if style == Style::Binary { "!!binary".len() } else { 0 };
    !text.contains(is_break) && text.len().saturating_add(tag_bytes) <= KEY_BYTES_MAX
}

fn escape(character: char) -> String {
    let letter = match character {
        '\0' => '0',
        '\u{7}' => 'a',
        '\u{8}' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\u{b}' => 'v',
        '\u{c}' => 'f',
        '\r' => 'r',
        '\u{1b}' => 'e',
        '"' => '"',
        '\\' => '\\',
        '\u{85}' => 'N',
        '\u{a0}' => '_',
        '\u{2028}' => 'L',
        '\u{2029}' => 'P',
        _ => {
            let code = u32::from(character);
            return match code {
                0..=0xff => format!("\\x{code:02X}"),
                0x100..=0xffff => format!("\\u{code:04X}"),
                _ => format!("\\U{code:08X}"),
            };
        }
    };
    format!("\\{letter}")
}

fn is_break(character: char) -> bool {
    matches!(character, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Returns whether libyaml writes a character as it is.
fn is_printable(character: char) -> bool {
    matches!(
        character,
        '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}'
    )
}

/// Says what the characters of a scalar allow.
fn analyse(text: &str) -> Analysis {
    if text.is_empty() {
        return Analysis { is_multiline: false, plain_in_flow: false, plain_in_block: true, single: true };
    }
    let (mut in_block, mut in_flow) = (false, false);
    if text.starts_with("---") || text.starts_with("...") {
        (in_block, in_flow) = (true, true);
    }
    let is_blank = |character: Option<&char>| {
        character.is_none_or(|&character| matches!(character, ' ' | '\t' | '\0') || is_break(character))
    };
    let (mut has_breaks, mut is_special, mut space_and_break) = (false, false, false);
    let mut previous: Option<char> = None;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let blank_follows = is_blank(rest.peek());
        match (previous, character) {
            (
                None,
                '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
                | '`',
            ) => (in_flow, in_block) = (true, true),
            (None, '?' | ':') | (Some(_), ':') => {
                in_flow = true;
                in_block |= blank_follows;
            }
            (None, '-') => {
                in_flow |= blank_follows;
                in_block |= blank_follows;
            }
            (Some(_), ',' | '?' | '[' | ']' | '{' | '}') => in_flow = true,
            (Some(_), '#') if is_blank(previous.as_ref()) => (in_flow, in_block) = (true, true),
            _ => {}
        }
        is_special |= !is_printable(character);
        has_breaks |= is_break(character);
        space_and_break |= match previous {
            Some(' ') => is_break(character),
            Some(before) => is_break(before) && character == ' ',
            None => false,
        };
        previous = Some(character);
    }
    let at_ends = |character: Option<char>| character.is_some_and(|found| found == ' ' || is_break(found));
    let ends_badly = at_ends(text.chars().next()) || at_ends(text.chars().next_back());
    let never_plain = ends_badly || space_and_break || is_special || has_breaks;
    Analysis {
        is_multiline: has_breaks,
        plain_in_flow: !never_plain && !in_flow,
        plain_in_block: !never_plain && !in_block,
        single: !space_and_break && !is_special,
    }
}
