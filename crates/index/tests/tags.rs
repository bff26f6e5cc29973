//! Tags: queries add and remove them. They survive any change of files, of headers and of the index.

use crate::support::{Fixture, environment, message, query};
use index::{Environment, Mailbox, Order, RecordReader, TagChange, TagSummary};
use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use testkit::SimDisk;

/// Changes tags: `+a` adds one, `-b` removes one.
fn tag(fixture: &Fixture, changes: &str, text: &str) -> TagSummary {
    let names = |sign: char| -> BTreeSet<String> {
        changes.split(' ').filter_map(|word| word.strip_prefix(sign)).map(str::to_owned).collect()
    };
    let mailbox = fixture.mailbox();
    let found = mailbox.evaluate(&query(text)).unwrap();
    let change = TagChange { add: names('+'), remove: names('-') };
    index::change_tags(&fixture.environment, &mailbox, &found, &change).unwrap()
}

/// Returns `subject tag,tag` for every message with a tag, newest first.
fn tagged(fixture: &Fixture) -> Vec<String> {
    tagged_in(&fixture.mailbox())
}

fn tagged_in(mailbox: &Mailbox) -> Vec<String> {
    let hits = mailbox.find(&query(""), &Order::default()).unwrap();
    let mut reader = RecordReader::new();
    let mut list = Vec::new();
    for hit in &hits.list {
        let message = mailbox.message(hit, &mut reader).unwrap();
        if !message.tags.is_empty() {
            list.push(format!("{} {}", message.line.subject, message.tags.join(",")));
        }
    }
    list.sort();
    list
}

fn three() -> Fixture {
    let fixture = Fixture::new();
    for (number, subject) in ["one", "two", "three"].iter().enumerate() {
        let content = message(&format!("m{number}"), subject, "some words");
        fixture.put("inbox", "cur", &format!("{number}.x:2,S"), &content);
    }
    fixture.update();
    fixture
}

#[test]
fn queries_add_and_remove_tags() {
    let fixture = three();
    assert_eq!(
        tag(&fixture, "+work +todo", "subject:one or subject:two"),
        TagSummary { messages: 2, changed: 2 }
    );
    assert_eq!(tag(&fixture, "-todo", "subject:two"), TagSummary { messages: 1, changed: 1 });
    assert_eq!(tagged(&fixture), ["one todo,work", "two work"]);
    for (text, mut expected) in [
        ("tag:work", vec!["one", "two"]),
        ("tag:WORK", vec!["one", "two"]),
        ("tag:todo", vec!["one"]),
        ("tag:w*", vec!["one", "two"]),
        ("tag:/^t.*o$/", vec!["one"]),
        ("not tag:work", vec!["three"]),
        ("tag:work and not tag:todo", vec!["two"]),
        ("tag:nothing", vec![]),
    ] {
        let mut found = fixture.find(text);
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{text}");
    }
    assert_eq!(tag(&fixture, "+work", "tag:work"), TagSummary { messages: 2, changed: 0 });
    assert_eq!(tag(&fixture, "-absent", ""), TagSummary { messages: 3, changed: 0 });
    assert_eq!(tag(&fixture, "+x -x", "subject:one"), TagSummary { messages: 1, changed: 1 });
    let counts: Vec<(String, u64)> = fixture.mailbox().tags().unwrap().into_iter().collect();
    assert_eq!(counts, [("todo".into(), 1), ("work".into(), 2), ("x".into(), 1)]);
    tag(&fixture, "-work -todo -x", "");
    assert_eq!(tagged(&fixture), [""; 0]);
    assert!(fixture.mailbox().tags().unwrap().is_empty());
}

#[test]
fn an_invalid_tag_is_refused_and_nothing_is_written() {
    let fixture = three();
    let mailbox = fixture.mailbox();
    let found = mailbox.evaluate(&query("")).unwrap();
    let change = TagChange { add: ["good".into(), "not good".into()].into(), ..TagChange::default() };
    let error = index::change_tags(&fixture.environment, &mailbox, &found, &change).unwrap_err();
    assert_eq!(
        error.to_string(),
        "\"not good\" cannot be a tag: a tag has neither white space nor control characters"
    );
    assert_eq!(tag(&fixture, "+x", "subject:nothing"), TagSummary::default());
    assert!(!fixture.environment.data.join("user").exists(), "nothing was said, so nothing is kept");
}

#[test]
fn tags_stay_whatever_happens_to_files_and_to_the_index() {
    let fixture = three();
    tag(&fixture, "+work", "subject:one");
    tag(&fixture, "+later", "subject:two");
    let expected = ["one work", "two later"];
    // Flags change, the file is renamed and moves to another folder.
    let root = fixture.root().to_owned();
    fixture.put("done", "cur", "9.y:2,S", &message("m9", "nine", "x"));
    fs::rename(root.join("inbox/cur/0.x:2,S"), root.join("done/cur/0.x:2,FRS")).unwrap();
    fixture.update();
    assert_eq!(tagged(&fixture), expected);
    // The index is deleted and built again.
    fs::remove_dir_all(fixture.environment.index_directory()).unwrap();
    fixture.update();
    assert_eq!(tagged(&fixture), expected);
    // The file is removed and comes back in another folder.
    let content = fs::read(root.join("inbox/cur/1.x:2,S")).unwrap();
    fs::remove_file(root.join("inbox/cur/1.x:2,S")).unwrap();
    fixture.update();
    assert_eq!(tagged(&fixture), ["one work"]);
    assert!(fixture.find("tag:later").is_empty());
    fs::write(root.join("done/cur/7.z:2,"), content).unwrap();
    fixture.update();
    assert_eq!(tagged(&fixture), expected);
    fixture.check();
}

#[test]
fn tags_follow_a_message_whose_headers_change() {
    let fixture = three();
    tag(&fixture, "+work", "subject:one");
    let root = fixture.root().to_owned();
    let path = root.join("inbox/cur/0.x:2,S");
    let content = fs::read_to_string(&path).unwrap();
    // Like mbsync: it adds a file with another content, then removes the old file.
    fixture.put("inbox", "cur", "8.n:2,S", &format!("X-TUID: abc\n{content}"));
    fs::remove_file(&path).unwrap();
    fixture.update();
    assert_eq!(tagged(&fixture), ["one work"]);
    assert_eq!(fixture.find("tag:work"), ["one"]);
    // Later changes apply to both contents, because they are copies.
    assert_eq!(tag(&fixture, "-work", "subject:one"), TagSummary { messages: 1, changed: 1 });
    assert_eq!(tagged(&fixture), [""; 0]);
    assert!(fixture.find("tag:work").is_empty());
    tag(&fixture, "+other", "subject:one");
    assert_eq!(tagged(&fixture), ["one other"]);
    // Another message with the same Message-ID does not get the tags of one that is still there.
    fixture.put("inbox", "cur", "9.n:2,S", &content.replace("some words", "a forgery"));
    fixture.update();
    assert_eq!(tagged(&fixture), ["one other"]);
    assert_eq!(fixture.find("tag:other").len(), 1);
}

#[test]
fn copies_share_their_tags() {
    let fixture = three();
    let content = message("m0", "one", "some words");
    fixture.put("list", "cur", "5.l:2,", &format!("Received: by list\n{content}"));
    fixture.update();
    assert_eq!(tag(&fixture, "+work", "maildir:/list"), TagSummary { messages: 1, changed: 1 });
    assert_eq!(tagged(&fixture), ["one work"]);
    assert_eq!(
        tag(&fixture, "-work", "subject:one and maildir:/inbox"),
        TagSummary { messages: 1, changed: 1 }
    );
    assert_eq!(tagged(&fixture), [""; 0]);
}

#[test]
fn labels_of_the_header_are_tags_too() {
    let fixture = Fixture::new();
    let header = "X-Label: alpha, beta\nX-Keywords: Gamma\nKeywords: delta\n";
    fixture.put("a", "cur", "1.x:2,", &format!("{header}{}", message("m", "labelled", "x")));
    fixture.update();
    for text in ["tag:alpha", "tag:beta", "tag:gamma", "tag:delta", "label:alpha", "tag:g*", "tag:/^del/"] {
        assert_eq!(fixture.find(text), ["labelled"], "{text}");
    }
    tag(&fixture, "+mine", "");
    assert_eq!(tagged(&fixture), ["labelled Gamma,alpha,beta,delta,mine"]);
}

#[test]
fn two_writers_of_tags_lose_nothing() {
    let fixture = three();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let fixture = &fixture;
            scope.spawn(move || tag(fixture, &format!("+t{number}"), ""));
        }
    });
    assert_eq!(tagged(&fixture), ["one t0,t1,t2,t3", "three t0,t1,t2,t3", "two t0,t1,t2,t3"]);
}

#[test]
fn a_crash_while_tagging_leaves_all_tags_or_none() {
    let disk = SimDisk::new(1);
    let fixture = Fixture::on(Arc::new(disk.clone()));
    for number in 0..3 {
        fixture.put("inbox", "cur", &format!("{number}.x:2,S"), &message(&format!("m{number}"), "s", "x"));
    }
    fixture.update();
    let on = |disk: &SimDisk| Environment { disk: Arc::new(disk.clone()), ..fixture.environment.clone() };
    let tag_all = |environment: &Environment| {
        let mailbox = Mailbox::open(environment)?;
        let change = TagChange { add: ["a".into(), "b".into()].into(), ..TagChange::default() };
        index::change_tags(environment, &mailbox, &mailbox.evaluate(&query(""))?, &change)
    };
    let shown = |environment: &Environment| tagged_in(&Mailbox::open(environment).unwrap());
    let whole = disk.fork();
    tag_all(&on(&whole)).unwrap();
    for number in 0..whole.operation_count() {
        let crashed = disk.fork();
        crashed.crash_at(number);
        let is_done = tag_all(&on(&crashed)).is_ok();
        for image in crashed.images() {
            let after = on(&image.disk);
            let tags = shown(&after);
            let is_whole = tags == ["s a,b"; 3] || (tags.is_empty() && !is_done);
            assert!(is_whole, "crash at {number}, {}: {tags:?}", image.description);
            tag_all(&after).unwrap();
            assert_eq!(shown(&after), ["s a,b"; 3]);
        }
    }
}

#[test]
fn a_check_looks_at_the_tags_too() {
    let fixture = Fixture::new();
    // Enough tags for segments to be written.
    for number in 0..3000 {
        fixture.put("a", "cur", &format!("{number}.x:2,S"), &message(&format!("m{number}"), "s", "x"));
    }
    fixture.update();
    tag(&fixture, "+a +b", "");
    fixture.check();
    let user = fixture.environment.data.join("user");
    let told = |depth| index::check(&fixture.environment, depth).unwrap();
    let names: Vec<_> = fs::read_dir(&user).unwrap().map(|entry| entry.unwrap().path()).collect();
    let segment = names.iter().find(|path| path.extension().is_some_and(|end| end == "seg")).unwrap();
    for (path, depth) in [(segment.clone(), index::Depth::Deep), (user.join("manifest"), index::Depth::Quick)]
    {
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        bytes[whole.len() / 2] ^= 1;
        fs::write(&path, bytes).unwrap();
        let damage = told(depth);
        assert_eq!(damage.len(), 1, "{damage:?}");
        assert!(damage[0].file.starts_with(&user), "{damage:?}");
        fs::write(&path, whole).unwrap();
        fixture.check();
    }
}

#[test]
fn many_changes_leave_few_segments() {
    let fixture = Fixture::new();
    for number in 0..2500 {
        fixture.put("a", "cur", &format!("{number}.x:2,S"), &message(&format!("m{number}"), "s", "x"));
    }
    fixture.update();
    for round in 0..24 {
        tag(&fixture, if round % 2 == 0 { "+a" } else { "-a +b" }, "");
    }
    let user = fixture.environment.data.join("user");
    let is_segment = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|end| end == "seg");
    let count = fs::read_dir(&user).unwrap().map(Result::unwrap).filter(is_segment).count();
    assert!(count <= 12, "{count} segments");
    assert_eq!(fixture.find("tag:b").len(), 2500);
    fixture.check();
}

#[test]
fn a_crash_while_queries_are_saved_leaves_those_before_or_after() {
    let disk = SimDisk::new(9);
    let on = |disk: &SimDisk| environment(Arc::new(disk.clone()), "/data".as_ref());
    let save = |disk: &SimDisk, name: &str| {
        index::change_queries(&on(disk), &mut |queries| {
            queries.insert(name.to_owned(), format!("subject:{name}"));
            true
        })
    };
    save(&disk, "one").unwrap();
    let before = index::saved_queries(&on(&disk)).unwrap();
    let whole = disk.fork();
    save(&whole, "two").unwrap();
    let after = index::saved_queries(&on(&whole)).unwrap();
    assert_eq!((before.len(), after.len()), (1, 2));
    for number in 0..whole.operation_count() {
        let crashed = disk.fork();
        crashed.crash_at(number);
        let is_saved = save(&crashed, "two").is_ok() && !crashed.has_crashed();
        for image in crashed.images() {
            let found = index::saved_queries(&on(&image.disk)).unwrap();
            assert!(found == after || found == before && !is_saved, "{number}, {}", image.description);
            index::repair_user(&on(&image.disk)).unwrap();
            save(&image.disk, "two").unwrap();
            let path = "/data/user/queries".as_ref();
            let copy = disk::Disk::read(&image.disk, "/data/user/copy/queries".as_ref()).unwrap();
            assert_eq!(disk::Disk::read(&image.disk, path).unwrap(), copy, "{number}");
        }
    }
}
