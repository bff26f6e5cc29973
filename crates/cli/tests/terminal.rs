//! Tests what a person sees on a terminal: pages, colours, and nothing that controls the terminal.
//!
//! Input: the program with a terminal as its output. Output: what the terminal shows. Does not depend on how
//! pagers are started.

use crate::hostile;
use crate::support::Home;
use std::fs;

#[test]
fn a_pager_shows_messages_on_a_terminal_only() {
    let home = Home::indexed();
    let paged = |arguments: &[&str], variables: &[(&str, &str)]| {
        let run = home.on_terminal(&[&["view", "--color", "never"], arguments].concat(), variables);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
        run.out
    };
    let plain = home.good(&["view", "id:1@example.org"]);
    let page = plain.lines().map(|line| format!("page {line}\n")).collect::<String>();
    let pager = "sed 's/^/page /'";
    assert_eq!(paged(&["id:1@example.org"], &[("PAGER", pager)]), page);
    assert_eq!(paged(&["id:1@example.org"], &[("PAGER", "false"), ("PNEU_PAGER", pager)]), page);
    for variables in [[("PAGER", "")], [("PAGER", "cat")], [("PNEU_PAGER", "")]] {
        assert_eq!(paged(&["id:1@example.org"], &variables), plain);
    }
    assert_eq!(paged(&["id:1@example.org", "--no-pager"], &[("PAGER", pager)]), plain);
    let mut piped = home.command(&["view", "id:1@example.org"]);
    assert_eq!(crate::support::run(piped.env("PAGER", pager)).out, plain);
}

#[test]
fn a_pager_shows_what_is_found_on_a_terminal_only() {
    let home = Home::indexed();
    let all = ["find", "--color", "never"];
    let shown = |arguments: &[&str], variables: &[(&str, &str)]| {
        let run = home.on_terminal(&[&all, arguments].concat(), variables);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{arguments:?}: {run:?}");
        run.out
    };
    let pager = "sed 's/^/page /'";
    for format in ["plain", "json", "sexp", "paths", "mbox"] {
        let plain = shown(&["--format", format, "--no-pager"], &[("PAGER", pager)]);
        let page = plain.lines().map(|line| format!("page {line}\n")).collect::<String>();
        assert!(plain.lines().count() >= 4, "{plain}");
        assert_eq!(shown(&["--format", format], &[("PAGER", pager)]), page, "{format}");
    }
    let plain = shown(&["--no-pager"], &[]);
    for variables in [[("PAGER", "")], [("PAGER", "cat")], [("PNEU_PAGER", "")]] {
        assert_eq!(shown(&[], &variables), plain);
    }
    let one_line =
        [&["--format", "count"][..], &["--format", "links", "--links-dir", "Links"], &["--analyze"]];
    for unpaged in one_line {
        assert!(!shown(unpaged, &[("PAGER", pager)]).contains("page "), "{unpaged:?}");
    }
    let mut piped = home.command(&all);
    assert_eq!(crate::support::run(piped.env("PAGER", pager)).out.matches("page ").count(), 0);
    // Without anything to show no pager is started, and the exit code says why.
    let none = home.on_terminal(&["find", "nowhere"], &[("PAGER", "echo started")]);
    assert_eq!(
        (none.code, none.out.as_str(), none.err.as_str()),
        (Some(1), "", "pneu: no message matches\n")
    );
    let colored = home.on_terminal(&["find", "subject:first"], &[("PAGER", pager)]).out;
    assert!(colored.starts_with("page \u{1b}[36m2024-03-02 12:00\u{1b}[0m"), "{colored:?}");
}

#[test]
fn the_configuration_names_the_pager_unless_the_program_has_one_of_its_own() {
    let home = Home::indexed();
    let configuration = home.path().join(".config/pneu/config.toml");
    fs::create_dir_all(configuration.parent().unwrap()).unwrap();
    fs::write(&configuration, "pager = \"sed 's/^/ours /'\"\n").unwrap();
    let shown = |variables: &[(&str, &str)]| {
        let arguments = ["find", "--color", "never", "--fields", "s", "subject:first"];
        home.on_terminal(&arguments, variables).out
    };
    assert_eq!(shown(&[]), "ours First steps\n");
    assert_eq!(shown(&[("PAGER", "sed 's/^/any /'")]), "ours First steps\n");
    assert_eq!(
        shown(&[("PAGER", "sed 's/^/any /'"), ("PNEU_PAGER", "sed 's/^/own /'")]),
        "own First steps\n"
    );
    assert_eq!(shown(&[("PNEU_PAGER", "")]), "First steps\n");
    fs::write(&configuration, "pager = \"\"\n").unwrap();
    assert_eq!(shown(&[("PAGER", "sed 's/^/any /'")]), "First steps\n");
}

#[test]
fn a_pager_has_the_first_lines_while_others_are_read_and_may_end_there() {
    let home = Home::new();
    for number in 0..3000 {
        let subject = format!("Long {}", "subject ".repeat(20));
        let name = format!("{number}:2,");
        home.deliver("", &name, &crate::support::letter(&number.to_string(), &subject, "text"));
    }
    home.first_index();
    let find =
        |pager: &str| home.on_terminal(&["find", "--color", "never", "--fields", "s z"], &[("PAGER", pager)]);
    let early = find("head -n 1");
    assert_eq!((early.code, early.err.as_str(), early.out.lines().count()), (Some(0), "", 1), "{early:?}");
    // What is told while it runs is told after it, and signals of the terminal are the pager's.
    let missing = home.mail().join("cur/7:2,");
    fs::remove_file(missing).unwrap();
    let pager = "sh -c 'kill -INT $PPID; cat >/dev/null; echo seen'";
    let mbox = home.on_terminal(&["find", "--format", "mbox"], &[("PAGER", pager)]);
    assert_eq!((mbox.code, mbox.out.as_str()), (Some(3), "seen\n"));
    assert!(mbox.err.contains("is gone"), "{}", mbox.err);
    let order = home
        .on_terminal(&["find", "--format", "mbox"], &[("PAGER", "sh -c 'cat >/dev/null; echo seen >&2'")]);
    assert!(order.err.starts_with("seen\npneu: "), "{}", order.err);
    // A signal that ends us does not take it away. The pager may end first.
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        let pager = format!("sh -c 'cat >/dev/null; kill -{signal} $PPID'");
        let ended = home.on_terminal(&["find", "--format", "mbox"], &[("PAGER", &pager)]);
        assert!(ended.code == Some(code) || ended.code == Some(3), "{ended:?}");
        assert!(ended.err.contains("is gone"), "{ended:?}");
    }
}

#[test]
fn less_is_told_how_to_behave_unless_the_user_said_it() {
    let home = Home::indexed();
    let options = |variables: &[(&str, &str)]| {
        let pager = [("PAGER", "sh -c 'cat >/dev/null; echo $LESS $LV'")];
        home.on_terminal(&["view", "id:1@example.org"], &[&pager, variables].concat()).out
    };
    assert_eq!(options(&[]), "FRX -c\n");
    assert_eq!(options(&[("LESS", "S")]), "S -c\n");
    assert_eq!(options(&[("LV", "")]), "FRX\n");
}

#[test]
fn a_pager_that_ends_early_is_no_error_and_one_that_is_missing_is_told_of() {
    let home = Home::new();
    let long = "line\n".repeat(100_000);
    home.deliver("", "1:2,", &crate::support::letter("1", "Long", &long));
    home.first_index();
    let early =
        home.on_terminal(&["view", "--color", "never", "id:1@example.org"], &[("PAGER", "head -n 1")]);
    assert_eq!(
        (early.code, early.out.as_str(), early.err.as_str()),
        (Some(0), "From: Ana Example <ana@example.org>\n", "")
    );
    let missing = home.on_terminal(&["view", "id:1@example.org"], &[("PAGER", "no-such-pager")]);
    assert_eq!(missing.code, Some(0));
    assert!(missing.err.starts_with("pneu: cannot run the pager no-such-pager: "), "{}", missing.err);
    assert!(missing.out.ends_with("line\nline\n"));
    let wrong = home.on_terminal(&["view", "id:1@example.org"], &[("PAGER", "less '")]);
    assert_eq!(
        (wrong.code, wrong.err.as_str()),
        (Some(0), "pneu: the pager: the command has an unclosed '\n")
    );
}

#[test]
fn ctrl_c_is_for_the_pager_and_what_ends_us_is_not() {
    let home = crate::archive::archived();
    assert_eq!(home.run(&["archive", "init"]).code, Some(0));
    assert_eq!(home.run(&["archive", "backup"]).code, Some(0));
    let repository = home.home.path().join("repository");
    let locks = || fs::read_dir(repository.join("locks")).unwrap().count();
    let file = home.home.mail().join("cur/1:2,S");
    // A message is shown after all was read, its file while it is read.
    let paged = |format: &str, signals: &str| {
        let pager = format!("sh -c 'for s in {signals}; do kill -$s $PPID; done; cat >/dev/null; echo seen'");
        let variables = [
            ("PAGER", pager.as_str()),
            ("RESTIC_REPOSITORY", repository.to_str().unwrap()),
            ("RESTIC_PASSWORD", home.password),
        ];
        let run = home
            .home
            .on_terminal(&["archive", "view", "--format", format, file.to_str().unwrap()], &variables);
        (run.code, run.out, locks())
    };
    let seen = |code| (Some(code), "seen\n".to_owned(), 0);
    for format in ["plain", "raw"] {
        assert_eq!(paged(format, "INT INT INT"), seen(0), "{format}");
    }
    for (signal, code) in [("TERM", 143), ("HUP", 129)] {
        assert_eq!(paged("plain", signal), seen(code));
        // Short ones are shown before anybody looks for a signal.
        let raw = paged("raw", signal);
        assert!(raw == seen(code) || raw == seen(0), "{raw:?}");
    }
}

#[test]
fn colours_are_for_terminals_and_can_be_refused() {
    let home = Home::indexed();
    let shown = |arguments: &[&str], variables: &[(&str, &str)]| {
        home.on_terminal(&[&["view", "--no-pager", "id:1@example.org"], arguments].concat(), variables).out
    };
    assert!(shown(&[], &[]).starts_with("\u{1b}[1mFrom:\u{1b}[0m Ana"));
    assert!(shown(&[], &[("NO_COLOR", "1")]).starts_with("From: Ana"));
    assert!(shown(&["--color", "always"], &[("NO_COLOR", "1")]).starts_with("\u{1b}[1mFrom:"));
    assert!(!shown(&["-o", "html"], &[]).contains("[1m"));
}

#[test]
fn messages_stand_apart() {
    let home = Home::indexed();
    let both = ["id:1@example.org", "id:2@example.org"];
    let run = home.on_terminal(&["view", "--no-pager", "--color", "never", both[0], both[1]], &[]);
    let [first, second] = both.map(|id| home.good(&["view", id]));
    assert_eq!(run.out, format!("{first}\n{}\n\n{second}", "─".repeat(80)));
    assert_eq!(home.good(&["view", both[0], both[1]]), format!("{first}\u{c}\n{second}"));
}

#[test]
fn nothing_of_a_message_reaches_the_terminal_in_any_format() {
    let home = hostile::home();
    let find = ["plain", "json", "sexp", "paths", "mbox"].map(|format| vec!["find", "--format", format]);
    let view =
        ["plain", "html", "json", "sexp", "raw"].map(|format| vec!["view", "--format", format, "forged"]);
    for arguments in find.iter().chain(&view) {
        for pager in ["", "sed -n p"] {
            let arguments = [arguments, &["--color", "never"][..]].concat();
            let run = home.on_terminal(&arguments, &[("PAGER", pager)]);
            assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
            assert!(run.out.len() > 20, "{arguments:?}");
            hostile::assert_harmless(&run, &format!("{arguments:?}"));
        }
    }
    fs::write(home.mail().join("cur/2:2,"), b"Subject: x\r\n\r\n\x1b[2J\x0c\xe2\x80\xae").unwrap();
    let run = home.on_terminal(&["view", "-o", "raw", "--no-pager", "Mail/cur/2:2,"], &[]);
    assert_eq!(run.out, "Subject: x\n\n\u{fffd}[2J\n\u{fffd}");
}

#[test]
fn a_long_name_does_not_hide_the_address_of_a_contact() {
    let home = Home::new();
    let name = format!("Ana Bank <ana@bank.example>{}", " of the city".repeat(9));
    let mail = format!("Message-ID: <1@x>\nFrom: \"{name}\" <evil@x.example>\nSubject: x\n\nx\n");
    home.deliver("", "1:2,S", mail.as_bytes());
    home.first_index();
    let shown = home.on_terminal(&["contacts"], &[]).out;
    assert!(shown.ends_with("…\" <evil@x.example>\n"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn information_is_not_cut() {
    let home = Home::indexed();
    let data = home.path().join("d".repeat(100));
    fs::rename(home.data(), &data).unwrap();
    let shown = home.on_terminal(&["--data", data.to_str().unwrap(), "info"], &[]).out;
    assert!(shown.contains(&format!("  {}\n", data.display())), "{shown}");
}
