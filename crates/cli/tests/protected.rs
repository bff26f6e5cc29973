//! Tests `view --verify` and `--decrypt` with gpg and gpgsm, on keys that are made for the test.
//!
//! Input: messages that these programs signed and encrypted, and what strangers make of them. Output: lines
//! about signatures, decrypted text, exit codes. Does not depend on how the programs are run.

use crate::support::{Home, Run, run_with_input};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// A home with a key of Ana. Its agent ends with it.
pub(crate) struct Keys {
    pub(crate) home: Home,
}

impl Drop for Keys {
    fn drop(&mut self) {
        let _ = self.command("gpgconf").args(["--kill", "all"]).status();
    }
}

impl Keys {
    /// Makes a home without a key.
    pub(crate) fn none() -> Keys {
        let home = Home::new();
        let directory = home.path().join(".gnupg");
        fs::create_dir(&directory).unwrap();
        fs::set_permissions(directory, Permissions::from_mode(0o700)).unwrap();
        Keys { home }
    }

    pub(crate) fn new(user: &str) -> Keys {
        let keys = Keys::none();
        let arguments = ["--passphrase", "", "--quick-gen-key", user, "future-default", "default", "never"];
        keys.gpg(&arguments, b"");
        keys
    }

    /// Makes a home with a certificate of Ana for S/MIME.
    pub(crate) fn with_certificate() -> Keys {
        let keys = Keys::none();
        let parameters = "Key-Type: RSA\nKey-Length: 2048\nKey-Usage: sign, encrypt\nName-DN: CN=Ana Ito\n\
            Name-Email: ana@example.org\nSerial: random\n";
        let file = keys.home.path().join("parameters");
        fs::write(&file, parameters).unwrap();
        let certificate = keys.gpgsm(&["--gen-key", file.to_str().unwrap()]);
        keys.run("gpgsm", &["--import"], &certificate);
        let list = String::from_utf8(keys.run("gpgsm", &["--with-colons", "--list-keys"], b"")).unwrap();
        let print = list.lines().find_map(|line| line.strip_prefix("fpr:::::::::")).unwrap();
        let print = print.split(':').next().unwrap();
        fs::write(keys.home.path().join(".gnupg/trustlist.txt"), format!("{print} S relax\n")).unwrap();
        let _ = keys.command("gpgconf").args(["--kill", "gpg-agent"]).status();
        keys
    }

    fn gpgsm(&self, arguments: &[&str]) -> Vec<u8> {
        self.run("gpgsm", &[&["--passphrase-fd", "0"], arguments].concat(), b"")
    }

    /// Returns a part of S/MIME that gpgsm makes of an entity.
    pub(crate) fn smime(&self, kind: &str, arguments: &[&str], entity: &str) -> String {
        let file = self.home.path().join("entity");
        fs::write(&file, entity.replace('\n', "\r\n")).unwrap();
        let offline = ["--disable-dirmngr", "--disable-crl-checks", "--base64"];
        let data = self.gpgsm(&[&offline[..], arguments, &[file.to_str().unwrap()]].concat());
        let data: String =
            String::from_utf8(data).unwrap().lines().filter(|line| !line.starts_with('-')).collect();
        format!("Content-Type: application/{kind}\nContent-Transfer-Encoding: base64\n\n{data}\n")
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    pub(crate) fn run(&self, program: &str, arguments: &[&str], input: &[u8]) -> Vec<u8> {
        let mut command = self.command(program);
        command.args(["--batch", "--pinentry-mode", "loopback"]).args(arguments);
        let run = run_with_input(&mut command, input);
        assert_eq!(run.code, Some(0), "{program} {arguments:?}: {run:?}");
        run.bytes
    }

    pub(crate) fn gpg(&self, arguments: &[&str], input: &[u8]) -> String {
        String::from_utf8(self.run("gpg", arguments, input)).unwrap()
    }

    /// Shows a message.
    pub(crate) fn view(&self, option: &str, message: &str) -> Run {
        run_with_input(&mut self.home.command(&["view", option, "-"]), message.as_bytes())
    }

    pub(crate) fn view_as(&self, option: &str, message: &str, expected: i32) -> String {
        let run = self.view(option, message);
        assert_eq!(run.code, Some(expected), "{run:?}");
        run.out
    }
}

pub(crate) const ANA: &str = "Ana Ito <ana@example.org>";
pub(crate) const TEXT: &str = "Content-Type: text/plain\n\nThe plain truth\n";

pub(crate) fn message(body: &str) -> String {
    format!("From: {ANA}\nSubject: outer\nMessage-ID: <1@x>\nDate: Mon, 2 Jan 2023 10:00:00 +0000\n{body}")
}

pub(crate) fn multipart(kind: &str, pieces: &[&str]) -> String {
    let pieces: String = pieces.iter().map(|piece| format!("--{kind}\n{piece}\n")).collect();
    format!("Content-Type: multipart/{kind}; boundary={kind}\n\n{pieces}--{kind}--\n")
}

pub(crate) fn signed(keys: &Keys, entity: &str) -> String {
    let signature = keys.gpg(&["--armor", "--detach-sign"], entity.replace('\n', "\r\n").as_bytes());
    multipart("signed", &[entity, &format!("Content-Type: application/pgp-signature\n\n{signature}")])
}

pub(crate) fn encrypted(keys: &Keys, entity: &str, more: &[&str]) -> String {
    let arguments = [&["--armor", "--trust-model", "always", "-r", "ana@example.org"], more, &["--encrypt"]];
    let data = keys.gpg(&arguments.concat(), entity.as_bytes());
    let version = "Content-Type: application/pgp-encrypted\n\nVersion: 1";
    multipart("encrypted", &[version, &format!("Content-Type: application/octet-stream\n\n{data}")])
}

#[test]
fn a_signature_is_of_whom_it_is_and_of_what_was_signed() {
    let keys = Keys::new(ANA);
    let good = message(&signed(&keys, TEXT));
    let shown = keys.view_as("--verify", &good, 0);
    let first = "Signature: good; it is the sender's (ana@example.org); key ultimately trusted; PGP key ";
    assert!(shown.starts_with(first), "{shown}");
    assert!(shown.lines().next().unwrap().ends_with("; user id \"Ana Ito <ana@example.org>\""), "{shown}");
    assert!(shown.contains("\nHeader: not signed"), "{shown}");
    assert!(shown.contains("\n\n| From: Ana Ito") && shown.contains("| The plain truth"), "{shown}");
    let changed = keys.view_as("--verify", &good.replace("truth", "lie"), 3);
    assert!(changed.starts_with("Signature: BAD: this is not what was signed; PGP key "), "{changed}");
    let forged = keys.view_as("--verify", &good.replacen(ANA, "Boss <boss@example.org>", 1), 3);
    assert!(forged.lines().next().unwrap().contains("it is NOT THE SENDER'S"), "{forged}");
    let beside = good.replacen(ANA, &format!("Boss <boss@example.org>, {ANA}"), 1);
    assert!(keys.view_as("--verify", &beside, 3).contains("it is NOT THE SENDER'S"));
    let list = message(&multipart("mixed", &[&signed(&keys, TEXT), "\nSend money"]));
    let part = keys.view_as("--verify", &list, 3);
    assert!(part.starts_with("Signature of a part of the message only: good"), "{part}");
    let (_, alone) = part.split_once("\u{c}\nSigned, without the rest of the message:\n").unwrap();
    assert!(alone.contains("The plain truth") && !alone.contains("Send money"), "{part}");
    let unsigned = keys.view_as("--verify", &message(TEXT), 3);
    let only = "Only lines that begin with \"| \" are of the message.\n\n";
    assert!(unsigned.starts_with(&format!("Signature: none\n{only}| From:")), "{unsigned}");
    let unknown = Keys::none().view_as("--verify", &good, 3);
    let start = "Signature: cannot be checked: the key is not known; PGP key ";
    assert!(unknown.starts_with(start), "{unknown}");
    let broken = good.replace("-----BEGIN PGP", "-----BEGIN XXX");
    assert!(keys.view_as("--verify", &broken, 3).starts_with("Signature: cannot be checked; PGP\n"));
    assert_eq!(keys.view("--verify", &good.replace("From", "X")).code, Some(3));
}

#[test]
fn a_key_that_nobody_certified_is_anybodys() {
    let (keys, stranger) = (Keys::new(ANA), Keys::new(ANA));
    keys.gpg(&["--import"], stranger.gpg(&["--armor", "--export"], b"").as_bytes());
    let shown = keys.view_as("--verify", &message(&signed(&stranger, TEXT)), 3);
    assert!(shown.lines().next().unwrap().contains("it is NOT CERTIFIED"), "{shown}");
}

#[test]
fn what_is_encrypted_is_shown_by_itself_and_stays_secret() {
    let keys = Keys::new(ANA);
    let entity =
        "Content-Type: text/plain; protected-headers=\"v1\"\nSubject: inner secret\n\nhush \x1b[2J words\n";
    let both = message(&encrypted(&keys, entity, &["--sign"]));
    let shown = keys.view_as("--decrypt", &both, 3);
    let mut lines = shown.lines();
    assert_eq!(lines.next(), Some("Encryption: decrypted; PGP"));
    assert!(lines.next().unwrap().starts_with("Signature: good; it is the sender's"), "{shown}");
    assert!(shown.contains("\nSubject: DIFFERS; inside (signed): \"inner secret\"; outside: \"outer\"\n"));
    let (outer, inner) = shown.split_once("\u{c}\nDecrypted:\n\n").unwrap();
    assert!(outer.contains("Subject: outer") && !outer.contains("hush"), "{shown}");
    assert_eq!(inner, "| Subject: inner secret\n|\n| hush \u{fffd}[2J words\n");
    let hidden = keys.view_as("--decrypt", &both.replacen("outer", "...", 1), 0);
    assert!(
        hidden.contains("\nSubject: hidden by encryption; inside (signed): \"inner secret\""),
        "{hidden}"
    );
    let kept = keys.view_as("--verify", &both, 3);
    assert!(
        kept.starts_with("Encryption: not decrypted; --decrypt does; PGP") && !kept.contains("hush"),
        "{kept}"
    );
    let stranger = Keys::none().view_as("--decrypt", &both, 3);
    assert!(stranger.contains("the secret key is not there"), "{stranger}");
    let anonymous = message(&encrypted(&keys, entity, &[])).replacen("outer", "...", 1);
    let mut command = keys.home.command(&["view", "--decrypt", "--verify", "-"]);
    assert_eq!(run_with_input(&mut command, anonymous.as_bytes()).code, Some(3));
    let anonymous = keys.view_as("--decrypt", &anonymous, 0);
    assert!(anonymous.contains("Signature: none, so anybody may have written"), "{anonymous}");
    // Nothing of it is in the index.
    keys.home.deliver("", "1:2,S", both.as_bytes());
    keys.home.first_index();
    assert_eq!(keys.home.pneu(&["find", "hush"]).code, Some(1));
    assert!(keys.home.pneu(&["view", "--decrypt", "id:1@x"]).out.contains("hush"));
    assert_eq!(keys.home.pneu(&["find", "hush"]).code, Some(1));
    for wrong in
        [&["view", "--decrypt", "-o", "html", "id:1@x"][..], &["view", "--verify", "--links", "id:1@x"]]
    {
        assert_eq!(keys.home.pneu(wrong).code, Some(2));
    }
}

#[test]
fn what_was_changed_on_the_way_is_not_shown() {
    let keys = Keys::new(ANA);
    let data =
        keys.run("gpg", &["--trust-model", "always", "-r", "ana@example.org", "--encrypt"], TEXT.as_bytes());
    let pieces = |data: &[u8]| {
        let hex: String = data.iter().map(|byte| format!("={byte:02X}")).collect();
        let kind = "Content-Type: application/octet-stream";
        let encoded = format!("{kind}\nContent-Transfer-Encoding: quoted-printable\n\n{hex}");
        message(&multipart("encrypted", &["Content-Type: application/pgp-encrypted\n\nVersion: 1", &encoded]))
    };
    assert!(keys.view_as("--decrypt", &pieces(&data), 0).contains("The plain truth"));
    let mut changed = data.clone();
    *changed.iter_mut().nth_back(25).unwrap() ^= 1;
    let shown = keys.view_as("--decrypt", &pieces(&changed), 3);
    assert!(shown.starts_with("Encryption: CANNOT be decrypted") && !shown.contains("truth"), "{shown}");
}

/// A stranger puts an encrypted part between two pieces of HTML, so that a program that joins them sends the
/// text to an address (EFAIL).
#[test]
fn a_decrypted_part_is_never_joined_with_what_is_around_it() {
    let keys = Keys::new(ANA);
    let secret = encrypted(&keys, "Content-Type: text/html\n\n<p>hush words</p>\n", &[]);
    let before = "Content-Type: text/html\n\n<p>Hi</p><img src=\"https://evil.example/";
    let mixed = message(&multipart("mixed", &[before, &secret, "Content-Type: text/html\n\n\">"]));
    let shown = keys.view_as("--decrypt", &mixed, 3);
    assert!(shown.starts_with("Encryption of a part of the message only: decrypted"), "{shown}");
    let (outer, inner) = shown.split_once("\u{c}\nDecrypted:\n\n").unwrap();
    assert!(!outer.contains("hush"), "{shown}");
    assert_eq!(inner, "| hush words\n");
}

#[test]
fn blocks_in_text_are_opened() {
    let keys = Keys::new(ANA);
    let clear = keys.gpg(&["--clearsign"], b"plain words\n");
    let shown = keys.view_as("--verify", &message(&format!("\n{clear}")), 0);
    assert!(shown.starts_with("Signature: good"), "{shown}");
    assert!(shown.ends_with("\u{c}\nSigned:\n\n| plain words\n"), "{shown}");
    let bad = keys.view_as("--verify", &message(&format!("\n{}", clear.replace("plain", "other"))), 3);
    assert!(bad.starts_with("Signature: BAD"), "{bad}");
    assert!(!bad.contains("\nSigned:\n"), "{bad}");
    let more = keys.view_as("--verify", &message(&format!("\nSend money\n\n{clear}")), 3);
    let (_, alone) = more.split_once("\u{c}\nSigned, without the rest of the message:\n\n").unwrap();
    assert_eq!(alone, "| plain words\n");
    let arguments = ["--armor", "--trust-model", "always", "-r", "ana@example.org", "--encrypt"];
    let block = keys.gpg(&arguments, b"hush words\n");
    let shown = keys.view_as("--decrypt", &message(&format!("\n{block}")), 0);
    assert!(shown.ends_with("\u{c}\nDecrypted:\n\n| hush words\n"), "{shown}");
}

#[test]
fn smime_is_opened_with_gpgsm() {
    let keys = Keys::with_certificate();
    let part = |kind: &str, arguments: &[&str]| keys.smime(kind, arguments, TEXT);
    let detached = multipart("signed", &[TEXT, &part("pkcs7-signature", &["--detach-sign"])]);
    let good = keys.view_as("--verify", &message(&detached), 0);
    assert!(
        good.starts_with(
            "Signature: good; it is the sender's (ana@example.org); key fully trusted; S/MIME key "
        ),
        "{good}"
    );
    assert!(good.lines().next().unwrap().ends_with("; user id \"/CN=Ana Ito\""), "{good}");
    let changed = keys.view_as("--verify", &message(&detached.replace("truth", "lie")), 3);
    assert!(changed.starts_with("Signature: BAD"), "{changed}");
    let opaque = message(&part("pkcs7-mime; smime-type=signed-data", &["--sign"]));
    let opened = keys.view_as("--verify", &opaque, 0);
    assert!(opened.starts_with("Signature: good"), "{opened}");
    assert!(opened.ends_with("\u{c}\nSigned:\n\n| The plain truth\n"), "{opened}");
    let secret =
        message(&part("pkcs7-mime; smime-type=enveloped-data", &["-r", "ana@example.org", "--encrypt"]));
    let shown = keys.view_as("--decrypt", &secret, 0);
    assert!(shown.starts_with("Encryption: decrypted; S/MIME\n"), "{shown}");
    assert!(shown.ends_with("\u{c}\nDecrypted:\n\n| The plain truth\n"), "{shown}");
}
