//! The state of identities, which says by itself what is other than before.
//!
//! Input: identities, and a state of before. Output: a state, and the difference. Keeps nothing: a state has
//! the id of each identity and a hash of what it says, 32 letters for each.

use super::who::Identity;
use jmap::Id;
use printable::hex;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Bytes of the hash of what an identity says.
const SAYS_BYTES: usize = 8;
/// Letters of an id after the first one, and of such a hash.
const HALF_LENGTH: usize = 16;
/// The state of more identities is a hash, and tells no difference.
const IDENTITY_COUNT_MAX: usize = 64;
/// The state when there is no identity, as no state is empty.
const NONE: &str = "0";

/// What is other than before.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    pub(super) created: Vec<Id>,
    pub(super) updated: Vec<Id>,
    pub(super) destroyed: Vec<Id>,
}

/// Returns the state of all identities.
pub(super) fn state(all: &[Identity]) -> String {
    let each: Vec<String> = all.iter().map(|one| format!("{}{}", id_letters(&one.id), says(one))).collect();
    match each.len() {
        0 => NONE.to_owned(),
        1..=IDENTITY_COUNT_MAX => each.concat(),
        _ => hex(Sha256::digest(each.concat()).get(..SAYS_BYTES).unwrap_or_default()),
    }
}

/// Returns what is other than in a state of before. `None` if that is no state, or does not tell.
pub(super) fn since(before: &str, all: &[Identity]) -> Option<Difference> {
    let now = state(all);
    if before == now {
        return Some(Difference::default());
    }
    let (before, now) = (read(before)?, read(&now)?);
    let mut difference = Difference::default();
    for (id, says) in &now {
        match before.iter().find(|(other, _)| other == id) {
            None => difference.created.push(id_of(id)?),
            Some((_, said)) if said != says => difference.updated.push(id_of(id)?),
            Some(_) => {}
        }
    }
    for (id, _) in &before {
        if now.iter().all(|(other, _)| other != id) {
            difference.destroyed.push(id_of(id)?);
        }
    }
    Some(difference)
}

/// Returns the ids in a state, each with its hash.
fn read(state: &str) -> Option<Vec<(&str, &str)>> {
    if state == NONE {
        return Some(Vec::new());
    }
    let is_hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let pair = 2 * HALF_LENGTH;
    let is_one = !state.is_empty() && state.len().is_multiple_of(pair) && state.bytes().all(is_hexadecimal);
    let halves = |at| Some((state.get(at..at + HALF_LENGTH)?, state.get(at + HALF_LENGTH..at + pair)?));
    if is_one { (0..state.len()).step_by(pair).map(halves).collect() } else { None }
}

fn id_letters(id: &Id) -> &str {
    id.as_str().get(1..).unwrap_or_default()
}

fn id_of(letters: &str) -> Option<Id> {
    Id::new(format!("I{letters}"))
}

fn says(identity: &Identity) -> String {
    let said = Value::Object(identity.object()).to_string();
    hex(Sha256::digest(said).get(..SAYS_BYTES).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::who::Identity;
    use super::{Difference, IDENTITY_COUNT_MAX, since, state};
    use pneu::{IdentityKey, KeptIdentities, KeptIdentity};

    fn identities(names: &[&str]) -> Vec<Identity> {
        let kept = KeptIdentities::default();
        names.iter().map(|name| Identity::new("home", (name, name), false, &kept)).collect()
    }

    #[test]
    fn a_state_tells_what_is_other_since() {
        let before = identities(&["a@x", "b@x", "c@x"]);
        let key = IdentityKey { root: "home".into(), sender: "b@x".into() };
        let signed = KeptIdentity { text_signature: "b".into(), ..KeptIdentity::default() };
        let changed = Identity::new("home", ("b@x", "b@x"), false, &[(key, signed)].into());
        let now = [identities(&["d@x", "a@x"]), vec![changed]].concat();
        let ids = |of: &[&Identity]| of.iter().map(|one| one.id.clone()).collect();
        let expected = Difference {
            created: ids(&[&now[0]]),
            updated: ids(&[&before[1]]),
            destroyed: ids(&[&before[2]]),
        };
        assert_eq!(since(&state(&before), &now), Some(expected));
        assert_eq!(since(&state(&now), &now), Some(Difference::default()));
        let all = Difference { created: ids(&[&now[0], &now[1], &now[2]]), ..Difference::default() };
        assert_eq!(since(&state(&[]), &now), Some(all));
    }

    #[test]
    fn what_is_no_state_tells_nothing() {
        let all = identities(&["a@x"]);
        let whole = state(&all);
        for wrong in ["", "x", "1", &whole[1..], &whole.to_uppercase(), &whole.replace(['a', '1'], "\u{e9}")]
        {
            assert_eq!(since(wrong, &all), None, "{wrong}");
        }
        let names: Vec<String> = (0..=IDENTITY_COUNT_MAX).map(|number| format!("{number}@x")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let many = identities(&names);
        assert_eq!((state(&many).len(), since(&whole, &many)), (16, None));
        assert_eq!(since(&state(&many), &many), Some(Difference::default()));
    }
}
