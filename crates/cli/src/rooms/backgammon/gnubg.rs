//! GNU Backgammon as a player. Starts processes of the installed GNU Backgammon and connects to their external-player sockets. Each process
//! receives one board at a time, in the text format of the First Internet Backgammon Server (FIBS), and answers with a move
//! (`run::backgammon::fibs`).
//!
//! A batch of decisions is divided among the processes. If a process fails, an arbitrary legal move is played for each of its decisions in
//! the batch. The caller stops when [`Gnubg::take_error`] returns the error.
//!
//! GNU Backgammon plays without the doubling cube, at a fixed number of plies, without noise and without pruning nets. The Jacoby rule is
//! on by default. This module turns it off, because the rule would void gammons in games without the cube. The user's own settings are not
//! read.

use anyhow::{Context, Result, anyhow, bail};
use run::backgammon::{Board, Player, Results, Roll, fibs};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Maximum search depth in plies. A deeper search takes minutes per move.
pub const MOST_PLIES: u8 = 3;
/// Time limit of an answer, indexed by the search depth in plies.
const TIMEOUT: [Duration; MOST_PLIES as usize + 1] =
    [Duration::from_secs(15), Duration::from_secs(30), Duration::from_secs(60), Duration::from_secs(900)];
/// Time that a started process has until it must listen on its socket.
pub const START: Duration = Duration::from_secs(30);
/// Folders that are searched after those of `PATH`. Not every user's `PATH` contains Debian's /usr/games.
const FOLDERS: [&str; 3] = ["/usr/games", "/usr/local/games", "/usr/local/bin"];
const INSTALL: &str = "Install it (Debian and Ubuntu: apt install gnubg; Fedora: dnf install gnubg; macOS: brew install \
                       gnubg) or play against random, linear or a checkpoint";

/// One or more GNU Backgammon processes. The decisions of a batch are divided among them.
pub struct Gnubg {
    connections: Vec<Connection>,
    plies: u8,
    version: String,
    results: Results,
    error: Option<anyhow::Error>,
}

impl Gnubg {
    /// Starts `programs` processes with a search depth of `plies`.
    pub fn start(plies: u8, programs: usize) -> Result<Gnubg> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = find(std::env::split_paths(&path).chain(FOLDERS.map(PathBuf::from)))?;
        let connections: Result<Vec<_>> = (0..programs.max(1)).map(|_| Connection::start(&program, plies)).collect();
        Gnubg::of(connections?, plies)
    }

    pub fn of(mut connections: Vec<Connection>, plies: u8) -> Result<Gnubg> {
        let version = connections[0].version()?;
        Ok(Gnubg { connections, plies, version, results: Results::new(), error: None })
    }

    /// Returns the first error since the last call of this function; `None` if there was no error.
    pub fn take_error(&mut self) -> Option<anyhow::Error> {
        self.error.take()
    }
}

impl Player for Gnubg {
    fn name(&self) -> String {
        format!("GNU Backgammon {} {}-ply", self.version, self.plies)
    }

    fn choose(&mut self, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>) {
        let share = decisions.len().div_ceil(self.connections.len()).max(1);
        let parts = self.connections.iter_mut().zip(decisions.chunks(share));
        let answers: Vec<Result<Vec<Board>>> = std::thread::scope(|scope| {
            let threads: Vec<_> = parts
                .map(|(connection, part)| scope.spawn(move || part.iter().map(|(board, roll)| connection.choose(board, *roll)).collect()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err(anyhow!("it panicked")))).collect()
        });
        for (answer, part) in answers.into_iter().zip(decisions.chunks(share)) {
            match answer {
                Ok(boards) => chosen.extend(boards),
                Err(error) => {
                    self.error.get_or_insert(error);
                    chosen.extend(part.iter().map(|(board, roll)| board.results(*roll, &mut self.results)[0]));
                }
            }
        }
    }
}

/// Returns the first executable of GNU Backgammon in the folders, or an error if there is none.
pub fn find(mut folders: impl Iterator<Item = PathBuf>) -> Result<PathBuf> {
    let name = format!("gnubg{}", std::env::consts::EXE_SUFFIX);
    folders
        .by_ref()
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file())
        .with_context(|| format!("GNU Backgammon is not installed. {INSTALL}"))
}

/// A connection to one process. Dropping the connection ends the process.
pub struct Connection {
    lines: BufReader<TcpStream>,
    /// Process at the other end; `None` in tests, which connect to a mock server.
    process: Option<OwnedProcess>,
    timeout: Duration,
}

/// A child process that is killed on drop.
struct OwnedProcess(Child);

impl Drop for OwnedProcess {
    fn drop(&mut self) {
        // The error is ignored: the process may already have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Connection {
    pub fn start(program: &PathBuf, plies: u8) -> Result<Connection> {
        // Another program may take the free port before GNU Backgammon does. In that case, the next attempt uses a new port.
        let mut last = None;
        for _ in 0..3 {
            let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
            let port = port.context("there is no free port. Close other programs and try again")?.port();
            match Connection::start_at(program, plies, port) {
                Ok(connection) => return Ok(connection),
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("the loop runs at least once"))
    }

    fn start_at(program: &PathBuf, plies: u8, port: u16) -> Result<Connection> {
        let shown = program.display();
        let mut child = Command::new(program)
            .args(["--tty", "--quiet", "--no-rc"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map(OwnedProcess)
            .with_context(|| format!("cannot start {shown}. {INSTALL}"))?;
        let commands = format!(
            "set automatic game off\nset jacoby off\nset cube use off\nset threads 1\n\
             set evaluation sameasanalysis off\n\
             set evaluation chequerplay type evaluation\n\
             set evaluation chequerplay evaluation plies {plies}\n\
             set evaluation chequerplay evaluation cubeful off\n\
             set evaluation chequerplay evaluation prune off\n\
             set evaluation chequerplay evaluation deterministic on\n\
             set evaluation chequerplay evaluation noise 0\n\
             external 127.0.0.1:{port}\n"
        );
        let mut stdin = child.0.stdin.take().context("its input is closed")?;
        stdin.write_all(commands.as_bytes()).with_context(|| format!("{shown} accepts no commands. {INSTALL}"))?;
        let began = Instant::now();
        let stream = loop {
            match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                Ok(stream) => break stream,
                Err(error) if began.elapsed() > START => {
                    bail!("{shown} does not listen ({error}). Try it manually: gnubg --tty, then `external 127.0.0.1:{port}`")
                }
                Err(_) => {}
            }
            if let Some(status) = child.0.try_wait().context("cannot query the status of GNU Backgammon")? {
                bail!("{shown} ended before it listened ({status}). Try it manually: gnubg --tty");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut connection = Connection::over(stream, TIMEOUT[usize::from(plies)])?;
        connection.process = Some(child);
        Ok(connection)
    }

    pub fn over(stream: TcpStream, timeout: Duration) -> Result<Connection> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(timeout))?;
        stream.set_write_timeout(Some(timeout))?;
        Ok(Connection { lines: BufReader::new(stream), process: None, timeout })
    }

    /// Returns the version of GNU Backgammon, such as `1.07.001`.
    fn version(&mut self) -> Result<String> {
        let mut line = self.exchange("version")?;
        // Lines about the interface, boards and engine precede the version.
        for _ in 0..8 {
            if let Some(version) = line.trim().strip_prefix("Software: ") {
                return Ok(version.chars().take(20).collect());
            }
            line = self.line()?;
        }
        bail!("GNU Backgammon does not report its version. Use 1.05 or later")
    }

    fn choose(&mut self, board: &Board, roll: Roll) -> Result<Board> {
        let line = self.exchange(&fibs::question(board, roll))?;
        fibs::answer(board, roll, &line).map_err(|error| {
            let answer: String = line.trim().chars().take(60).collect();
            anyhow!(
                "GNU Backgammon answered {answer:?} to {} with {} and {} ({error}). Try another version",
                board.id(),
                roll.high(),
                roll.low()
            )
        })
    }

    fn exchange(&mut self, line: &str) -> Result<String> {
        let sent = self.lines.get_mut().write_all(format!("{line}\n").as_bytes());
        sent.map_err(|error| self.lost(error))?;
        self.line()
    }

    fn line(&mut self) -> Result<String> {
        let mut line = Vec::new();
        let read = std::io::Read::take(&mut self.lines, 4096).read_until(b'\n', &mut line);
        match read {
            Ok(_) if line.last() == Some(&b'\n') => Ok(String::from_utf8_lossy(&line).into_owned()),
            Ok(_) => Err(self.lost(ErrorKind::UnexpectedEof.into())),
            Err(error) => Err(self.lost(error)),
        }
    }

    fn lost(&mut self, error: std::io::Error) -> anyhow::Error {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                anyhow!("GNU Backgammon has not answered for {} s. Use fewer --plies, or a machine with less load", self.timeout.as_secs())
            }
            _ => {
                let ended = self.process.as_mut().and_then(|process| process.0.try_wait().ok().flatten());
                let reason = ended.map_or_else(|| error.to_string(), |status| status.to_string());
                anyhow!("GNU Backgammon closed the connection ({reason}). Run it again; the same seed plays the same games")
            }
        }
    }
}
