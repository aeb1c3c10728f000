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
const START: Duration = Duration::from_secs(30);
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

    fn of(mut connections: Vec<Connection>, plies: u8) -> Result<Gnubg> {
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
fn find(mut folders: impl Iterator<Item = PathBuf>) -> Result<PathBuf> {
    let name = format!("gnubg{}", std::env::consts::EXE_SUFFIX);
    folders
        .by_ref()
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file())
        .with_context(|| format!("GNU Backgammon is not installed. {INSTALL}"))
}

/// A connection to one process. Dropping the connection ends the process.
struct Connection {
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
    fn start(program: &PathBuf, plies: u8) -> Result<Connection> {
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

    fn over(stream: TcpStream, timeout: Duration) -> Result<Connection> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use run::backgammon::arena::Duel;
    use run::backgammon::baselines::Linear;
    use run::backgammon::notation;

    const RECORDED: &str = include_str!("../../../../../tests/golden/backgammon_gnubg.txt");
    const VERSION: &str = "Interface: 2\nRFBF: 0\nEngine: 1.00\nSoftware: 1.07.001\n";

    /// Connects to a mock server. `answer` returns the reply to a line other than `version`, or `None` to close the connection.
    fn mock(answer: impl Fn(&str) -> Option<String> + Send + 'static) -> Connection {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream);
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                let reply = if line == "version\n" { Some(VERSION.into()) } else { answer(line.trim_end()) };
                let Some(reply) = reply else { return };
                if lines.get_mut().write_all(reply.as_bytes()).is_err() {
                    return;
                }
                line.clear();
            }
        });
        Connection::over(TcpStream::connect(address).unwrap(), Duration::from_millis(300)).unwrap()
    }

    /// Parses the board and the roll from a line that was sent to the server.
    fn parse(question: &str) -> (Board, Roll) {
        let numbers: Vec<i32> = question.split(':').skip(6).map(|number| number.parse().unwrap()).collect();
        let (mut mine, mut theirs) = ([0; 25], [0; 25]);
        for point in 1..=24 {
            let count = numbers[point];
            mine[point - 1] = count.max(0) as u8;
            theirs[24 - point] = (-count).max(0) as u8;
        }
        (mine[24], theirs[24]) = (numbers[25] as u8, -numbers[0] as u8);
        let board = Board::new(mine, theirs).unwrap();
        let off = [board.mine().off(), board.theirs().off(), mine[24], theirs[24]].map(i32::from);
        assert_eq!(numbers[39..43], off, "{question}");
        (board, Roll::new(numbers[27] as u8, numbers[28] as u8).unwrap())
    }

    /// Returns the reply of a mock server that plays the move of the linear baseline.
    fn linear(question: &str) -> Option<String> {
        let (board, roll) = parse(question);
        let mut chosen = Vec::new();
        Linear::new().choose(&[(board, roll)], &mut chosen);
        Some(notation::write(&board, roll, &chosen[0]).unwrap() + "\n")
    }

    #[test]
    fn answers_have_the_order_of_the_questions_with_any_number_of_processes() {
        let recorded = |line: &str| {
            let (board, roll) = parse(line);
            let same = |line: &&str| parse(line.split('|').nth(1).unwrap()) == (board, roll);
            Some(RECORDED.lines().find(same)?.split('|').nth(2)?.to_string() + " \n")
        };
        let cases = RECORDED.lines().map(|line| {
            let words: Vec<&str> = line.split('|').next().unwrap().split(' ').collect();
            let board = |id: &str| Board::from_id(id).unwrap();
            let roll = Roll::new(words[1].parse().unwrap(), words[2].parse().unwrap()).unwrap();
            ((board(words[0]), roll), board(words[3]))
        });
        let (decisions, expected): (Vec<_>, Vec<_>) = cases.unzip();
        for connections in [1, 3] {
            let mut gnubg = Gnubg::of((0..connections).map(|_| mock(recorded)).collect(), 0).unwrap();
            assert_eq!(gnubg.name(), "GNU Backgammon 1.07.001 0-ply");
            let mut chosen = Vec::new();
            gnubg.choose(&decisions, &mut chosen);
            assert!(gnubg.take_error().is_none());
            assert_eq!(chosen, expected);
            chosen.clear();
            gnubg.choose(&decisions[..2], &mut chosen);
            gnubg.choose(&[], &mut chosen);
            assert_eq!(chosen, expected[..2]);
        }
    }

    #[test]
    fn duel_over_a_socket_equals_a_local_duel() {
        let mut gnubg = Gnubg::of(vec![mock(linear), mock(linear)], 0).unwrap();
        let mut games = Duel::new(3, 20, 16);
        while !games.is_over() {
            games.advance(&mut gnubg, &mut Linear::new()).unwrap();
            assert!(gnubg.take_error().is_none());
        }
        // Both players choose the same moves, so the two games of each pair cancel out.
        assert_eq!((games.tally().pairs, games.tally().points, games.tally().squares), (20, 0, 0));
    }

    /// Returns a player with a mock server that answers the first `lines` lines correctly and all later lines with `wrong`.
    fn after(lines: usize, wrong: impl Fn(&str) -> Option<String> + Send + 'static) -> Gnubg {
        let remaining = std::cell::Cell::new(lines);
        let answer = move |line: &str| match remaining.get() {
            0 => wrong(line),
            n => {
                remaining.set(n - 1);
                linear(line)
            }
        };
        Gnubg::of(vec![mock(answer)], 0).unwrap()
    }

    #[test]
    fn errors_are_returned_and_moves_stay_legal() {
        let cases: [(Gnubg, &str); 7] = [
            (after(3, |_| Some("Error: badly formed board\n".into())), "badly formed board"),
            (after(0, |_| Some("24/1\n".into())), "\"24/1\""),
            (after(5, |_| Some("\n".into())), "answered \"\""),
            (after(0, |_| Some("\u{1}\u{2}\u{1F3B2}\n".into())), "answered"),
            (after(4, |_| None), "closed the connection"),
            (after(2, |_| Some("8/5".repeat(3000))), "closed the connection"),
            (after(1, |_| Some(String::new())), "has not answered"),
        ];
        for (mut gnubg, reason) in cases {
            let mut games = Duel::new(3, 20, 4);
            let error = loop {
                // Until the error is taken, the games continue with legal moves.
                games.advance(&mut Linear::new(), &mut gnubg).unwrap();
                if let Some(error) = gnubg.take_error() {
                    break error.to_string();
                }
                assert!(!games.is_over(), "{reason}");
            };
            assert!(error.contains(reason), "{error}: {reason}");
            assert!(error.contains(". "), "the error contains a remedy: {error}");
        }
    }

    #[test]
    fn missing_program_error_explains_the_installation() {
        let error = find([PathBuf::from("/nowhere")].into_iter()).unwrap_err().to_string();
        assert!(error.contains("apt install gnubg") && error.contains("linear"), "{error}");
        let error = Connection::start(&PathBuf::from("/nowhere/gnubg"), 0).err().unwrap().to_string();
        assert!(error.contains("apt install gnubg"), "{error}");
    }

    #[test]
    #[cfg(unix)]
    fn program_that_ends_before_it_listens_is_an_error() {
        let began = Instant::now();
        let error = Connection::start(&PathBuf::from("/bin/true"), 0).err().unwrap().to_string();
        assert!(error.contains("/bin/true"), "{error}");
        assert!(began.elapsed() < START);
    }
}
