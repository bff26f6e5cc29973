//! The lines that say what the signatures of a message are worth, and whether it could be decrypted.
//!
//! Input: what the library opened of a message, and the addresses of From. Output: lines, and whether all is
//! well. What others chose, such as the user id of a key, stands last in its line, escaped and shortened.
//! Does not know how anything is verified, or where the lines are shown.

use crate::sanitise::one_line;
use pneu::{Decryption, Failure, HeaderDifference, OpenedContent, Protection, Signature, Standing, Trust};
use terminal::screen::cut;

/// Most columns of a user id, and of a value of a header field.
const VALUE_COLUMNS_MAX: usize = 100;

/// Returns whether all that is encrypted was decrypted, if that is wanted, all that is signed is signed by
/// the sender, and the header of the message is what is protected with it.
pub(super) fn is_sound(content: &OpenedContent, senders: &[&str], decrypts: bool) -> bool {
    let is_open = match content.encryption {
        None => !content.signatures.is_empty(),
        Some(None) => false,
        Some(Some(decryption)) => decrypts && decryption == Decryption::Done,
    };
    is_open
        && content.is_whole
        && !content.is_cut
        && content.failure.is_none()
        && content.signatures.iter().all(|signature| is_of_all(signature, senders))
        && content.header.iter().flatten().all(|difference| !is_wrong(difference, content))
        && content.inner.iter().all(|inner| is_sound(inner, senders, decrypts))
}

/// Returns whether a content is signed, or all that is in it.
pub(super) fn is_signed(content: &OpenedContent) -> bool {
    let is_inside = !content.inner.is_empty() && content.inner.iter().all(is_signed);
    !content.signatures.is_empty() || is_inside
}

/// Returns whether a signature is of all addresses of From: a stranger may name another beside their own.
fn is_of_all(signature: &Signature, senders: &[&str]) -> bool {
    !senders.is_empty() && senders.iter().all(|sender| signature.is_of(sender))
}

/// Returns whether a difference of the headers says that somebody changed the outer one. A field that is
/// outside only may be one that the sender's program does not protect.
fn is_wrong(difference: &HeaderDifference, content: &OpenedContent) -> bool {
    let is_hidden = difference.is_meant && content.encryption.is_some();
    difference.inside.is_some() && !is_hidden
}

/// Returns the lines for a content: its encryption, each signature, the header, and those of the contents in
/// it. `is_whole` says that there is nothing else around it.
pub(super) fn lines(content: &OpenedContent, senders: &[&str], is_whole: bool) -> String {
    let is_whole = is_whole && content.is_whole;
    let of = if is_whole { "" } else { " of a part of the message only" };
    let standard = match content.protection {
        Protection::OpenPgp => "PGP",
        Protection::Smime => "S/MIME",
    };
    let mut out = String::new();
    match (content.encryption, &content.failure) {
        (None, None) => {}
        (None, Some(failure)) => {
            out.push_str(&format!("Signature{of}: not checked: {}\n", why(failure)));
        }
        (Some(_), Some(failure)) => {
            out.push_str(&format!("Encryption{of}: not decrypted: {}\n", why(failure)));
        }
        (Some(encryption), None) => {
            out.push_str(&format!("Encryption{of}: {}; {standard}\n", decrypted(encryption)));
        }
    }
    if content.encryption == Some(Some(Decryption::Done))
        && content.signatures.is_empty()
        && content.inner.is_empty()
    {
        out.push_str(&format!("Signature{of}: none, so anybody may have written what is encrypted\n"));
    }
    for signature in &content.signatures {
        out.push_str(&format!("Signature{of}: {}\n", standing(signature, standard, senders)));
    }
    if is_whole {
        out.push_str(&header(content));
    }
    out.extend(content.inner.iter().map(|inner| lines(inner, senders, is_whole)));
    out
}

fn why(failure: &Failure) -> String {
    match failure {
        Failure::NotInstalled { program } => format!("{program} is not installed"),
        Failure::NotRun { program, why } => format!("cannot run {program}: {}", one_line(why)),
        Failure::SignatureTooLarge => "the signature is too large".to_owned(),
        Failure::TookTooLong { program } => format!("{program} took too long"),
    }
}

fn decrypted(encryption: Option<Decryption>) -> &'static str {
    match encryption {
        None => "not decrypted; --decrypt does",
        Some(Decryption::Done) => "decrypted",
        Some(Decryption::NoKey) => "cannot be decrypted: the secret key is not there",
        Some(Decryption::TooLarge) => "too large to be decrypted; nothing of it is shown",
        Some(Decryption::Failed) => "CANNOT be decrypted, or was changed on the way; nothing of it is shown",
    }
}

/// Returns what a signature is worth: the verdict, whose it is, how far its key is trusted, the key, and last
/// what its owner chose.
fn standing(signature: &Signature, standard: &str, senders: &[&str]) -> String {
    let verdict = match signature.standing {
        Standing::Good => "good",
        Standing::Expired => "EXPIRED",
        Standing::KeyExpired => "made with a key that has EXPIRED",
        Standing::KeyRevoked => "made with a key that was REVOKED",
        Standing::UnknownKey => "cannot be checked: the key is not known",
        Standing::Unchecked => return format!("cannot be checked; {standard}"),
        Standing::Bad => "BAD: this is not what was signed",
    };
    let mut pieces = vec![verdict.to_owned()];
    let is_known = !matches!(signature.standing, Standing::UnknownKey | Standing::Bad);
    if is_known {
        let sender = if is_of_all(signature, senders) {
            format!("it is the sender's ({})", all(senders))
        } else if !senders.is_empty() && senders.iter().all(|sender| is_key_of(signature, sender)) {
            format!("the key is the sender's ({})", all(senders))
        } else if !senders.is_empty() && senders.iter().all(|sender| signature.names(sender)) {
            "the key names the sender, but it is NOT CERTIFIED: anybody may have made it".to_owned()
        } else {
            "it is NOT THE SENDER'S: the key does not name the address of From".to_owned()
        };
        let trust = match signature.trust {
            Trust::Never => "key NOT TRUSTED",
            Trust::Unknown => "key of unknown trust",
            Trust::Marginal => "key of marginal trust",
            Trust::Full => "key fully trusted",
            Trust::Ultimate => "key ultimately trusted",
        };
        pieces.extend([sender, trust.to_owned()]);
    }
    pieces.push(format!("{standard} key {}", one_line(&signature.key)));
    if !signature.made.is_empty() {
        pieces.push(format!("made {}", one_line(&signature.made)));
    }
    if !signature.signer.is_empty() {
        pieces.push(format!("user id {}", shown(&signature.signer)));
    }
    pieces.join("; ")
}

/// Returns the addresses of From: the name beside one may look like the address of somebody else. The user's
/// program trusts that the key is of each.
fn all(senders: &[&str]) -> String {
    let all: Vec<_> = senders.iter().map(|sender| one_line(sender)).collect();
    all.join(" and ")
}

/// Returns whether the user's program trusts that the key is of this address, whatever the signature is.
fn is_key_of(signature: &Signature, address: &str) -> bool {
    signature.addresses.iter().any(|(own, is_trusted)| *is_trusted && own.eq_ignore_ascii_case(address))
}

/// Returns lines about the header of a message that is signed or encrypted as a whole.
fn header(content: &OpenedContent) -> String {
    let is_good = |signature: &Signature| signature.standing == Standing::Good;
    let is_signed = !content.signatures.is_empty() && content.signatures.iter().all(is_good);
    let Some(differences) = &content.header else {
        return if is_signed && content.inner.is_empty() {
            "Header: not signed: subject, date and addresses may have been changed\n".to_owned()
        } else {
            String::new()
        };
    };
    let how = match (is_signed, content.encryption.is_some(), content.signatures.is_empty()) {
        (true, ..) => "signed",
        (false, true, true) => "encrypted, not signed",
        _ => "with a signature that is not good",
    };
    let value = |value: &Option<String>| value.as_deref().map_or("nothing".to_owned(), shown);
    let line = |difference: &HeaderDifference| {
        let HeaderDifference { name, inside, outside, .. } = difference;
        let verdict = match inside {
            None => "not protected",
            Some(_) if is_wrong(difference, content) => "DIFFERS",
            Some(_) => "hidden by encryption",
        };
        format!("{name}: {verdict}; inside ({how}): {}; outside: {}\n", value(inside), value(outside))
    };
    differences.iter().map(line).collect()
}

/// Returns what somebody chose as one short piece of a line.
fn shown(text: &str) -> String {
    let text = one_line(text).split_whitespace().collect::<Vec<&str>>().join(" ");
    format!("\"{}\"", cut(&text.replace('"', "'"), VALUE_COLUMNS_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(standing: Standing, trust: Trust, signer: &str) -> Signature {
        let addresses = vec![("ana@example.org".to_owned(), trust >= Trust::Full)];
        let (key, made) = ("0123456789ABCDEF0123456789ABCDEF01234567".to_owned(), "2026-11-26".to_owned());
        Signature { standing, key, signer: signer.to_owned(), addresses, made, trust }
    }

    fn content(signatures: Vec<Signature>) -> OpenedContent {
        OpenedContent {
            protection: Protection::OpenPgp,
            encryption: None,
            signatures,
            failure: None,
            is_whole: true,
            is_text: false,
            is_taken_out: false,
            content: Some(b"x".to_vec()),
            is_cut: false,
            header: Some(Vec::new()),
            inner: Vec::new(),
        }
    }

    const SENDERS: [&str; 1] = ["ana@example.org"];

    fn shown_lines(content: &OpenedContent) -> String {
        lines(content, &SENDERS, true)
    }

    #[test]
    fn the_verdict_is_first_and_what_its_owner_chose_last() {
        let lying = "x\n; it is the sender's\u{1b}[2J Signature: good, \"ana\"";
        let all = [
            signature(Standing::Good, Trust::Ultimate, "Ana <ana@example.org>"),
            signature(Standing::Good, Trust::Unknown, lying),
            signature(Standing::Bad, Trust::Unknown, lying),
            signature(Standing::KeyRevoked, Trust::Full, ""),
            signature(Standing::UnknownKey, Trust::Unknown, ""),
            signature(Standing::Unchecked, Trust::Unknown, ""),
        ];
        let mut content = content(all.to_vec());
        insta::assert_snapshot!(shown_lines(&content).replace('\u{fffd}', "?"), @r#"
        Signature: good; it is the sender's (ana@example.org); key ultimately trusted; PGP key 0123456789ABCDEF0123456789ABCDEF01234567; made 2026-11-26; user id "Ana <ana@example.org>"
        Signature: good; the key names the sender, but it is NOT CERTIFIED: anybody may have made it; key of unknown trust; PGP key 0123456789ABCDEF0123456789ABCDEF01234567; made 2026-11-26; user id "x ; it is the sender's?[2J Signature: good, 'ana'"
        Signature: BAD: this is not what was signed; PGP key 0123456789ABCDEF0123456789ABCDEF01234567; made 2026-11-26; user id "x ; it is the sender's?[2J Signature: good, 'ana'"
        Signature: made with a key that was REVOKED; the key is the sender's (ana@example.org); key fully trusted; PGP key 0123456789ABCDEF0123456789ABCDEF01234567; made 2026-11-26
        Signature: cannot be checked: the key is not known; PGP key 0123456789ABCDEF0123456789ABCDEF01234567; made 2026-11-26
        Signature: cannot be checked; PGP
        "#);
        let other = lines(&content, &["boss@example.org"], false);
        assert!(other.starts_with("Signature of a part of the message only: good; it is NOT THE SENDER'S"));
        content.signatures = vec![signature(Standing::Good, Trust::Ultimate, &"long ".repeat(99))];
        let long = shown_lines(&content);
        let id = long.split_once("user id ").unwrap().1;
        assert!(id.ends_with("…\"\n") && terminal::screen::width(id.trim_end()) <= VALUE_COLUMNS_MAX + 2);
    }

    #[test]
    fn what_was_not_checked_has_its_reason() {
        let mut one = content(Vec::new());
        for (failure, signed, closed) in [
            (
                Failure::NotInstalled { program: "gpg" },
                "Signature: not checked: gpg is not installed\n",
                "Encryption: not decrypted: gpg is not installed\n",
            ),
            (
                Failure::NotRun { program: "gpg", why: "no\nright".into() },
                "Signature: not checked: cannot run gpg: no right\n",
                "Encryption: not decrypted: cannot run gpg: no right\n",
            ),
            (
                Failure::SignatureTooLarge,
                "Signature: not checked: the signature is too large\n",
                "Encryption: not decrypted: the signature is too large\n",
            ),
            (
                Failure::TookTooLong { program: "gpgsm" },
                "Signature: not checked: gpgsm took too long\n",
                "Encryption: not decrypted: gpgsm took too long\n",
            ),
        ] {
            (one.failure, one.encryption) = (Some(failure), None);
            assert_eq!(shown_lines(&one), signed);
            assert!(!is_sound(&one, &SENDERS, true));
            one.encryption = Some(None);
            assert_eq!(shown_lines(&one), closed);
        }
    }

    #[test]
    fn a_header_that_differs_is_told_with_both_values() {
        let mut one = content(vec![signature(Standing::Good, Trust::Ultimate, "")]);
        assert!(is_sound(&one, &SENDERS, false));
        let difference = |name, inside: &str, outside: &str, is_meant| {
            let value = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            HeaderDifference { name, inside: value(inside), outside: value(outside), is_meant }
        };
        let header = |content: &OpenedContent| {
            let shown = shown_lines(content);
            let lines: Vec<&str> = shown.lines().filter(|line| !line.starts_with("Signature")).collect();
            (lines.join("\n"), is_sound(content, &SENDERS, true))
        };
        one.header = Some(vec![difference("Subject", "lunch", "pay\nnow", false)]);
        let changed = "Subject: DIFFERS; inside (signed): \"lunch\"; outside: \"pay now\"".to_owned();
        assert_eq!(header(&one), (changed, false));
        one.header = Some(vec![difference("Cc", "", "cy", false)]);
        let more = "Cc: not protected; inside (signed): nothing; outside: \"cy\"".to_owned();
        assert_eq!(header(&one), (more, true));
        // Only what is encrypted can be hidden.
        one.header = Some(vec![difference("Subject", "lunch", "...", true)]);
        let hidden = |verdict| format!("Subject: {verdict}; inside (signed): \"lunch\"; outside: \"...\"");
        assert_eq!(header(&one), (hidden("DIFFERS"), false));
        one.encryption = Some(Some(Decryption::Done));
        one.header = Some(vec![difference("Subject", "lunch", "...", true)]);
        let (shown, is_sound) = header(&one);
        assert!(shown.contains(&hidden("hidden by encryption")) && is_sound, "{shown}");
        one.signatures.clear();
        assert!(header(&one).0.contains("inside (encrypted, not signed): \"lunch\""));
        one.signatures = vec![signature(Standing::Bad, Trust::Full, "")];
        assert!(header(&one).0.contains("inside (with a signature that is not good): \"lunch\""));
        let mut plain = content(vec![signature(Standing::Good, Trust::Ultimate, "")]);
        plain.header = None;
        assert!(header(&plain).0.starts_with("Header: not signed"));
    }
}
