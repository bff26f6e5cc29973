//! Which file systems give no events for what other machines change.

use rustix::fs::statfs;
use std::path::Path;

/// The magic numbers of statfs(2) of file systems that other machines or programs change without the kernel's
/// knowledge, with their names.
const REMOTE: [(u32, &str); 11] = [
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x517b, "SMB"),
    (0x6573_5546, "FUSE"),
    (0x0102_1997, "9p"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
];

/// Returns the name of the file system that a directory is on, if it gives no events for all changes: a
/// network file system, or one in user space. Returns `None` if the directory cannot be asked.
pub fn gives_no_events(directory: &Path) -> Option<&'static str> {
    let found = statfs(directory).ok()?;
    // The type of this number differs between architectures. All magic numbers have 32 bits.
    let magic = u32::try_from(i128::from(found.f_type) & i128::from(u32::MAX)).ok()?;
    name_of(magic)
}

fn name_of(magic: u32) -> Option<&'static str> {
    REMOTE.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_file_systems_give_events_and_remote_ones_do_not() {
        assert_eq!(gives_no_events(Path::new("/proc")), None);
        assert_eq!(gives_no_events(Path::new("/nowhere")), None);
        assert_eq!(name_of(0x6969), Some("NFS"));
        assert_eq!(name_of(0xff53_4d42), Some("CIFS"));
        // ext4 and btrfs.
        assert_eq!((name_of(0xef53), name_of(0x9123_683e)), (None, None));
    }
}
