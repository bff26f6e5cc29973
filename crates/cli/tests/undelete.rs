//! `pneu undelete` where it must be careful: other machines' snapshots, disks that are not mounted, mail that
//! is there but not indexed.

use crate::archive::{Archived, archived};
use crate::support::{Home, Run, run};
use std::fs;
use std::path::Path;

/// Makes a repository with one backup of the sample.
fn backed_up() -> Archived {
    let home = archived();
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    home
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn mail_of_another_mailbox_comes_back_only_where_somebody_says() {
    let other = backed_up();
    let home = Home::indexed();
    let run = |arguments: &[&str]| -> Run {
        let mut command = home.command(arguments);
        command.env("RESTIC_REPOSITORY", other.home.path().join("repository"));
        command.env("RESTIC_PASSWORD", other.password);
        run(&mut command)
    };
    let file = home.mail().join("lists/rust/cur/3:2,FS");
    fs::remove_file(&file).unwrap();
    fs::remove_file(other.home.mail().join("lists/rust/cur/3:2,FS")).unwrap();
    let refused = run(&["undelete", "tubes"]);
    assert!(refused.code == Some(3) && refused.err.contains("below no root of this index"), "{refused:?}");
    assert!(refused.err.contains("--to DIR") && refused.out.is_empty(), "{refused:?}");
    assert!(names(&other.home.mail().join("lists/rust/cur")).is_empty());
    let back = run(&["undelete", "--to", "Mail/.Back", "tubes"]);
    assert!(back.code == Some(0) && back.out.ends_with("/Mail/.Back/cur/3:2,FS\n"), "{back:?}");
    // A Maildir that was moved here is not another one.
    fs::remove_file(back.out.trim_end()).unwrap();
    fs::rename(other.home.mail(), other.home.path().join("gone")).unwrap();
    let back = run(&["undelete", "tubes"]);
    assert_eq!((back.code, back.out.trim_end()), (Some(0), &*file.display().to_string()), "{back:?}");
}

#[test]
fn what_the_index_does_not_look_at_is_not_put_there_twice() {
    let home = backed_up();
    let folder = home.home.mail().join("lists/rust");
    fs::write(folder.join(".noindex"), "").unwrap();
    for _ in 0..2 {
        let there = home.run(&["undelete", "tubes"]);
        assert!(there.code == Some(1) && there.err.contains("in a folder that is not indexed"), "{there:?}");
        assert_eq!(names(&folder.join("cur")), ["3:2,FS"]);
    }
    let out = |run: &Run| (run.code, run.out.lines().count());
    assert_eq!(out(&home.run(&["undelete", "--to", "elsewhere", "tubes"])), (Some(0), 1));
    assert_eq!(out(&home.run(&["undelete", "--to", "elsewhere", "tubes"])), (Some(1), 0));
    assert_eq!(names(&home.home.path().join("elsewhere/cur")), ["3:2,FS"]);
}

#[test]
fn nothing_is_put_where_a_disk_is_not_mounted() {
    let home = backed_up();
    let mail = home.home.mail();
    fs::remove_file(mail.join("lists/rust/cur/3:2,FS")).unwrap();
    assert_eq!(home.run(&["index"]).code, Some(0));
    fs::rename(&mail, home.home.path().join("away")).unwrap();
    fs::create_dir(&mail).unwrap();
    for arguments in [&["undelete", "tubes"][..], &["undelete", "--to", "Mail/new folder", "tubes"]] {
        let refused = home.run(arguments);
        assert!(refused.code == Some(3) && refused.out.is_empty(), "{refused:?}");
        assert!(refused.err.contains("holds no Maildir any more"), "what the pass said: {refused:?}");
        assert!(refused.err.contains("is a disk not mounted?"), "{refused:?}");
        assert_eq!(names(&mail), [""; 0]);
    }
}
