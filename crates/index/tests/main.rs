//! Integration tests of the index: the pass, queries, crashes, readers beside a writer, real mail.

mod crash;
mod damage;
mod pass;
mod queries;
mod readers;
mod real;
mod support;
