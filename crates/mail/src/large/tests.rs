//! Messages read in pieces parse the same as in memory, however small the pieces.
//!
//! Covers the test messages, odd ones made here, and real mail if available.

use super::*;
use crate::bytes::with_line_feeds;
use crate::extract::parts::{MessageParts, content_again, transfer};
use crate::message::parse::parse;
use crate::mime::parts::{Body, Part};
use proptest::prelude::*;
use std::io::Write;
use std::path::PathBuf;

const CONTEXT: Context<'static> = Context::new(1_700_000_000);

/// Windows so small that nearly every message is large.
fn window_limits() -> [WindowLimits; 4] {
    [(3, 1), (7, 40), (64, 200), (4096, 1500)].map(|(step_bytes, small_bytes)| WindowLimits {
        step_bytes,
        small_bytes,
        rewind_count: usize::MAX,
        rewind_bytes: u64::MAX,
    })
}

fn in_pieces(bytes: &[u8], limits: WindowLimits) -> Message {
    let mut large = LargeMessage::of_bytes(bytes, Path::new("a test")).unwrap();
    let mut size = 0;
    let extent = large.each_block(&mut |block| size = wide(block.len()).saturating_add(size)).unwrap();
    assert_eq!(extent, Extent { size_bytes: size, is_cut: false });
    sorted(large.parse_by(limits, &CONTEXT).unwrap())
}

/// Puts problems in an order that does not depend on when they were met.
fn sorted(mut message: Message) -> Message {
    message.problems.sort_by_key(ToString::to_string);
    message
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn check(name: &str, bytes: &[u8], window_limits: &[WindowLimits]) {
    let expected = sorted(parse(bytes, &CONTEXT));
    let expected_contents = contents(bytes);
    let mut large = LargeMessage::of_bytes(bytes, Path::new("a test")).unwrap();
    large.each_block(&mut |_| {}).unwrap();
    let list = MessageParts::of_large(&large).unwrap().list().unwrap();
    assert_eq!(list, MessageParts::of_bytes(bytes).list().unwrap(), "{name}");
    for limits in window_limits {
        assert!(
            contents_in_pieces(bytes, *limits) == expected_contents,
            "the contents of {name} by {limits:?}"
        );
        let found = in_pieces(bytes, *limits);
        assert!(
            found == expected,
            "{name} by {limits:?}\n--- in memory\n{expected:#?}\n--- in pieces\n{found:#?}"
        );
    }
}

/// A part's parent, its type, and its decoded content.
type Content = (Option<usize>, String, Vec<u8>);

/// Returns the contents of all parts, as they are given out of a message in memory.
fn contents(bytes: &[u8]) -> Vec<Content> {
    let lines = with_line_feeds(bytes);
    let parts = crate::mime::parts::take_apart(&split(skip_envelope(&lines)), &mut Problems::default());
    let content = |(index, part): (usize, &Part<'_>)| {
        let content = match &part.body {
            Body::Multipart => Vec::new(),
            Body::Message { whole: Some(whole), .. } => whole.to_vec(),
            Body::Message { .. } => content_again(bytes, index).unwrap(),
            Body::Smime { bytes, .. } | Body::Leaf(bytes) => decoded(bytes, part),
        };
        (part.parent, part.content.mime.clone(), content)
    };
    parts.iter().enumerate().map(content).collect()
}

/// Returns the contents of all parts, as they are given out of a message in pieces.
fn contents_in_pieces(bytes: &[u8], limits: WindowLimits) -> Vec<Content> {
    let mut large = LargeMessage::of_bytes(bytes, Path::new("a test")).unwrap();
    large.each_block(&mut |_| {}).unwrap();
    let window = || Window::new(&large.source, limits).unwrap();
    let small = limits.small_bytes;
    let (_, parts) = walk::take_apart(&mut window(), small, &mut Problems::default()).unwrap();
    let content = |(index, part): (usize, &Part<'_>)| {
        let content = match (&part.unloaded, &part.body) {
            (_, Body::Multipart) => Vec::new(),
            (Some(range), _) => {
                let mut joined = Vec::new();
                let mut join = |block: &[u8]| joined.extend_from_slice(block);
                decode::each_block(&mut window(), range, transfer(part), &mut join).unwrap();
                joined
            }
            (None, Body::Smime { bytes, .. } | Body::Leaf(bytes)) if !bytes.is_empty() => {
                decoded(bytes, part)
            }
            _ => {
                let kept = walk::content_in_memory(&mut window(), small, index).unwrap();
                decoded(&kept.unwrap_or_default(), part)
            }
        };
        (part.parent, part.content.mime.clone(), content)
    };
    parts.iter().enumerate().map(content).collect()
}

fn decoded(bytes: &[u8], part: &Part<'_>) -> Vec<u8> {
    crate::decode::transfer::decode(bytes, transfer(part)).0.into_owned()
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[test]
fn test_messages_are_the_same_in_pieces() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/mail");
    let mut paths = Vec::new();
    files(&directory, &mut paths);
    let mut count = 0;
    for path in paths.iter().filter(|path| path.extension().is_some_and(|end| end == "eml")) {
        check(&path.display().to_string(), &std::fs::read(path).unwrap(), &window_limits());
        count += 1;
    }
    assert!(count >= 100, "{count}");
}

#[test]
fn real_messages_are_the_same_in_pieces() {
    let Some(mail) = testkit::real_mail() else { return };
    let mut paths = mail.edge().to_vec();
    files(mail.maildir(), &mut paths);
    for (number, path) in paths.iter().enumerate() {
        // Messages of megabytes are read by the larger windows.
        let bytes = std::fs::read(path).unwrap();
        let first = if bytes.len() > 100_000 { 2 } else { number % 3 };
        check(&path.display().to_string(), &bytes, &window_limits()[first..=first]);
        check(&path.display().to_string(), &bytes, &window_limits()[3..]);
    }
}

#[test]
fn odd_structures_are_the_same_in_pieces() {
    let multipart = |body: &str| format!("Subject: s\nContent-Type: multipart/mixed; boundary=b\n\n{body}");
    let inner = "Content-Type: multipart/alternative; boundary=c\n\n--c\n\none\n\n\
        --c\nContent-Type: text/html\n\n<p>two\n\n";
    let nested = "Content-Type: message/rfc822\n\nSubject: in\n\ninner text of some length\n";
    let encoded = "Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n\
        Subject: in\n\n=41=\nB\n";
    for text in [
        String::new(),
        "A: b".to_owned(),
        "From a\nSubject: x\n\n".to_owned(),
        "no header at all\nbut two lines\nand a third\n".to_owned(),
        "Subject: x\njunk\nTo: a@b\nbody begins here\nand goes on\n".to_owned(),
        "\u{feff}\r\n\r\nSubject: bom\r\n\r\nbody\r\n".to_owned(),
        "Subject: mac\rTo: a@b\r\rbody\rof lines\r".to_owned(),
        multipart("preamble\n--b\n\none\n--b\n\ntwo\n--b--\nepilogue\n--b\n\nthree\n"),
        multipart("--b\n\none\n--b\n\ntwo\n"),
        multipart("no parts\n"),
        multipart("--x\nContent-Type: a/b\n\none\n--x--\n"),
        multipart("lost its boundary\n--b--\n"),
        multipart("\nContent-Type: text/html\n\none, a preamble\n--b--\n"),
        multipart("  \n--b--\n"),
        multipart("--b\n--b\n\n--b\nno header, no empty line\n--b--"),
        multipart(
            "--b\n   \n \n\t\n                                                          \n--b\n\nx\n--b--",
        ),
        multipart(&format!("--b\n{inner}\n\r\n\n--b\n\nlast\n--b--\n")),
        multipart(&format!("--b\n{inner}--c--\nepilogue of c\n--b\n{nested}\n\n--b\n{encoded}\n--b--\n")),
        multipart(&format!("--b\n{nested}--b\n{encoded}")),
        multipart(&format!("--b\n{}", inner.replace('c', "b"))),
        multipart(&format!("--b\nContent-Type: message/rfc822\n\nSubject: m\n{inner}\n--b--\n")),
        multipart(&format!("--b\nContent-Type: message/rfc822\n\nSubject: m\n{inner}--c\n--b--\n")),
        multipart("--b\nContent-Type: message/rfc822\n\nno header in here\n--b--\n"),
        multipart(
            "--b\nContent-Type: application/x; name=a.bin\nContent-Transfer-Encoding: base64\n\n\
            QUJDRA==\n\n____\nfooter text\n--b--\n",
        ),
        multipart(
            "--b\nContent-Type: text/plain; name=a.txt\nContent-Transfer-Encoding: base64\n\n\
            QUJD\nRA==\n--b--\n",
        ),
        multipart(
            "--b\nContent-Type: multipart/mixed; boundary=never\n\n\
            --guess\nContent-Type: a/b\n\nx\n--guess--\n--b--\n",
        ),
        multipart("--b\nContent-Type: multipart/mixed\n\nnothing to be guessed --x\n--b--\n"),
        multipart(
            "--b\nContent-Type: multipart/digest; boundary=d\n\n--d\n\nSubject: one\n\nfirst\n--d--\n--b--\n",
        ),
        "Content-Type: message/rfc822\n\n".repeat(60) + "A: b\n\ndeep\n",
        multipart(&"--b\n\nx\n".repeat(crate::limits::PART_COUNT_MAX.saturating_add(2))),
    ] {
        check(&text[..text.floor_char_boundary(300)], text.as_bytes(), &window_limits());
        check("the same with CRLF", text.replace('\n', "\r\n").as_bytes(), &window_limits());
    }
}

#[test]
fn a_compressed_message_is_read_in_pieces() {
    let text = "Subject: packed\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nwords in it\n\
        --b\nContent-Type: a/b; name=n\n\n";
    let bytes = [text.as_bytes(), &[b'x'; 5000], b"\n--b--\n"].concat();
    let packed = gzip(&bytes);
    let expected = sorted(parse(&bytes, &CONTEXT));
    for limits in window_limits() {
        assert_eq!(in_pieces(&packed, limits), expected);
    }
    let mut large =
        LargeMessage::of_bytes(packed.get(..packed.len().saturating_sub(20)).unwrap(), Path::new("cut.gz"))
            .unwrap();
    let error = large.each_block(&mut |_| {}).unwrap_err();
    assert!(error.to_string().starts_with("cut.gz is a damaged compressed file: "), "{error}");
    assert!(matches!(LargeMessage::of_bytes(b"\x1f\x9d\x90", Path::new("a")), Err(Error::Unreadable { .. })));
}

#[test]
fn a_message_that_would_be_gone_back_in_without_end_is_read_once() {
    let piece = "--b\nContent-Type: multipart/mixed; boundary=never\n\nsome words without any boundary\n"
        .to_owned()
        + &"and more of them\n".repeat(200);
    let text = format!("Content-Type: multipart/mixed; boundary=b\n\n{}--b--\n", piece.repeat(300));
    let limits = WindowLimits { step_bytes: 7, small_bytes: 1, rewind_count: 20, rewind_bytes: u64::MAX };
    let count = |bytes: &[u8], limits: WindowLimits| {
        let message = in_pieces(bytes, limits);
        assert!(message.problems.contains(&Problem::TextCut), "{:?}", message.problems);
        message.text.matches("some words").count()
    };
    let found = count(text.as_bytes(), limits);
    assert!((1..20).contains(&found), "{found}");
    // Bytes that are decompressed again are counted too.
    let packed = gzip(text.as_bytes());
    assert_eq!(count(&packed, limits), found);
    let few_bytes = WindowLimits { rewind_bytes: 5 * wide(piece.len()), ..limits };
    assert_eq!(count(text.as_bytes(), few_bytes), found);
    let found_packed = count(&packed, few_bytes);
    assert!((1..found).contains(&found_packed), "{found_packed} of {found}");
}

proptest! {
    #[test]
    fn any_lines_are_the_same_in_pieces(
        lines in proptest::collection::vec(
            proptest::sample::select(vec![
                "--b\n", "--b--\n", "--c\r\n", "--c--\n", "--d\n", "\n", "\r\n", " \n", "x\n", "--\n",
                "word = and =\n", "Content-Type: multipart/mixed; boundary=b\n",
                "Content-Type: multipart/mixed; boundary=c\r\n", "Content-Type: multipart/alternative\n",
                "Content-Type: message/rfc822\n", "Content-Type: text/html\n",
                "Content-Type: a/b; name=n\n", "Content-Transfer-Encoding: base64\n", "QUJD\n", "QQ==\n",
                "Content-Transfer-Encoding: quoted-printable\n", "Subject: s\n", "From x\n",
                "caf=C3=A9=\n",
            ]),
            0..40,
        ),
    ) {
        let text: String = lines.concat();
        let expected = sorted(parse(text.as_bytes(), &CONTEXT));
        for limits in window_limits() {
            prop_assert_eq!(&in_pieces(text.as_bytes(), limits), &expected, "{:?}", limits);
        }
    }
}

#[test]
fn reading_ends_when_it_is_stopped() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let long = format!("Subject: long\n\n{}", "line\n".repeat(1 << 18));
    let asked = Arc::new(AtomicUsize::new(0));
    let stopped_after = |count: usize| {
        let asked = Arc::clone(&asked);
        asked.store(0, Ordering::Relaxed);
        let large = LargeMessage::of_bytes(long.as_bytes(), Path::new("a test")).unwrap();
        large.stopped_by(Arc::new(move || asked.fetch_add(1, Ordering::Relaxed) >= count))
    };
    stopped_after(usize::MAX).identify().unwrap();
    let piece_count = asked.load(Ordering::Relaxed);
    assert!(piece_count > 3);
    for count in 0..piece_count {
        assert!(stopped_after(count).identify().is_err(), "{count}");
        assert_eq!(asked.load(Ordering::Relaxed), count + 1, "nothing is read after it");
    }
    assert!(stopped_after(1).parse(&CONTEXT).is_err());
}
