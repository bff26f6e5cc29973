//! Integration tests of the index: the pass, queries, crashes, readers beside a writer, real mail.
#![expect(
    clippy::unwrap_used,
    reason = "clippy takes helpers of integration tests for code that is not tested"
)]

mod absent;
mod adopt;
mod arrivals;
mod attachments;
mod changes;
mod codecs;
mod contents;
mod copies;
mod crash;
mod damage;
mod dates;
mod fields;
mod filter;
mod first_index;
mod fixed_threads;
mod folder_names;
mod forged;
mod forms;
mod handles;
mod inventory;
mod manuals;
mod merging;
mod moment;
mod newer;
mod orders;
mod pass;
mod people;
mod personal;
mod queries;
mod races;
mod readers;
mod real;
mod rebuild;
mod relevance;
mod scan;
mod signs;
mod small_text;
mod sorting;
mod stats;
mod support;
mod sweep;
mod tags;
mod tags_text;
mod threads;
mod unnamed_roots;
mod words;
mod writers;
