//! `pneu view --links`: lists where the links of messages lead.
//!
//! Takes messages that were read. Does not know how links are found.

use super::options::{Format, How};
use super::writer::preferred;
use crate::exit::Outcome;
use crate::output::complain;
use crate::search::locate::Located;
use crate::session::Session;
use anyhow::{Result, bail};
use render::{Content, LinkLine, Record};
use std::collections::HashSet;

/// Lists the links of all messages, each once.
///
/// # Errors
/// The format has no links; the output cannot be written.
pub(super) fn show(found: &[Located], how: How, session: &Session) -> Result<Outcome> {
    if !matches!(how.format, Format::Plain | Format::Json) {
        bail!("--links has the formats plain and json");
    }
    let (mut known, mut outcome) = (HashSet::new(), Outcome::Done);
    let mut output = session.paged_output(how.paging);
    for located in found {
        let message = located.parsed(preferred(how.prefer));
        let content = Content {
            message: &message,
            sha256: &located.sha256,
            size_bytes: located.size_bytes,
            path: located.path.as_deref(),
        };
        let (targets, more) = render::link_targets(&Record::from_content(&content, None));
        if more > 0 {
            let links = if more == 1 { "1 more link is" } else { &format!("{more} more links are") };
            complain(format!("{links} not listed: there are too many"));
            outcome = Outcome::Partly;
        }
        for target in targets {
            if known.contains(&target) {
                continue;
            }
            let mut line = Vec::new();
            match how.format {
                Format::Json => render::json_line_of(&LinkLine::new(&target), &mut line),
                _ => line.extend([target.as_bytes(), b"\n"].concat()),
            }
            output.bytes(&line)?;
            known.insert(target);
        }
    }
    output.finish()?;
    if known.is_empty() { session.nothing("there are no links") } else { Ok(outcome) }
}
