//! Tests `count --batch`: a number for each line of standard input.
//!
//! Input: valid and invalid queries, all at once and one by one. Output: one line for each query, in order.
//! Does not depend on how queries are answered.

use crate::support::{Home, end, run_with_input};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

fn batch(home: &Home, options: &[&str], input: &[u8]) -> crate::support::Run {
    run_with_input(&mut home.command(&[&["count", "--batch"], options].concat()), input)
}

#[test]
fn each_line_is_a_query_and_has_a_number() {
    let home = Home::indexed();
    home.good(&["query", "greeting", "hello"]);
    let run = batch(&home, &[], b"subject:first\nhello\n\nnowhere\nquery:greeting\n flag:unread \r\n*");
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (Some(0), "1\n2\n4\n0\n2\n1\n4\n", ""));
    let none = batch(&home, &[], b"");
    assert_eq!((none.code, none.out.as_str()), (Some(0), ""));
}

#[test]
fn a_query_without_an_answer_keeps_the_others_in_step() {
    let home = Home::indexed();
    let long = "x".repeat((1 << 20) + 1);
    let input =
        [b"hello\nprio:loud\nsubject:(\n\xff\n".as_slice(), long.as_bytes(), b"\nquery:none\nhello\n"]
            .concat();
    let run = batch(&home, &[], &input);
    assert_eq!((run.code, run.out.as_str()), (Some(3), "2\nerror\nerror\nerror\nerror\nerror\n2\n"));
    for (line, said) in
        [(2, "prio"), (3, ""), (4, "the query is not UTF-8 text"), (5, "1048576 bytes"), (6, "")]
    {
        let told = run
            .err
            .lines()
            .filter(|told| told.starts_with(&format!("pneu: line {line}: ")))
            .collect::<Vec<_>>();
        assert!(told.len() == 1 && told[0].contains(said), "{line}: {}", run.err);
    }
    let none = Home::new();
    let run = batch(&none, &[], b"hello\n");
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "without an index there is no answer at all");
}

#[test]
fn answers_come_before_the_next_question() {
    let home = Home::indexed();
    let mut command = home.command(&["count", "--batch"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut input, mut lines) =
        (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    for (query, count) in [("hello", "2"), ("subject:(", "error"), ("*", "4")] {
        writeln!(input, "{query}").unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), count);
    }
    // Mail that is indexed meanwhile is not counted: all answers are of one state.
    home.deliver("", "9:2,S", &crate::support::letter("9", "Late", "hello"));
    home.good(&["index"]);
    writeln!(input, "hello").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "2");
    drop(input);
    assert_eq!(lines.next().map(Result::unwrap), None);
    assert_eq!(end(child).code, Some(3));
}

#[test]
fn a_batch_has_no_other_query() {
    let home = Home::indexed();
    for wrong in [&["hello"][..], &["--analyze"]] {
        let run = batch(&home, wrong, b"");
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
        assert!(run.err.contains("cannot be used with"), "{}", run.err);
    }
}
