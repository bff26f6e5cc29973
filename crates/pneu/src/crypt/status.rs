//! The status that gpg and gpgsm print: which signatures there are, and whether decryption succeeded.
//!
//! Input: lines, as doc/DETAILS of GnuPG describes them. Output: signatures. Runs nothing.

/// What a signature is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is good.
    Good,
    /// It is good, but it has expired.
    Expired,
    /// It is good, but its key has expired.
    KeyExpired,
    /// It is good, but its key was revoked.
    KeyRevoked,
    /// Its key is not known, so it cannot be checked.
    UnknownKey,
    /// It cannot be checked, for another reason.
    Unchecked,
    /// It is wrong: what it signs was changed.
    Bad,
}

/// How far the user's program trusts that a key belongs to whom it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// The user said that it is not to be trusted.
    Never,
    /// Nothing is known of that.
    #[default]
    Unknown,
    /// Too few that the user trusts say so.
    Marginal,
    /// Enough that the user trusts say so.
    Full,
    /// It is the user's own.
    Ultimate,
}

/// A signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// What it is worth.
    pub standing: Standing,
    /// The fingerprint of its key, or as much of it as is known.
    pub key: String,
    /// The user id of its key that the program names first; empty if the key is not known.
    pub signer: String,
    /// The addresses of its key, each with whether the user trusts that it is the owner's.
    pub addresses: Vec<(String, bool)>,
    /// When it was made, as the program says it.
    pub made: String,
    /// How far the program trusts its key.
    pub trust: Trust,
}

/// Whether a decryption succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decryption {
    /// It did, and nothing was changed on the way as far as the program can tell.
    Done,
    /// The key is not there.
    NoKey,
    /// It has more bytes than are decrypted. Nothing of it is to be shown, because only at its end it is
    /// known whether it was changed.
    TooLarge,
    /// It did not. Nothing of it is to be shown.
    Failed,
}

/// Returns the signatures that a status tells of.
pub(super) fn signatures(status: &[String]) -> Vec<Signature> {
    let mut found: Vec<Signature> = Vec::new();
    for line in status {
        let (keyword, rest) = line.split_once(' ').unwrap_or((line, ""));
        let standing = match keyword {
            "GOODSIG" => Standing::Good,
            "EXPSIG" => Standing::Expired,
            "EXPKEYSIG" => Standing::KeyExpired,
            "REVKEYSIG" => Standing::KeyRevoked,
            "BADSIG" => Standing::Bad,
            // Its sixth value is 9 if the key is missing.
            "ERRSIG" if rest.split(' ').nth(5) == Some("9") => Standing::UnknownKey,
            "ERRSIG" => Standing::Unchecked,
            _ => {
                if let Some(last) = found.last_mut() {
                    add(last, keyword, rest);
                }
                continue;
            }
        };
        let (key, signer) = rest.split_once(' ').unwrap_or((rest, ""));
        let signer = if keyword == "ERRSIG" { String::new() } else { unescaped(signer, '%') };
        found.push(Signature {
            standing,
            key: key.to_owned(),
            signer,
            addresses: Vec::new(),
            made: String::new(),
            trust: Trust::Unknown,
        });
    }
    found
}

/// Adds what a line says of the signature before it.
fn add(signature: &mut Signature, keyword: &str, rest: &str) {
    match keyword {
        "VALIDSIG" => {
            let mut values = rest.split(' ');
            signature.key = values.next().unwrap_or_default().to_owned();
            signature.made = values.next().unwrap_or_default().to_owned();
        }
        "TRUST_ULTIMATE" => signature.trust = Trust::Ultimate,
        "TRUST_FULLY" => signature.trust = Trust::Full,
        "TRUST_MARGINAL" => signature.trust = Trust::Marginal,
        "TRUST_NEVER" => signature.trust = Trust::Never,
        _ => {}
    }
}

/// Returns whether the decryption that a status tells of succeeded. It counts only if the program says so
/// at the end: what it prints before may have been changed.
pub(super) fn decryption(status: &[String]) -> Decryption {
    let has = |wanted: &str| status.iter().any(|line| line.split(' ').next() == Some(wanted));
    if has("DECRYPTION_OKAY") && !has("DECRYPTION_FAILED") {
        Decryption::Done
    } else if has("NO_SECKEY") {
        Decryption::NoKey
    } else {
        Decryption::Failed
    }
}

/// Returns whether anything was encrypted in what was read, whatever became of it.
pub(super) fn tells_of_decryption(status: &[String]) -> bool {
    let is_told = |line: &String| {
        let keyword = line.split(' ').next().unwrap_or_default();
        matches!(keyword, "ENC_TO" | "BEGIN_DECRYPTION" | "NEED_PASSPHRASE_SYM")
            || keyword.starts_with("DECRYPTION_")
    };
    status.iter().any(is_told)
}

/// Returns how many texts the program found in what it read. A signature covers one of them only.
pub(super) fn text_count(status: &[String]) -> usize {
    status.iter().filter(|line| line.split(' ').next() == Some("PLAINTEXT")).count()
}

/// Returns the addresses in the list of a key with colons, each with whether the program trusts it. Revoked
/// and expired ones are left out.
pub(super) fn addresses(list: &str) -> Vec<(String, bool)> {
    let address = |line: &str| {
        let mut fields = line.split(':');
        let (kind, validity) = (fields.next()?, fields.next()?);
        if kind != "uid" || validity.starts_with(['r', 'e']) {
            return None;
        }
        let id = unescaped(fields.nth(7)?, '\\');
        // A certificate has its subject among its ids, "/CN=...", in which anything may stand.
        if id.starts_with('/') || id.matches('<').count() > 1 {
            return None;
        }
        let address = match id.split_once('<') {
            Some((_, rest)) => rest.strip_suffix('>')?,
            None => id.as_str(),
        };
        let is_one = address.contains('@') && !address.contains([' ', '<', '>', ',', '=']);
        is_one.then(|| (address.to_owned(), validity.starts_with(['f', 'u'])))
    };
    list.lines().filter_map(address).collect()
}

/// Replaces escapes: `%3a` and `\x3a`.
fn unescaped(text: &str, mark: char) -> String {
    let prefix = if mark == '%' { "%" } else { "\\x" };
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once(prefix) {
        bytes.extend_from_slice(before.as_bytes());
        match after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.extend_from_slice(prefix.as_bytes());
                rest = after;
            }
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Signature> {
        signatures(&text.lines().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn each_signature_has_its_own_lines() {
        let found = read(
            "NEWSIG\nGOODSIG 3632 Ana%0aIto <ana@example.org>\nVALIDSIG ABCD 2026-11-26 17 0\n\
             TRUST_ULTIMATE 0\n\
             NEWSIG\nBADSIG 99 Bo <bo@example.org>\nTRUST_NEVER\nNEWSIG\n\
             ERRSIG 77 1 8 00 17 9 EF\nNO_PUBKEY 77\n\
             ERRSIG 78 1 8 00 17 4 EF\nREVKEYSIG 1 R\nTRUST_UNDEFINED\n\
             EXPKEYSIG 2 K\nTRUST_MARGINAL 0 pgp\nEXPSIG 3 S\nTRUST_FULLY 0 pgp\n",
        );
        let standings: Vec<Standing> = found.iter().map(|signature| signature.standing).collect();
        use Standing::{Bad, Expired, Good, KeyExpired, KeyRevoked, Unchecked, UnknownKey};
        assert_eq!(standings, [Good, Bad, UnknownKey, Unchecked, KeyRevoked, KeyExpired, Expired]);
        assert_eq!((found[0].key.as_str(), found[0].made.as_str()), ("ABCD", "2026-11-26"));
        assert_eq!(found[0].signer, "Ana\nIto <ana@example.org>");
        let trust: Vec<Trust> = found.iter().map(|signature| signature.trust).collect();
        use Trust::{Full, Marginal, Never, Ultimate, Unknown};
        assert_eq!(trust, [Ultimate, Never, Unknown, Unknown, Unknown, Marginal, Full]);
        assert_eq!((found[2].key.as_str(), found[2].signer.as_str()), ("77", ""));
    }

    #[test]
    fn a_decryption_counts_when_the_program_says_so_at_the_end() {
        let read =
            |lines: &[&str]| decryption(&lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>());
        assert_eq!(read(&["BEGIN_DECRYPTION", "DECRYPTION_OKAY"]), Decryption::Done);
        assert_eq!(read(&["BEGIN_DECRYPTION", "PLAINTEXT 62 1 "]), Decryption::Failed);
        assert_eq!(read(&["DECRYPTION_OKAY", "DECRYPTION_FAILED"]), Decryption::Failed);
        assert_eq!(read(&["NO_SECKEY 1", "DECRYPTION_FAILED"]), Decryption::NoKey);
        assert_eq!(read(&[]), Decryption::Failed);
    }

    #[test]
    fn what_was_decrypted_unasked_is_noticed() {
        let told = |line: &str| tells_of_decryption(&["NEWSIG".to_owned(), line.to_owned()]);
        for line in ["ENC_TO 1 1 0", "BEGIN_DECRYPTION", "DECRYPTION_INFO 0 9 2", "DECRYPTION_FAILED"] {
            assert!(told(line), "{line}");
        }
        assert!(!told("GOODSIG 1 DECRYPTION_OKAY") && !told("PLAINTEXT 74 0 "));
    }

    #[test]
    fn texts_are_counted() {
        let count =
            |lines: &[&str]| text_count(&lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>());
        assert_eq!(count(&["PLAINTEXT 62 1 a", "PLAINTEXT_LENGTH 3", "GOODSIG 1 PLAINTEXT"]), 1);
        assert_eq!(count(&["PLAINTEXT 62 1 a", "PLAINTEXT 62 1 b"]), 2);
    }

    #[test]
    fn only_a_trusted_user_id_counts_for_its_address() {
        let list = "pub:u:3072:1:36:17:::u:::scESC:\nuid:u::::17::EE::Ana Ito <ana@example.org>:::\n\
            uid:-::::17::EE::Boss <boss@example.org>:::\nuid:r::::17::EE::Old <old@example.org>:::\n\
            uid:f::::17::EE::a\\x3ab@example.org:::\nuid:f::::17::EE::nobody:::\n\
            uid:u::::17::EE::/CN=x <boss@example.org:::\nuid:u::::17::EE::<b@x> <boss@example.org>:::\n\
            uid:u::::17::EE::x <boss@example.org> y:::\nuid:u::::17::EE::CN=b@x,O=y:::\n";
        let expected = [("ana@example.org", true), ("boss@example.org", false), ("a:b@example.org", true)];
        assert_eq!(addresses(list), expected.map(|(address, is_trusted)| (address.to_owned(), is_trusted)));
    }
}
