//! A game of `hothouse play backgammon`. Parses commands, which are lines of text, and draws the board as text. A command is typed, read
//! from a file, or sent by the full screen (`screen.rs`). The room's run (`run::backgammon`) implements the rules and evaluates moves.

use crate::error::Usage;
use crate::format::quoted;
use crate::session::saves;
use crate::shell::ask;
use crate::stdio::converse;
use anyhow::{Context, Result, bail};
use files::{CHECKPOINT, Claim, FileKind};
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

pub const COMMANDS: &str = "\
Commands, one per line; most can be shortened to their first letter:
  roll             roll the dice (or an empty line)
  8/5 6/5          play a move in standard notation, also bar/22* and 6/off(2)
  done             confirm the move (or an empty line)
  undo             take back the last checker; `undo all` takes back the whole move
  double, take, pass
  hint             show the agent's moves, the most deeply searched first
  resign [2|3]     resign the game, a gammon or a backgammon
  next             start the next game of the match
  board, moves, id show the board, the moves so far, or the position as an XGID
  save FILE        write the match as text (.mat) for GNU Backgammon and other programs
  help, quit";

/// File kind of a match in text form. The text begins with, for example, `7 point match`.
const MATCH: FileKind = FileKind {
    name: "match in text (.mat)",
    is_kind: |file| {
        let mut begins = [0; 32];
        let read = file.read(&mut begins).unwrap_or(0);
        let text = String::from_utf8_lossy(&begins[..read]);
        let points = text.trim_start().split_once(" point match").map(|(points, _)| points);
        points.is_some_and(|points| points.parse::<u32>().is_ok())
    },
    next: "Name another file, as in `save match.mat`",
    example: "match.mat",
    is_stream: false,
};
const KEPT: FileKind = FileKind { next: "Name another file with --keep", ..CHECKPOINT };

/// Options of a game. An unfinished game is resumed only if `evals`, `length` and `seed` are `None`, `cube` is true and `new` is false. In
/// a new game, `None` means the default.
pub struct GameOptions<'a> {
    pub player: &'a str,
    pub evals: Option<u32>,
    pub length: Option<u16>,
    pub cube: bool,
    pub seed: Option<u32>,
    /// True to start a new game even if the player's checkpoint contains an unfinished game.
    pub new: bool,
    pub save: Option<&'a Path>,
    /// Checkpoint file to which the game is saved. If `None`, an interactive game is saved in the user's cache.
    pub keep: Option<&'a Path>,
    /// True if the input is a terminal.
    pub interactive: bool,
}

pub struct Game {
    run: Run<Backgammon>,
    pub session: Session,
    /// Engine for hints and reviews; `None` if the opponent is a baseline (`linear` or `random`).
    judge: Option<Engine>,
    save: Option<PathBuf>,
    keep: Option<Claim>,
    /// True if the file of `keep` contains the current state of the game.
    saved: bool,
}

/// Effect of a command on the display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The game changed, or the user requested the board. The board must be drawn.
    Changed,
    /// The command printed a message only.
    Message,
    Quit,
}

/// Plays the game by text lines until the input ends or the user quits.
pub fn play(options: &GameOptions, host: Host, input: &mut impl BufRead, output: &mut impl Write) -> Result<()> {
    let mut first = String::new();
    let mut game = Game::start(options, host, &mut first)?;
    writeln!(first, "You are X and play against {}, which is O. Type `help` for the commands.", game.session.names[1])?;
    game.play_replies(&mut first)?;
    game.draw(&mut first);
    writeln!(output, "{first}")?;
    output.flush()?;
    converse(input, output, |line| {
        let Some(line) = line else { return Ok(Some("error: this line is too long; type `help`".into())) };
        let mut message = String::new();
        match game.run_line(String::from_utf8_lossy(line).trim(), &mut message) {
            Ok(Effect::Changed) => game.draw(&mut message),
            Ok(Effect::Message) => {}
            Ok(Effect::Quit) => return Ok(None),
            // An illegal action does not change the game. The error contains a remedy.
            Err(error) => return Ok(Some(format!("error: {error:#}"))),
        }
        if let Err(error) = game.save_if_changed() {
            write!(message, "\nerror: {error:#}")?;
        }
        Ok(Some(message))
    })?;
    writeln!(output, "{}", game.finish()?)?;
    Ok(output.flush()?)
}

fn untrained_run(host: Host) -> Result<Run<Backgammon>> {
    Ok(Run::new(run::config_of(run::room("backgammon")?), host)?)
}

impl Game {
    /// Starts a new game, or resumes the game in the player's checkpoint.
    pub fn start(options: &GameOptions, host: Host, message: &mut String) -> Result<Game> {
        if let Some(path) = options.save {
            files::check(path, FileKind { next: "Name another file with --save", ..MATCH })?;
        }
        let start_new = options.new || !options.cube || options.evals.is_some() || options.length.is_some() || options.seed.is_some();
        // A game in the cache is saved back to its file. Both files are claimed before they are read.
        let in_cache = Some(Path::new(options.player)).filter(|path| !start_new && saves::is_game(path));
        let keep = options.keep.or(in_cache).map(|path| Claim::new(path, KEPT)).transpose()?;
        let (mut run, mut player) = match options.player {
            "linear" => (untrained_run(host)?, PlayerKind::Linear),
            "random" => (untrained_run(host)?, PlayerKind::Random),
            file => {
                let path = Path::new(file);
                if !path.exists() {
                    bail!(Usage(format!("there is no player or file '{file}'. Name a checkpoint, linear or random")));
                }
                let bytes = files::read_checkpoint(path)?;
                let run = Run::restore(&bytes, host).with_context(|| format!("cannot use {file}"))?;
                (run, PlayerKind::Now)
            }
        };
        let saved: Option<Session> = ask(&mut run, json!({ "ask": "session" }))?;
        // A game against a baseline is saved with an untrained agent, because every checkpoint contains an agent. The opponent is then the
        // player that the saved game names.
        if let Some([_, Some(engine)]) = saved.as_ref().map(|session| session.setup.seats)
            && run.progress().iteration == 0
        {
            player = engine.who;
        }
        let unfinished = saved.filter(|session| !start_new && can_resume(session));
        let resumes = unfinished.is_some();
        let session = match unfinished {
            Some(session) => session,
            None => {
                let clock = || std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_millis() as u32);
                let seats = [None, Some(Engine { who: player, evals: options.evals.unwrap_or(1) })];
                let (length, seed) = (options.length.unwrap_or(0), options.seed.unwrap_or_else(clock));
                let setup = Setup { seats, length, cube: options.cube, seed };
                ask(&mut run, json!({ "ask": "new_session", "setup": setup }))?
            }
        };
        let engine = session.setup.seats[1].unwrap_or_default();
        let can_evaluate = !matches!(engine.who, PlayerKind::Linear | PlayerKind::Random);
        let judge = can_evaluate.then_some(Engine { evals: engine.evals.max(100), ..engine });
        let keep = match keep.filter(|_| resumes || options.keep.is_some()) {
            Some(claim) => Some(claim),
            // A game in a run's checkpoint is not saved back, so that the checkpoint does not change. If the cache is not writable, the
            // game is not saved.
            None if options.interactive => saves::fresh_game("backgammon", session.setup.seed, KEPT).ok(),
            None => None,
        };
        if resumes {
            writeln!(message, "Resumed the game in {}; --new starts another.", options.player)?;
        }
        Ok(Game { run, session, judge, save: options.save.map(Path::to_path_buf), keep, saved: true })
    }

    /// Saves the game to its file if the game changed since the last save.
    pub fn save_if_changed(&mut self) -> Result<()> {
        let Some(claim) = self.keep.as_ref().filter(|_| !self.saved) else { return Ok(()) };
        let bytes = self.run.save()?;
        claim.write(&bytes).context("the game is not saved")?;
        self.saved = true;
        Ok(())
    }

    /// Saves the match to the file of `save`, and the game to the file of `keep`. Removes the file of a finished match from the user's
    /// cache. Returns the closing text: the score and, if the game can be resumed, the command to resume.
    pub fn finish(&mut self) -> Result<String> {
        let mut last = format!("{} : {}", self.session.score[0], self.session.score[1]);
        if let Some(path) = self.save.clone() {
            self.save_to(&path)?;
            write!(last, "; match saved to {}", path.display())?;
        }
        self.save_if_changed()?;
        if let Some(path) = self.keep.as_ref().map(Claim::path).filter(|path| path.exists()) {
            if can_resume(&self.session) {
                let program = std::env::args().next().unwrap_or("hothouse".into());
                let (program, file) = (quoted(&program), quoted(&path.to_string_lossy()));
                write!(last, "\nresume with  {program} play backgammon {file}")?;
            } else if saves::is_game(path) {
                // A finished match needs no file, because it cannot be resumed.
                let _ = std::fs::remove_file(path);
            }
        }
        Ok(last)
    }

    pub fn act(&mut self, act: &Act) -> Result<(), RunError> {
        let after: Session = ask(&mut self.run, json!({ "ask": "act", "act": act }))?;
        // Unconfirmed steps of a turn are not a change that must be saved.
        let state = |session: &Session| (session.game, session.moves.len(), session.dice, session.phase);
        self.saved &= state(&self.session) == state(&after);
        self.session = after;
        Ok(())
    }

    /// Runs a line as a command and appends its output to `message`. The caller draws the board if the returned effect requires it.
    pub fn run_line(&mut self, line: &str, message: &mut String) -> Result<Effect> {
        let mut words = line.split_whitespace();
        let (word, rest) = (words.next().unwrap_or("").to_ascii_lowercase(), words.next());
        let may = self.session.may;
        match word.as_str() {
            "q" | "quit" | "exit" => return Ok(Effect::Quit),
            "help" | "?" => {
                *message += COMMANDS;
                return Ok(Effect::Message);
            }
            "" if may.roll => self.roll(message)?,
            "" if may.confirm => self.confirm(message)?,
            "" if may.next_game => self.act(&Act::NextGame)?,
            "" => {}
            "r" | "roll" => self.roll(message)?,
            "done" => self.confirm(message)?,
            "u" | "undo" => self.act(&Act::Undo { all: rest == Some("all") })?,
            "d" | "double" => self.act_on_cube(&Act::Double, message)?,
            "t" | "take" => self.act_on_cube(&Act::Take, message)?,
            "p" | "pass" => self.act_on_cube(&Act::Pass, message)?,
            "h" | "hint" => {
                *message += hint_words(&self.hint()?).trim_end();
                return Ok(Effect::Message);
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
                    writeln!(message, "{number:>3}. {name}{dice}: {}", played.text)?;
                }
                return Ok(Effect::Message);
            }
            "id" => {
                *message += &self.session.xgid;
                return Ok(Effect::Message);
            }
            "save" => {
                let Some(path) = rest else { bail!("`save` needs a file name, as in `save match.mat`") };
                self.save_to(Path::new(path))?;
                write!(message, "Match saved to {path}.")?;
                return Ok(Effect::Message);
            }
            _ if line.contains('/') || line.eq_ignore_ascii_case("no move") => {
                self.act(&Act::Write { text: line.into() })?;
            }
            _ => bail!("there is no command {word:?}; type `help`, or a move like 8/5 6/5"),
        }
        self.play_replies(message)?;
        Ok(Effect::Changed)
    }

    fn roll(&mut self, message: &mut String) -> Result<()> {
        self.act(&Act::Roll)?;
        self.judge_cube(message, true)
    }

    fn act_on_cube(&mut self, act: &Act, message: &mut String) -> Result<()> {
        self.act(act)?;
        self.judge_cube(message, false)
    }

    fn confirm(&mut self, message: &mut String) -> Result<()> {
        self.act(&Act::Confirm)?;
        let Some(engine) = self.judge else { return Ok(()) };
        let review: Review = ask(&mut self.run, json!({ "ask": "review", "engine": engine }))?;
        if review.of > 1 {
            let (lost, best) = (review.error, &review.best.text);
            match review.verdict {
                Verdict::Best => writeln!(message, "The best of {} moves.", review.of)?,
                verdict => writeln!(message, "{} It is {lost:.3} worse than {best}.", verdict_words(verdict))?,
            }
        }
        Ok(())
    }

    /// Reviews the last cube decision. If `errors_only` is true, reports the decision only if it loses at least 0.04 points.
    fn judge_cube(&mut self, message: &mut String, errors_only: bool) -> Result<()> {
        let Some(engine) = self.judge else { return Ok(()) };
        let review: Option<CubeReview> = ask(&mut self.run, json!({ "ask": "review_cube", "engine": engine }))?;
        let Some(review) = review.filter(|review| !errors_only || review.error >= 0.04) else { return Ok(()) };
        match review.verdict {
            Verdict::Best => writeln!(message, "Correct cube decision.")?,
            verdict => {
                let best = match review.best {
                    CubeAct::NoDouble => "no double",
                    CubeAct::Double => "double",
                    CubeAct::Take => "take",
                    CubeAct::Pass => "pass",
                };
                writeln!(message, "Cube decision: {} {best} is better by {:.3}.", verdict_words(verdict), review.error)?;
            }
        }
        Ok(())
    }

    /// Plays the opponent's actions until it is the user's turn.
    pub fn play_replies(&mut self, message: &mut String) -> Result<()> {
        while self.session.may.reply {
            self.act(&Act::Reply)?;
            let Some(reply) = &self.session.reply else { break };
            let name = &self.session.names[usize::from(reply.seat)];
            match (reply.did, reply.dice) {
                (EngineAct::Played, Some([a, b])) => writeln!(message, "{name} rolls {a}-{b}: {}", reply.text)?,
                _ => writeln!(message, "{name} {}.", reply.text)?,
            }
        }
        Ok(())
    }

    pub fn hint(&mut self) -> Result<Analysis> {
        let Some(engine) = self.judge else { bail!("this player gives no hints; play against a checkpoint for hints and reviews") };
        Ok(ask(&mut self.run, json!({ "ask": "hint", "engine": engine }))?)
    }

    fn save_to(&mut self, path: &Path) -> Result<()> {
        let text: String = ask(&mut self.run, json!({ "ask": "transcript" }))?;
        files::write_whole(path, MATCH, text.as_bytes())
    }

    fn draw(&self, message: &mut String) {
        *message += &board(&self.session);
        *message += &self.prompt();
    }

    /// Returns the prompt for the user's next action.
    fn prompt(&self) -> String {
        let Session { may, phase, dice, names, cube, ending, left, .. } = &self.session;
        if let Some(ending) = ending {
            let next = if may.next_game { "`next` for another game, or `quit`." } else { "The match is over: `quit`." };
            return format!("{} {next}", ending_words(ending));
        }
        match (phase, dice) {
            (Phase::Opening, _) => "`roll` to start: one die each.".into(),
            (Phase::Doubled, _) => format!("{} doubles to {}: `take` or `pass`?", names[1], 2 * cube),
            (Phase::ToRoll, _) if may.double => "Your turn: `roll` or `double`.".into(),
            (Phase::ToRoll, _) => "Your turn: `roll`.".into(),
            (Phase::ToPlay, Some([a, b])) if may.confirm && self.session.steps.is_empty() => {
                format!("You roll {a}-{b} and have no move: `done`.")
            }
            (Phase::ToPlay, _) if may.confirm => "`done`, or `undo`.".into(),
            (Phase::ToPlay, Some([a, b])) => {
                let left: Vec<String> = left.iter().map(u8::to_string).collect();
                format!("You roll {a}-{b}: play {}.", left.join(" and "))
            }
            _ => String::new(),
        }
    }
}

/// Returns true if the game can be resumed: a user plays against an engine, the game has begun, and the match is not over.
fn can_resume(session: &Session) -> bool {
    let over = session.ending.as_ref().is_some_and(|ending| ending.match_over);
    let begun = session.game > 1 || !session.moves.is_empty() || session.dice.is_some();
    matches!(session.setup.seats, [None, Some(_)]) && begun && !over
}

/// Returns the text of a game's result from the first seat's point of view.
pub fn ending_words(ending: &Ending) -> String {
    let won = if ending.winner == 0 { "You win" } else { "You lose" };
    let level = ["", "", " a gammon", " a backgammon"][ending.level.min(3) as usize];
    let points = if ending.points == 1 { "point" } else { "points" };
    format!("{won}{level}, {} {points}.", ending.points)
}

/// Returns the text of an analysis. Before a roll, the text contains the equities of the position. After a roll, it contains the ten best
/// moves.
pub fn hint_words(hint: &Analysis) -> String {
    let mut message = String::new();
    if let Some(outlook) = &hint.outlook {
        let [win, gammon, backgammon, _, lost_gammon, lost_backgammon] = outlook.chances;
        message += &format!(
            "wins {:.1}%, gammons {:.1}%, loses gammons {:.1}%; {:+.3} points without the cube\n",
            100.0 * (win + gammon + backgammon),
            100.0 * (gammon + backgammon),
            100.0 * (lost_gammon + lost_backgammon),
            outlook.equity
        );
        return message + &cube_lines(&outlook.cube);
    }
    let mut group = "";
    for (candidate, number) in hint.candidates.iter().take(10).zip(1..) {
        if let Some(depth) = depth_words(candidate.depth).filter(|depth| *depth != group) {
            message += &format!("  {depth}\n");
            group = depth;
        }
        let loss = loss_text(candidate);
        let gap = if loss.is_empty() { "" } else { "  " };
        message += &format!("{number:>3}. {:<24} {:+.3}{gap}{loss}\n", candidate.text, candidate.equity);
    }
    message
}

/// Returns the points that a move loses compared with the best move, as text such as `-0.123`. The text is empty for a loss below 0.0005,
/// and for an unsearched move if other moves were searched.
pub fn loss_text(candidate: &Candidate) -> String {
    candidate.loss.filter(|loss| *loss >= 0.0005).map_or(String::new(), |loss| format!("-{loss:.3}"))
}

/// Returns the text of an evaluation's search depth; `None` for an exact evaluation.
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
        (_, false, ..) => return "you cannot double now".into(),
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

/// Draws the board as text from the point of view of the first seat, whose checkers are X.
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
        let points = |points: &[usize]| points.iter().map(|&point| at(point, row)).collect::<String>();
        format!(" |{}|{bar}|{}|", points(left), points(right))
    };
    let side = |k: usize| {
        let (pips, off) = match k {
            0 => (session.position.my_pips, mine[0]),
            _ => (session.position.their_pips, theirs[0]),
        };
        let length = if session.setup.length > 0 { format!(" of {}", session.setup.length) } else { String::new() };
        let mark = ["X", "O"][k];
        format!("{mark} {}: {} points{length}, {pips} pips, {off} off", session.names[k], session.score[k])
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
