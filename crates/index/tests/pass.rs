//! The pass: it notices every file that was added, moved, changed or removed, and reads no file without need.

use crate::support::{Fixture, message};
use index::{Loss, Mode, UpdateOptions};
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

fn accept() -> UpdateOptions {
    UpdateOptions { loss: Loss::Accept, ..UpdateOptions::default() }
}

#[test]
fn every_message_is_found_exactly_once() {
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "1.a:2,S", &message("a", "apples", "red and green"));
    fixture.put("inbox", "new", "2.b", &message("b", "pears", "green"));
    let summary = fixture.update();
    assert_eq!((summary.added, summary.new_messages, summary.problems.len()), (2, 2, 0));
    assert_eq!(fixture.find("green").len(), 2);
    assert_eq!(fixture.find("red"), ["apples"]);
    assert_eq!(fixture.find("flag:new"), ["pears"]);
    let again = fixture.update();
    assert_eq!((again.added, again.moved, again.changed, again.gone, again.file_count), (0, 0, 0, 0, 2));
    fixture.check();
}

#[test]
fn a_move_or_a_flag_change_never_reads_the_message() {
    let fixture = Fixture::new();
    let path = fixture.put("inbox", "new", "1.a", &message("a", "apples", "red"));
    fixture.put("archive", "cur", "2.b:2,S", &message("b", "pears", "green"));
    fixture.update();
    // Reading the file now would show another message. Its size and times differ too, but are not looked at.
    fs::write(&path, message("x", "poison", "poison")).unwrap();
    let steps = [
        ("inbox/new/1.a", "inbox/cur/1.a:2,S"),
        ("inbox/cur/1.a:2,S", "inbox/cur/1.a:2,FS"),
        ("inbox/cur/1.a:2,FS", "archive/cur/1.a:2,FS"),
        ("archive/cur/1.a:2,FS", "archive/cur/1.a,U=5:2,FS"),
    ];
    for (from, to) in steps {
        fs::rename(fixture.root().join(from), fixture.root().join(to)).unwrap();
        let summary = fixture.update();
        assert_eq!((summary.moved, summary.added, summary.gone, summary.changed), (1, 0, 0, 0), "{to}");
        assert_eq!(fixture.find(&format!("path:\"{}\"", fixture.root().join(to).display())), ["apples"]);
        fixture.check();
    }
    assert_eq!(fixture.find("flag:flagged"), ["apples"]);
    assert!(fixture.find("poison").is_empty());
}

#[test]
fn a_renamed_folder_counts_as_moved_files() {
    let fixture = Fixture::new();
    for number in 0..20 {
        fixture.put("old", "cur", &format!("{number}.m:2,S"), &message(&number.to_string(), "hello", "text"));
    }
    fixture.update();
    fs::rename(fixture.root().join("old"), fixture.root().join("new name")).unwrap();
    let summary = fixture.update();
    assert_eq!((summary.moved, summary.added, summary.gone), (20, 0, 0));
    assert_eq!(fixture.find("maildir:\"/new name\"").len(), 20);
    assert_eq!(fixture.mailbox().counts().unwrap().folders, 1);
    fixture.check();
}

#[test]
fn one_content_in_several_folders_is_one_message() {
    let fixture = Fixture::new();
    let content = message("a", "apples", "red");
    fixture.put("inbox", "cur", "1.a:2,S", &content);
    fixture.put("lists/fruit", "cur", "7.c:2,F", &content);
    fixture.put(".Sub.Folder", "new", "9.d", &content);
    let summary = fixture.update();
    assert_eq!((summary.added, summary.new_messages), (3, 1));
    let dump = fixture.dump();
    assert_eq!(dump.len(), 1);
    let (_, flags, files) = dump.values().next().unwrap();
    assert_eq!(files, &[".Sub.Folder/new/9.d", "inbox/cur/1.a:2,S", "lists/fruit/cur/7.c:2,F"]);
    assert!(flags.contains("flagged") && flags.contains("seen") && flags.contains("new"), "{flags}");
    fixture.check();
}

#[test]
fn a_message_whose_last_file_is_gone_is_absent_until_it_is_seen_again() {
    let fixture = Fixture::new();
    let path = fixture.put("inbox", "cur", "1.a:2,S", &message("a", "apples", "red"));
    fixture.put("inbox", "cur", "2.b:2,S", &message("b", "pears", "green"));
    fixture.put("inbox", "cur", "3.c:2,S", &message("c", "plums", "blue"));
    fixture.update();
    fs::remove_file(&path).unwrap();
    assert_eq!(fixture.update().gone, 1);
    assert!(fixture.find("apples").is_empty());
    assert_eq!(fixture.mailbox().counts().unwrap().absent, 1);
    fixture.check();
    fixture.put("other", "cur", "9.z:2,", &message("a", "apples", "red"));
    let summary = fixture.update();
    assert_eq!((summary.added, summary.new_messages), (1, 0), "its row and its text are still there");
    assert_eq!(fixture.find("apples"), ["apples"]);
    assert_eq!(fixture.mailbox().counts().unwrap().absent, 0);
    fixture.check();
}

#[test]
fn a_draft_that_is_only_moved_or_reflagged_is_not_read() {
    let fixture = Fixture::new();
    let path = fixture.put("drafts", "cur", "1.a:2,D", &message("a", "apples", "red"));
    fixture.update();
    let times = fs::metadata(&path).unwrap().modified().unwrap();
    // The new content has the same length and time. Reading the file now would show another message.
    fs::write(&path, message("a", "poison", "red")).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(times).unwrap();
    for (from, to) in [("1.a:2,D", "1.a:2,DF"), ("1.a:2,DF", "1.a:2,DFS")] {
        let place = fixture.root().join("drafts/cur");
        fs::rename(place.join(from), place.join(to)).unwrap();
        let summary = fixture.update();
        assert_eq!((summary.moved, summary.changed, summary.new_messages), (1, 0, 0), "{to}");
        assert_eq!(fixture.find(""), ["apples"]);
        fixture.check();
    }
    let summary = fixture.update();
    assert_eq!((summary.moved, summary.changed), (0, 0), "the new time of status change is known");
}

#[test]
fn a_draft_rewritten_in_place_is_read_again() {
    let fixture = Fixture::new();
    let draft = fixture.put("inbox", "cur", "1.a:2,D", &message("a", "first", "one"));
    let other = fixture.put("Drafts", "cur", "2.b:2,S", &message("b", "second", "two"));
    let plain = fixture.put("inbox", "cur", "3.c:2,S", &message("c", "third", "three"));
    fixture.update();
    for (path, id, subject) in [(&draft, "a", "changed"), (&other, "b", "altered"), (&plain, "c", "unseen")] {
        let inode = fs::metadata(path).unwrap().ino();
        fs::write(path, message(id, subject, "rewritten in place")).unwrap();
        assert_eq!(fs::metadata(path).unwrap().ino(), inode);
    }
    let summary = fixture.update();
    assert_eq!(summary.changed, 2);
    let mut found = fixture.find("rewritten");
    found.sort();
    assert_eq!(found, ["altered", "changed"]);
    let thorough = UpdateOptions { mode: Mode::Thorough, ..UpdateOptions::default() };
    assert_eq!(fixture.update_with(&thorough).changed, 1);
    assert_eq!(fixture.find("rewritten").len(), 3);
    fixture.check();
}

#[test]
fn a_restored_disk_changes_rows_and_reads_nothing() {
    let fixture = Fixture::new();
    let path = fixture.put("inbox", "cur", "1.a:2,S", &message("a", "apples", "red"));
    let changed = fixture.put("inbox", "cur", "2.b:2,S", &message("b", "pears", "green"));
    fixture.update();
    // The same name, size and mtime with another inode. The content shows whether the file was read.
    let metadata = fs::metadata(&path).unwrap();
    let copy = path.with_file_name(".copy");
    fs::write(&copy, message("a", "apples", "rex")).unwrap();
    fs::File::options().append(true).open(&copy).unwrap().set_modified(metadata.modified().unwrap()).unwrap();
    fs::rename(&copy, &path).unwrap();
    let copy = changed.with_file_name(".copy");
    fs::write(&copy, message("b", "pears", "a longer text")).unwrap();
    fs::rename(&copy, &changed).unwrap();
    let summary = fixture.update();
    assert_eq!((summary.changed, summary.added, summary.gone), (2, 0, 0));
    assert_eq!(fixture.find("red"), ["apples"], "not read");
    assert_eq!(fixture.find("longer"), ["pears"], "read");
    assert_eq!(fixture.update().changed, 0);
    fixture.check();
}

#[test]
fn a_file_that_replaced_another_is_read_if_it_is_a_draft_or_all_are_checked() {
    let fixture = Fixture::new();
    let replace = |path: &Path, text: &str| {
        let time = fs::metadata(path).unwrap().modified().unwrap();
        let copy = path.with_file_name(".copy");
        fs::write(&copy, text).unwrap();
        fs::File::options().append(true).open(&copy).unwrap().set_modified(time).unwrap();
        fs::rename(&copy, path).unwrap();
    };
    let letter = fixture.put("inbox", "cur", "1.a:2,S", &message("a", "apples", "red"));
    let draft = fixture.put("inbox", "cur", "2.b:2,DS", &message("b", "pears", "red"));
    let in_drafts = fixture.put("Drafts", "cur", "3.c:2,S", &message("c", "plums", "red"));
    fixture.update();
    replace(&letter, &message("a", "apples", "rex"));
    replace(&draft, &message("b", "pears", "rex"));
    replace(&in_drafts, &message("c", "plums", "rex"));
    assert_eq!(fixture.update().changed, 3);
    assert_eq!(fixture.find("red"), ["apples"], "a restored disk is not read");
    assert_eq!(fixture.find("rex").len(), 2);
    replace(&letter, &message("a", "apples", "ron"));
    let thorough = UpdateOptions { mode: Mode::Thorough, ..UpdateOptions::default() };
    assert_eq!(fixture.update_with(&thorough).changed, 1);
    assert_eq!((fixture.find("red").len(), fixture.find("ron").len()), (0, 1));
    // The same content again: nothing but the row changes.
    replace(&letter, &message("a", "apples", "ron"));
    assert_eq!(fixture.update_with(&thorough).added, 0);
    assert_eq!(fixture.find("ron"), ["apples"]);
    fixture.check();
}

#[test]
fn a_root_that_is_missing_empty_or_nearly_so_keeps_its_rows() {
    let fixture = Fixture::new();
    for number in 0..4 {
        fixture.put(
            "inbox",
            "cur",
            &format!("{number}.a:2,S"),
            &message(&number.to_string(), "hello", "text"),
        );
    }
    fixture.update();
    let away = fixture.directory.path().join("away");
    fs::rename(fixture.root(), &away).unwrap();
    let summary = fixture.update();
    assert_eq!((summary.gone, summary.problems.len()), (0, 1));
    fs::create_dir(fixture.root()).unwrap();
    let summary = fixture.update();
    assert_eq!((summary.gone, summary.problems.len()), (0, 1));
    fs::create_dir_all(fixture.root().join("inbox/cur")).unwrap();
    let summary = fixture.update();
    assert_eq!((summary.gone, summary.problems.len()), (0, 1));
    assert_eq!(summary.problems[0].remedy, Some(index::Remedy::AcceptLoss), "{:?}", summary.problems);
    assert_eq!(fixture.find("hello").len(), 4);
    assert_eq!(fixture.update_with(&accept()).gone, 4);
    assert_eq!(fixture.find("hello").len(), 0);
    fixture.check();
}

#[test]
fn a_directory_that_cannot_be_listed_keeps_its_rows() {
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "1.a:2,S", &message("a", "apples", "red"));
    fixture.put("other", "cur", "2.b:2,S", &message("b", "pears", "green"));
    fixture.update();
    // A file replaces the directory, so that listing it fails even for root.
    fs::rename(fixture.root().join("inbox/cur"), fixture.root().join("aside")).unwrap();
    fs::write(fixture.root().join("inbox/cur"), "").unwrap();
    fixture.put("other", "cur", "3.c:2,S", &message("c", "plums", "blue"));
    let summary = fixture.update();
    assert_eq!((summary.added, summary.gone), (1, 0));
    assert_eq!(summary.problems.len(), 1, "{:?}", summary.problems);
    assert_eq!(fixture.find("apples"), ["apples"]);
    fixture.check();
}

#[test]
fn an_unreadable_file_is_reported_and_tried_again() {
    let fixture = Fixture::new();
    let path = fixture.put("inbox", "cur", "1.a:2,S", "");
    // Not even root can read a broken gzip file.
    fs::write(&path, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]).unwrap();
    fixture.put("inbox", "cur", "2.b:2,S", &message("b", "pears", "green"));
    let summary = fixture.update();
    assert_eq!((summary.added, summary.problems.len()), (1, 1));
    assert_eq!(summary.problems[0].path, path);
    let what = &summary.problems[0].what;
    assert!(what.starts_with("it is a damaged compressed file: "), "the name is told beside it: {what}");
    fs::write(&path, b"\x04\x22\x4d\x18\x64\x40\xa7 and the rest").unwrap();
    let summary = fixture.update();
    assert_eq!((summary.added, summary.problems.len()), (0, 1));
    let what = &summary.problems[0].what;
    assert!(what.starts_with("it was compressed by lz4, which cannot be read; "), "{what}");
    fs::write(&path, message("a", "apples", "red")).unwrap();
    let summary = fixture.update();
    assert_eq!((summary.added, summary.problems.len()), (1, 0));
    fixture.check();
}

#[test]
fn a_folder_with_noupdate_is_left_alone_and_one_with_noindex_left_out() {
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "1.a:2,S", &message("a", "apples", "red"));
    fixture.put("quiet", "cur", "2.b:2,S", &message("b", "pears", "green"));
    fixture.put("stays", "cur", "4.d:2,S", &message("d", "nuts", "brown"));
    fixture.update();
    fs::write(fixture.root().join("quiet/.noupdate"), "").unwrap();
    fixture.put("quiet", "cur", "3.c:2,S", &message("c", "plums", "blue"));
    let summary = fixture.update();
    assert_eq!((summary.added, summary.gone), (0, 0));
    assert_eq!(fixture.find("pears"), ["pears"]);
    fs::write(fixture.root().join("inbox/.noindex"), "").unwrap();
    assert_eq!(fixture.update().gone, 1);
    assert!(fixture.find("apples").is_empty());
    fixture.check();
}

#[test]
fn names_are_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = Fixture::new();
    fixture.put("inbox", "cur", "x", &message("x", "first", "text"));
    let directory = fixture.root().join("inbox/cur");
    let names: [&[u8]; 5] = [b"1.A", b"1.a", b"1.\xff\xfe:2,S", b"1.new\nline:2,F", b"1.a\xcc\x81"];
    for (number, name) in names.iter().enumerate() {
        let path = directory.join(std::ffi::OsStr::from_bytes(name));
        fs::write(path, message(&format!("n{number}"), &format!("name {number}"), "text")).unwrap();
    }
    fixture.update();
    assert_eq!(fixture.find("text").len(), 6);
    assert_eq!(fixture.update().file_count, 6);
    fixture.check();
}

#[test]
fn many_batches_give_the_same_result_as_one() {
    let one = Fixture::new();
    let many = Fixture::new();
    for number in 0..300 {
        let content =
            message(&format!("m{}", number % 250), &format!("subject {}", number % 250), "some words");
        for fixture in [&one, &many] {
            fixture.put(&format!("f{}", number % 7), "cur", &format!("{number}.x:2,S"), &content);
        }
    }
    one.update();
    many.update_with(&UpdateOptions { batch_message_count: 17, ..UpdateOptions::default() });
    assert_eq!(one.dump(), many.dump());
    assert_eq!(one.find("words"), many.find("words"));
    assert_eq!(many.update().added, 0);
    one.check();
    many.check();
}

#[test]
fn an_index_that_was_deleted_gives_the_same_answers_again() {
    let fixture = Fixture::new();
    for number in 0..40 {
        fixture.put(
            "inbox",
            "cur",
            &format!("{number}.x:2,S"),
            &message(&number.to_string(), &format!("s{number}"), "word"),
        );
        if number % 10 == 9 {
            fixture.update();
        }
    }
    let (before, found) = (fixture.dump(), fixture.find("word"));
    fs::remove_dir_all(fixture.environment.index_directory()).unwrap();
    fixture.update();
    assert_eq!(fixture.dump(), before);
    assert_eq!(fixture.find("word"), found, "in the same order");
}

#[test]
fn two_roots_with_the_same_folders_are_kept_apart() {
    let mut fixture = Fixture::new();
    let second = fixture.directory.path().join("work");
    fs::create_dir_all(second.join("inbox/cur")).unwrap();
    fs::write(second.join("inbox/cur/1.a:2,S"), message("w", "work", "text")).unwrap();
    fixture.put("inbox", "cur", "1.a:2,S", &message("h", "home", "text"));
    fixture.roots.push(index::Root { name: "work".into(), path: second.clone() });
    assert_eq!(fixture.update().added, 2);
    assert_eq!(fixture.find(&format!("path:{}", second.join("inbox/cur/1.a:2,S").display())), ["work"]);
    fs::remove_dir_all(&second).unwrap();
    let summary = fixture.update();
    assert_eq!((summary.gone, summary.problems.len()), (0, 1));
    assert_eq!(fixture.find("text").len(), 2);
    fixture.check();
}

#[test]
fn a_message_over_the_limit_is_read_in_pieces_to_its_end() {
    let options = UpdateOptions { message_bytes_max: 300_000, ..UpdateOptions::default() };
    let filler = "filler ".repeat(60_000);
    let long = |end: &str| {
        let part = |header: &str, body: &str| format!("--b\n{header}\n\n{body}\n");
        let body = part("", "beginning")
            + &part("Content-Type: application/x; name=first.bin", &filler)
            + &part("Content-Type: application/x; name=second.bin", &filler)
            + &part("Content-Type: text/plain", end);
        format!("Content-Type: multipart/mixed; boundary=b\n{}--b--\n", message("a", "long", &body))
    };
    let dumps = [UpdateOptions::default(), options].map(|options| {
        let fixture = Fixture::new();
        fixture.put("inbox", "cur", "1.a:2,S", &long("one"));
        fixture.put("inbox", "cur", "2.b:2,S", &long("two"));
        let path = fixture.put("inbox", "cur", "3.c:2,S", "");
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(long("two").as_bytes()).unwrap();
        fs::write(path, encoder.finish().unwrap()).unwrap();
        let summary = fixture.update_with(&options);
        assert_eq!(
            (summary.added, summary.new_messages, summary.problems.len()),
            (3, 2, 0),
            "a compressed copy is one"
        );
        assert_eq!((fixture.find("beginning").len(), fixture.find("one").len()), (2, 1));
        assert_eq!(fixture.find("file:second.bin").len(), 2);
        let mailbox = fixture.mailbox();
        let hits = mailbox.find(&crate::support::query("one"), &index::Order::default()).unwrap();
        let message = mailbox.message(&hits.list[0], &mut index::RecordReader::new()).unwrap();
        assert!(message.rest.problems.is_empty(), "{:?}", message.rest.problems);
        assert!(message.line.size_bytes > 800_000);
        // A message that is already known is not parsed again.
        fs::rename(fixture.root().join("inbox/cur/1.a:2,S"), fixture.root().join("inbox/cur/4.d:2,S"))
            .unwrap();
        fixture.put("inbox", "cur", "5.e:2,S", &long("one"));
        assert_eq!(fixture.update_with(&options).new_messages, 0);
        fixture.check();
        fixture.dump()
    });
    assert_eq!(dumps[0], dumps[1]);
}

#[test]
fn a_move_right_after_the_first_index_is_a_move() {
    let mut fixture = Fixture::new();
    // With the real clock, every directory changed too recently for its times to be trusted.
    fixture.environment.context.clock_ns = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        i64::try_from(now.as_nanos()).unwrap()
    };
    fixture.put("inbox", "new", "1.a", &message("a", "apples", "red"));
    fixture.put("archive", "cur", "2.b:2,S", &message("b", "pears", "green"));
    fixture.update();
    fs::rename(fixture.root().join("inbox/new/1.a"), fixture.root().join("archive/cur/1.a:2,S")).unwrap();
    let summary = fixture.update();
    assert_eq!((summary.moved, summary.added, summary.gone), (1, 0, 0));
    let again = fixture.update();
    assert_eq!((again.moved, again.changed, again.gone), (0, 0, 0));
}

#[test]
fn a_folder_with_an_unreadable_file_is_written_once() {
    let fixture = Fixture::new();
    let path = fixture.put("inbox", "cur", "1.a:2,S", "");
    fs::write(&path, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]).unwrap();
    fixture.put("inbox", "cur", "2.b:2,S", &message("b", "pears", "green"));
    fixture.put("other", "cur", "3.c:2,S", &message("c", "plums", "blue"));
    fixture.update();
    let rows = fixture.mailbox().counts().unwrap().journal_rows;
    assert_eq!(fixture.update().problems.len(), 1);
    assert_eq!(fixture.mailbox().counts().unwrap().journal_rows, rows, "nothing new is committed");
    fs::rename(fixture.root().join("inbox/cur/2.b:2,S"), fixture.root().join("other/cur/2.b:2,S")).unwrap();
    assert_eq!(fixture.update().moved, 1, "the folder's device is known");
}

type Pack = fn(&[u8]) -> Vec<u8>;

#[test]
fn compressed_messages_are_found_by_their_words() {
    let fixture = Fixture::new();
    let packers: [Pack; 3] = [
        |bytes| liblzma::encode_all(bytes, 0).unwrap(),
        |bytes| {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(1));
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        },
        |bytes| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        },
    ];
    for (number, pack) in packers.into_iter().enumerate() {
        let text = message(&format!("m{number}"), &format!("subject {number}"), "apples");
        let path = fixture.put("inbox", "cur", &format!("{number}.a:2,S"), "");
        fs::write(path, pack(text.as_bytes())).unwrap();
    }
    let summary = fixture.update();
    assert_eq!((summary.added, summary.problems), (3, vec![]));
    assert_eq!(fixture.find("apples").len(), 3);
    assert!(fixture.mailbox().resolve("id:m0@example.org").is_ok());
}
