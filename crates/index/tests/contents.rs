//! Contents one by one: copies are not joined, and folders count what a slow walk over all contents counts.
//!
//! Input: random mailboxes with copies, threads and several files of a content. Output: sets, contents and
//! counts. Uses only the public interface of the index.

use crate::support::{Fixture, message, query};
use index::{Content, Direction, FolderCounts, Grouping, Mailbox, Order, RecordReader};
use mail::Flags;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Returns each content, by the index and its own id.
fn all(mailbox: &Mailbox) -> Vec<Content> {
    let hits = mailbox.sorted(mailbox.contents().unwrap(), &Order::default()).unwrap().list;
    let ids = mailbox.content_ids(&hits).unwrap();
    let mut reader = RecordReader::new();
    let read = |id: &[u8; 32]| {
        let hit = mailbox.content_hit(id).unwrap().unwrap();
        let content = mailbox.content(&hit, &mut reader).unwrap();
        assert_eq!(content.message.sha256, *id);
        content
    };
    ids.iter().map(read).collect()
}

fn flags(content: &Content) -> Flags {
    content.message.flags()
}

/// Counts folders from contents alone.
fn counted(contents: &[Content]) -> BTreeMap<u32, FolderCounts> {
    let is_unread = |one: &Content| !flags(one).contains(Flags::SEEN) && !flags(one).contains(Flags::DRAFT);
    let unread: BTreeSet<u64> = contents.iter().filter(|one| is_unread(one)).map(|one| one.thread).collect();
    let mut counts: BTreeMap<u32, FolderCounts> = BTreeMap::new();
    let mut threads: BTreeSet<(u32, u64)> = BTreeSet::new();
    for content in contents {
        for folder in &content.folders {
            let counts = counts.entry(*folder).or_default();
            counts.contents += 1;
            counts.unread += u64::from(is_unread(content));
            if threads.insert((*folder, content.thread)) {
                counts.threads += 1;
                counts.unread_threads += u64::from(unread.contains(&content.thread));
            }
        }
    }
    counts
}

fn check(mailbox: &Mailbox) {
    let contents = all(mailbox);
    let mut counts = mailbox.folder_counts().unwrap();
    counts.retain(|_, counts| *counts != FolderCounts::default());
    assert_eq!(counts, counted(&contents));
    for folder in mailbox.indexed_folders() {
        let expected = contents.iter().filter(|content| content.folders.contains(&folder.number)).count();
        assert_eq!(mailbox.contents_in(folder.number).unwrap().count(), expected as u64);
    }
    let names: BTreeSet<u64> = contents.iter().map(|content| content.thread).collect();
    let names: Vec<u64> = names.into_iter().collect();
    let threads = mailbox.contents_of_groups(&names, Grouping::Threads).unwrap();
    let mut firsts = 0;
    for (name, hits) in names.iter().zip(&threads) {
        let ids: BTreeSet<[u8; 32]> = mailbox.content_ids(hits).unwrap().into_iter().collect();
        let of_thread = contents.iter().filter(|content| content.thread == *name);
        assert_eq!(ids, of_thread.map(|content| content.message.sha256).collect());
        assert!(hits.is_sorted_by_key(|hit| hit.date));
        firsts += 1;
        for (direction, hit) in
            [(Direction::Ascending, &hits[0]), (Direction::Descending, &hits[hits.len() - 1])]
        {
            let all = mailbox.contents().unwrap();
            let kept = mailbox.first_by_date(all, direction, Grouping::Threads).unwrap();
            assert!(kept.contains(hit.number));
        }
    }
    let newest = mailbox.sorted(mailbox.contents().unwrap(), &Order::default()).unwrap().list;
    assert_eq!(mailbox.first_listed(newest, Grouping::Threads).unwrap().len(), firsts);
}

/// Numbers that look random, and are the same in each run.
fn next(state: &mut u32, bound: u32) -> u32 {
    *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*state >> 16) % bound
}

#[test]
fn folders_count_what_their_contents_say() {
    let fixture = Fixture::new();
    let mut state = 7;
    for pass in 0..4 {
        for number in 0..25 {
            let (name, parent) = (next(&mut state, 30), next(&mut state, 30));
            let answer =
                if parent < name { format!("In-Reply-To: <m{parent}@example.org>\n") } else { String::new() };
            let by_list = ["", "List-Id: <l.example.org>\n"][next(&mut state, 2) as usize];
            let text = message(&format!("m{name}"), &format!("subject {name}"), "text");
            let folder = ["a", "b", "c/d"][next(&mut state, 3) as usize];
            let flags = ["", "S", "D", "FS"][next(&mut state, 4) as usize];
            fixture.put(
                folder,
                "cur",
                &format!("{pass}-{number}.x:2,{flags}"),
                &format!("{answer}{by_list}{text}"),
            );
        }
        if pass == 2 {
            fs::remove_dir_all(fixture.root().join("b")).unwrap();
        }
        fixture.update();
        check(&fixture.mailbox());
    }
}

#[test]
fn a_content_does_not_match_for_what_its_copy_has() {
    let fixture = Fixture::new();
    let text = message("m", "words", "text");
    fixture.put("a", "cur", "1.x:2,S", &text);
    fixture.put("b", "cur", "2.x:2,F", &format!("List-Id: <l.example.org>\n{text}"));
    fixture.update();
    let mailbox = fixture.mailbox();
    for (text, joined, apart) in [
        ("words", 2, 2),
        ("flag:seen", 2, 1),
        ("not flag:seen", 0, 1),
        ("maildir:/b", 2, 1),
        ("list:l.example.org", 2, 1),
        ("flag:seen flag:flagged", 2, 0),
    ] {
        let query = query(text);
        assert_eq!(mailbox.evaluate(&query).unwrap().count(), joined, "{text}");
        assert_eq!(mailbox.evaluate_contents(&query).unwrap().count(), apart, "{text}");
    }
    let mut shown: Vec<(String, usize)> =
        all(&mailbox).iter().map(|one| (one.message.rest.list_id.clone(), one.message.files.len())).collect();
    shown.sort();
    assert_eq!(shown, [(String::new(), 1), ("l.example.org".to_owned(), 1)]);
    assert_eq!(mailbox.contents_with_flag(Flags::SEEN).unwrap().count(), 1);
    let first = all(&mailbox)[0].message.sha256;
    assert_eq!(mailbox.contents_with_same_id(&first).unwrap().len(), 1);
}
