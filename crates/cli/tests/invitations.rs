//! Tests how `view` shows invitations.
//!
//! Input: messages with calendar data, some of it hostile. Output: what is shown. Does not depend on how
//! calendar data is read.

use crate::support::{Home, run_with_input};

const CALENDAR: &str = "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\n\
    SUMMARY:Lunch \x1b[31m\\nFile: x\r\n\
    DTSTART:20240305T113000Z\r\nDTEND:20240305T130000Z\r\nLOCATION:Room 7\r\n\
    ORGANIZER;CN=Ana:mailto:ana@example.org\r\nATTENDEE;PARTSTAT=DECLINED:mailto:bo@example.org\r\n\
    RRULE:FREQ=DAILY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

fn message() -> String {
    format!(
        "From: ana@example.org\nSubject: Invitation\nContent-Type: multipart/mixed; boundary=b\n\n\
         --b\nContent-Type: multipart/alternative; boundary=c\n\n--c\n\nCome to lunch.\n\
         --c\nContent-Type: text/calendar; charset=utf-8; method=REQUEST\n\n{CALENDAR}\n--c--\n\
         --b\nContent-Type: application/ics; name=invite.ics\n\n{CALENDAR}\n--b--\n"
    )
}

fn view(options: &[&str], message: &str) -> String {
    let home = Home::new();
    let run = run_with_input(&mut home.command(&[&["view", "-"], options].concat()), message.as_bytes());
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""));
    run.out
}

#[test]
fn an_invitation_is_readable() {
    let text = view(&[], &message()).replace('\u{fffd}', "?");
    let (_, shown) = text.split_once("Invitation: request\n").unwrap();
    assert!(
        shown.starts_with(
            "Event: Lunch ?[31m File: x\n\
             When: Tue, 05 Mar 2024 11:30 to 13:00 (UTC)\n\
             Repeats: every day\n\
             Where: Room 7\n\
             Organizer: Ana <ana@example.org>\n\
             Guest: bo@example.org (declined)\n"
        ),
        "{shown}"
    );
    assert!(shown.ends_with("\n\nCome to lunch.\n"), "{shown}");
    assert_eq!(text.matches("Event: ").count(), 1, "{text}");
    let page = view(&["--format", "html"], &message());
    assert!(page.contains("Where: Room 7") && !page.contains("VEVENT"), "{page}");
}

#[test]
fn an_invitation_is_an_object_and_its_text_stays() {
    let json: serde_json::Value = serde_json::from_str(&view(&["--format", "json"], &message())).unwrap();
    let event = &json["events"][0];
    assert_eq!((&event["method"], &event["location"]), (&"request".into(), &"Room 7".into()));
    assert_eq!(event["start"]["unix"], 1_709_638_200);
    assert_eq!(event["guests"][0]["answer"], "declined");
    assert!(json["text"].as_str().unwrap().contains("BEGIN:VEVENT"));
}

#[test]
fn what_is_no_invitation_stays_as_it_is() {
    let message = "Subject: x\nContent-Type: text/calendar\n\nBEGIN:NOTHING\nwords\n";
    let text = view(&[], message);
    assert!(text.ends_with("\n\nBEGIN:NOTHING\nwords\n") && !text.contains("Event:"), "{text}");
    let nested = format!(
        "Subject: x\nContent-Type: multipart/mixed; boundary=o\n\n--o\n\nouter\n\
         --o\nContent-Type: message/rfc822\n\n{}\n--o--\n",
        self::message()
    );
    assert!(!view(&[], &nested).contains("Event:"), "the invitation is that of another message");
    assert!(view(&["--part", "2"], &nested).contains("Event:"));
}

#[test]
fn what_the_lines_do_not_say_stays_readable() {
    let only = |lines: &str| {
        let calendar =
            format!("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Lunch\n{lines}\nEND:VEVENT\nEND:VCALENDAR\n");
        view(&[], &format!("Subject: x\nContent-Type: text/calendar\n\n{calendar}"))
    };
    let said = only("DESCRIPTION:The code is 4711.\\nBring a pen.");
    assert!(
        said.contains("Description: The code is 4711. Bring a pen.\n") && !said.contains("VEVENT"),
        "{said}"
    );
    for lines in
        ["DTSTART:2024-03-05 at noon", "EXDATE:20240305T120000", "DESCRIPTION:a\nDESCRIPTION:the code"]
    {
        let kept = only(lines);
        assert!(kept.contains("Event: Lunch\n") && kept.contains(lines), "{kept}");
    }
}

#[test]
fn events_beyond_the_limit_are_counted() {
    let events = "BEGIN:VEVENT\nSUMMARY:Lunch\nDTSTART:20240305T113000Z\nEND:VEVENT\n".repeat(23);
    let message = format!(
        "From: ana@example.org\nSubject: many\nMIME-Version: 1.0\nContent-Type: text/calendar\n\n\
         BEGIN:VCALENDAR\nMETHOD:PUBLISH\n{events}END:VCALENDAR\n"
    );
    let home = Home::new();
    let run = run_with_input(&mut home.command(&["view", "-"]), message.as_bytes());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.err, "pneu: a calendar has 3 events more than the 20 that are listed\n");
}
