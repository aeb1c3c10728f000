//! GNU Backgammon as a player: installed programs of it, started here and asked through their external-player sockets. Each
//! takes one question at a time, a board of FIBS, and answers with a move (`run::backgammon::fibs`).
//!
//! It refuses to go on after trouble: what it could not answer is answered with any legal move, and [`Gnubg::trouble`] says
//! why, so that whoever plays it stops.
//!
//! GNU Backgammon plays cubeless at a fixed number of plies, without noise, without its pruning nets, and without the Jacoby
//! rule, which its settings have on and which would void gammons here. The user's own settings are not read.

use anyhow::{Context, Result, anyhow, bail};
use run::backgammon::{Board, Player, Results, Roll, fibs};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Deeper takes minutes a move.
pub const MOST_PLIES: u8 = 3;
/// By plies: how long an answer may take.
const PATIENCE: [Duration; MOST_PLIES as usize + 1] =
    [Duration::from_secs(15), Duration::from_secs(30), Duration::from_secs(60), Duration::from_secs(900)];
/// How long one may take to listen.
const START: Duration = Duration::from_secs(30);
/// Where Debian keeps it, which is not on every user's path.
const PLACES: [&str; 3] = ["/usr/games", "/usr/local/games", "/usr/local/bin"];
const INSTALL: &str = "Install it (Debian and Ubuntu: apt install gnubg; Fedora: dnf install gnubg; macOS: brew install \
                       gnubg) or play against random, linear or a checkpoint";

/// One or more programs that share the decisions out.
pub struct Gnubg {
    seats: Vec<Seat>,
    plies: u8,
    version: String,
    room: Results,
    trouble: Option<anyhow::Error>,
}

impl Gnubg {
    /// Starts so many programs that look so many plies ahead.
    pub fn start(plies: u8, programs: usize) -> Result<Gnubg> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let program = find(std::env::split_paths(&path).chain(PLACES.map(PathBuf::from)))?;
        let seats: Result<Vec<Seat>> = (0..programs.max(1)).map(|_| Seat::start(&program, plies)).collect();
        Gnubg::of(seats?, plies)
    }

    fn of(mut seats: Vec<Seat>, plies: u8) -> Result<Gnubg> {
        let version = seats[0].version()?;
        Ok(Gnubg { seats, plies, version, room: Results::new(), trouble: None })
    }

    /// What went wrong, once.
    pub fn trouble(&mut self) -> Option<anyhow::Error> {
        self.trouble.take()
    }
}

impl Player for Gnubg {
    fn name(&self) -> String {
        format!("GNU Backgammon {} {}-ply", self.version, self.plies)
    }

    fn choose(&mut self, decisions: &[(Board, Roll)], chosen: &mut Vec<Board>) {
        let share = decisions.len().div_ceil(self.seats.len()).max(1);
        let seats = self.seats.iter_mut().zip(decisions.chunks(share));
        let answers: Vec<Result<Vec<Board>>> = std::thread::scope(|scope| {
            let asked: Vec<_> =
                seats.map(|(seat, part)| scope.spawn(move || part.iter().map(|(board, roll)| seat.ask(board, *roll)).collect())).collect();
            asked.into_iter().map(|seat| seat.join().unwrap_or_else(|_| Err(anyhow!("it panicked")))).collect()
        });
        for (answer, part) in answers.into_iter().zip(decisions.chunks(share)) {
            match answer {
                Ok(boards) => chosen.extend(boards),
                Err(error) => {
                    self.trouble.get_or_insert(error);
                    chosen.extend(part.iter().map(|(board, roll)| board.results(*roll, &mut self.room)[0]));
                }
            }
        }
    }
}

/// Where the program is.
fn find(mut folders: impl Iterator<Item = PathBuf>) -> Result<PathBuf> {
    let name = format!("gnubg{}", std::env::consts::EXE_SUFFIX);
    folders
        .by_ref()
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file())
        .with_context(|| format!("GNU Backgammon is not installed here. {INSTALL}"))
}

/// A connection to one program, which ends with it.
struct Seat {
    lines: BufReader<TcpStream>,
    /// None where somebody else started it.
    program: Option<Running>,
    patience: Duration,
}

/// A program that is stopped when nobody needs it any more.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Seat {
    fn start(program: &PathBuf, plies: u8) -> Result<Seat> {
        // The port is free when it is looked for; whoever takes it in between makes it fail, and another is looked for.
        let mut last = None;
        for _ in 0..3 {
            let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
            let port = port.context("there is no free port. Close other programs and try again")?.port();
            match Seat::start_at(program, plies, port) {
                Ok(seat) => return Ok(seat),
                Err(error) => last = Some(error),
            }
        }
        Err(last.expect("it was tried"))
    }

    fn start_at(program: &PathBuf, plies: u8, port: u16) -> Result<Seat> {
        let shown = program.display();
        let mut child = Command::new(program)
            .args(["--tty", "--quiet", "--no-rc"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map(Running)
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
        stdin.write_all(commands.as_bytes()).with_context(|| format!("{shown} takes no commands. {INSTALL}"))?;
        let began = Instant::now();
        let stream = loop {
            match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                Ok(stream) => break stream,
                Err(error) if began.elapsed() > START => {
                    bail!("{shown} does not listen ({error}). Try it by hand: gnubg --tty, then `external 127.0.0.1:{port}`")
                }
                Err(_) => {}
            }
            if let Some(status) = child.0.try_wait().context("cannot wait for it")? {
                bail!("{shown} ended before it listened ({status}). Try it by hand: gnubg --tty");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut seat = Seat::over(stream, PATIENCE[usize::from(plies)])?;
        seat.program = Some(child);
        Ok(seat)
    }

    fn over(stream: TcpStream, patience: Duration) -> Result<Seat> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        Ok(Seat { lines: BufReader::new(stream), program: None, patience })
    }

    /// `1.07.001`
    fn version(&mut self) -> Result<String> {
        let mut line = self.exchange("version")?;
        // It tells its interface, its boards and its engine first.
        for _ in 0..8 {
            if let Some(version) = line.trim().strip_prefix("Software: ") {
                return Ok(version.chars().take(20).collect());
            }
            line = self.line()?;
        }
        bail!("GNU Backgammon does not tell its version. Use 1.05 or later")
    }

    fn ask(&mut self, board: &Board, roll: Roll) -> Result<Board> {
        let line = self.exchange(&fibs::question(board, roll))?;
        fibs::answer(board, roll, &line).map_err(|error| {
            let said: String = line.trim().chars().take(60).collect();
            anyhow!(
                "GNU Backgammon answered {said:?} to {} with {} and {} ({error}). Try another version of it",
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
            ErrorKind::WouldBlock | ErrorKind::TimedOut => anyhow!(
                "GNU Backgammon has not answered for {} s. Look with fewer --plies, or on a machine with less to do",
                self.patience.as_secs()
            ),
            _ => {
                let ended = self.program.as_mut().and_then(|running| running.0.try_wait().ok().flatten());
                let how = ended.map_or_else(|| error.to_string(), |status| status.to_string());
                anyhow!("GNU Backgammon went away ({how}). Run it again; the same seed plays the same games")
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

    const SPOKEN: &str = include_str!("../../../../../tests/golden/backgammon_gnubg.txt");
    const VERSION: &str = "Interface: 2\nRFBF: 0\nEngine: 1.00\nSoftware: 1.07.001\n";

    /// A stand-in on a real socket: `answer` says what goes back for a line, or that the connection ends here.
    fn peer(answer: impl Fn(&str) -> Option<String> + Send + 'static) -> Seat {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream);
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                let said = if line == "version\n" { Some(VERSION.into()) } else { answer(line.trim_end()) };
                let Some(said) = said else { return };
                if lines.get_mut().write_all(said.as_bytes()).is_err() {
                    return;
                }
                line.clear();
            }
        });
        Seat::over(TcpStream::connect(address).unwrap(), Duration::from_millis(300)).unwrap()
    }

    /// The board and the roll of a question, read back from its numbers.
    fn understood(question: &str) -> (Board, Roll) {
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

    /// Plays as the linear baseline does, and writes its moves.
    fn linear(question: &str) -> Option<String> {
        let (board, roll) = understood(question);
        let mut chosen = Vec::new();
        Linear::new().choose(&[(board, roll)], &mut chosen);
        Some(notation::write(&board, roll, &chosen[0]).unwrap() + "\n")
    }

    #[test]
    fn questions_go_out_and_answers_come_back_in_order_whoever_is_asked() {
        let recorded = |line: &str| {
            let (board, roll) = understood(line);
            let same = |spoken: &&str| understood(spoken.split('|').nth(1).unwrap()) == (board, roll);
            Some(SPOKEN.lines().find(same)?.split('|').nth(2)?.to_string() + " \n")
        };
        let spoken = SPOKEN.lines().map(|line| {
            let words: Vec<&str> = line.split('|').next().unwrap().split(' ').collect();
            let board = |id: &str| Board::from_id(id).unwrap();
            let roll = Roll::new(words[1].parse().unwrap(), words[2].parse().unwrap()).unwrap();
            ((board(words[0]), roll), board(words[3]))
        });
        let (decisions, expected): (Vec<_>, Vec<_>) = spoken.unzip();
        for seats in [1, 3] {
            let mut gnubg = Gnubg::of((0..seats).map(|_| peer(recorded)).collect(), 0).unwrap();
            assert_eq!(gnubg.name(), "GNU Backgammon 1.07.001 0-ply");
            let mut chosen = Vec::new();
            gnubg.choose(&decisions, &mut chosen);
            assert!(gnubg.trouble().is_none());
            assert_eq!(chosen, expected);
            chosen.clear();
            gnubg.choose(&decisions[..2], &mut chosen);
            gnubg.choose(&[], &mut chosen);
            assert_eq!(chosen, expected[..2]);
        }
    }

    #[test]
    fn a_duel_over_the_socket_is_the_one_without_it() {
        let mut gnubg = Gnubg::of(vec![peer(linear), peer(linear)], 0).unwrap();
        let mut games = Duel::new(3, 20, 16);
        while !games.is_over() {
            games.advance(&mut gnubg, &mut Linear::new()).unwrap();
            assert!(gnubg.trouble().is_none());
        }
        // Nobody beats himself.
        assert_eq!((games.tally().pairs, games.tally().points, games.tally().squares), (20, 0, 0));
    }

    /// Lines after which the stand-in goes wrong, counted down.
    fn after(lines: usize, wrong: impl Fn(&str) -> Option<String> + Send + 'static) -> Gnubg {
        let left = std::cell::Cell::new(lines);
        let answer = move |line: &str| match left.get() {
            0 => wrong(line),
            n => {
                left.set(n - 1);
                linear(line)
            }
        };
        Gnubg::of(vec![peer(answer)], 0).unwrap()
    }

    #[test]
    fn a_program_that_goes_wrong_is_told_of_and_the_rules_still_hold() {
        let cases: [(Gnubg, &str); 7] = [
            (after(3, |_| Some("Error: badly formed board\n".into())), "badly formed board"),
            (after(0, |_| Some("24/1\n".into())), "\"24/1\""),
            (after(5, |_| Some("\n".into())), "answered \"\""),
            (after(0, |_| Some("\u{1}\u{2}\u{1F3B2}\n".into())), "answered"),
            (after(4, |_| None), "went away"),
            (after(2, |_| Some("8/5".repeat(3000))), "went away"),
            (after(1, |_| Some(String::new())), "has not answered"),
        ];
        for (mut gnubg, reason) in cases {
            let mut games = Duel::new(3, 20, 4);
            let error = loop {
                // Whatever it said, the games go by the rules until somebody looks.
                games.advance(&mut Linear::new(), &mut gnubg).unwrap();
                if let Some(error) = gnubg.trouble() {
                    break error.to_string();
                }
                assert!(!games.is_over(), "{reason}");
            };
            assert!(error.contains(reason), "{error}: {reason}");
            assert!(error.contains(". "), "the next step: {error}");
        }
    }

    #[test]
    fn where_it_is_not_installed_it_is_said_how_to_get_it() {
        let error = find([PathBuf::from("/nowhere")].into_iter()).unwrap_err().to_string();
        assert!(error.contains("apt install gnubg") && error.contains("linear"), "{error}");
        let error = Seat::start(&PathBuf::from("/nowhere/gnubg"), 0).err().unwrap().to_string();
        assert!(error.contains("apt install gnubg"), "{error}");
    }

    #[test]
    #[cfg(unix)]
    fn a_program_that_ends_before_it_listens_is_told_of() {
        let began = Instant::now();
        let error = Seat::start(&PathBuf::from("/bin/true"), 0).err().unwrap().to_string();
        assert!(error.contains("/bin/true"), "{error}");
        assert!(began.elapsed() < START);
    }
}
