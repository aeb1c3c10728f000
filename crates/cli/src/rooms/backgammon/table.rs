//! A person at a table of `hothouse play backgammon`: what they may do as lines of text, whether typed here, read from a file or sent by
//! the full screen (`screen.rs`), and a board in text. The rules and the opinions are the run's; this reads words.

use crate::error::Usage;
use crate::format::quoted;
use crate::session::saves;
use crate::shell::ask;
use crate::stdio::converse;
use anyhow::{Context, Result, bail};
use files::{CHECKPOINT, Kind};
use run::backgammon::Backgammon;
use run::backgammon::protocol::{
    Act, Analysis, Candidate, CubeAct, CubeOutlook, CubeReview, Depth, Ending, Engine, EngineAct, Phase, PlayerKind, Review, Session,
    Setup, Verdict,
};
use run::{AnyRun, Host, Run, RunError};
use serde_json::json;
use std::fmt::Write as _;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

pub const WORDS: &str = "\
What a person types, a line each; most may be cut to their first letter:
  roll             or an empty line: throw the dice
  8/5 6/5          the move, as players write it; bar/22* and 6/off(2) too
  done             or an empty line: the move is made, the turn ends
  undo             take the last checker back; `undo all` the whole move
  double, take, pass
  hint             what the agent would do; moves it looked beyond come first, with how far it looked
  resign [2|3]     give the game up, for a gammon or a backgammon
  next             the next game of the match
  board, moves, id the board again; the game so far; the position as an XGID
  save FILE        the match as text (.mat) that GNU Backgammon and others import
  help, quit";

/// Matches as text, which begin `7 point match`.
const MATCH: Kind = Kind {
    name: "match in text (.mat)",
    is_kind: |file| {
        let mut begins = [0; 32];
        let read = file.read(&mut begins).unwrap_or(0);
        let text = String::from_utf8_lossy(&begins[..read]);
        let points = text.trim_start().split_once(" point match").map(|(points, _)| points);
        points.is_some_and(|points| points.parse::<u32>().is_ok())
    },
    next: "Name another file, as in `save match.mat`",
    is_stream: false,
};
const KEPT: Kind = Kind { next: "Name another file with --keep", ..CHECKPOINT };

/// Whom one plays, for what; what is left out is as in the game that goes on, else as usual.
pub struct Table<'a> {
    pub player: &'a str,
    pub evals: Option<u32>,
    pub length: Option<u16>,
    pub cube: bool,
    pub seed: Option<u32>,
    /// Begin a game also where the checkpoint has one.
    pub new: bool,
    pub save: Option<&'a Path>,
    /// Where the game is kept; none where nobody asked for it and nobody sits at a terminal.
    pub keep: Option<&'a Path>,
    pub person: bool,
}

pub struct Game {
    run: Run<Backgammon>,
    pub session: Session,
    /// Who gives hints and judges; nobody without a checkpoint.
    judge: Option<Engine>,
    save: Option<PathBuf>,
    keep: Option<PathBuf>,
    /// It was kept as it is now.
    kept: bool,
}

/// What a line did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The game stands otherwise, or is to be looked at again.
    Changed,
    /// Something was said.
    Told,
    /// Somebody leaves.
    Left,
}

/// Plays in lines until the input ends or somebody leaves.
pub fn play(of: &Table, host: Host, input: &mut impl BufRead, output: &mut impl Write) -> Result<()> {
    let mut first = String::new();
    let mut game = Game::sit(of, host, &mut first)?;
    writeln!(first, "You are X and play {} as O. `help` says what to type.", game.session.names[1])?;
    game.settle(&mut first)?;
    game.draw(&mut first);
    writeln!(output, "{first}")?;
    output.flush()?;
    converse(input, output, |line| {
        let Some(line) = line else { return Ok(Some("error: this line is too long; type `help`".into())) };
        let mut said = String::new();
        match game.obey(String::from_utf8_lossy(line).trim(), &mut said) {
            Ok(Done::Changed) => game.draw(&mut said),
            Ok(Done::Told) => {}
            Ok(Done::Left) => return Ok(None),
            // Of the rules' refusals each has its next step, and nothing has changed.
            Err(error) => return Ok(Some(format!("error: {error:#}"))),
        }
        if let Err(error) = game.keep() {
            write!(said, "\nerror: {error:#}")?;
        }
        Ok(Some(said))
    })?;
    writeln!(output, "{}", game.leave()?)?;
    Ok(output.flush()?)
}

fn fresh(host: Host) -> Result<Run<Backgammon>> {
    Ok(Run::new(run::config_of(run::room("backgammon")?), host)?)
}

impl Game {
    /// Sits down at a new game, or at the one that the checkpoint has.
    pub fn sit(of: &Table, host: Host, said: &mut String) -> Result<Game> {
        if let Some(path) = of.save {
            files::check(path, Kind { next: "Name another file with --save", ..MATCH })?;
        }
        if let Some(path) = of.keep {
            files::check(path, KEPT)?;
        }
        let (mut run, mut who) = match of.player {
            "linear" => (fresh(host)?, PlayerKind::Linear),
            "random" => (fresh(host)?, PlayerKind::Random),
            file => {
                let path = Path::new(file);
                if !path.exists() {
                    bail!(Usage(format!("there is no player '{file}' here. Name a checkpoint, linear or random")));
                }
                let bytes = files::read_checkpoint(path)?;
                let run = Run::restore(&bytes, host).with_context(|| format!("cannot use {file}"))?;
                (run, PlayerKind::Now)
            }
        };
        let begin_anew = of.new || !of.cube || of.evals.is_some() || of.length.is_some() || of.seed.is_some();
        let going: Option<Session> = ask(&mut run, json!({ "ask": "session" }))?;
        // A game against a baseline is kept with an agent that nobody has trained.
        if let Some([_, Some(engine)]) = going.as_ref().map(|session| session.setup.seats)
            && run.progress().iteration == 0
        {
            who = engine.who;
        }
        let going = going.filter(|session| !begin_anew && goes_on(session));
        let goes_on = going.is_some();
        let session = match going {
            Some(session) => session,
            None => {
                let clock = || std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_millis() as u32);
                let seats = [None, Some(Engine { who, evals: of.evals.unwrap_or(1) })];
                let (length, seed) = (of.length.unwrap_or(0), of.seed.unwrap_or_else(clock));
                let setup = Setup { seats, length, cube: of.cube, seed };
                ask(&mut run, json!({ "ask": "new_session", "setup": setup }))?
            }
        };
        let engine = session.setup.seats[1].unwrap_or_default();
        let has_opinion = !matches!(engine.who, PlayerKind::Linear | PlayerKind::Random);
        let judge = has_opinion.then_some(Engine { evals: engine.evals.max(100), ..engine });
        let keep = match of.keep {
            Some(path) => Some(path.to_path_buf()),
            // A game that is kept there stays there; a run's own checkpoint is left as it is.
            None if goes_on && saves::is_game(Path::new(of.player)) => Some(PathBuf::from(of.player)),
            // Who cannot keep a game can play it all the same.
            None if of.person => saves::fresh_game("backgammon", session.setup.seed).ok(),
            None => None,
        };
        if goes_on {
            writeln!(said, "The game in {} goes on; --new begins another.", of.player)?;
        }
        Ok(Game { run, session, judge, save: of.save.map(Path::to_path_buf), keep, kept: true })
    }

    /// Writes the game where it is kept, if anything was done since.
    pub fn keep(&mut self) -> Result<()> {
        let Some(path) = self.keep.as_ref().filter(|_| !self.kept) else { return Ok(()) };
        let bytes = self.run.save()?;
        files::write_whole(path, KEPT, &bytes).context("the game is not kept")?;
        self.kept = true;
        Ok(())
    }

    /// What is said in the end: the score, and how to go on.
    pub fn leave(&mut self) -> Result<String> {
        let mut last = format!("{} : {}", self.session.score[0], self.session.score[1]);
        if let Some(path) = self.save.clone() {
            self.save_to(&path)?;
            write!(last, "; the match is in {}", path.display())?;
        }
        self.keep()?;
        if let Some(path) = self.keep.as_ref().filter(|path| path.exists()) {
            if goes_on(&self.session) {
                let program = std::env::args().next().unwrap_or("hothouse".into());
                let (program, file) = (quoted(&program), quoted(&path.to_string_lossy()));
                write!(last, "\ngo on with  {program} play backgammon {file}")?;
            } else if saves::is_game(path) {
                // There is nothing to go on with.
                let _ = std::fs::remove_file(path);
            }
        }
        Ok(last)
    }

    pub fn act(&mut self, act: &Act) -> Result<(), RunError> {
        let after: Session = ask(&mut self.run, json!({ "ask": "act", "act": act }))?;
        // Steps of a turn are kept once they are confirmed.
        let stood = |session: &Session| (session.game, session.moves.len(), session.dice, session.phase);
        self.kept &= stood(&self.session) == stood(&after);
        self.session = after;
        Ok(())
    }

    /// Does what a line says; what comes of it is said, and the board left to who shows it.
    pub fn obey(&mut self, line: &str, said: &mut String) -> Result<Done> {
        let mut words = line.split_whitespace();
        let (word, rest) = (words.next().unwrap_or("").to_ascii_lowercase(), words.next());
        let may = self.session.may;
        match word.as_str() {
            "q" | "quit" | "exit" => return Ok(Done::Left),
            "help" | "?" => {
                *said += WORDS;
                return Ok(Done::Told);
            }
            "" if may.roll => self.roll(said)?,
            "" if may.confirm => self.confirm(said)?,
            "" if may.next_game => self.act(&Act::NextGame)?,
            "" => {}
            "r" | "roll" => self.roll(said)?,
            "done" => self.confirm(said)?,
            "u" | "undo" => self.act(&Act::Undo { all: rest == Some("all") })?,
            "d" | "double" => self.act_on_cube(&Act::Double, said)?,
            "t" | "take" => self.act_on_cube(&Act::Take, said)?,
            "p" | "pass" => self.act_on_cube(&Act::Pass, said)?,
            "h" | "hint" => {
                *said += hint_words(&self.hint()?).trim_end();
                return Ok(Done::Told);
            }
            "resign" => {
                let points = rest.unwrap_or("1").parse().unwrap_or(0);
                self.act(&Act::Resign { points })?;
            }
            "n" | "next" => self.act(&Act::NextGame)?,
            "b" | "board" => {}
            "m" | "moves" => {
                for (played, number) in self.session.moves.iter().zip(1..) {
                    let dice = played.dice.map_or(String::new(), |[a, b]| format!(" {a}-{b}"));
                    let name = &self.session.names[usize::from(played.seat)];
                    writeln!(said, "{number:>3}. {name}{dice}: {}", played.text)?;
                }
                return Ok(Done::Told);
            }
            "id" => {
                *said += &self.session.xgid;
                return Ok(Done::Told);
            }
            "save" => {
                let Some(path) = rest else { bail!("say where, as in `save match.mat`") };
                self.save_to(Path::new(path))?;
                write!(said, "The match is in {path}.")?;
                return Ok(Done::Told);
            }
            _ if line.contains('/') || line.eq_ignore_ascii_case("no move") => {
                self.act(&Act::Write { text: line.into() })?;
            }
            _ => bail!("{word:?} is nothing that can be done here; type `help`, or a move like 8/5 6/5"),
        }
        self.settle(said)?;
        Ok(Done::Changed)
    }

    fn roll(&mut self, said: &mut String) -> Result<()> {
        self.act(&Act::Roll)?;
        self.judge_cube(said, true)
    }

    fn act_on_cube(&mut self, act: &Act, said: &mut String) -> Result<()> {
        self.act(act)?;
        self.judge_cube(said, false)
    }

    fn confirm(&mut self, said: &mut String) -> Result<()> {
        self.act(&Act::Confirm)?;
        let Some(engine) = self.judge else { return Ok(()) };
        let review: Review = ask(&mut self.run, json!({ "ask": "review", "engine": engine }))?;
        if review.of > 1 {
            let (lost, best) = (review.error, &review.best.text);
            match review.verdict {
                Verdict::Best => writeln!(said, "The best of {} moves.", review.of)?,
                verdict => writeln!(said, "{} It is {lost:.3} behind {best}.", verdict_words(verdict))?,
            }
        }
        Ok(())
    }

    /// Of a roll instead of a double only where that was wrong.
    fn judge_cube(&mut self, said: &mut String, quietly: bool) -> Result<()> {
        let Some(engine) = self.judge else { return Ok(()) };
        let review: Option<CubeReview> = ask(&mut self.run, json!({ "ask": "review_cube", "engine": engine }))?;
        let Some(review) = review.filter(|review| !quietly || review.error >= 0.04) else { return Ok(()) };
        match review.verdict {
            Verdict::Best => writeln!(said, "Right on the cube.")?,
            verdict => {
                let best = match review.best {
                    CubeAct::NoDouble => "no double",
                    CubeAct::Double => "double",
                    CubeAct::Take => "take",
                    CubeAct::Pass => "pass",
                };
                writeln!(said, "On the cube: {} {best} is better by {:.3}.", verdict_words(verdict), review.error)?;
            }
        }
        Ok(())
    }

    /// Everything that is the other's to do, and what leaves no choice.
    pub fn settle(&mut self, said: &mut String) -> Result<()> {
        while self.session.may.reply {
            self.act(&Act::Reply)?;
            let Some(reply) = &self.session.reply else { break };
            let name = &self.session.names[usize::from(reply.seat)];
            match (reply.did, reply.dice) {
                (EngineAct::Played, Some([a, b])) => writeln!(said, "{name} rolls {a}-{b}: {}", reply.text)?,
                _ => writeln!(said, "{name} {}.", reply.text)?,
            }
        }
        Ok(())
    }

    pub fn hint(&mut self) -> Result<Analysis> {
        let Some(engine) = self.judge else {
            bail!("this player has no opinion to tell; name a checkpoint to play against for hints and reviews")
        };
        Ok(ask(&mut self.run, json!({ "ask": "hint", "engine": engine }))?)
    }

    fn save_to(&mut self, path: &Path) -> Result<()> {
        let text: String = ask(&mut self.run, json!({ "ask": "transcript" }))?;
        files::write_whole(path, MATCH, text.as_bytes())
    }

    fn draw(&self, said: &mut String) {
        *said += &board(&self.session);
        *said += &self.prompt();
    }

    /// What is due.
    fn prompt(&self) -> String {
        let Session { may, phase, dice, names, cube, ending, left, .. } = &self.session;
        if let Some(ending) = ending {
            let next = if may.next_game { "`next` for another game, or `quit`." } else { "The match is over: `quit`." };
            return format!("{} {next}", ending_words(ending));
        }
        match (phase, dice) {
            (Phase::Opening, _) => "`roll` to begin: one die each.".into(),
            (Phase::Doubled, _) => format!("{} doubles to {}: `take` or `pass`?", names[1], 2 * cube),
            (Phase::ToRoll, _) if may.double => "Your turn: `roll` or `double`.".into(),
            (Phase::ToRoll, _) => "Your turn: `roll`.".into(),
            (Phase::ToPlay, Some([a, b])) if may.confirm && self.session.steps.is_empty() => {
                format!("You roll {a}-{b} and have no move: `done`.")
            }
            (Phase::ToPlay, _) if may.confirm => "`done`, or `undo`.".into(),
            (Phase::ToPlay, Some([a, b])) => {
                let left: Vec<String> = left.iter().map(u8::to_string).collect();
                format!("You roll {a}-{b}: move {}.", left.join(" and "))
            }
            _ => String::new(),
        }
    }
}

/// A person's game against an engine that is not over; nothing where nothing was done yet.
fn goes_on(session: &Session) -> bool {
    let over = session.ending.as_ref().is_some_and(|ending| ending.match_over);
    let begun = session.game > 1 || !session.moves.is_empty() || session.dice.is_some();
    matches!(session.setup.seats, [None, Some(_)]) && begun && !over
}

/// How a game has ended for the one whom the board is drawn for.
pub fn ending_words(ending: &Ending) -> String {
    let won = if ending.winner == 0 { "You win" } else { "You lose" };
    let level = ["", "", " a gammon", " a backgammon"][ending.level.min(3) as usize];
    let points = if ending.points == 1 { "point" } else { "points" };
    format!("{won}{level}, {} {points}.", ending.points)
}

/// An opinion in words: of the position before a roll, else the ten best moves.
pub fn hint_words(hint: &Analysis) -> String {
    let mut said = String::new();
    if let Some(outlook) = &hint.outlook {
        let [win, gammon, backgammon, _, lost_gammon, lost_backgammon] = outlook.chances;
        said += &format!(
            "wins {:.1}%, gammons {:.1}%, loses gammons {:.1}%; {:+.3} points without the cube\n",
            100.0 * (win + gammon + backgammon),
            100.0 * (gammon + backgammon),
            100.0 * (lost_gammon + lost_backgammon),
            outlook.equity
        );
        return said + &cube_lines(&outlook.cube);
    }
    let mut group = "";
    for (of, number) in hint.candidates.iter().take(10).zip(1..) {
        if let Some(depth) = depth_words(of.depth).filter(|depth| *depth != group) {
            said += &format!("  {depth}\n");
            group = depth;
        }
        let behind = behind(of);
        let gap = if behind.is_empty() { "" } else { "  " };
        said += &format!("{number:>3}. {:<24} {:+.3}{gap}{behind}\n", of.text, of.equity);
    }
    said
}

/// What a move is worth less than the best; nothing for the best, nor for one that was not searched where others were.
pub fn behind(of: &Candidate) -> String {
    of.loss.filter(|loss| *loss >= 0.0005).map_or(String::new(), |loss| format!("-{loss:.3}"))
}

/// How far an opinion looked; none where all is known.
pub fn depth_words(depth: Depth) -> Option<&'static str> {
    match depth {
        Depth::Rolls { .. } => Some("1-ply, all 21 rolls"),
        Depth::Visits { .. } => Some("tree search"),
        Depth::Static => Some("0-ply, not searched"),
        Depth::Exact => None,
    }
}

fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Best => "The best move.",
        Verdict::Good => "Good.",
        Verdict::Dubious => "Dubious.",
        Verdict::Bad => "An error.",
        Verdict::Blunder => "A blunder.",
    }
}

fn cube_lines(cube: &CubeOutlook) -> String {
    let advice = match (cube.offered, cube.may_double, cube.double, cube.take) {
        (true, _, _, true) => "take",
        (true, _, _, false) => "pass",
        (_, false, ..) => return "the cube cannot be turned now".into(),
        (_, _, true, true) => "double, take",
        (_, _, true, false) => "double, pass",
        _ if cube.too_good => "too good to double",
        _ => "no double",
    };
    let chance = |k: usize| cube.match_chances.map_or(String::new(), |chances| format!("  {:.1}% to win the match", 100.0 * chances[k]));
    let lines = [("no double", cube.no_double), ("double, take", cube.double_take), ("double, pass", cube.double_pass)];
    let mut text = String::new();
    for (k, (name, equity)) in lines.into_iter().enumerate() {
        text += &format!("  {name:<13} {equity:+.3}{}\n", chance(k));
    }
    text + "  best: " + advice
}

/// The board as it is drawn in text, seen from the first seat, whose checkers are X.
fn board(session: &Session) -> String {
    let (mine, theirs) = (&session.position.mine, &session.position.theirs);
    let cell = |mark: char, count: u8, row: u8| match count {
        count if row == 4 && count > 5 => format!("{count:>2} "),
        count if row < count => format!(" {mark} "),
        _ => "   ".into(),
    };
    let at = |point: usize, row: u8| match (mine[point], theirs[25 - point]) {
        (0, count) => cell('O', count, row),
        (count, _) => cell('X', count, row),
    };
    let line = |left: &[usize], right: &[usize], bar: String, row: u8| {
        let points = |of: &[usize]| of.iter().map(|&point| at(point, row)).collect::<String>();
        format!(" |{}|{bar}|{}|", points(left), points(right))
    };
    let side = |k: usize| {
        let (pips, off) = match k {
            0 => (session.position.my_pips, mine[0]),
            _ => (session.position.their_pips, theirs[0]),
        };
        let of = if session.setup.length > 0 { format!(" of {}", session.setup.length) } else { String::new() };
        let mark = ["X", "O"][k];
        format!("{mark} {}: {} points{of}, {pips} pips, {off} off", session.names[k], session.score[k])
    };
    let cube = match session.cube_owner {
        None => format!("cube {} in the middle", session.cube),
        Some(0) => format!("cube {} yours", session.cube),
        Some(_) => format!("cube {} theirs", session.cube),
    };
    let cube = match (session.setup.cube, session.crawford) {
        (false, _) => "no cube".into(),
        (_, true) => "Crawford game: no cube".into(),
        _ => cube,
    };
    let (upper, lower) = ((13..=18).collect::<Vec<_>>(), (7..=12).rev().collect::<Vec<_>>());
    let (upper_home, lower_home) = ((19..=24).collect::<Vec<_>>(), (1..=6).rev().collect::<Vec<_>>());
    let mut lines = vec![" +13-14-15-16-17-18-+---+19-20-21-22-23-24-+".to_string()];
    lines.extend((0..5).map(|row| line(&upper, &upper_home, cell('O', theirs[25], row), row)));
    lines.push(" |                  |   |                  |".into());
    lines.extend((0..5).rev().map(|row| line(&lower, &lower_home, cell('X', mine[25], row), row)));
    lines.push(" +12-11-10--9--8--7-+---+-6--5--4--3--2--1-+".into());
    for (row, text) in [(0, side(1)), (6, cube), (12, side(0))] {
        lines[row] += &format!("   {text}");
    }
    lines.join("\n") + "\n"
}
