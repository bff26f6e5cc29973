//! Reads the text of attachments with the commands that the configuration names.
//!
//! Input: the table `[attachments]` of the configuration, parts of messages. Output: texts, and sentences
//! about what could not be read. A part's content is all that a command gets of a message: no name, type or
//! parameter stands on its command line or in its environment. `run` runs one command, `programs` says
//! whether it can be run, `variables` has its environment, `decrypt` reads what is encrypted, and `host` is
//! how a host asks for all of it. Does not know what becomes of texts.

mod decrypt;
mod host;
mod programs;
mod run;
mod variables;

use crate::setup::attachments::AttachmentConfiguration;
use crate::setup::configuration::{Configuration, EncryptedText};
pub(crate) use decrypt::NAME as DECRYPT;
use decrypt::{Decrypted, Decrypter};
use index::{AttachmentReader, AttachmentTexts};
use mail::{MessageParts, PartRead};
use run::{Limits, Program, Ran, is_there, run};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
pub use variables::is_for_filters;

/// The commands of a configuration, and what went wrong with them.
#[derive(Debug)]
pub(crate) struct Filters {
    filters: Vec<Filter>,
    limits: AttachmentConfiguration,
    /// The environment of the commands.
    variables: Vec<(OsString, OsString)>,
    problems: Mutex<BTreeMap<(usize, Fault), u64>>,
    /// What reads encrypted messages, if the configuration says so.
    decrypter: Option<Decrypter>,
}

/// A command and the types that it reads.
#[derive(Debug)]
struct Filter {
    /// A type, or the beginning of types up to the slash and a star.
    pattern: String,
    command: String,
    /// Names the two in the index.
    name: String,
    /// Whether its programs are there, once somebody looked. If not, it is not tried before the next reading.
    is_there: Mutex<Option<bool>>,
}

/// Why parts were not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Unusable,
    NotStarted,
    Failed,
    Slow,
    TooLarge,
    Cut,
}

/// What may still be read of one message.
struct Room {
    end: Instant,
    text_bytes: usize,
    /// Whether a command failed, or had no time left.
    has_failed: bool,
}

impl Filters {
    /// Returns the commands of a configuration; `None` if nothing is to be read.
    pub(crate) fn new(configuration: &Configuration, variables: &[(OsString, OsString)]) -> Option<Filters> {
        if !configuration.reads_attachments() {
            return None;
        }
        let limits = configuration.attachments.clone();
        let filter = |(pattern, command): (&String, &String)| Filter {
            pattern: pattern.to_ascii_lowercase(),
            command: command.clone(),
            name: name(pattern, command),
            is_there: Mutex::default(),
        };
        let filters = limits.filters.iter().map(filter).collect();
        let is_decrypted = configuration.encrypted_text == EncryptedText::Indexed;
        let decrypter = is_decrypted.then(|| Decrypter::new(limits.clone()));
        let (variables, problems) = (variables.to_vec(), Mutex::default());
        Some(Filters { filters, limits, variables, problems, decrypter })
    }

    /// Begins a reading: a program that was missing in the last one may be there now.
    pub(crate) fn begin(&self) {
        for filter in &self.filters {
            filter.is_there.lock().unwrap_or_else(PoisonError::into_inner).take_if(|is_there| !*is_there);
        }
        self.decrypter.iter().for_each(Decrypter::begin);
    }

    /// Returns a sentence for each kind of problem since the last call.
    pub(crate) fn take_problems(&self) -> Vec<String> {
        let problems = std::mem::take(&mut *self.problems.lock().unwrap_or_else(PoisonError::into_inner));
        let own = problems.iter().filter_map(|((index, fault), count)| self.sentence(*index, *fault, *count));
        own.chain(self.decrypter.iter().flat_map(Decrypter::take_problems)).collect()
    }

    fn sentence(&self, index: usize, fault: Fault, count: u64) -> Option<String> {
        let Filter { pattern, command, .. } = self.filters.get(index)?;
        let of = if count == 1 { "1 attachment".to_owned() } else { format!("{count} attachments") };
        let limits = &self.limits;
        let what = match fault {
            Fault::Unusable => {
                "it cannot be run; when it can, \"pneu index --attachments\" reads what it has left out"
                    .to_owned()
            }
            Fault::NotStarted => {
                format!("a program in it could not be run on {of}; \"pneu index --attachments\" tries again")
            }
            Fault::Failed => format!("it failed on {of}"),
            Fault::Slow => format!("no time was left for {of} (time_seconds = {})", limits.time_seconds),
            Fault::TooLarge => format!("{of} too large to be read (input_mib = {})", limits.input_mib),
            Fault::Cut => {
                format!(
                    "the text of {of} is too long; its beginning is indexed (text_mib = {})",
                    limits.text_mib
                )
            }
        };
        Some(format!("attachments.filters, \"{pattern}\" = \"{command}\": {what}"))
    }

    fn note(&self, index: usize, fault: Fault) {
        *self.problems.lock().unwrap_or_else(PoisonError::into_inner).entry((index, fault)).or_default() += 1;
    }

    /// Returns the filter for a type: one for exactly this type before one for all of its kind.
    fn filter_for(&self, mime: &str) -> Option<(usize, &Filter)> {
        let all = || self.filters.iter().enumerate();
        all()
            .find(|(_, filter)| filter.pattern == mime)
            .or_else(|| all().find(|(_, filter)| filter.is_for(mime)))
    }

    /// Reads one part. Returns `None` if there is no text.
    fn read_part(
        &self,
        parts: &mut MessageParts<'_>,
        (number, index): (usize, usize),
        room: &mut Room,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<String>, Left> {
        let Some(filter) = self.filters.get(index) else { return Ok(None) };
        let limits = Limits {
            end: room.end,
            cpu_seconds: self.limits.time_seconds,
            memory_mib: self.limits.memory_mib,
            output_bytes: room.text_bytes,
        };
        let program = Program { command: &filter.command, variables: &self.variables };
        let look = || {
            let is_there = is_there(program, &limits, is_stopped);
            if !is_there {
                self.note(index, Fault::Unusable);
            }
            is_there
        };
        let is_there =
            *filter.is_there.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(look);
        if !is_there {
            return Err(Left::Unusable);
        }
        let input_max = self.limits.input_bytes();
        let mut content = Vec::new();
        let read = parts.each_block(number, &mut |block| {
            let left = input_max.saturating_add(1).saturating_sub(content.len());
            content.extend_from_slice(block.get(..left).unwrap_or(block));
        });
        let fault = match read {
            // The file was changed or removed meanwhile.
            Err(_) => return Err(Left::Stopped),
            Ok(PartRead::NoSuchPart) => return Ok(None),
            Ok(PartRead::TooMany) => Some(Fault::TooLarge),
            Ok(_) if content.len() > input_max => Some(Fault::TooLarge),
            Ok(_) if room.text_bytes == 0 => Some(Fault::Cut),
            Ok(_) => None,
        };
        if let Some(fault) = fault {
            self.note(index, fault);
            return Ok(None);
        }
        let (text, fault) = match run(program, &content, &limits, is_stopped) {
            Ran::Text(text) => (text, None),
            Ran::Cut(text) => (text, Some(Fault::Cut)),
            Ran::Failed => (Vec::new(), Some(Fault::Failed)),
            Ran::Slow => (Vec::new(), Some(Fault::Slow)),
            Ran::Stopped => return Err(Left::Stopped),
            Ran::NotStarted => {
                self.note(index, Fault::NotStarted);
                return Err(Left::Unusable);
            }
        };
        if let Some(fault) = fault {
            self.note(index, fault);
            room.has_failed |= matches!(fault, Fault::Failed | Fault::Slow);
        }
        room.text_bytes = room.text_bytes.saturating_sub(text.len());
        let text = String::from_utf8_lossy(&text).into_owned();
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }
}

/// Why a part is to be read another time.
enum Left {
    Stopped,
    Unusable,
}

impl AttachmentReader for Filters {
    fn filters(&self) -> Vec<String> {
        let own = self.filters.iter().map(|filter| filter.name.clone());
        own.chain(self.filter_for_encrypted()).collect()
    }

    fn filters_for(&self, mime: &str) -> Vec<String> {
        self.filters.iter().filter(|filter| filter.is_for(mime)).map(|filter| filter.name.clone()).collect()
    }

    fn filter_for_encrypted(&self) -> Option<String> {
        self.decrypter.as_ref().map(|_| DECRYPT.to_owned())
    }

    fn read(
        &self,
        parts: &mut MessageParts<'_>,
        wanted: &BTreeSet<String>,
        is_stopped: &dyn Fn() -> bool,
    ) -> AttachmentTexts {
        let mut out = AttachmentTexts::default();
        let time = Duration::from_secs(self.limits.time_seconds);
        let text_bytes = self.limits.text_bytes();
        let mut room = Room { end: Instant::now() + time, text_bytes, has_failed: false };
        for (number, mime) in parts.types() {
            let Some((index, filter)) = self.filter_for(&mime) else { continue };
            match self.read_part(parts, (number, index), &mut room, is_stopped) {
                Ok(text) => out.texts.extend(text),
                Err(Left::Unusable) => out.unusable.push(filter.name.clone()),
                Err(Left::Stopped) => {
                    return AttachmentTexts { is_stopped: true, ..AttachmentTexts::default() };
                }
            }
        }
        out.has_failed = room.has_failed;
        if let Some(decrypter) = self.decrypter.as_ref().filter(|_| wanted.contains(DECRYPT)) {
            match decrypter.read(parts.bytes(), (room.end, room.text_bytes), is_stopped) {
                Decrypted::Texts { texts, is_all } => {
                    out.texts.extend(texts);
                    out.partly.extend((!is_all).then(|| DECRYPT.to_owned()));
                }
                Decrypted::NotNow => out.unusable.push(DECRYPT.to_owned()),
                Decrypted::Stopped => {
                    return AttachmentTexts { is_stopped: true, ..AttachmentTexts::default() };
                }
            }
        }
        out
    }
}

impl Filter {
    fn is_for(&self, mime: &str) -> bool {
        match self.pattern.strip_suffix('*') {
            Some(kind) => mime.starts_with(kind),
            None => mime == self.pattern,
        }
    }
}

/// Returns the name of a filter in the index, which changes with its types and its command.
fn name(pattern: &str, command: &str) -> String {
    let digest = Sha256::digest(format!("{}\n{command}", pattern.to_ascii_lowercase()));
    let digits = digest.iter().take(8).map(|byte| format!("{byte:02x}"));
    format!("f{}", digits.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(list: &[(&str, &str)]) -> Filters {
        let filters = list.iter().map(|(pattern, command)| ((*pattern).into(), (*command).into())).collect();
        let attachments = AttachmentConfiguration { filters, ..AttachmentConfiguration::default() };
        Filters::new(&Configuration { attachments, ..Configuration::default() }, &[]).unwrap()
    }

    /// A message with a part of each of these types and contents.
    fn message(parts: &[(&str, &str)]) -> String {
        let part = |(mime, content): &(&str, &str)| format!("--b\nContent-Type: {mime}\n\n{content}\n");
        let parts: String = parts.iter().map(part).collect();
        format!("Content-Type: multipart/mixed; boundary=b\n\n{parts}--b--\n")
    }

    fn texts(filters: &Filters, parts: &[(&str, &str)]) -> AttachmentTexts {
        filters.read(&mut MessageParts::of_bytes(message(parts).as_bytes()), &BTreeSet::new(), &|| false)
    }

    #[test]
    fn each_part_is_read_by_the_filter_that_is_closest() {
        let filters =
            filters(&[("Image/*", "echo any; cat"), ("image/png", "echo png; cat"), ("a/b", "false")]);
        let parts = [("image/png; name=$(x)", "1"), ("IMAGE/JPEG", "2"), ("text/plain", "3"), ("a/b", "4")];
        assert_eq!(texts(&filters, &parts).texts, ["png\n1", "any\n2"]);
        assert_eq!(
            filters.take_problems(),
            ["attachments.filters, \"a/b\" = \"false\": it failed on 1 attachment"]
        );
        assert_eq!(filters.take_problems(), [""; 0]);
        assert_eq!(filters.filters_for("image/png").len(), 2);
        assert_eq!(filters.filters_for("imag/png").len(), 0);
    }

    #[test]
    fn a_name_is_one_word_that_changes_with_the_filter() {
        let names = [name("a/b", "x"), name("A/B", "x"), name("a/b", "y"), name("a/*", "x")];
        assert!(names[0] == names[1] && names[0] != names[2] && names[0] != names[3]);
        for name in &names {
            let words: Vec<String> = query::words::words(name).map(|word| word.text).collect();
            assert_eq!(words, std::slice::from_ref(name));
        }
    }

    #[test]
    fn what_cannot_be_run_is_tried_once_and_left_for_later() {
        let filters =
            filters(&[("a/b", "/nowhere/program"), ("a/c", "cat"), ("a/d", "nowhere-program | cat")]);
        let read = texts(&filters, &[("a/b", "1"), ("a/b", "2"), ("a/c", "3")]);
        assert_eq!(read.texts, ["3"]);
        assert_eq!(read.unusable.len(), 2);
        assert!(read.unusable.iter().all(|name| *name == filters.filters[0].name));
        let problems = filters.take_problems();
        assert!(problems.len() == 1 && problems[0].contains("it cannot be run"), "{problems:?}");
        // It is looked for once in each reading.
        assert_eq!(texts(&filters, &[("a/b", "1")]).unusable.len(), 1);
        assert_eq!(filters.take_problems(), [""; 0]);
        filters.begin();
        assert_eq!(texts(&filters, &[("a/b", "1")]).unusable.len(), 1);
        assert_eq!(filters.take_problems().len(), 1);
        let read = texts(&filters, &[("a/d", "1")]);
        assert_eq!(
            (read.texts.len(), read.unusable.len()),
            (0, 1),
            "an end of a pipeline without its beginning"
        );
    }

    #[test]
    fn one_content_does_not_stop_a_filter() {
        let filters = filters(&[("a/b", "read x; echo $x; [ $x = good ] || exit 127")]);
        let read = texts(&filters, &[("a/b", "bad\n"), ("a/b", "good\n")]);
        assert_eq!((read.texts, read.unusable.len()), (vec!["good\n".to_owned()], 1));
        let problems = filters.take_problems();
        assert!(
            problems.len() == 1 && problems[0].contains("could not be run on 1 attachment"),
            "{problems:?}"
        );
    }

    #[test]
    fn a_message_has_limits_whatever_its_parts_are() {
        let mut filters = filters(&[("a/b", "cat")]);
        filters.limits.text_mib = 1;
        filters.limits.input_mib = 1;
        let some = "x".repeat(700 << 10);
        let read = texts(&filters, &[("a/b", &some), ("a/b", &some), ("a/b", "y"), ("a/b", &some.repeat(2))]);
        let lengths: Vec<usize> = read.texts.iter().map(String::len).collect();
        assert_eq!(lengths, [700 << 10, 324 << 10]);
        let problems = filters.take_problems().join("\n");
        assert!(problems.contains("1 attachment too large to be read"), "{problems}");
        assert!(problems.contains("the text of 2 attachments is too long"), "{problems}");
        filters.limits.time_seconds = 0;
        assert_eq!(texts(&filters, &[("a/b", "z")]).texts, [""; 0]);
        assert!(filters.take_problems()[0].contains("no time was left for 1 attachment"));
    }

    #[test]
    fn a_stop_leaves_the_whole_message_for_later() {
        let filters = filters(&[("a/b", "cat")]);
        let message = message(&[("a/b", "x")]);
        let mut parts = MessageParts::of_bytes(message.as_bytes());
        let read = filters.read(&mut parts, &BTreeSet::new(), &|| true);
        assert_eq!(read, AttachmentTexts { is_stopped: true, ..AttachmentTexts::default() });
    }
}
