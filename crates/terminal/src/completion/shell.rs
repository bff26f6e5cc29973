//! The shells in which Tab completes.

use clap::ValueEnum;
use clap::builder::PossibleValue;

/// A shell that completes commands, options and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletedShell {
    /// GNU bash.
    Bash,
    /// The Z shell.
    Zsh,
    /// The friendly interactive shell.
    Fish,
}

// Not derived, because the help would then list descriptions that only repeat the names.
impl ValueEnum for CompletedShell {
    fn value_variants<'a>() -> &'a [CompletedShell] {
        &[CompletedShell::Bash, CompletedShell::Zsh, CompletedShell::Fish]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}

impl CompletedShell {
    pub(super) fn name(self) -> &'static str {
        match self {
            CompletedShell::Bash => "bash",
            CompletedShell::Zsh => "zsh",
            CompletedShell::Fish => "fish",
        }
    }
}
