//! Tests of the library from outside. Only one test may run in this process: it measures its memory.

mod memory;
