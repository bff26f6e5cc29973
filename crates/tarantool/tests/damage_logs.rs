//! Damaged logs, in strict mode and in salvage mode.

use crate::damage_support::*;

/// Reads logs of which one has a flipped bit, at this offset in the block with this index.
fn outcomes_of_a_flipped_bit(log: i64, block: usize, offset: usize) -> [String; 2] {
    outcomes(|sim| {
        edit(sim, &name(log, "xlog"), |bytes| {
            let at = borders(bytes)[block] + offset;
            bytes[at] ^= 1;
        });
    })
}

#[test]
fn a_last_log_that_was_not_closed_is_read() {
    let [strict, salvage] =
        outcomes(|sim| edit(sim, &name(600, "xlog"), |bytes| bytes.truncate(bytes.len() - 4)));
    assert_eq!(
        strict,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         remark: 600.xlog was not closed: the program that wrote it ended early, or still runs"
    );
    assert_eq!(salvage, strict);
}

#[test]
fn a_torn_block_of_the_last_log_is_left_out() {
    let [strict, salvage] =
        outcomes(|sim| edit(sim, &name(600, "xlog"), |bytes| bytes.truncate(borders(bytes)[9] + 100)));
    assert_eq!(
        strict,
        "snapshot 0, logs [0, 300, 600], reached {1: 870}\n\
         torn: 600.xlog: 9245 of 9345 bytes: a block is cut off"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 870}\n\
         torn: 600.xlog: 9245 of 9345 bytes: a block is cut off\n\
         lost: 600.xlog: bytes 9245 to 9344: a block is cut off; lost: LSN 871 and all after it of replica 1"
    );
}

#[test]
fn a_torn_head_of_the_last_log_is_left_out() {
    let [strict, salvage] =
        outcomes(|sim| edit(sim, &name(600, "xlog"), |bytes| bytes.truncate(borders(bytes)[9] + 7)));
    assert_eq!(
        strict,
        "snapshot 0, logs [0, 300, 600], reached {1: 870}\n\
         torn: 600.xlog: 9245 of 9252 bytes: the head of a block is cut off"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 870}\n\
         torn: 600.xlog: 9245 of 9252 bytes: the head of a block is cut off\n\
         lost: 600.xlog: bytes 9245 to 9251: the head of a block is cut off; lost: LSN 871 and all after it \
         of replica 1"
    );
}

/// After a power failure: the file was extended, but its new bytes were never written.
#[test]
fn zeros_after_the_last_log_are_left_out() {
    let [strict, salvage] = outcomes(|sim| {
        edit(sim, &name(600, "xlog"), |bytes| {
            bytes.truncate(bytes.len() - 4);
            bytes.extend([0; 4096]);
        });
    });
    assert_eq!(
        strict,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         torn: 600.xlog: 10260 of 14356 bytes: neither a block nor the end mark begins here"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         torn: 600.xlog: 10260 of 14356 bytes: neither a block nor the end mark begins here\n\
         lost: 600.xlog: bytes 10260 to 14355: neither a block nor the end mark begins here; lost: LSN 901 \
         and all after it of replica 1"
    );
}

#[test]
fn a_last_block_of_zeros_is_left_out() {
    let [strict, salvage] = outcomes(|sim| {
        edit(sim, &name(600, "xlog"), |bytes| {
            let at = borders(bytes);
            bytes.truncate(at[10]);
            bytes[at[9]..].fill(0);
        });
    });
    assert_eq!(
        strict,
        "snapshot 0, logs [0, 300, 600], reached {1: 870}\n\
         torn: 600.xlog: 9245 of 10260 bytes: neither a block nor the end mark begins here"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 870}\n\
         torn: 600.xlog: 9245 of 10260 bytes: neither a block nor the end mark begins here\n\
         lost: 600.xlog: bytes 9245 to 10259: neither a block nor the end mark begins here; lost: LSN 871 \
         and all after it of replica 1"
    );
}

#[test]
fn a_last_block_with_a_wrong_checksum_is_left_out() {
    let [strict, salvage] = outcomes(|sim| {
        edit(sim, &name(600, "xlog"), |bytes| {
            let at = borders(bytes);
            bytes.truncate(at[10]);
            bytes[at[9] + 30] ^= 1;
        });
    });
    assert_eq!(
        strict,
        "snapshot 0, logs [0, 300, 600], reached {1: 870}\n\
         torn: 600.xlog: 9245 of 10260 bytes: a block's checksum does not fit"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 870}\n\
         torn: 600.xlog: 9245 of 10260 bytes: a block's checksum does not fit\n\
         lost: 600.xlog: bytes 9245 to 10259: a block's checksum does not fit; lost: LSN 871 and all after \
         it of replica 1"
    );
}

/// The end mark follows it, so all of it was written once, and acknowledged.
#[test]
fn a_last_block_that_was_closed_is_left_out_and_counts_as_lost() {
    let [strict, salvage] = outcomes_of_a_flipped_bit(600, 9, 30);
    assert_eq!(
        strict,
        "snapshot 0, logs [0, 300, 600], reached {1: 870}\n\
         torn: 600.xlog: 9245 of 10264 bytes: a block's checksum does not fit\n\
         lost: 600.xlog: bytes 9245 to 10259: a block's checksum does not fit; lost: LSN 871 and all after \
         it of replica 1"
    );
    assert_eq!(salvage, strict);
}

#[test]
fn a_flipped_bit_within_the_last_log_is_refused() {
    let [strict, salvage] = outcomes_of_a_flipped_bit(600, 4, 30);
    assert_eq!(strict, "refused: 600.xlog is damaged at byte 4170: a block's checksum does not fit");
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 600.xlog: bytes 4170 to 5184: a block's checksum does not fit; lost: LSN 721 to 750 of \
         replica 1"
    );
}

#[test]
fn bytes_after_the_end_of_the_last_log_are_left_out() {
    let [strict, salvage] = outcomes(|sim| edit(sim, &name(600, "xlog"), |bytes| bytes.extend([1, 2, 3])));
    assert_eq!(
        strict,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         torn: 600.xlog: 10264 of 10267 bytes: data follows the end mark"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         torn: 600.xlog: 10264 of 10267 bytes: data follows the end mark\n\
         lost: 600.xlog: bytes 10264 to 10266: data follows the end mark; lost: no row that is known"
    );
}

#[test]
fn blocks_after_the_end_of_the_last_log_are_refused() {
    let [strict, salvage] = outcomes(|sim| {
        edit(sim, &name(600, "xlog"), |bytes| {
            let at = borders(bytes);
            let block = bytes[at[3]..at[4]].to_vec();
            bytes.extend(block);
        });
    });
    assert_eq!(strict, "refused: 600.xlog is damaged at byte 10264: data follows the end mark");
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 600.xlog: data follows the end mark; lost: no row that is known"
    );
}

#[test]
fn a_last_log_that_is_empty_was_torn() {
    let [strict, salvage] = outcomes(|sim| sim.put(&name(900, "xlog"), b""));
    assert_eq!(
        strict,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         torn: 900.xlog: 0 of 0 bytes: the header does not end with an empty line"
    );
    assert_eq!(salvage, strict);
}

#[test]
fn a_last_log_of_zeros_or_half_a_header_and_zeros_was_torn() {
    let begin = b"XLOG\n0.13\nVersion: test\nInstance: 0707";
    for (length, written) in [(4096, &[][..]), (12_288, b"XL"), (4096, begin)] {
        let [strict, salvage] = outcomes(|sim| {
            let mut bytes = written.to_vec();
            bytes.resize(length, 0);
            sim.put(&name(900, "xlog"), &bytes);
        });
        assert_eq!(
            strict,
            format!(
                "snapshot 0, logs [0, 300, 600], reached {{1: 900}}\n\
                 torn: 900.xlog: 0 of {length} bytes: the header does not end with an empty line"
            )
        );
        assert_eq!(salvage, strict);
    }
}

/// Zeros replace the first page, with the header and the head of the only block. The end of that block shows
/// that the log had content.
#[test]
fn a_last_log_whose_first_page_is_gone_is_refused() {
    // With and without the mark of a closed file.
    for cut in [0, 4] {
        let [strict, salvage] = outcomes(|sim| {
            edit(sim, &name(600, "xlog"), |bytes| {
                let at = borders(bytes);
                bytes.drain(at[1]..at[10]);
                bytes[..at[0] + 500].fill(0);
                bytes.truncate(bytes.len() - cut);
            });
        });
        let what = "the header does not end with an empty line";
        let (head, tail) = strict.split_once(" at byte ").unwrap();
        assert_eq!(head, "refused: 600.xlog is damaged");
        let (length, said) = tail.split_once(": ").unwrap();
        assert_eq!(said, what);
        let last = length.parse::<usize>().unwrap() - 1;
        assert_eq!(
            salvage,
            format!(
                "snapshot 0, logs [0, 300], reached {{1: 600}}\n\
                 lost: 600.xlog: bytes 0 to {last}: {what}; lost: no row that is known"
            )
        );
    }
}

/// No crash leaves such a file, so nothing may remove it.
#[test]
fn a_last_log_that_begins_with_anything_else_is_refused() {
    let texts = [
        "x",
        "\0\0\0\0XLOG\n",
        "SNAP\n0.13\n",
        "XLOG\n0.14\n",
        "XLOG\n0.13\nVersion: test\nwithout a colon\nVClock",
        "XLOG\n0.13\nVersion: test\n\n",
        "XLOG\n0.13\nVersion: \u{7}",
        "XLOG\n0.13\n\0\0\0Version",
    ];
    for text in texts {
        let [strict, salvage] = outcomes(|sim| sim.put(&name(900, "xlog"), text.as_bytes()));
        assert!(strict.starts_with("refused: 900.xlog is damaged at byte "), "{text:?}: {strict}");
        let lost = format!("lost: 900.xlog: bytes 0 to {}: ", text.len() - 1);
        assert!(salvage.contains(&lost) && !salvage.contains("torn"), "{text:?}: {salvage}");
    }
}

/// By its name, 100 rows came before it that no other log has.
#[test]
fn an_empty_last_log_after_missing_rows_is_refused() {
    let [strict, salvage] = outcomes(|sim| sim.put(&name(1000, "xlog"), b"XLOG\n0.13\n"));
    assert_eq!(
        strict,
        "refused: rows are missing between 600.xlog and /t/00000000000000001000.xlog: the first ends at {1: \
         900}, the second begins at {1000 rows in all}; find the missing log or the missing part"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: /t/00000000000000001000.xlog: bytes 0 to 9: rows before this file are missing: 100 in all; \
         lost: no row that is known"
    );
}

/// It contains rows.
#[test]
fn a_last_log_that_lost_its_header_is_refused() {
    let [strict, salvage] = outcomes(|sim| edit(sim, &name(600, "xlog"), |bytes| bytes[..9].fill(0)));
    assert_eq!(strict, "refused: 600.xlog is damaged at byte 0: the first line is not SNAP or XLOG");
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 600.xlog: bytes 0 to 109: the first line is not SNAP or XLOG; lost: no row that is known"
    );
}

/// Tarantool itself starts, and lacks half of the rows.
#[test]
fn a_middle_log_cut_between_blocks_is_refused() {
    let [strict, salvage] =
        outcomes(|sim| edit(sim, &name(300, "xlog"), |bytes| bytes.truncate(borders(bytes)[5])));
    assert_eq!(
        strict,
        "refused: rows are missing between 300.xlog and 600.xlog: the first ends at {1: 450}, the second \
         begins at {1: 600}; find the missing log or the missing part"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 600.xlog: rows before this file are missing; lost: LSN 451 to 600 of replica 1"
    );
}

#[test]
fn a_middle_log_cut_within_a_block_is_refused() {
    let [strict, salvage] =
        outcomes(|sim| edit(sim, &name(300, "xlog"), |bytes| bytes.truncate(borders(bytes)[5] + 50)));
    assert_eq!(
        strict,
        "refused: rows are missing between 300.xlog and 600.xlog: the first ends at {1: 450}, the second \
         begins at {1: 600}; find the missing log or the missing part"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 300.xlog: bytes 5179 to 5228: a block is cut off; lost: LSN 451 to 600 of replica 1"
    );
}

#[test]
fn a_middle_log_that_was_not_closed_is_read() {
    let [strict, salvage] =
        outcomes(|sim| edit(sim, &name(300, "xlog"), |bytes| bytes.truncate(bytes.len() - 4)));
    assert_eq!(strict, "snapshot 0, logs [0, 300, 600], reached {1: 900}");
    assert_eq!(salvage, strict);
}

/// Tarantool itself keeps a torn log and begins the next one.
#[test]
fn a_torn_end_before_the_next_log_is_left_out() {
    let [strict, salvage] = outcomes(|sim| {
        edit(sim, &name(300, "xlog"), |bytes| {
            bytes.truncate(bytes.len() - 4);
            bytes.extend(b"\xd5\xba\x0b\xab\x20");
        });
    });
    assert_eq!(
        strict,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         remark: 300.xlog ends with a torn write, 5 bytes; the next log begins where the last whole block \
         ends"
    );
    assert_eq!(salvage, strict);
}

#[test]
fn a_flipped_bit_within_a_middle_log_is_refused() {
    let [strict, salvage] = outcomes_of_a_flipped_bit(300, 5, 50);
    assert_eq!(strict, "refused: 300.xlog is damaged at byte 5179: a block's checksum does not fit");
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 300.xlog: bytes 5179 to 6193: a block's checksum does not fit; lost: LSN 451 to 480 of \
         replica 1"
    );
}

#[test]
fn a_flipped_bit_in_a_middle_logs_last_block_is_refused() {
    let [strict, salvage] = outcomes_of_a_flipped_bit(300, 9, 50);
    assert_eq!(
        strict,
        "refused: rows are missing between 300.xlog and 600.xlog: the first ends at {1: 570}, the second \
         begins at {1: 600}; find the missing log or the missing part"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 300.xlog: bytes 9239 to 10253: a block's checksum does not fit; lost: LSN 571 to 600 of \
         replica 1"
    );
}

#[test]
fn a_missing_middle_log_is_refused() {
    let [strict, salvage] = outcomes(|sim| remove(sim, &name(300, "xlog")));
    assert_eq!(
        strict,
        "refused: rows are missing between 000.xlog and 600.xlog: the first ends at {1: 300}, the second \
         begins at {1: 600}; find the missing log or the missing part"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 600], reached {1: 900}\n\
         lost: 600.xlog: rows before this file are missing; lost: LSN 301 to 600 of replica 1"
    );
}

#[test]
fn a_missing_first_log_is_refused() {
    let [strict, salvage] = outcomes(|sim| remove(sim, &name(0, "xlog")));
    assert_eq!(
        strict,
        "refused: rows are missing between 000.snap and 300.xlog: the first ends at {}, the second begins at \
         {1: 300}; find the missing log or the missing part"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [300, 600], reached {1: 900}\n\
         lost: 300.xlog: rows before this file are missing; lost: LSN 1 to 300 of replica 1"
    );
}

#[test]
fn a_log_of_another_instance_is_refused() {
    let [strict, salvage] = outcomes(|sim| {
        edit(sim, &name(300, "xlog"), |bytes| {
            let at = bytes.windows(4).position(|four| four == b"0707").unwrap();
            bytes[at] = b'1';
        });
    });
    assert_eq!(strict, "refused: 300.xlog: belongs to another instance than the snapshot: move it away");
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 600], reached {1: 900}\n\
         lost: 300.xlog: bytes 0 to 10257: belongs to another instance than the snapshot: move it away; \
         lost: no row that is known\n\
         lost: 600.xlog: rows before this file are missing; lost: LSN 301 to 600 of replica 1"
    );
}

#[test]
fn a_log_under_a_wrong_name_is_refused() {
    let [strict, salvage] = outcomes(|sim| {
        let bytes = read(sim, &name(300, "xlog"));
        remove(sim, &name(300, "xlog"));
        sim.put(&name(301, "xlog"), &bytes);
    });
    assert_eq!(
        strict,
        "refused: 301.xlog is damaged at byte 0: its name should be 00000000000000000300.xlog, by the VClock \
         in it"
    );
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 301.xlog: bytes 0 to 103: its name should be 00000000000000000300.xlog, by the VClock in it; \
         lost: no row that is known"
    );
}

#[test]
fn a_middle_log_with_a_broken_header_is_refused() {
    let [strict, salvage] = outcomes(|sim| edit(sim, &name(300, "xlog"), |bytes| bytes[6] = b'9'));
    assert_eq!(strict, "refused: 300.xlog is damaged at byte 5: the version is not 0.12 or 0.13");
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 300.xlog: bytes 0 to 103: the version is not 0.12 or 0.13; lost: no row that is known"
    );
}

/// Its rows show where it begins: with the very first row.
#[test]
fn a_first_log_with_a_broken_header_is_refused() {
    let [strict, salvage] = outcomes(|sim| edit(sim, &name(0, "xlog"), |bytes| bytes[6] = b'9'));
    assert_eq!(strict, "refused: 000.xlog is damaged at byte 5: the version is not 0.12 or 0.13");
    assert_eq!(
        salvage,
        "snapshot 0, logs [0, 300, 600], reached {1: 900}\n\
         lost: 000.xlog: bytes 0 to 82: the version is not 0.12 or 0.13; lost: no row that is known"
    );
}

/// A snapshot with the name of a log is not a log, whatever its content.
#[test]
fn a_snapshot_under_the_name_of_a_log_is_refused() {
    let [strict, salvage] = outcomes(|sim| sim.put(&name(900, "xlog"), &read(sim, &name(0, "snap"))));
    assert_eq!(
        strict,
        "refused: 900.xlog is damaged at byte 0: its first line and its name disagree: it is not a .xlog"
    );
    let lost = "snapshot 0, logs [0, 300, 600], reached {1: 900}\nlost: 900.xlog: bytes 0 to ";
    assert!(salvage.starts_with(lost));
}
