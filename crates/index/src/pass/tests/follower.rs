//! Somebody who has listed all messages once, and from then on reads the change log alone.

use crate::{ChangedFolder, Environment, Happened, Mailbox, Order};
use mail::Flags;
use std::collections::BTreeMap;

/// What is known of each message: the folders of its files, and their flags.
type Known = BTreeMap<[u8; 32], Vec<(String, Flags)>>;

#[derive(Clone, Debug)]
pub(super) struct Follower {
    token: String,
    known: Known,
}

impl Follower {
    pub(super) fn new(environment: &Environment) -> Follower {
        let mailbox = Mailbox::open(environment).unwrap();
        Follower { token: mailbox.changes(None).unwrap().token, known: listed(&mailbox) }
    }

    /// Follows, and fails unless a list of all messages says the same.
    pub(super) fn follow(&mut self, environment: &Environment) {
        let mailbox = Mailbox::open(environment).unwrap();
        let now = listed(&mailbox);
        let changes = mailbox.changes(Some(&self.token)).unwrap();
        let mut told = Vec::new();
        changes
            .each::<crate::Error>(&mailbox, |change| {
                let sha256 = change.sha256.expect("no message is forgotten here");
                let is_fresh = told.iter().any(|(known, what)| {
                    *known == sha256 && matches!(what, Happened::Added(_) | Happened::Back(_))
                });
                if matches!(change.what, Happened::Added(_)) {
                    assert!(!self.known.contains_key(&sha256), "told to be new, and is known: {told:?}");
                }
                match &change.what {
                    // Such a message is looked up, and what is told of it from then on is known already.
                    Happened::Added(_) | Happened::Back(_) => {
                        self.known.insert(sha256, now.get(&sha256).cloned().unwrap_or_default());
                    }
                    _ if is_fresh => {}
                    Happened::Gone => self.known.entry(sha256).or_default().clear(),
                    what => apply(self.known.get_mut(&sha256).expect("it is known"), what),
                }
                told.push((sha256, change.what));
                Ok(())
            })
            .unwrap();
        self.known.values_mut().for_each(|files| files.sort());
        self.known.retain(|_, files| !files.is_empty());
        assert_eq!(self.known, now, "{told:#?}");
        self.token = changes.token;
    }
}

fn apply(files: &mut Vec<(String, Flags)>, what: &Happened) {
    let mut take = |from: &ChangedFolder| {
        let place = files.iter().position(|(folder, _)| *folder == from.maildir).expect("a file is there");
        files.swap_remove(place)
    };
    let file = match what {
        Happened::Moved { from, to } => (to.maildir.clone(), take(from).1),
        Happened::Flags { folder, added, removed } => {
            let (folder, before) = take(folder);
            (folder, Flags::from_bits((before | added.flags).bits() & !removed.flags.bits()))
        }
        Happened::Removed(from) => return drop(take(from)),
        Happened::Renamed(folder) => take(folder),
        other => panic!("{other:?} needs a second file of one content"),
    };
    files.push(file);
}

/// Returns what a list of all messages shows.
fn listed(mailbox: &Mailbox) -> Known {
    let hits = mailbox.find(&query::Query::All, &Order::default()).unwrap();
    let mut reader = crate::RecordReader::new();
    let mut known = Known::new();
    for hit in &hits.list {
        let message = mailbox.message(hit, &mut reader).unwrap();
        let mut files: Vec<_> = message.files.iter().map(|file| (file.maildir.clone(), file.flags)).collect();
        files.sort();
        known.insert(message.sha256, files);
    }
    known
}
