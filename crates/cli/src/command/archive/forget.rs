//! `pneu archive forget`: removes snapshots, by a policy or by name.

use super::lost::{self, IfNone, Keeping, Looked, Losing};
use super::prune::{self, How};
use super::removal::{DryRun, Removal};
use super::rules::{Rules, lists};
use super::shown::snapshot_line;
use crate::archive::repository::{LockOptions, ReadLock, RepositoryOptions};
use crate::environment;
use crate::exit::Outcome;
use crate::output::{self, Output};
use crate::progress::Progress;
use crate::session::Session;
use anyhow::{Result, bail};
use backup::{PolicyOutcome, Unreferenced};
use clap::{ArgGroup, Args};
use restic::forget::{GroupBy, Present};
use restic::select::{Filter, by_prefix};
use restic::{Id, PrunePlan, Repository, Snapshot, Time};
use terminal::command_line::Run;

/// Remove snapshots, by policy or by ID
///
/// The data that only these snapshots use stays until it is pruned, with --prune or "pneu archive prune".
/// Policies work as in restic: snapshots are grouped by host and paths, and in each group every snapshot
/// stays that at least one --keep option matches. Without a --keep option nothing is removed, and no policy
/// removes all snapshots of a group.
///
/// Before anything is removed, the index is updated, and the number of messages is printed that would then be
/// in no Maildir here and in no snapshot. There is no confirmation prompt. --dry-run lists these messages.
/// --keep-messages saves them in a snapshot with the tag pneu-deleted. No policy removes such a snapshot
/// unless --tag pneu-deleted is given, "latest" ignores it while there is another snapshot, and "pneu
/// undelete" puts its messages back into their folders.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("rules").multiple(true)))]
#[command(after_help = "\
Examples:
  pneu archive forget --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --dry-run
  pneu archive forget --keep-within 1y --keep-messages --prune
  pneu archive forget 1a2b3c4d")]
pub(crate) struct Arguments {
    #[command(flatten)]
    repository: RepositoryOptions,
    /// Snapshots to remove, by prefixes of their IDs
    #[arg(value_name = "SNAPSHOT", conflicts_with = "rules")]
    snapshots: Vec<String>,
    #[command(flatten)]
    rules: Box<Rules>,
    /// Only consider snapshots of this host
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    /// Only consider snapshots with this tag, or with all tags of a comma-separated list
    #[arg(long, value_name = "TAG[,TAG]")]
    tag: Vec<String>,
    /// Group snapshots by these, separated by commas: host, paths, tags
    #[arg(long, value_name = "LIST", default_value = "host,paths")]
    group_by: GroupBy,
    /// Only print what would be done
    #[arg(long)]
    dry_run: bool,
    /// Prune afterwards: remove data that no snapshot uses any more
    #[arg(long)]
    prune: bool,
    #[command(flatten)]
    keeping: Keeping,
    #[command(flatten)]
    how: How,
    #[command(flatten)]
    lock: LockOptions,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// No such snapshot; a policy that keeps nothing; the repository cannot be opened, reached or locked.
    fn run(&self, session: &Session) -> Result<Outcome> {
        let removal = Removal::begin(&self.repository, self.lock, self.dry_run, session)?;
        let listed = removal.snapshots()?;
        let Removal { repository, lock, progress, dry_run } = removal;
        let going = if self.snapshots.is_empty() {
            by_policy(self, &listed, session)?
        } else {
            named(self, &listed)?
        };
        let mut output = session.output();
        let looked = say(self, (&repository, &lock), (&listed, &going), (session, &progress), &mut output)?;
        let mut outcome = looked.outcome;
        // Before anything is removed: data must not count as unneeded because a snapshot cannot be read
        // later.
        let plan = match self.prune {
            true => Some(planned(self, (&repository, &looked), (&listed, &going), &progress)?),
            false => None,
        };
        if let (Some(lock), None) = (lock.held(), dry_run) {
            let ids: Vec<Id> = going.iter().map(|&number| listed[number].0).collect();
            restic::remove_snapshots(&repository, lock, &ids, &progress)?;
        }
        // If the output is closed, the rest of the work is still done.
        let printed = print(self, (&listed, &going), session, output);
        if let Some(plan) = plan {
            let pruned = prune::carry_out(&plan, lock.held(), dry_run, (session, &progress))?;
            outcome = if pruned == Outcome::Done { outcome } else { pruned };
        }
        lock.release()?;
        Ok(if outcome == Outcome::Done { printed? } else { outcome })
    }
}

/// Decides what a prune removes after the snapshots are removed.
///
/// # Errors
/// A tree of a snapshot could not be read, or something that the others need is missing or damaged.
fn planned(
    arguments: &Arguments,
    (repository, looked): (&Repository, &Looked),
    (listed, going): (&[(Id, Snapshot)], &[usize]),
    progress: &Progress,
) -> Result<PrunePlan> {
    if looked.unread_count > 0 {
        bail!(
            "nothing was removed: trees that cannot be read may name messages that nothing else has. \
             Without --prune, the snapshots can still be removed"
        );
    }
    let going: Vec<Id> = going.iter().map(|&number| listed[number].0).collect();
    prune::plan(repository, arguments.how, &going, progress)
}

/// Prints which snapshots are removed, or would be.
fn print(
    arguments: &Arguments,
    (listed, going): (&[(Id, Snapshot)], &[usize]),
    session: &Session,
    mut output: Output,
) -> Result<Outcome> {
    if !session.is_quiet || arguments.dry_run {
        for &number in going {
            let (id, snapshot) = &listed[number];
            // If it cannot be written, the last line cannot be written either, and that is reported.
            let _ = output.line(&format!("remove  {}", snapshot_line(id, snapshot, None)));
        }
    }
    let (gone, all) = (going.len(), listed.len());
    let (verb, rest) = if arguments.dry_run { ("would be ", "would stay") } else { ("", "stay") };
    let done = format!("{gone} of {all} snapshots {verb}removed, {} {rest}", all - gone);
    let done = (!session.is_quiet).then_some(&*done);
    if !arguments.dry_run {
        return Ok(output.conclude(done, Outcome::Done));
    }
    done.map_or(Ok(()), |line| output.line(line))?;
    output.finish()?;
    Ok(Outcome::Done)
}

/// Prints which messages would be lost, if any snapshot is removed.
fn say(
    arguments: &Arguments,
    (repository, lock): (&Repository, &ReadLock),
    (listed, going): (&[(Id, Snapshot)], &[usize]),
    (session, progress): (&Session, &Progress),
    output: &mut Output,
) -> Result<Looked> {
    if going.is_empty() && !arguments.prune {
        return Ok(Looked { outcome: Outcome::Done, unread_count: 0 });
    }
    let (mut goes, mut stays) = (Vec::new(), Vec::new());
    for (number, (_, snapshot)) in listed.iter().enumerate() {
        if going.binary_search(&number).is_ok() { &mut goes } else { &mut stays }.push(snapshot.clone());
    }
    let losing = Losing {
        repository,
        lock: lock.held(),
        going: &goes,
        staying: &stays,
        forgotten: if arguments.prune { Unreferenced::Remove } else { Unreferenced::Keep },
        if_none: IfNone::SaySo,
        dry_run: arguments.dry_run.then_some(DryRun),
    };
    lost::before(&losing, arguments.keeping, (session, progress), output)
}

/// Returns the places of the snapshots that the user names.
fn named(arguments: &Arguments, snapshots: &[(Id, Snapshot)]) -> Result<Vec<usize>> {
    let mut places = Vec::new();
    for prefix in &arguments.snapshots {
        let id = by_prefix(snapshots.iter().map(|(id, _)| *id), prefix)?;
        places.extend(snapshots.iter().position(|(other, _)| *other == id));
    }
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// Returns the places of the snapshots that the policy does not keep.
fn by_policy(arguments: &Arguments, snapshots: &[(Id, Snapshot)], session: &Session) -> Result<Vec<usize>> {
    let policy = arguments.rules.policy();
    if policy.is_empty() {
        bail!("no policy is given: use an option such as --keep-daily 7, or name the snapshots to remove");
    }
    let filter = Filter { hosts: arguments.host.clone(), tags: lists(&arguments.tag), paths: Vec::new() };
    session.environment.credible_seconds()?;
    let now = environment::now();
    let offset = now.offset().seconds();
    let present =
        Present { now: Time::from_ns(environment::clock_ns(), offset), zone: now.time_zone().clone() };
    let PolicyOutcome { remove, undated } =
        backup::apply_policy(snapshots, &filter, (&policy, arguments.group_by), &present)?;
    for (id, snapshot) in undated.into_iter().filter_map(|place| snapshots.get(place)) {
        output::complain(format!(
            "snapshot {} stays: its time {} is from a clock that was wrong; remove it by its ID",
            id.short(),
            snapshot.time
        ));
    }
    Ok(remove)
}
