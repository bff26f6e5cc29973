//! Which messages belong to a conversation for somebody who mutes it. Anybody can send a message that joins
//! two threads, or that has the Message-ID of another one; neither may bring other messages in.
//!
//! Input: messages of a thread, each with the nodes that it refers to, and those that were chosen. Output:
//! messages. Pure. Each message says for itself which one it answers: the last that it refers to and that is
//! here. What is above a chosen message counts as far as that message refers to it, or says nothing of it.

use std::collections::{HashMap, HashSet};

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// The node of its Message-ID.
    pub node: u32,
    /// The nodes that it refers to, oldest first, without its own.
    pub references: Vec<u32>,
}

/// Returns the places of the messages that belong to the conversations of the chosen ones.
pub(super) fn conversation(messages: &[Said], chosen: &[usize]) -> HashSet<usize> {
    let mut holders: HashMap<u32, Vec<usize>> = HashMap::new();
    for (place, message) in messages.iter().enumerate() {
        holders.entry(message.node).or_default().push(place);
    }
    let mut nodes: HashSet<u32> = HashSet::new();
    let mut found: HashSet<usize> = chosen.iter().copied().collect();
    // If a message from elsewhere has the same Message-ID, nobody knows which one others answer.
    let is_whole = |node: u32, known: &HashSet<usize>| {
        let all = holders.get(&node).map_or(&[][..], Vec::as_slice);
        let parents = all.iter().filter_map(|place| messages.get(*place));
        all.iter().all(|place| known.contains(place))
            || only(parents.map(|message| Some(message.references.last()))).is_some()
    };
    for message in chosen.iter().filter_map(|place| messages.get(*place)) {
        nodes.extend(Some(message.node).filter(|node| is_whole(*node, &found)));
        nodes.extend(above(message, messages, &holders));
    }
    let mut answers: HashMap<u32, Vec<usize>> = HashMap::new();
    for (place, message) in messages.iter().enumerate() {
        let is_here = |node: &&u32| holders.contains_key(*node) || nodes.contains(*node);
        if let Some(node) = message.references.iter().rev().find(is_here) {
            answers.entry(*node).or_default().push(place);
        }
    }
    let mut joined = found.clone();
    let mut open: Vec<u32> = nodes.iter().copied().collect();
    while let Some(node) = open.pop() {
        for place in answers.get(&node).into_iter().flatten() {
            joined.insert(*place);
            let Some(own) = messages.get(*place).map(|message| message.node) else { continue };
            if !nodes.contains(&own) && is_whole(own, &joined) {
                nodes.insert(own);
                open.push(own);
            }
        }
    }
    found.extend(nodes.iter().filter_map(|node| holders.get(node)).flatten());
    found
}

/// Returns the nodes above a message, as far as it confirms them.
fn above(message: &Said, messages: &[Said], holders: &HashMap<u32, Vec<usize>>) -> Vec<u32> {
    let mut path: Vec<u32> = Vec::new();
    let mut next = message.references.last().copied();
    while let Some(node) = next.filter(|node| !path.contains(node) && *node != message.node) {
        path.push(node);
        next = match holders.get(&node) {
            Some(all) => {
                let parents = all.iter().filter_map(|place| messages.get(*place));
                only(parents.map(|parent| parent.references.last().copied()))
            }
            // It is not here. Those that answer it may say what is above.
            None => {
                let answering = messages.iter().filter(|other| other.references.last() == Some(&node));
                let before = answering.filter_map(|other| other.references.iter().rev().nth(1));
                only(before.map(|before| Some(*before)))
            }
        };
    }
    let confirmed = path.iter().rposition(|node| message.references.contains(node));
    if message.references.len() > 1 {
        path.truncate(confirmed.map_or(0, |last| last.saturating_add(1)));
    }
    path
}

/// Returns what all say, if they agree.
fn only<T: PartialEq>(mut said: impl Iterator<Item = Option<T>>) -> Option<T> {
    let first = said.next()?;
    if said.all(|other| other == first) { first } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(messages: &[(u32, &[u32])], chosen: &[usize]) -> Vec<usize> {
        let messages: Vec<Said> = messages
            .iter()
            .map(|(node, references)| Said { node: *node, references: references.to_vec() })
            .collect();
        let mut found: Vec<usize> = conversation(&messages, chosen).into_iter().collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn a_conversation_is_all_that_answers_its_beginning() {
        // Some name all messages above, some only the last one.
        let thread: [(u32, &[u32]); 5] = [(1, &[]), (2, &[1]), (3, &[1, 2]), (4, &[3]), (5, &[1])];
        for chosen in 0..thread.len() {
            assert_eq!(found(&thread, &[chosen]), [0, 1, 2, 3, 4], "{chosen}");
        }
        // Message 9 is not here; 7 names only a part of those above.
        let gaps: [(u32, &[u32]); 5] = [(1, &[]), (2, &[1, 9]), (3, &[9]), (4, &[3]), (7, &[1, 4])];
        for chosen in 1..gaps.len() {
            assert_eq!(found(&gaps, &[chosen]), [0, 1, 2, 3, 4], "{chosen}");
        }
    }

    #[test]
    fn a_stranger_joins_one_conversation_only() {
        // 1 and 2 are ours, 11 and 12 are others; 20 refers to both, and answers 12.
        let both: [(u32, &[u32]); 5] = [(1, &[]), (2, &[1]), (11, &[]), (12, &[11]), (20, &[1, 2, 12])];
        assert_eq!(found(&both, &[0]), [0, 1]);
        assert_eq!(found(&both, &[4]), [3, 4], "what is above 12 is not confirmed");
        assert_eq!(found(&both, &[2]), [2, 3, 4]);
    }

    #[test]
    fn a_message_id_of_another_message_brings_nothing_in() {
        // The third has the Message-ID of the first, and answers another conversation.
        let root: [(u32, &[u32]); 5] = [(1, &[]), (2, &[1]), (1, &[11]), (11, &[]), (12, &[11])];
        assert_eq!(found(&root, &[3]), [3, 4], "ours is not in it, nor what answers ours");
        assert_eq!(found(&root, &[2]), [2, 3, 4], "nor if theirs is chosen");
        assert_eq!(found(&root, &[1]), [0, 1, 2], "and their conversation is not in ours");
        // A mailing list changed one of two that are the same.
        let twice: [(u32, &[u32]); 4] = [(1, &[]), (1, &[]), (2, &[1]), (3, &[2])];
        assert_eq!(found(&twice, &[1]), [0, 1, 2, 3]);
        // It has the Message-ID of a message that is missing between the first and the second.
        let missing: [(u32, &[u32]); 5] = [(1, &[]), (3, &[1, 2]), (2, &[11]), (11, &[]), (12, &[11])];
        assert_eq!(found(&missing, &[1]), [1, 2]);
    }

    #[test]
    fn circles_end() {
        let circle: [(u32, &[u32]); 3] = [(1, &[3]), (2, &[1]), (3, &[2])];
        assert_eq!(found(&circle, &[0]), [0, 1, 2]);
    }
}
