//! What is in a single file of Tarantool, as text for people and as JSON.
//!
//! Input: a path. Output: lines, or one object. docs/OUTPUT.md describes the object.

use crate::rows_output::line;
use crate::session::Session;
use anyhow::Result;
use printable::sanitise::one_line;
use serde_json::{Map, Value, json};
use std::path::Path;
use tarantool::cat::{Notice, RowsFile, SpaceSummary, Summary, definitions_after, open_rows, summarise};
use tarantool::space::{Formats, SPACE_SYSTEM_MAX};
use tarantool::text::time_of_seconds;
use tarantool::{FileKind, FormatVersion, VClock, uuid_text};
use terminal::amount::{count, people};
use terminal::exit::Outcome;
use terminal::output::Output;

/// Prints a file as lines.
///
/// # Errors
/// It cannot be read, or the output cannot be written.
pub(crate) fn text(session: &Session, path: &Path, output: &mut Output) -> Result<Outcome> {
    let (file, formats, summary) = read(session, path)?;
    let mut say = |line: String| output.line(&one_line(&line));
    let header = &file.header;
    say(format!("file       {}, {}", kind(file.kind()), people(file.bytes.len() as u64)))?;
    say(format!("format     {}, by {}", version(header.version), header.program))?;
    say(format!("instance   {}", uuid_text(&header.instance)))?;
    if has_clock(file.kind()) {
        say(format!("VClock     {{{}}}", header.vclock))?;
    }
    if let Some(previous) = &header.previous {
        say(format!("previous   {{{previous}}}"))?;
    }
    say(format!(
        "closed     {}",
        match (summary.is_closed, file.kind()) {
            (true, _) => "yes",
            (false, FileKind::Snapshot) => "no: it is cut off",
            (false, _) => "no: it is being written, or was torn",
        }
    ))?;
    say(format!(
        "content    {} in {}: {}, {} when decompressed (ratio {:.2})",
        count(summary.row_count, "row"),
        count(summary.block_count, "block"),
        people(summary.stored_bytes),
        people(summary.unpacked_bytes),
        ratio(&summary)
    ))?;
    for (replica, rows) in &summary.replicas {
        let has_replicas = file.kind() == FileKind::Log;
        let name = if has_replicas { format!("replica {replica}") } else { "rows".to_owned() };
        say(format!(
            "{name:<10} {}: LSN {} to {}, {} to {}",
            count(rows.row_count, "row"),
            rows.lsns.0,
            rows.lsns.1,
            time(rows.times.0),
            time(rows.times.1)
        ))?;
        for (first, last) in &rows.gaps {
            say(format!("gap        LSN {first} to {last} of replica {replica}"))?;
        }
        if let Some(more @ 1..) = rows.gap_count.checked_sub(rows.gaps.len() as u64) {
            say(format!("gap        {more} more of replica {replica}"))?;
        }
    }
    for (space, rows) in &summary.spaces {
        say(format!("space      {}", space_line(*space, rows, &formats)))?;
    }
    if summary.more_spaces.row_count > 0 {
        say(format!("space      {} of many more spaces", count(summary.more_spaces.row_count, "row")))?;
    }
    for notice in &summary.damage {
        say(format!("damage     {}", line(path, notice)))?;
    }
    Ok(outcome(&file, &summary))
}

/// Prints a file as a JSON object on one line.
///
/// # Errors
/// It cannot be read, or the output cannot be written.
pub(crate) fn json(session: &Session, path: &Path, output: &mut Output) -> Result<Outcome> {
    let (file, formats, summary) = read(session, path)?;
    let header = &file.header;
    let mut object = json!({
        "file": path.to_string_lossy(),
        "kind": file.kind().extension(),
        "bytes": file.bytes.len(),
        "format": version(header.version),
        "program": header.program,
        "instance": uuid_text(&header.instance),
        "closed": summary.is_closed,
        "blocks": summary.block_count,
        "rows": summary.row_count,
        "stored_bytes": summary.stored_bytes,
        "unpacked_bytes": summary.unpacked_bytes,
        "replicas": replicas(&summary),
        "spaces": spaces(&summary, &formats),
        "damage": summary.damage.iter().filter_map(damage).collect::<Vec<Value>>(),
    });
    if let Some(object) = object.as_object_mut() {
        if has_clock(file.kind()) {
            object.insert("vclock".to_owned(), clock(&header.vclock));
        }
        if let Some(previous) = &header.previous {
            object.insert("previous".to_owned(), clock(previous));
        }
    }
    let mut bytes = Vec::new();
    printable::json::put(&object, &mut bytes);
    bytes.push(b'\n');
    output.bytes(&bytes)?;
    Ok(outcome(&file, &summary))
}

fn read(session: &Session, path: &Path) -> Result<(RowsFile, Formats, Summary)> {
    let disk = session.disk.as_ref();
    let file = open_rows(disk, path)?;
    let beside = match path.parent() {
        Some(directory) if !directory.as_os_str().is_empty() => directory,
        _ => Path::new("."),
    };
    let formats = definitions_after(disk, &file, beside);
    let summary = summarise(&file, session.thread_count);
    Ok((file, formats, summary))
}

/// Returns how the command ends. A log may end with a write that was torn, or is not done. A snapshot gets
/// its name when it is complete.
fn outcome(file: &RowsFile, summary: &Summary) -> Outcome {
    let may_be_torn = file.kind() != FileKind::Snapshot;
    let is_damage = |notice: &Notice| !matches!(notice, Notice::Damage { is_torn: true, .. } if may_be_torn);
    if summary.damage.iter().any(is_damage) { Outcome::Partly } else { Outcome::Done }
}

fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Snapshot => "a snapshot (SNAP)",
        FileKind::Log => "a log (XLOG)",
        FileKind::Vinyl => "the log of vinyl (VYLOG)",
        FileKind::Run => "rows of an index of vinyl (RUN)",
        FileKind::RunIndex => "the contents of a run of vinyl (INDEX)",
    }
}

fn has_clock(kind: FileKind) -> bool {
    !matches!(kind, FileKind::Run | FileKind::RunIndex)
}

fn version(version: FormatVersion) -> &'static str {
    match version {
        FormatVersion::V012 => "0.12",
        FormatVersion::V013 => "0.13",
    }
}

fn ratio(summary: &Summary) -> f64 {
    summary.unpacked_bytes as f64 / (summary.stored_bytes.max(1)) as f64
}

fn time(seconds: f64) -> String {
    if seconds == 0.0 {
        "no time".to_owned()
    } else {
        time_of_seconds(seconds).unwrap_or_else(|| seconds.to_string())
    }
}

fn space_line(space: Option<u32>, rows: &SpaceSummary, formats: &Formats) -> String {
    let amount = format!("{}, {}", count(rows.row_count, "row"), people(rows.body_bytes));
    let Some(id) = space else { return format!("none: {amount}") };
    let format = formats.get(id);
    let name = match format {
        Some(format) => format!("{id} {}", format.name),
        None => id.to_string(),
    };
    let indexes = format.map(|format| format.indexes.join(", ")).filter(|indexes| !indexes.is_empty());
    let indexes = indexes
        .filter(|_| id > SPACE_SYSTEM_MAX)
        .map_or(String::new(), |indexes| format!("; indexes {indexes}"));
    format!("{name}: {amount}{indexes}")
}

fn clock(clock: &VClock) -> Value {
    clock.iter().map(|(replica, lsn)| (replica.to_string(), json!(lsn))).collect::<Map<_, _>>().into()
}

fn replicas(summary: &Summary) -> Vec<Value> {
    let replica = |(id, rows): (&u32, &tarantool::cat::ReplicaSummary)| {
        json!({
            "replica": id,
            "rows": rows.row_count,
            "first_lsn": rows.lsns.0,
            "last_lsn": rows.lsns.1,
            "first_time": rows.times.0,
            "last_time": rows.times.1,
            "gap_count": rows.gap_count,
            "gaps": rows.gaps,
        })
    };
    summary.replicas.iter().map(replica).collect()
}

fn spaces(summary: &Summary, formats: &Formats) -> Vec<Value> {
    let space = |(id, rows): (&Option<u32>, &SpaceSummary)| {
        let mut object = json!({ "id": id, "rows": rows.row_count, "bytes": rows.body_bytes });
        let format = id.and_then(|id| formats.get(id));
        if let (Some(object), Some(format)) = (object.as_object_mut(), format) {
            object.insert("name".to_owned(), json!(format.name));
            object.insert("indexes".to_owned(), json!(format.indexes));
        }
        object
    };
    let mut spaces: Vec<Value> = summary.spaces.iter().map(space).collect();
    if summary.more_spaces.row_count > 0 {
        let more = &summary.more_spaces;
        spaces.push(json!({ "more": true, "rows": more.row_count, "bytes": more.body_bytes }));
    }
    spaces
}

fn damage(notice: &Notice) -> Option<Value> {
    match notice {
        Notice::Damage { bytes, what, is_torn } => Some(
            json!({ "first_byte": bytes.start, "last_byte": bytes.end - 1, "what": what, "torn": is_torn }),
        ),
        Notice::CutOff { length_bytes } => Some(json!({
            "first_byte": length_bytes, "last_byte": length_bytes, "what": Notice::CUT_OFF, "torn": false
        })),
        Notice::Row { .. } => None,
    }
}
