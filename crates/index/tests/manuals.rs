//! Queries that the manuals of mu and notmuch document, run on an index: kinds of queries, dates, flags,
//! ranges, phrases, wildcards. Where the two differ, `docs/query.md` decides. Also Chinese, Japanese and
//! Korean.
//!
//! Input: a mailbox of a few messages; today is Sunday, 17 March 2030, UTC. Output: the Message-IDs found.

use crate::support::{Fixture, query};
use index::{Mailbox, Order, RecordReader};

const MESSAGES: [(&str, &str, &str, &str); 8] = [
    (
        "inbox/new/bee:2,",
        "From: Jimbo <jimbo@example.org>\nTo: Ann <ann@example.org>\nSubject: The bee and the bird\n\
         Date: Sun, 17 Mar 2030 10:00:00 +0000\n",
        "Frodo and Sam\n",
        "bee",
    ),
    (
        "Archive/cur/chip:2,S",
        "From: fred@example.com\nTo: bob@example.org\nCc: Quinn <quinn@example.com>\n\
         Subject: Chip and Dale: minutes of the board\nDate: Fri, 1 Mar 2030 12:00:00 +0000\n",
        "An Ångström is small. Apples! foo_bar http://example.org/x at 12:30\n",
        "chip",
    ),
    (
        "lists/running/cur/wombat:2,RS",
        "From: ann@example.org\nSubject: Wombat meets capybara\nDate: Sun, 10 Feb 2030 12:00:00 +0000\n\
         List-Id: <mu-discuss.example.com>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n",
        "--b\n\nbeethoven\n--b\nContent-Type: image/jpeg; name=image7.jpg\nContent-Disposition: \
         attachment\n\nx\n--b--\n",
        "wombat",
    ),
    (
        "Lists/cur/pie:2,FS",
        "From: cy@post.example.com\nSubject: pie: a hello.world program\nDate: Mon, 1 Oct 2029 12:00:00 \
         +0000\n\
         In-Reply-To: <chip@example.org>\nX-Label: projectx\n",
        "the details of it, and Pizza for free\n",
        "pie",
    ),
    (
        "Sent Items/cur/hallo:2,PS",
        "From: ann@example.org\nTo: bob@example.org\nSubject: Hallo\nDate: Sat, 20 May 2017 23:30:00 +0200\n",
        "Beste allemaal, de vergadering van donderdag is helaas verplaatst naar volgende week, omdat de zaal \
         niet vrij is.\n",
        "hallo",
    ),
    (
        "inbox/cur/big:2,DT",
        "From: ann@example.org\nTo: cy@example.org, bob@example.org\nSubject: hi there\nX-Priority: 1\n\
         Date: Wed, 1 Jun 2016 12:00:00 +0000\n",
        "big",
        "big",
    ),
    (
        "a/b/cur/note:2,S",
        "From: cy@example.org\nTo: ann@example.org\nSubject: there, hi\nX-Label: a tag\nDate: Thu, 16 Dec \
         2010 12:00:00 +0000\n\
         MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n",
        "--b\n\nsee below\n--b\nContent-Type: text/plain; name=w.txt\nContent-Disposition: attachment\n\nwar \
         and peace\n--b--\n",
        "note",
    ),
    (
        ".Sub.Two/cur/cjk:2,S",
        "From: cy@example.org\nSubject: =?utf-8?b?5p2x5Lqs6YO944Gu5Lya6K2w?=\nDate: Fri, 3 Aug 2012 12:00:00 \
         +0000\n\
         Content-Type: text/plain; charset=utf-8\n",
        "한국어 텍스트, 中文分词 と テスト. 山\n",
        "cjk",
    ),
];

fn mailbox() -> (Fixture, Mailbox) {
    let fixture = Fixture::new();
    for (place, header, body, id) in MESSAGES {
        let body = if body == "big" { "hello ".repeat(20_000) } else { body.to_owned() };
        let mut parts = place.rsplitn(3, '/');
        let (name, place, folder) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        fixture.put(folder, place, name, &format!("{header}Message-ID: <{id}@example.org>\n\n{body}"));
    }
    fixture.update();
    let mailbox = fixture.mailbox();
    (fixture, mailbox)
}

fn assert_found(mailbox: &Mailbox, cases: &[(&str, &str)]) {
    let mut reader = RecordReader::new();
    for (text, expected) in cases {
        let hits =
            mailbox.find(&query(text), &Order::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        let ids = hits.list.iter().map(|hit| mailbox.message(hit, &mut reader).unwrap().rest.message_id);
        let mut found: Vec<String> = ids.map(|id| id.trim_end_matches("@example.org").to_owned()).collect();
        found.sort();
        let mut wanted: Vec<&str> = expected.split_whitespace().collect();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn what_the_manuals_of_mu_document_is_found() {
    let (_fixture, mailbox) = mailbox();
    assert_found(
        &mailbox,
        &[
            ("capybara", "wombat"),
            ("subject:capybara", "wombat"),
            ("maildir:/inbox", "bee big"),
            ("Ångström", "chip"),
            ("angstrom", "chip"),
            ("subject:\"hi there\"", "big"),
            ("subject:hi there", "big note"),
            ("(subject:wombat or subject:pie) and not body:beethoven", "pie"),
            ("subject:chip subject:dale", "chip"),
            ("subject:chip AND subject:bee", ""),
            ("not apples and maildir:/Archive", ""),
            ("hello*", "big pie"),
            ("subject:/h.llo/", "hallo pie"),
            ("maildir:/arch/", "chip"),
            ("subject:/hello.world/", "pie"),
            ("subject:/^pie/", "pie"),
            ("embed:war OR embed:nothing", "note"),
            ("file:/image\\d*.jpg/", "wombat"),
            ("file:image7.jpg", "wombat"),
            ("flag:unread AND flag:new", "bee"),
            ("from:jimbo", "bee"),
            ("cc:quinn@example.com", "chip"),
            ("lang:nl", "hallo"),
            ("maildir:/a/b", "note"),
            ("list:mu-discuss.example.com", "wombat"),
            ("msgid:pie@example.org", "pie"),
            ("mime:image/jpeg", "wombat"),
            ("mime:image/*", "wombat"),
            ("prio:high", "big"),
            ("ref:chip@example.org", "pie"),
            ("size:100k..1M", "big"),
            ("size:..500", "bee chip wombat pie hallo note cjk"),
            ("size:100k..", "big"),
            ("tag:projectx", "pie"),
            ("thread:chip@example.org", "chip pie"),
            ("contact:quinn", "chip"),
            ("recip:quinn or recip:ann", "chip bee note"),
            ("related:chip@example.org", "chip pie"),
            ("flag:attach", "wombat note"),
            ("flag:replied", "wombat"),
            ("flag:flagged", "pie"),
            ("flag:passed", "hallo"),
            ("flag:draft and flag:trashed", "big"),
            ("maildir:/", ""),
            ("maildir:\"/Sent Items\"", "hallo"),
            ("bee AND bird", "bee"),
            ("Frodo OR apples", "bee chip"),
            ("from:fred and maildir:/Archive", "chip"),
            ("hallo and (lang:nl or lang:de)", "hallo"),
            ("bee \"and\" bird", "bee"),
            ("subject:wombat AND date:3m.. size:..2000", "wombat"),
            ("frodo xor sam", ""),
            ("", "bee chip wombat pie hallo big note cjk"),
        ],
    );
}

#[test]
fn dates_of_the_manuals_are_found() {
    let (_fixture, mailbox) = mailbox();
    assert_found(
        &mailbox,
        &[
            ("date:20160101..20171231", "big hallo"),
            ("date:2017-05-05..2017-06-02", "hallo"),
            ("date:..2012-08-03T12:00", "note cjk"),
            ("date:2017-06-01..", "bee chip wombat pie"),
            ("date:2016..2016", "big"),
            ("date:20170505..now", "bee chip wombat pie hallo"),
            ("date:today..", "bee"),
            ("date:3m..", "bee chip wombat"),
            ("date:2w..", "bee"),
            ("date:3w..", "bee chip"),
            ("date:2w", "bee"),
            ("date:2010..5y", "note cjk big hallo"),
            ("date:@1292500800..@1292500800", "note"),
            ("date:2010-12-16..!", "note"),
            ("date:january..february", "wombat"),
            ("date:friday", ""),
            ("date:last_month", "wombat"),
            ("date:yesterday..", "bee"),
            ("date:\"3 aug 2012\"", "cjk"),
            ("date:1y", "bee chip wombat pie"),
            ("date:8h", "bee"),
            ("date:10am", "bee"),
        ],
    );
}

#[test]
fn what_the_manuals_of_notmuch_document_is_found() {
    let (_fixture, mailbox) = mailbox();
    assert_found(
        &mailbox,
        &[
            ("*", "bee chip wombat pie hallo big note cjk"),
            ("from:\"/cy@.*[.]example[.]com/\"", "pie"),
            ("is:unread", "bee big"),
            ("is:projectx", "pie"),
            ("tag:/^proj/", "pie"),
            ("mid:/^wom/", "wombat"),
            ("attachment:image7", "wombat"),
            ("mimetype:image/jpeg", "wombat"),
            ("path:lists/running", "wombat"),
            ("path:lists/**", "wombat"),
            ("path:a/**", "note"),
            ("path:**", "bee chip wombat pie hallo big note cjk"),
            ("folder:.Sub.Two", "cjk"),
            ("folder:lists/running", "wombat"),
            ("folder:\"/^.*(two|items)$/\"", "cjk hallo"),
            ("capy*", "wombat"),
            ("\"minutes of the board\"", "chip"),
            ("minutes-of-the-board", "chip"),
            ("minutes.of.the.board", "chip"),
            ("subject:(board dale)", "chip"),
            ("subject:\"board dale\"", ""),
            ("tag:\"a tag\"", "note"),
            ("to:ann -subject:bee", "note"),
        ],
    );
}

#[test]
fn differences_can_be_observed() {
    let (_fixture, mailbox) = mailbox();
    assert_found(
        &mailbox,
        &[
            ("to:quinn", ""),
            ("recip:quinn", "chip"),
            ("from:ann from:cy", ""),
            ("from:ann or from:jimbo", "wombat hallo big bee"),
            ("maildir:/Lists/", "pie"),
            ("maildir:/running/", "wombat"),
            ("folder:Archive", "chip"),
            ("folder:archive", "chip"),
            ("path:a/b/cur", "note"),
            ("path:lists/running/cur/wombat:2,RS", "wombat"),
            ("is:seen", "chip wombat pie hallo note cjk"),
            ("label:projectx", "pie"),
            ("attachment:jpg", "wombat"),
            ("mimetype:jpeg", ""),
            ("mime:*jpeg", "wombat"),
            ("id:CHIP@example.org", ""),
            ("id:chip@example.org", "chip"),
            ("detail", ""),
            ("detail*", "pie"),
            ("bee NEAR bird", ""),
            ("hi -there", ""),
            ("-there bee", "bee"),
            ("*eetho*", "wombat"),
            ("subject:/hello\\.world/", "pie"),
            ("subject:\"/meets cap/\"", "wombat"),
            ("\"/chip and/\"", "chip"),
            ("\"from:bob\"", ""),
            ("http://example.org/x", "chip"),
            ("12:30", "chip"),
            ("Re:", ""),
            ("foo:bar", "chip"),
            ("size:1k", ""),
            ("date:last_week", ""),
            ("date:2017-05-20", "hallo"),
        ],
    );
}

#[test]
fn chinese_japanese_and_korean_are_found_by_any_two_characters() {
    let (_fixture, mailbox) = mailbox();
    let yes = [
        "東京",
        "京都",
        "東京都",
        "会議",
        "subject:京都の会",
        "\"都の\"",
        "한국",
        "국어",
        "한국어",
        "텍스",
        "中文",
        "文分",
        "中文分词",
        "テスト",
        "スト",
        "山",
        "body:山",
        // A single character is also found next to others.
        "都",
        "body:분 or body:국",
        "subject:都*",
        "*京都*",
        "subject:/東京都/",
        "subject:/^東.*議$/",
        "body:/^한국$/",
        "body:/^山$/",
        "한국어 中文",
        "\"한국어 텍스트\"",
    ];
    let no =
        ["京東", "都会", "国語", "\"텍스트 한국어\"", "subject:한국", "body:/한국어/", "body:京都", "川"];
    assert_found(&mailbox, &yes.map(|text| (text, "cjk")));
    assert_found(&mailbox, &no.map(|text| (text, "")));
}
