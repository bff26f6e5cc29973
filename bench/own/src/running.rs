//! A program that runs until it is interrupted: `pneu index --watch`, `pneu serve`.
//!
//! Input: a command. Output: its lines with their times, and what the system says of the process. Does not
//! know what happens in the mail.

use anyhow::{Context, Result, bail, ensure};
use measure::strace;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The code of a program that was interrupted.
const INTERRUPTED: i32 = 130;
/// How long it may take until it is ready.
const READY: Duration = Duration::from_secs(600);

/// A program that runs. It is killed if it is dropped before its end.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<(String, Instant)>,
    /// What it said until it was ready, that line included.
    pub(crate) said: Vec<String>,
}

impl Running {
    /// Starts a program, and waits for the line that says it is ready: it has `ready` in it.
    ///
    /// # Errors
    /// If it ends.
    pub(crate) fn start(mut command: Command, ready: &str) -> Result<Running> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        let (sender, lines) = channel();
        read(child.stdout.take(), sender.clone());
        read(child.stderr.take(), sender);
        let mut running = Running { child, lines, said: Vec::new() };
        let begin = Instant::now();
        loop {
            let left = READY.saturating_sub(begin.elapsed());
            let Some((line, _)) = running.line(left)? else { bail!("{command:?} is never ready") };
            let is_ready = line.contains(ready);
            running.said.push(line);
            if is_ready {
                return Ok(running);
            }
        }
    }

    /// Returns the next line and when it came, or `None` if there is none for so long.
    ///
    /// # Errors
    /// If the process has ended.
    pub(crate) fn line(&self, timeout: Duration) -> Result<Option<(String, Instant)>> {
        match self.lines.recv_timeout(timeout) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                bail!("it has ended; it said: {}", self.said.join("; "))
            }
        }
    }

    /// Returns the number of the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Interrupts it, as Ctrl-C does, and waits for its end.
    ///
    /// # Errors
    /// If it fails.
    pub(crate) fn end(mut self) -> Result<()> {
        strace::interrupt(&self.child)?;
        let status = self.child.wait()?;
        let code = status.code();
        ensure!(matches!(code, Some(0 | INTERRUPTED)) || code.is_none(), "it failed: {status}");
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended, or nobody waits for it any more.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Sends each line with the time of its arrival.
fn read<R: Read + Send + 'static>(output: Option<R>, sender: Sender<(String, Instant)>) {
    let Some(output) = output else { return };
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The receiver has ended.
            if sender.send((line, Instant::now())).is_err() {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Result<Running> {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        Running::start(command, "watching ")
    }

    #[test]
    fn lines_come_after_it_watches_and_ctrl_c_ends_it() {
        assert!(shell("exit 3").is_err());
        let running =
            shell("echo 1 left out >&2; echo pneu: watching 3 folders >&2; exec sleep 600").unwrap();
        assert_eq!(running.said, ["1 left out", "pneu: watching 3 folders"]);
        assert!(running.process() > 0);
        running.end().unwrap();
        let running = shell("echo watching; echo watching 1 folder; echo 1 added; exec sleep 600").unwrap();
        let (line, _) = running.line(READY).unwrap().unwrap();
        assert_eq!(line, "1 added");
        drop(running);
        let running = shell("echo watching 1 folder; exit 0").unwrap();
        assert!(running.line(READY).is_err(), "it has ended");
    }
}
