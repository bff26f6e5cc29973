//! Options that say how messages are shown.

use crate::options::Paging;
use clap::{Args, ValueEnum};
use std::num::NonZeroUsize;

/// How to show messages; `archive view` takes it, too.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct How {
    /// Output format
    #[arg(long, short = 'o', value_enum, default_value_t = Format::Plain)]
    pub format: Format,
    /// Which form to show of a text that has several. Default: plain text, unless the HTML says much more
    #[arg(long, value_enum, value_name = "FORM")]
    pub prefer: Option<Form>,
    /// Do not show where the links of HTML lead
    #[arg(long, conflicts_with = "links")]
    pub no_links: bool,
    /// List only where the links of HTML and the addresses in plain text lead, each once, one per line. The
    /// formats are plain and json
    #[arg(long)]
    pub links: bool,
    /// Show only the part with this number, as listed by "pneu extract": text, or an attached message. With
    /// --format raw, print the decoded content of any part
    #[arg(long, value_name = "N", conflicts_with = "links")]
    pub part: Option<NonZeroUsize>,
    /// Check the signatures with gpg and gpgsm: who signed, whether the address is that of From, and whether
    /// the header was changed. The exit code is 0 only if all of it is signed, and all signatures are good
    /// and of the sender
    #[arg(long, conflicts_with_all = ["links", "part", "headers"])]
    pub verify: bool,
    /// Decrypt with gpg and gpgsm what is encrypted, and show it after the message, each part by itself. Also
    /// checks the signatures. Nothing that was decrypted is stored
    #[arg(long, conflicts_with_all = ["links", "part", "headers"])]
    pub decrypt: bool,
    /// Which header fields to show [default: main]
    #[arg(long, value_enum, value_name = "WHICH", conflicts_with = "links")]
    pub headers: Option<Headers>,
    #[command(flatten)]
    pub paging: Paging,
}

/// Header fields of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Headers {
    /// The main ones, with flags, attachments, files and problems
    Main,
    /// All fields of the message, decoded, in its order
    All,
}

/// A form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Plain text
    Plain,
    /// HTML, converted to text
    Html,
}

/// What is shown of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Main headers and text
    Plain,
    /// A page for a browser, without scripts or anything that is loaded from elsewhere
    Html,
    /// JSON, one line per message
    Json,
    /// An S-expression for Emacs
    Sexp,
    /// The exact bytes of the file, for a single message only
    Raw,
}
