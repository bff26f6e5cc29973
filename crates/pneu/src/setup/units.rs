//! Units of systemd for a user: a service that follows the mail, and a daily backup.
//!
//! Input: the program, the directory of the index, the directory of configurations. Output: names of files
//! and their texts, as systemd.service(5) and systemd.timer(5) describe them. Writes nothing.

use std::path::{Path, PathBuf};

/// Where the program and its files are.
#[derive(Clone, Copy, Debug)]
pub struct Places<'a> {
    /// The program.
    pub program: &'a Path,
    /// The directory of the index and of the user's data.
    pub data: &'a Path,
    /// The value of `XDG_CONFIG_HOME`, below which the configuration is.
    pub configurations: &'a Path,
}

/// A path that cannot stand in a unit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the path {} is not UTF-8 text in one line and cannot stand in a unit of systemd", path.display())]
pub struct PathIsNotText {
    /// The path.
    pub path: PathBuf,
}

/// A file of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Its name.
    pub name: &'static str,
    /// Its text.
    pub text: String,
}

/// Returns the service that keeps the index in step with the mail.
///
/// # Errors
/// A path cannot stand in it.
pub fn index(places: Places<'_>) -> Result<[Unit; 1], PathIsNotText> {
    let text = format!(
        "[Unit]\n\
         Description=Keep the index of mail in step\n\
         Documentation=man:pneu-index(1)\n\
         \n\
         [Service]\n\
         ExecStart={}\n\
         {}\
         # Its exit codes after SIGHUP, SIGINT and SIGTERM.\n\
         SuccessExitStatus=129 130 143\n\
         Restart=on-failure\n\
         RestartSec=30\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        command(places, "--quiet index --watch")?,
        environment(places)?,
    );
    Ok([Unit { name: "pneu-index.service", text }])
}

/// Returns the service that backs mail up, and the timer that starts it every day.
///
/// # Errors
/// A path cannot stand in it.
pub fn backup(places: Places<'_>) -> Result<[Unit; 2], PathIsNotText> {
    let service = format!(
        "[Unit]\n\
         Description=Back up mail\n\
         Documentation=man:pneu-archive-backup(1)\n\
         \n\
         [Service]\n\
         Type=oneshot\n\
         ExecStart={}\n\
         {}",
        command(places, "--quiet archive backup")?,
        environment(places)?,
    );
    let timer = "[Unit]\n\
                 Description=Back up mail every day\n\
                 \n\
                 [Timer]\n\
                 OnCalendar=daily\n\
                 RandomizedDelaySec=1h\n\
                 # A backup that was missed is made up for.\n\
                 Persistent=true\n\
                 \n\
                 [Install]\n\
                 WantedBy=timers.target\n";
    Ok([
        Unit { name: "pneu-backup.service", text: service },
        Unit { name: "pneu-backup.timer", text: timer.to_owned() },
    ])
}

fn command(places: Places<'_>, arguments: &str) -> Result<String, PathIsNotText> {
    Ok(format!("{} --data {} {arguments}", argument(places.program)?, argument(places.data)?))
}

fn environment(places: Places<'_>) -> Result<String, PathIsNotText> {
    Ok(format!("Environment=\"XDG_CONFIG_HOME={}\"\n", escaped(places.configurations)?))
}

/// Returns a path as an argument. A dollar sign would name a variable.
fn argument(path: &Path) -> Result<String, PathIsNotText> {
    Ok(format!("\"{}\"", escaped(path)?.replace('$', "$$")))
}

/// Returns a path as it stands between quotation marks. A percent sign would begin a specifier.
fn escaped(path: &Path) -> Result<String, PathIsNotText> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let text = text.ok_or_else(|| PathIsNotText { path: path.to_owned() })?;
    Ok(text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(program: &str) -> Places<'_> {
        Places {
            program: Path::new(program),
            data: Path::new("/home/ana/data"),
            configurations: Path::new("/home/ana/.config"),
        }
    }

    #[test]
    fn units_start_the_program_with_its_directories() {
        let [unit] = index(places("/usr/bin/pneu")).unwrap();
        let start = "ExecStart=\"/usr/bin/pneu\" --data \"/home/ana/data\" --quiet index --watch\n";
        assert!(unit.text.contains(start), "{}", unit.text);
        assert!(unit.text.contains("Environment=\"XDG_CONFIG_HOME=/home/ana/.config\"\n"), "{}", unit.text);
        let [service, timer] = backup(places("/usr/bin/pneu")).unwrap();
        assert!(
            service.text.contains("--quiet archive backup\n") && timer.text.contains("OnCalendar=daily\n")
        );
    }

    #[test]
    fn no_path_is_read_as_something_else() {
        let [unit] = index(places("/o \"x\" $HOME %h \\n/pneu")).unwrap();
        let start = "ExecStart=\"/o \\\"x\\\" $$HOME %%h \\\\n/pneu\" --data";
        assert!(unit.text.contains(start), "{}", unit.text);
        let refused = index(places("/a\nExecStartPre=/bin/x")).unwrap_err();
        assert!(refused.to_string().contains("cannot stand in a unit"), "{refused}");
    }
}
