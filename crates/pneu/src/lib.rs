//! The library of pneu: finds, reads, tags and delivers the mail in Maildirs, through an index.
//!
//! - A [`Host`] lives as long as its program. It opens the index once, takes over newer commits at the cost
//!   of what changed, and queues writers. Any number of threads share it.
//! - A [`View`] is one state of index and tags, for one request. It is cheap to make, answers queries, and
//!   never changes while it is held, whatever is written meanwhile. A [`Cancel`] or a deadline
//!   stops its queries.
//! - An [`archive::Archive`] answers for messages whose files are gone, from the repository that mail is
//!   backed up to.
//! - [`setup`] reads the configuration and finds a user's mail and addresses.
//!
//! The library reads no environment and prints nothing. It works on as many threads as the [`Settings`]
//! allow. Those of a writer end with its call. Those of views are started when a query first needs them, and
//! end with the host; if there is one for each processor, they are those of rayon's global pool, which stay.
//! Errors are data: what happened, where, and a [`Remedy`] that a front end words.
//!
//! ```
//! use pneu::{Host, Order, Root, Settings, TagChange, UpdateOptions};
//!
//! # let directory = tempfile::tempdir().unwrap();
//! # let maildir = directory.path().join("Mail");
//! # for name in ["cur", "new", "tmp"] { std::fs::create_dir_all(maildir.join(name)).unwrap(); }
//! # let letter = "From: Ana <ana@example.org>\nSubject: The north line\n\nOpens in May.\n";
//! # std::fs::write(maildir.join("cur/1.example:2,S"), letter).unwrap();
//! # let data = directory.path().join("data");
//! // Open, and update the index.
//! let host = Host::new(Settings::new(data));
//! let roots = [Root { name: "mail".into(), path: maildir }];
//! let summary = host.update(&roots, &UpdateOptions::default(), &pneu::Silent)?;
//! assert_eq!(summary.added, 1);
//!
//! // Find: the newest fifty messages that match.
//! let view = host.view()?;
//! let query = view.query("from:ana north")?;
//! let hits = view.find(&query, &Order { limit: Some(50), ..Order::default() })?;
//! assert_eq!(hits.total, 1);
//!
//! // Read: what the index knows, and the message itself from where its file is now.
//! let message = view.message(&hits.list[0])?;
//! assert_eq!(message.line.subject, "The north line");
//! let file = view.read(&message)?;
//! assert_eq!(file.parsed(Default::default()).text, "Opens in May.");
//!
//! // Tag. A view that was made before keeps what it shows; the next one shows the tag.
//! let change = TagChange { add: ["urgent".to_owned()].into(), ..TagChange::default() };
//! host.tag(&query, &change)?;
//! assert!(view.message(&hits.list[0])?.tags.is_empty());
//! assert_eq!(host.view()?.message(&hits.list[0])?.tags, ["urgent"]);
//! # Ok::<(), pneu::Error>(())
//! ```

mod action;
pub mod archive;
mod arrivals;
mod attachments;
mod check;
mod child;
mod contents;
mod crypt;
mod doctor;
mod error;
mod handle;
mod host;
mod identities;
mod imports;
mod in_step;
mod mail_import;
mod message_file;
mod new_file;
mod parts;
mod queue;
mod remedy;
mod saved_queries;
mod sending;
mod settings;
pub mod setup;
mod suggestions;
mod tag_lines;
mod tagging;
mod unopened;
mod view;
mod watching;

pub use action::{
    Above, Acted, Action, ContentEdit, DeliverOptions, Delivered, ImportedFrom, Kind as ActionKind,
    LeftAlone, Plan, PlannedRenaming, PlannedStep, Removal, Removed, Renamed, RenamedRole, Renaming,
    Restored, Undoable, Undone,
};
pub use attachments::is_for_filters;
pub use backup::{
    ChosenSnapshot, Error as BackupError, Remedy as BackupRemedy, SnapshotChoice, UndeleteReport, Undeleted,
    UnindexedMessages,
};
pub use check::UserRepair;
pub use crypt::{
    Decryption, Failure, OpenedContent, OpenedMessage, Secrets, Signature, Standing, Trust, open_contents,
};
pub use doctor::{Finding, RuleFault};
pub use error::{Error, Result};
pub use handle::{Named, is_exact};
pub use host::{Host, IndexState};
pub use imports::TagsRead;
pub use index::{
    Absent, Adopted, Analysis, AnalysisStep, AttachmentsRead, Change, ChangedFolder, Changes, Circle,
    Cleanup, Contact, Content, ContentStats, Counts, Dimension, Direction, Duplicates, Environment,
    Error as IndexError, Figures, FolderCounts, FolderPlace, Group, Grouping, Happened, HeaderCodec, Hint,
    Hit, Hits, IdentityKey, IndexedFolder, KeptFolder, KeptIdentities, KeptIdentity, Line, Look, Loss,
    Mailbox, Message, MessageFile, Mode, NamedAddress, NumberSet, Order, Origin, OwnPeople, PeopleQuestion,
    Person, Places, Problem, RecordReader, Remedy as IndexRemedy, Replies, Rest, Root, SortKey, Stats,
    Summary, Swept, TagChange, TagEdit, TagSummary, Thread, ThreadEntry, ThreadOrder, ThreadStarts, Threads,
    TokenFault, Unknown, UpdateOptions, check_tag,
};
pub use mail::{
    ContentFlags, Dialect, Error as MailError, FileContent, Flags, HeaderDifference,
    Message as ParsedMessage, MessageParts, PartInfo, PartRead, PreferredAlternative, Protection,
    protected_fields,
};
pub use mail_import::{ImportCounts, ImportedFolder, MailImportOptions, MailImported, MailInput};
pub use message_file::{FileError, MessageContent, Wanted, current_path, handle_of};
pub use new_file::{Existing, NewFile, NewFileError};
pub use parts::{Besides, Choice, NumberList, PartError, Saved, file_names, save_part};
pub use query::complete::Kind as SuggestionKind;
pub use query::suggest::Suggestion;
pub use query::{Context as QueryContext, Error as ParseError, Query};
pub use remedy::Remedy;
pub use restic::{Error as RepositoryError, Id, Remedy as RepositoryRemedy, Repository, Snapshot};
pub use saved_queries::QueryRemoval;
pub use sending::SendError;
pub use settings::{SECRET_VARIABLES, Settings};
pub use tagging::{Tagged, muting, unmuting};
pub use view::{ProblemCounts, Selection, View};
pub use watching::{Commits, FollowNote, FollowObserver, Wait};
pub use work::{Cancel, Context, Progress, Silent, Stage};
