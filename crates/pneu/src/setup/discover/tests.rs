//! What each program's files say, in all the ways that they may say it.

use super::*;

fn whereabouts() -> Whereabouts {
    Whereabouts {
        home: Some("/home/ana".into()),
        config_home: Some("/home/ana/.config".into()),
        cache_home: Some("/home/ana/.cache".into()),
        user: Some("ana".into()),
        ..Whereabouts::default()
    }
}

/// Returns what one file names.
fn said(program: Program, text: &str) -> Vec<String> {
    let at = At { home: Some(Path::new("/home/ana")), user: Some("ana") };
    directories(program, text, &at).iter().map(|path| path.display().to_string()).collect()
}

#[test]
fn mbsync_names_the_maildirs_of_its_stores() {
    let text = "\
IMAPAccount work
Host imap.example.org
PassCmd \"cat ~/secret; echo Path /evil\"

IMAPStore work-remote
Account work
Path Remote/

MaildirStore work-local
# Path ~/old
Path ~/Mail/work/
INBOX \"~/Mail/work/In box\"

MaildirStore plain

Channel work
Far :work-remote:
Near :work-local:
";
    assert_eq!(
        said(Program::Mbsync, text),
        ["/home/ana/Mail/work", "/home/ana/Mail/work/In box", "/home/ana/Maildir"]
    );
    assert_eq!(said(Program::Mbsync, "MaildirStore a\npath /srv/mail"), ["/srv/mail"]);
    assert!(said(Program::Mbsync, "").is_empty());
}

#[test]
fn notmuch_has_one_database() {
    let text = "[user]\npath=/no\n[database]\n# path=/no\npath=Mail\n[new]\npath=/no\n";
    assert_eq!(said(Program::Notmuch, text), ["/home/ana/Mail"]);
    let both = "[database]\nmail_root = ~/Mail\npath = ~/.local/share/notmuch\n";
    assert_eq!(said(Program::Notmuch, both), ["/home/ana/Mail"]);
    assert!(said(Program::Notmuch, "path=/no\n[database]\npath=`pwd`\n").is_empty());
}

#[test]
fn mu_logs_what_it_indexed() {
    let text = "1 ** Message: created indexer for /home/ana/old -> /x\n\
                2 ** Message: created indexer for /home/ana/My -> Mail -> /home/ana/.cache/mu/xapian\n3 \
                other\n";
    assert_eq!(said(Program::Mu, text), ["/home/ana/My -> Mail"]);
    assert!(said(Program::Mu, "created indexer for here -> /x\n").is_empty());
}

#[test]
fn mutt_names_folders_and_runs_nothing() {
    let text = "\
# set folder=/no
set from=a@example.org folder = \"~/no\"
set folder=~/Mail spoolfile=+inbox
mailboxes -label x =lists/a \"+with space\" \\
  ~/Other `find ~/Maildir -type d` imaps://host/INBOX
set record = \"=sent\"
";
    let expected = [
        "/home/ana/Mail",
        "/home/ana/Mail/inbox",
        "/home/ana/Mail/lists/a",
        "/home/ana/Mail/with space",
        "/home/ana/Other",
    ];
    assert_eq!(said(Program::Mutt, text), expected);
    assert_eq!(said(Program::Mutt, "set spoolfile = +in\n"), ["/home/ana/Mail/in"]);
    assert!(said(Program::Mutt, "set folder=`id`\nmailboxes =a\nset folder=imap://h/\n").is_empty());
}

#[test]
fn dovecot_keeps_mail_where_it_can_be_told() {
    for (text, expected) in [
        ("mail_location = maildir:~/Maildir:LAYOUT=fs\n", &["/home/ana/Maildir"][..]),
        ("  mail_location=maildir:/var/mail/%u/Maildir", &["/var/mail/ana/Maildir"]),
        ("mail_location = maildir:%h/M", &["/home/ana/M"]),
        ("mail_location = mbox:~/mail:INBOX=/var/mail/%u\n", &[]),
        ("#mail_location = maildir:~/Maildir\n", &[]),
        ("mail_location = maildir:/var/%d/%n\n", &[]),
        (
            "mail_driver = maildir\nmail_path = ~/mail\nmail_inbox_path = %{home}/in\n",
            &["/home/ana/mail", "/home/ana/in"],
        ),
        ("mail_path = ~/mail\nmail_driver = sdbox\n", &[]),
        ("mail_driver=maildir\nmail_path=/srv/%{user | username}", &["/srv/ana"]),
    ] {
        assert_eq!(said(Program::Dovecot, text), expected, "{text}");
    }
}

#[test]
fn each_directory_is_a_candidate_once_and_the_home_directory_none() {
    let source = |program, path: &str| Source { program, path: path.into() };
    let texts = [
        (source(Program::Notmuch, "/home/ana/.notmuch-config"), "[database]\npath=~/Mail/\n".to_owned()),
        (
            source(Program::Mutt, "/home/ana/.muttrc"),
            "set folder=~\nmailboxes / /home ~/Mail/work /srv/m ~/x/../..\n".to_owned(),
        ),
    ];
    let mut whereabouts = whereabouts();
    whereabouts.maildir = Some("/home/ana/Maildir/".into());
    let found = candidates(&whereabouts, &texts);
    let shown: Vec<String> = found
        .iter()
        .map(|one| format!("{} {}", one.path.display(), one.told_by.as_deref().unwrap_or("-")))
        .collect();
    let expected = [
        "/home/ana/Maildir $MAILDIR",
        "/home/ana/Mail -",
        "/home/ana/mail -",
        "/home/ana/.mail -",
        "/home/ana/.local/share/mail -",
        "/home/ana/Mail/work /home/ana/.muttrc",
        "/srv/m /home/ana/.muttrc",
    ];
    assert_eq!(shown, expected);
    let many: String = (0..200).map(|number| format!("mailboxes /m/{number}\n")).collect();
    let texts = [(source(Program::Mutt, "/x"), many)];
    assert_eq!(candidates(&whereabouts, &texts).len(), CANDIDATE_COUNT_MAX);
}

#[test]
fn roots_do_not_lie_in_one_another_and_have_names_of_their_own() {
    let candidate = |path: &str| Candidate { path: path.into(), told_by: None };
    let there = |path: &str| (PathBuf::from(path), candidate(path));
    let all = ["/a/Mail/work", "/a/Mail", "/a/Mail2", "/b/mail", "/c/.größe!"].map(there);
    let link = (PathBuf::from("/a/Mail/work"), candidate("/d/link"));
    let outer = outermost(&[&all[..], &[link, there("/a/Mail")]].concat());
    let roots: Vec<(String, PathBuf)> =
        roots(&outer).into_iter().map(|root| (root.name, root.path)).collect();
    let expected = [("mail", "/a/Mail"), ("mail2", "/a/Mail2"), ("mail3", "/b/mail"), ("gre", "/c/.größe!")]
        .map(|(name, path)| (name.to_owned(), PathBuf::from(path)));
    assert_eq!(roots, expected);
    assert_eq!(super::roots(&[candidate("/a/work")])[0].name, "mail");
    assert_eq!(root_name(Path::new("/")), "mail");
    assert_eq!(root_name(Path::new(&"x".repeat(99))).len(), 48);
}

#[test]
fn files_are_looked_for_where_programs_have_them() {
    let mut whereabouts = whereabouts();
    let paths = |whereabouts: &Whereabouts| -> Vec<String> {
        sources(whereabouts).iter().map(|source| source.path.display().to_string()).collect()
    };
    let all = paths(&whereabouts);
    for path in [
        "/home/ana/.mbsyncrc",
        "/home/ana/.config/isyncrc",
        "/home/ana/.notmuch-config",
        "/home/ana/.config/notmuch/default/config",
        "/home/ana/.cache/mu/mu.log",
        "/home/ana/.muttrc",
        "/home/ana/.config/neomutt/neomuttrc",
        "/etc/dovecot/conf.d/10-mail.conf",
    ] {
        assert!(all.iter().any(|known| known == path), "{path}");
    }
    whereabouts.notmuch_config = Some("/n".into());
    let all = paths(&whereabouts);
    assert!(all.contains(&"/n".to_owned()) && !all.contains(&"/home/ana/.notmuch-config".to_owned()));
}
