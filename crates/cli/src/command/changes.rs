//! `pneu changes`: lists what happened to messages since a token.

use crate::exit::Outcome;
use crate::session::Session;
use anyhow::Result;
use clap::Args;
use terminal::command_line::Run;

/// List what happened to messages since a token
///
/// Prints a line of JSON for each message that commands and other programs have added, moved, flagged, tagged
/// or removed since, or whose attachments were read, as far as the index knows, and at the end the next
/// token. Without --since it prints a token alone. With a token, a program that keeps a copy of the index's
/// content can follow it: it takes a token, lists all messages once, and from then on asks for changes only.
/// No change is missed or told twice, even after a crash.
///
/// Changes are kept for 30 days, or as long as the configuration says (changes_days in [index]). A token that
/// is too old, or of an index that was rebuilt since, is refused with exit code 4: then take a new token and
/// list all messages again.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu changes | jq -r .token > token
  pneu changes --since \"$(cat token)\"
  pneu changes --since \"$(cat token)\" | jq -r 'select(.change == \"moved\") | .sha256'

Exit code 4: the token cannot be used any more.")]
pub(crate) struct Arguments {
    /// The token that an earlier call printed
    #[arg(long, value_name = "TOKEN")]
    since: Option<String>,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no index; the token cannot be used.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let view = session.view()?;
        let changes = view.changes(self.since.as_deref())?;
        let mut output = session.output();
        let mut line = Vec::new();
        changes.each(view.mailbox(), |change| {
            line.clear();
            render::change::line(&change, &mut line);
            output.bytes(&line)
        })?;
        line.clear();
        render::change::token_line(&changes.token, &mut line);
        output.bytes(&line)?;
        output.finish()?;
        Ok(Outcome::Done)
    }
}
