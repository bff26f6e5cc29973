//! Turns what is given block by block into what is read piece by piece.
//!
//! Input: work that gives blocks. Output: a reader. The work goes on in a thread of its own, a few blocks
//! ahead at most. Knows nothing of what the bytes are.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// How many blocks may wait to be read.
const AHEAD_COUNT: usize = 2;

/// Takes blocks.
pub(crate) struct Sink(SyncSender<io::Result<Vec<u8>>>);

impl Sink {
    /// Takes a block, when there is room for it.
    ///
    /// # Errors
    /// Nobody reads any more.
    pub(crate) fn give(&self, block: &[u8]) -> io::Result<()> {
        self.0.send(Ok(block.to_vec())).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// Returns a reader of the blocks that `work` gives. If the work fails, so does the reader at that place.
///
/// # Errors
/// The system refuses a thread.
pub(crate) fn read(
    work: impl FnOnce(&Sink) -> io::Result<()> + Send + 'static,
) -> io::Result<Box<dyn Read + Send>> {
    let (sender, blocks) = sync_channel(AHEAD_COUNT);
    let sink = Sink(sender);
    thread::Builder::new().name("blocks".to_owned()).spawn(move || {
        // Whatever happens, the reader hears of it: a panic gives no end, so it counts as one that failed.
        let done = work(&sink).map(|()| Vec::new());
        let _ = sink.0.send(done);
    })?;
    Ok(Box::new(Blocks { blocks, block: Vec::new(), taken: 0, has_ended: false }))
}

struct Blocks {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    /// How many bytes of the block were read.
    taken: usize,
    has_ended: bool,
}

impl Read for Blocks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken >= self.block.len() && !self.has_ended {
            let next = self.blocks.recv().unwrap_or_else(|_| Err(io::Error::other("the work ended early")));
            self.has_ended = next.as_ref().map_or(true, Vec::is_empty);
            (self.block, self.taken) = (next?, 0);
        }
        let rest = self.block.get(self.taken..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
            to.copy_from_slice(from);
        }
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_read_in_order_and_to_their_end() {
        let mut reader = read(|sink| (1..=200_u8).try_for_each(|number| sink.give(&[number; 3]))).unwrap();
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        let expected: Vec<u8> = (1..=200).flat_map(|number| [number; 3]).collect();
        assert_eq!(bytes, expected);
        assert_eq!(reader.read(&mut [0; 8]).unwrap(), 0);
    }

    #[test]
    fn an_error_and_a_panic_are_no_end() {
        let mut reader = read(|sink| {
            sink.give(b"abc")?;
            Err(io::Error::other("gone"))
        })
        .unwrap();
        let mut bytes = Vec::new();
        assert_eq!(reader.read_to_end(&mut bytes).unwrap_err().to_string(), "gone");
        assert_eq!(bytes, b"abc");
        let mut reader = read(|_| panic!("a fault of the test")).unwrap();
        assert!(reader.read(&mut [0; 8]).is_err());
    }

    #[test]
    fn the_work_ends_when_nobody_reads() {
        let (told, ended) = std::sync::mpsc::channel();
        let reader = read(move |sink| {
            let mut done = Ok(());
            while done.is_ok() {
                done = sink.give(b"abc");
            }
            told.send(done.unwrap_err().kind()).unwrap();
            Ok(())
        })
        .unwrap();
        drop(reader);
        assert_eq!(ended.recv().unwrap(), io::ErrorKind::BrokenPipe);
    }
}
