//! Tests muted conversations: which messages belong to them, and where they are left out.
//!
//! Input: a home with a conversation. Output: what queries find. Does not depend on how tags are stored.

use crate::support::{Home, letter};

fn reply(id: &str, to: &str) -> Vec<u8> {
    format!(
        "From: bo@example.org\nSubject: Re: {id}\nMessage-ID: <{id}@example.org>\n\
         In-Reply-To: <{to}@example.org>\n\
         Date: Mon, 5 Jan 2004 10:00:00 +0000\n\nanswer {id}\n"
    )
    .into_bytes()
}

#[test]
fn a_muted_conversation_stays_out_of_the_inbox() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "Plans", "x"));
    home.deliver("", "2:2,", &reply("2", "1"));
    home.deliver("", "3:2,", &letter("3", "Other", "x"));
    home.first_index();
    home.good(&["query", "inbox", "maildir:/"]);
    assert_eq!(home.good(&["mute", "plans"]), "2 messages: 2 changed\n");
    home.deliver("", "4:2,", &reply("4", "2"));
    home.good(&["index"]);
    assert_eq!(home.good(&["count", "is:muted"]), "3\n");
    assert_eq!(home.subjects("query:inbox"), ["Other"]);
    assert_eq!(home.good(&["count", "maildir:/"]), "4\n", "nothing else leaves it out");
    assert_eq!(home.good(&["unmute", "id:4@example.org"]), "3 messages: 3 changed\n");
    home.deliver("", "5:2,", &reply("5", "1"));
    home.good(&["index"]);
    assert_eq!(home.good(&["count", "query:inbox"]), "5\n");
    let none = home.pneu(&["mute", "nosuchword"]);
    assert_eq!(none.code, Some(1), "{none:?}");
}

#[test]
fn a_stranger_who_joins_conversations_mutes_only_himself() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "Ours", "x"));
    home.deliver("", "2:2,", &letter("2", "Noise", "x"));
    home.first_index();
    home.good(&["mute", "noise"]);
    let mut joined = b"References: <1@example.org> <2@example.org>\n".to_vec();
    joined.extend(letter("3", "Both", "x"));
    home.deliver("", "3:2,", &joined);
    home.good(&["index"]);
    assert_eq!(home.subjects("is:muted"), ["Both", "Noise"]);
    // Another message with an id of ours, below what is muted.
    let mut forged = b"In-Reply-To: <2@example.org>\n".to_vec();
    forged.extend(letter("1", "Ours, they say", "y"));
    home.deliver("", "4:2,", &forged);
    home.good(&["index"]);
    home.deliver("", "5:2,", &reply("5", "1"));
    home.deliver("", "6:2,", &reply("6", "5"));
    home.good(&["index"]);
    assert_eq!(home.subjects("is:muted").len(), 2, "it would bring in what answers ours");
    assert_eq!(home.good(&["count", "from:bo not is:muted"]), "2\n");
    // To mute what refers to both mutes only what it answers.
    home.good(&["unmute", "*"]);
    assert_eq!(home.good(&["mute", "both"]), "2 messages: 2 changed\n");
    assert_eq!(home.subjects("is:muted"), ["Both", "Noise"]);
    // To mute the forged message mutes nothing that answers ours.
    home.good(&["unmute", "*"]);
    assert_eq!(home.good(&["mute", "say"]), "3 messages: 3 changed\n");
    home.deliver("", "7:2,", &reply("7", "1"));
    home.good(&["index"]);
    assert_eq!(home.good(&["count", "from:bo not is:muted"]), "3\n");
}

#[test]
fn a_second_message_with_a_muted_message_id_ends_nothing() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "Noise", "x"));
    home.first_index();
    home.good(&["mute", "noise"]);
    home.deliver("", "2:2,", &letter("1", "Forged", "y"));
    home.good(&["index"]);
    assert_eq!(home.subjects("not is:muted"), ["Forged"]);
    home.deliver("", "3:2,", &reply("3", "1"));
    home.good(&["index"]);
    home.deliver("", "4:2,", &reply("4", "3"));
    // An answer that comes directly and by a list, with other bytes.
    let mut listed = reply("4", "3");
    listed.extend(b"-- \nthe list\n");
    home.deliver("", "5:2,", &listed);
    home.good(&["index"]);
    assert_eq!(home.subjects("not is:muted"), ["Forged"]);
}

#[test]
fn a_dry_run_lists_what_would_change_and_changes_nothing() {
    let home = Home::new();
    home.deliver("", "1:2,", &letter("1", "Plans", "x"));
    home.deliver("", "2:2,", &reply("2", "1"));
    home.first_index();
    home.good(&["tag", "+muted", "--", "plans"]);
    let line = "2004-01-05 10:00\tbo@example.org\tRe: 2\n";
    assert_eq!(home.good(&["mute", "--dry-run", "plans"]), line);
    assert_eq!(home.good(&["tag", "--dry-run", "+muted", "--", "*"]), line);
    assert_eq!(home.good(&["unmute", "--dry-run", "id:2@example.org"]).lines().count(), 1);
    assert_eq!(home.subjects("is:muted"), ["Plans"]);
    let none = home.pneu(&["tag", "--dry-run", "+muted", "-x", "--", "plans"]);
    assert_eq!((none.code, none.out.as_str()), (Some(1), ""), "{none:?}");
}

#[test]
fn answers_to_a_message_that_is_not_here_stay_together() {
    let home = Home::new();
    home.deliver("", "1:2,", &reply("1", "gone"));
    home.first_index();
    home.good(&["mute", "id:1@example.org"]);
    // The first of these answers the second.
    home.deliver("", "2:2,", &reply("2", "3"));
    home.deliver("", "3:2,", &reply("3", "gone"));
    home.deliver("", "4:2,", &reply("4", "other"));
    home.good(&["index"]);
    assert_eq!(home.good(&["count", "is:muted"]), "3\n");
    assert_eq!(home.subjects("not is:muted"), ["Re: 4"]);
}

#[test]
fn a_stranger_cannot_mute() {
    let home = Home::new();
    let mut forged = b"X-Keywords: muted\nKeywords: muted\nX-Label: muted\n".to_vec();
    forged.extend(letter("1", "Urgent", "x"));
    home.deliver("", "1:2,", &forged);
    home.first_index();
    home.good(&["query", "inbox", "*"]);
    assert_eq!(home.subjects("tag:muted"), ["Urgent"], "a label is a label");
    assert_eq!(home.subjects("query:inbox"), ["Urgent"]);
    home.good(&["mute", "id:1@example.org"]);
    assert_eq!(home.pneu(&["find", "query:inbox"]).code, Some(1));
}
