//! `pneu serve`: serves mail over HTTP to clients of JMAP.

use crate::exit::Outcome;
use crate::output::{complain, complain_why};
use crate::serving::{self, Watch};
use crate::session::Session;
use crate::signals;
use anyhow::{Context as _, Result, anyhow};
use clap::Args;
use server::{Address, Error, Limits, Login, Secret, Server, Settings};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use terminal::command_line::Run;

/// The letters PNEU on the keys of a telephone. No service is registered for it, and the system gives it to
/// no client.
const PORT: u16 = 7638;

/// Show mail in a browser, and serve it to mail programs that speak JMAP
///
/// Runs until Ctrl-C. A browser shows mail at the address that it prints. Clients of JMAP (RFC 8620 and
/// 8621) connect to the same address, and find the session at /.well-known/jmap. They are told of each
/// change at once. What they change, "pneu undo" takes back. It follows the mail as "pneu index --watch"
/// does, so that one need not run.
///
/// Only programs of this machine reach it, or with --socket only those of the user. All must log in. Mail
/// programs send the token that --print-token prints, as Bearer or as the password of any user. It stays the
/// same; to get another one, remove the file "serve-token" in the data directory. A browser logs in with a
/// link that works once, within two minutes: on a terminal, the second line is one. While the server runs,
/// --new-link prints another one, and --open opens one.
///
/// To reach it from elsewhere, use a proxy with TLS that passes on Host, and name its host with --proxy-host.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  pneu serve
  pneu serve --socket \"$XDG_RUNTIME_DIR/pneu/socket\"
  pneu serve --proxy-host mail.example.org
  printf 'Authorization: Bearer %s' \"$(pneu serve --print-token)\" |
    curl -H @- http://localhost:7638/.well-known/jmap")]
pub(crate) struct Arguments {
    /// The port to listen on; 0 is any that is free
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    port: u16,
    /// The address to listen on: 127.0.0.1, ::1, or with --proxy-host any of this machine
    #[arg(long, value_name = "ADDRESS", default_value_t = Ipv4Addr::LOCALHOST.into())]
    address: IpAddr,
    /// Listen on a socket in the file system, in a directory that only the user can enter. The directory is
    /// made if it does not exist
    #[arg(long, value_name = "PATH", conflicts_with_all = ["port", "address", "open", "link"])]
    socket: Option<PathBuf>,
    /// The host of a proxy with TLS that leads here, and its port unless that is 443
    #[arg(long, value_name = "HOST")]
    proxy_host: Option<String>,
    /// Do not follow the mail: "pneu index --watch" runs, or the index is updated now and then
    #[arg(long)]
    no_watch: bool,
    /// Open a browser that is logged in. If a server of yours runs already on that port, its page is opened,
    /// and no other server is started
    #[arg(long)]
    open: bool,
    /// Print a link that logs a browser in, also if standard output is no terminal
    #[arg(long)]
    link: bool,
    /// Print a new link from the server of yours that runs on that port, and do not serve. With --open, open
    /// it instead
    #[arg(long, conflicts_with_all = ["proxy_host", "no_watch", "link"])]
    new_link: bool,
    /// Print the token for mail programs, and do not serve. The first time, make it
    #[arg(long, conflicts_with_all = [
        "port", "address", "socket", "proxy_host", "no_watch", "open", "link", "new_link"
    ])]
    print_token: bool,
}

impl Run<Session> for Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no index; the address cannot be used; the token cannot be read or written; no server of the
    /// user gives a link.
    fn run(&self, session: &Session) -> Result<Outcome> {
        session.view()?;
        let data = &session.environment.data;
        let token = serving::read_token(data)?;
        if self.print_token {
            let mut output = session.output();
            output.line(&token.text())?;
            output.finish()?;
            return Ok(Outcome::Done);
        }
        if self.new_link {
            return self.ask_for_link(&token, session);
        }
        // From now on a signal removes the socket's file.
        signals::listen().context("cannot handle Ctrl-C")?;
        let settings = Settings {
            address: self.address(),
            behind_proxy: self.proxy_host.clone(),
            token: Some(token.clone()),
            limits: Limits::default(),
        };
        let server = match Server::bind(settings) {
            Err(error) if self.open && is_in_use(&error) => return self.ask_for_link(&token, session),
            bound => bound.map_err(refused)?,
        };
        if server.is_open_to_other_users() {
            complain(
                "the system does not say whose program connects, so a program of another user can use the \
                 login of a browser that visits it; use --socket, or log no browser in",
            );
        }
        let login = server.new_login()?;
        self.print(&server, &login, session)?;
        let opened = self.open.then(|| serving::open_browser(data, &login));
        let _file = opened.and_then(|opened| opened.map_err(|error| complain_why(&error)).ok());
        let watch = if self.no_watch { Watch::Elsewhere } else { Watch::Here };
        serving::serve(session, server, watch)?;
        Ok(Outcome::Interrupted)
    }
}

impl Arguments {
    fn address(&self) -> Address {
        let tcp = || Address::Tcp(SocketAddr::new(self.address, self.port));
        self.socket.clone().map_or_else(tcp, Address::Unix)
    }

    /// Gets a link from the server that runs. Prints it, or opens it.
    fn ask_for_link(&self, token: &Secret, session: &Session) -> Result<Outcome> {
        let login = server::new_login(&self.address(), token)?;
        if self.open {
            serving::open_browser_and_leave(&session.environment.data, &login)?;
            return Ok(Outcome::Done);
        }
        let mut output = session.output();
        output.line(&login.url)?;
        output.finish()?;
        Ok(Outcome::Done)
    }

    /// Prints the address, and the link if somebody sees it who may.
    fn print(&self, server: &Server, login: &Login, session: &Session) -> Result<()> {
        let mut output = session.output();
        match (server.address(), &self.proxy_host) {
            (Address::Unix(path), None) => output.line(&path.display().to_string())?,
            _ => output.line(&format!("{}/", server.handle().origin()))?,
        }
        let is_reached = self.socket.is_none() || self.proxy_host.is_some();
        if self.link || (session.terminal.is_terminal() && is_reached) {
            output.line(&login.url)?;
            if !session.is_quiet {
                complain("the second address logs a browser in, once; keep it secret until then");
            }
        }
        output.finish()
    }
}

fn is_in_use(error: &Error) -> bool {
    matches!(error, Error::Listen { source, .. } if source.kind() == ErrorKind::AddrInUse)
}

fn refused(error: Error) -> anyhow::Error {
    match error {
        Error::Listen { ref address, .. } if is_in_use(&error) => anyhow!(
            "another program listens on {address}; stop it, or use another port with --port PORT; if it is \
             pneu serve, --new-link prints a link to its page"
        ),
        other => other.into(),
    }
}
