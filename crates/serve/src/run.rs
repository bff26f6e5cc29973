//! Runs a server of mail, and waits for commits beside it. Input: a server and its mail. Output: answers and
//! events, until the server is stopped. Knows no signal and no terminal.

use crate::mail::Mail;
use jmap_mail::OwnStates;
use pneu::{Cancel, Error, Happened, Progress, View};
use server::Server;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// How long after an error it is looked for commits again.
const RETRY: Duration = Duration::from_secs(2);

/// Answers requests until the server is stopped, as [`Server::run`] says.
///
/// A thread waits for commits of any process, and tells clients. `tell` hears why it cannot, once for each
/// reason; it goes on trying, and requests are answered meanwhile as far as they can be. The thread is left
/// alone when the server ends: it ends with the process, or at the next commit.
///
/// # Errors
/// The system refuses what is needed.
pub fn run(
    server: Server,
    mail: &Arc<Mail>,
    cancel: &Cancel,
    tell: impl Fn(Error) + Send + 'static,
) -> server::Result<()> {
    let ended = Ended(Cancel::new());
    let (waiting, is_ended) = (Arc::clone(mail), ended.0.clone());
    thread::Builder::new()
        .name("commits".to_owned())
        .spawn(move || wait(&waiting, &Until(is_ended), &tell))
        .map_err(server::Error::Start)?;
    server.run(Arc::clone(mail) as Arc<dyn server::Application>, cancel)
}

/// Says that the server has ended, whatever the reason.
struct Ended(Cancel);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Stops what waits for commits.
struct Until(Cancel);

impl Progress for Until {
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Waits for commits, and tells of each.
fn wait(mail: &Mail, until: &Until, tell: &impl Fn(Error)) {
    let (mut known, mut told) = (None, None);
    while !until.is_cancelled() {
        let before = known.clone();
        let Err(error) = wait_for(mail, until, &mut known) else { continue };
        let said = Some(error.to_string());
        let is_told = told == said && known == before;
        if !matches!(error, Error::Cancelled) && !is_told {
            tell(error);
        }
        told = said;
        if !until.is_cancelled() {
            thread::sleep(RETRY);
        }
    }
}

/// Waits for commits by the host that there is now, until there is another one. `known` is the last token.
fn wait_for(mail: &Mail, until: &Until, known: &mut Option<String>) -> pneu::Result<()> {
    let source = mail.source();
    // From now on the host has a state of its own, which a newer commit only adds to.
    source.host.view()?;
    let mut commits = source.host.commits();
    while Arc::ptr_eq(&source, &mail.source()) {
        if let Some((view, token)) = commits.next(None, until)? {
            let has_new_email = known.as_deref().is_none_or(|known| has_new_email(&view, known));
            mail.subscribers.tell(&token, OwnStates::of(&view), has_new_email);
            *known = Some(token);
        }
    }
    Ok(())
}

/// Returns whether an email came since a token. If that cannot be told, one may have.
fn has_new_email(view: &View, since: &str) -> bool {
    let Ok(changes) = view.changes(Some(since)) else { return true };
    let mut is_new = false;
    let each = changes.each(view.mailbox(), |change| -> pneu::Result<()> {
        is_new |= matches!(change.what, Happened::Added(_) | Happened::Back(_));
        Ok(())
    });
    is_new || each.is_err()
}
