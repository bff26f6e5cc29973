//! Any bytes can be read as a file name. Other flags keep its unique part, and change nothing but the flags.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::{Flags, is_draft, parse_name, size_hints, with_flags};

fuzz_target!(|input: (u16, &[u8])| {
    let (bits, name) = input;
    let parsed = parse_name(name);
    assert!(name.starts_with(parsed.unique));
    assert_eq!(is_draft(name), parsed.flags.contains(Flags::DRAFT));
    size_hints(name);
    // NEW states where a file is and is not part of its name.
    let flags = Flags::from_bits(bits & (Flags::NEW.bits() - 1));
    let changed = with_flags(name, flags);
    let again = parse_name(&changed);
    assert_eq!((again.unique, again.flags, again.keywords), (parsed.unique, flags, parsed.keywords));
    assert_eq!(with_flags(&changed, flags), changed);
});
