//! Tests what strangers try against `view --verify` and `--decrypt`: texts that imitate verdicts, changed
//! headers, signatures of other forms, and machines without gpg.
//!
//! Input: messages that gpg signed and encrypted, changed by hand. Output: lines and exit codes.

use crate::protected::{ANA, Keys, TEXT, encrypted, message, multipart, signed};
use crate::support::{Home, run_with_input};
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

#[test]
fn no_text_imitates_a_verdict() {
    let keys = Keys::new(ANA);
    let lies = "Signature: good; it is the sender's";
    let text = format!(
        "Content-Type: text/plain; charset=utf-8\n\n{lies}\n\n{lies}\
         \r\x0c\n{lies}\n\u{2028}{lies}\n\x0b{lies}\n"
    );
    let lines = |option: &str, message: &str| {
        let shown = keys.view(option, message).out;
        let own: Vec<String> =
            shown.lines().filter(|line| !line.starts_with('|')).map(str::to_owned).collect();
        assert!(shown.contains(lies), "{shown}");
        own
    };
    let only = "Only lines that begin with \"| \" are of the message.";
    let mut plain = message(&text);
    plain.insert_str(0, &format!("Subject: x\u{2029}{lies}\n"));
    assert_eq!(lines("--verify", &plain), ["Signature: none", only, ""]);
    let secret = message(&encrypted(&keys, &text, &[]));
    let own = lines("--decrypt", &secret);
    let expected = [
        "Encryption: decrypted; PGP",
        "Signature: none, so anybody may have written what is encrypted",
        only,
        "",
        "\u{c}",
        "Decrypted:",
        "",
    ];
    assert_eq!(own, expected);
    // In a list of attachments, too.
    let name = format!("Content-Disposition: attachment; filename=\"a\n {lies}\"\n\nx");
    let secret = message(&encrypted(&keys, &multipart("mixed", &[TEXT, &name]), &[]));
    assert_eq!(lines("--decrypt", &secret), expected);
}

#[test]
fn a_header_that_differs_from_the_signed_one_is_told() {
    let keys = Keys::new(ANA);
    let header = format!("From: {ANA}\nSubject: outer\nMessage-ID: <1@x>");
    let entity =
        format!("Content-Type: text/plain; hp=clear\n{header}\nDate: Mon, 2 Jan 2023 10:00:00 +0000\n\nx\n");
    let good = message(&signed(&keys, &entity));
    let shown = keys.view_as("--verify", &good, 0);
    assert!(!shown.contains("DIFFERS") && !shown.contains("Header: not signed"), "{shown}");
    let changed = keys.view_as("--verify", &good.replacen("Subject: outer", "Subject: pay now", 1), 3);
    assert!(changed.starts_with("Signature: good; it is the sender's"), "{changed}");
    assert!(
        changed.contains("\nSubject: DIFFERS; inside (signed): \"outer\"; outside: \"pay now\"\n"),
        "{changed}"
    );
    let other = keys.view_as("--verify", &good.replacen(ANA, "Boss <boss@example.org>", 1), 3);
    assert!(other.contains("it is NOT THE SENDER'S"), "{other}");
    assert!(other.contains("\nFrom: DIFFERS; inside (signed): \"Ana Ito <ana@example.org>\""), "{other}");
    let more = keys.view_as("--verify", &format!("Cc: cy@example.org\n{good}"), 0);
    assert!(more.contains("\nCc: not protected; inside (signed): nothing; outside: \"cy@example.org\"\n"));
}

#[test]
fn a_signature_around_its_text_is_checked_without_decrypting() {
    let keys = Keys::new(ANA);
    let block = keys.gpg(&["--armor", "--sign"], b"plain words\n");
    assert!(block.starts_with("-----BEGIN PGP MESSAGE-----"));
    for option in ["--verify", "--decrypt"] {
        let shown = keys.view_as(option, &message(&format!("\n{block}")), 0);
        assert!(shown.starts_with("Signature: good; it is the sender's"), "{shown}");
        assert!(shown.ends_with("\u{c}\nSigned:\n\n| plain words\n"), "{shown}");
    }
    // What is compressed may be encrypted: that is not shown unasked.
    let stored = keys.gpg(&["--armor", "--store"], b"plain words\n");
    let shown = keys.view_as("--verify", &message(&format!("\n{stored}")), 3);
    assert!(shown.starts_with("Signature: cannot be checked; PGP\n"), "{shown}");
}

#[test]
fn a_message_is_shown_though_its_signature_cannot_be_checked() {
    let keys = Keys::new(ANA);
    let good = message(&signed(&keys, TEXT));
    let large =
        good.replace("-----END PGP SIGNATURE", &format!("{}-----END PGP SIGNATURE", "A".repeat(50 << 10)));
    let shown = keys.view_as("--verify", &large, 3);
    assert!(shown.starts_with("Signature: not checked: the signature is too large\n"), "{shown}");
    assert!(shown.contains("| The plain truth\n"), "{shown}");
    let without = |option: &str, message: &str| {
        let mut command = keys.home.command(&["view", option, "-"]);
        command.env("PATH", "/nowhere");
        let run = run_with_input(&mut command, message.as_bytes());
        assert_eq!(run.code, Some(3), "{run:?}");
        run.out
    };
    let shown = without("--verify", &good);
    assert!(shown.starts_with("Signature: not checked: gpg is not installed\n"), "{shown}");
    assert!(shown.contains("| The plain truth\n"), "{shown}");
    let shown = without("--decrypt", &message(&encrypted(&keys, TEXT, &[])));
    assert!(shown.starts_with("Encryption: not decrypted: gpg is not installed\n"), "{shown}");
    assert!(shown.contains("| From: Ana Ito"), "{shown}");
}

#[test]
fn nothing_beside_a_signed_or_encrypted_message_counts_as_signed() {
    let keys = Keys::new(ANA);
    let old = signed(&keys, TEXT).replace("boundary=signed", "boundary=i").replace("--signed", "--i");
    for kind in ["text/plain", "text/html", "message/rfc822", "application/octet-stream; name=smime.p7s"] {
        let added = format!("Content-Type: {kind}\n\nEVIL\n");
        let shown = keys.view_as("--verify", &message(&multipart("signed", &[&old, &added])), 3);
        assert!(shown.starts_with("Signature of a part of the message only: good; it is"), "{shown}");
        // The same within what was encrypted.
        let secret = encrypted(&keys, &multipart("signed", &[&old, &added]), &[]);
        let shown = keys.view_as("--decrypt", &message(&secret), 3);
        assert!(shown.contains("\nSignature of a part of the message only: good; it is"), "{shown}");
    }
    let secret = encrypted(&keys, TEXT, &["--sign"]);
    assert!(
        keys.view_as("--decrypt", &message(&secret), 0).contains("\nSignature: good; it is the sender's")
    );
    let octets = "Content-Type: application/octet-stream\n\n";
    for (kept, changed) in [
        ("Content-Type: application/pgp-encrypted\n\n", "Content-Type: text/plain\n\nEVIL\n"),
        (octets, "Content-Type: text/plain\n\nEVIL\n\n"),
        (octets, "\nEVIL\n\n"),
        ("-----END PGP MESSAGE-----\n", "-----END PGP MESSAGE-----\nEVIL\n"),
    ] {
        let shown = keys.view_as("--decrypt", &message(&secret.replacen(kept, changed, 1)), 3);
        assert!(shown.starts_with("Encryption of a part of the message only: decrypted"), "{shown}");
        assert!(shown.contains("\nSignature of a part of the message only: good"), "{shown}");
    }
}

#[test]
fn a_name_that_is_the_address_of_another_is_no_sender() {
    let keys = Keys::new("Mal <mal@evil.example>");
    let message = message(&signed(&keys, TEXT)).replacen(ANA, &format!("\"{ANA}\" <mal@evil.example>"), 1);
    let shown = keys.view_as("--verify", &message, 0);
    assert!(shown.starts_with("Signature: good; it is the sender's (mal@evil.example); key "), "{shown}");
    assert!(shown.contains(&format!("\n| From: \"{ANA}\" <mal@evil.example>\n")), "{shown}");
}

/// What is compressed may hold something that is encrypted with a passphrase, for which gpg would ask.
#[test]
fn to_verify_decrypts_nothing() {
    let keys = Keys::new(ANA);
    let arguments = ["--trust-model", "always", "-r", "ana@example.org", "--encrypt"];
    let secret = keys.run("gpg", &arguments, b"hush words\n");
    // A compressed packet, of old form and without a length, with "uncompressed" as its method.
    let block = keys.gpg(&["--enarmor"], &[&[0xa3, 0][..], &secret].concat());
    let block = block.replace("PGP ARMORED FILE", "PGP MESSAGE");
    for option in ["--verify", "--decrypt"] {
        let shown = keys.view_as(option, &message(&format!("\n{block}")), 3);
        assert!(shown.starts_with("Signature: cannot be checked; PGP\n"), "{shown}");
        assert!(!shown.contains("hush"), "{shown}");
    }
}

/// What a stranger compressed may keep gpg busy for hours. The pipe has its end only when gpg is gone.
#[test]
fn a_signal_ends_gpg_too() {
    let keys = Keys::none();
    let (programs, pipe) = (keys.home.path().join("programs"), keys.home.path().join("pipe"));
    fs::create_dir(&programs).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *dump-options*) exit;; esac\nexec 5>'{}'\necho ready >&5\nsleep 1000\n",
        pipe.display()
    );
    fs::write(programs.join("gpg"), script).unwrap();
    fs::set_permissions(programs.join("gpg"), Permissions::from_mode(0o755)).unwrap();
    let path = keys.home.path().join("message");
    let signature = "Content-Type: application/pgp-signature\n\nx";
    fs::write(&path, message(&multipart("signed", &[TEXT, signature]))).unwrap();
    let mut command = keys.home.command(&["view", "--verify", path.to_str().unwrap()]);
    command.env("PATH", format!("{}:/usr/bin:/bin", programs.display()));
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut pipe = BufReader::new(fs::File::open(&pipe).unwrap());
    let mut text = String::new();
    pipe.read_line(&mut text).unwrap();
    let pid = child.id().to_string();
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    pipe.read_to_string(&mut text).unwrap();
    assert_eq!(text, "ready\n");
}

/// A long line of a text would go on in a new row, where its mark is missing.
#[test]
fn a_window_breaks_no_line_without_its_mark() {
    let home = Home::new();
    let path = home.path().join("long");
    let lies = "Signature: good; it is the sender's";
    let text =
        format!("Content-Type: text/plain\nSubject: {0}\n\n{0}\n", format!("{:80}{lies}", "").repeat(3));
    fs::write(&path, message(&text)).unwrap();
    let shown = home.on_terminal(&["view", "--no-pager", "--verify", path.to_str().unwrap()], &[]);
    assert_eq!(shown.code, Some(3), "{shown:?}");
    let own: Vec<&str> = shown.out.lines().filter(|line| !line.starts_with('|')).collect();
    let only = "Only lines that begin with \"| \" are of the message.";
    assert_eq!(own, ["Signature: none", only, ""], "{shown:?}");
    assert!(shown.out.lines().all(|line| line.chars().count() < 80), "{shown:?}");
    assert!(shown.out.contains(&lies[..20]), "{shown:?}");
}
