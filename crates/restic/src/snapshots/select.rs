//! Finds the snapshot that a user means.
//!
//! Input: what the user wrote, and what is known of the snapshots. Output: one of them, or an error.

use crate::encoding::id::Id;
use crate::encoding::time::Time;
pub use crate::error::NotFound;
use crate::snapshots::snapshot::Snapshot;

/// The fields of a snapshot that a filter or a policy looks at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Candidate<'a> {
    /// When it was made.
    pub time: Time,
    /// On which host.
    pub hostname: &'a str,
    /// What was backed up.
    pub paths: &'a [String],
    /// Its tags.
    pub tags: &'a [String],
}

impl<'a> From<&'a Snapshot> for Candidate<'a> {
    fn from(snapshot: &'a Snapshot) -> Candidate<'a> {
        Candidate {
            time: snapshot.time,
            hostname: &snapshot.hostname,
            paths: &snapshot.paths,
            tags: &snapshot.tags,
        }
    }
}

/// Chooses snapshots by their fields. An empty field matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Matches a snapshot of one of these hosts.
    pub hosts: Vec<String>,
    /// Matches a snapshot that has all tags of one of these lists. An empty tag matches a snapshot without
    /// tags.
    pub tags: Vec<Vec<String>>,
    /// Matches a snapshot of all these absolute paths.
    pub paths: Vec<String>,
}

/// How a user names one snapshot, and what in it: `1a2b3c4d`, `latest`, `latest:/home/ana`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Which snapshot.
    pub which: Which,
    /// The directory in the snapshot to use as its top; empty for the top itself.
    pub subfolder: String,
}

/// How a user names one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// The newest one.
    Latest,
    /// The one whose id begins with this text.
    Prefix(String),
}

impl Wanted {
    /// Reads what a user wrote.
    pub fn parse(text: &str) -> Wanted {
        let (snapshot, subfolder) = text.split_once(':').unwrap_or((text, ""));
        let which = match snapshot {
            "latest" => Which::Latest,
            prefix => Which::Prefix(prefix.to_owned()),
        };
        Wanted { which, subfolder: subfolder.to_owned() }
    }
}

/// Returns the id that begins with `prefix`. An id that occurs several times counts once.
///
/// # Errors
/// If there is none, or more than one.
pub fn by_prefix(ids: impl IntoIterator<Item = Id>, prefix: &str) -> Result<Id, NotFound> {
    if prefix.is_empty() {
        return Err(NotFound::Empty);
    }
    let mut found: Option<Id> = None;
    for id in ids.into_iter().filter(|id| id.to_string().starts_with(prefix)) {
        match found {
            Some(other) if other != id => {
                let (first, second) = (other.min(id), other.max(id));
                return Err(NotFound::Ambiguous { prefix: prefix.to_owned(), first, second });
            }
            _ => found = Some(id),
        }
    }
    found.ok_or_else(|| NotFound::NoId { prefix: prefix.to_owned() })
}

/// Returns the position of the newest candidate that matches `filter` and is not newer than `limit`; of
/// candidates with the same time, the last one.
///
/// # Errors
/// If there is none.
pub fn latest(candidates: &[Candidate<'_>], filter: &Filter, limit: Option<Time>) -> Result<usize, NotFound> {
    candidates
        .iter()
        .enumerate()
        .filter(|(_, candidate)| filter.matches(candidate))
        .filter(|(_, candidate)| limit.is_none_or(|limit| instant(&candidate.time) <= instant(&limit)))
        .max_by_key(|(_, candidate)| instant(&candidate.time))
        .map(|(place, _)| place)
        .ok_or_else(|| NotFound::NoLatest { filter: filter.sentence() })
}

/// Returns the point in time, which is the same in all time zones.
pub(crate) fn instant(time: &Time) -> (i64, u32) {
    (time.seconds(), time.nanoseconds())
}

impl Filter {
    /// Returns whether it matches a snapshot.
    pub fn matches(&self, candidate: &Candidate<'_>) -> bool {
        let is_host = self.hosts.is_empty() || self.hosts.iter().any(|host| host == candidate.hostname);
        let has_tags = self.tags.is_empty() || self.tags.iter().any(|tags| candidate.has_tags(tags));
        is_host && has_tags && self.paths.iter().all(|path| candidate.paths.contains(path))
    }

    /// Returns whether it matches all snapshots.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    fn sentence(&self) -> String {
        let mut parts = Vec::new();
        if !self.hosts.is_empty() {
            parts.push(format!(" of host {}", self.hosts.join(" or ")));
        }
        if !self.tags.is_empty() {
            let lists: Vec<String> = self.tags.iter().map(|tags| tags.join(",")).collect();
            parts.push(format!(" with tags {}", lists.join(" or ")));
        }
        if !self.paths.is_empty() {
            parts.push(format!(" of path {}", self.paths.join(" and ")));
        }
        parts.concat()
    }
}

impl Candidate<'_> {
    /// Returns whether it has all of `tags`. An empty tag is that of a snapshot that has none: then the
    /// others do not count.
    pub fn has_tags(&self, tags: &[String]) -> bool {
        for tag in tags {
            if tag.is_empty() && self.tags.is_empty() {
                return true;
            }
            if !self.tags.contains(tag) {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn how_a_snapshot_is_named() {
        let wanted = |which, subfolder: &str| Wanted { which, subfolder: subfolder.to_owned() };
        let prefix = |text: &str| Which::Prefix(text.to_owned());
        assert_eq!(Wanted::parse("latest"), wanted(Which::Latest, ""));
        assert_eq!(Wanted::parse("latest:/a:b"), wanted(Which::Latest, "/a:b"));
        assert_eq!(Wanted::parse("1a2b:a/b"), wanted(prefix("1a2b"), "a/b"));
        assert_eq!(Wanted::parse("1a2b"), wanted(prefix("1a2b"), ""));
        assert_eq!(Wanted::parse(":a"), wanted(prefix(""), "a"));
    }

    #[test]
    fn ids_by_their_beginning() {
        let ids = [Id([0x1a; 32]), Id([0x1b; 32]), Id([0x2c; 32]), Id([0x2c; 32])];
        let find = |prefix: &str| by_prefix(ids, prefix);
        assert_eq!((find("1a"), find("2"), find(&ids[1].to_string())), (Ok(ids[0]), Ok(ids[2]), Ok(ids[1])));
        let sentence = |prefix: &str| find(prefix).unwrap_err().to_string();
        assert_eq!(
            sentence("1"),
            format!(
                "several snapshot ids begin with \"1\", such as {} and {}: give more digits",
                ids[0], ids[1]
            )
        );
        assert_eq!(sentence("1A"), "no snapshot id begins with \"1A\"");
        assert!(sentence(&format!("{}0", ids[0])).starts_with("no snapshot id begins"));
        assert_eq!(sentence(""), "a snapshot is named by the first digits of its id, or as \"latest\"");
    }

    #[test]
    fn filters_by_host_tags_and_paths() {
        let (paths, tags) = (words(&["/a", "/b"]), words(&["x", "y"]));
        let candidate = Candidate { time: Time::default(), hostname: "h", paths: &paths, tags: &tags };
        let filter = |hosts: &[&str], tags: &[&[&str]], paths: &[&str]| Filter {
            hosts: words(hosts),
            tags: tags.iter().map(|tags| words(tags)).collect(),
            paths: words(paths),
        };
        let matching = [
            filter(&[], &[], &[]),
            filter(&["g", "h"], &[], &[]),
            filter(&[], &[&["z"], &["y", "x"]], &[]),
            filter(&[], &[&[]], &[]),
            filter(&["h"], &[&["x"]], &["/b", "/a"]),
        ];
        let others = [
            filter(&["g"], &[], &[]),
            filter(&[], &[&["x", "z"]], &[]),
            filter(&[], &[&[""]], &[]),
            filter(&[], &[], &["/a", "/c"]),
            filter(&["h"], &[&["x"]], &["/a/"]),
        ];
        assert!(matching.iter().all(|filter| filter.matches(&candidate)) && matching[0].is_empty());
        assert!(!others.iter().any(|filter| filter.matches(&candidate) || filter.is_empty()));
        let untagged = Candidate { tags: &[], ..candidate };
        assert!(others[2].matches(&untagged) && filter(&[], &[&["", "x"]], &[]).matches(&untagged));
        assert!(!filter(&[], &[&["x", ""]], &[]).matches(&untagged));
    }

    #[test]
    fn the_newest_of_those_that_are_meant() {
        let at = |seconds: i64, hostname| Candidate {
            time: Time::new(seconds, 0, 3600 * i32::try_from(seconds).unwrap()),
            hostname,
            ..Candidate::default()
        };
        let candidates = [at(1, "a"), at(3, "b"), at(2, "a"), at(2, "a"), at(0, "b")];
        let of = |host: &str| Filter { hosts: words(&[host]), ..Filter::default() };
        assert_eq!(latest(&candidates, &Filter::default(), None), Ok(1));
        assert_eq!(latest(&candidates, &of("a"), None), Ok(3));
        assert_eq!(latest(&candidates, &of("a"), Some(Time::new(1, 0, 0))), Ok(0));
        assert_eq!(latest(&candidates, &of("b"), Some(Time::new(2, 9, 0))), Ok(4));
        let none = latest(&candidates, &of("c"), None).unwrap_err();
        assert_eq!(none.to_string(), "there is no snapshot of host c");
        let tags = vec![words(&["x", "y"]), words(&["z"])];
        let filter = Filter { tags, paths: words(&["/a", "/b"]), ..of("a") };
        let none = latest(&candidates, &filter, None).unwrap_err().to_string();
        assert_eq!(none, "there is no snapshot of host a with tags x,y or z of path /a and /b");
    }
}
