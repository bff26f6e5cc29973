//! Integration tests of backups.
