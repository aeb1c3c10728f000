//! `hothouse eval backgammon`: how well somebody plays, by games with duplicate dice against somebody else, or by decisions
//! that a strong player has evaluated.

use super::gnubg::{Gnubg, MOST_PLIES};
use super::player::player;
use crate::args::MachineArgs;
use crate::args::values::{count, up_to_a_million};
use crate::error::Usage;
use crate::format::{clock, grouped};
use crate::host::Machine;
use crate::progress::ProgressLine;
use crate::shell::VerbArgs;
use crate::signals::{SIGNALS, Signals};
use anyhow::{Context, Result, bail};
use clap::Args;
use run::backgammon::arena::{Duel, Tally};
use run::backgammon::decisions::{Decision, Score, score};
use run::backgammon::{Player, Results};
use serde::Serialize;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HELP: &str = "\
A player is a checkpoint of the room of backgammon, or one of
  linear    Tesauro's public evaluation of 1993, linear in 122 inputs: the one judged where none is named
  random    any legal move
  gnubg     an installed GNU Backgammon, at --plies
An evaluation of the strong agent's search is one roll of the other side, tried after one result with every reply to it.

Games are for money without a cube: gammons count 2 and backgammons 3. Each sequence of dice is played twice with sides
exchanged, so that luck mostly cancels. The standard error is over such pairs.

A file of judged decisions has one JSON object a line, with every result of the roll and what it is worth:
  {\"id\":\"4HPwATDgc/ABMA\",\"dice\":[3,1],\"moves\":[[\"sGfwATDgc/ABMA\",0.159],…]}
mEMG is what a decision loses against the best one on the average, in thousandths of a point a game.";

#[derive(Clone, Debug, Args)]
pub struct JudgeArgs {
    /// Who is evaluated: a checkpoint, linear, random or gnubg
    #[arg(default_value = "linear", value_name = "CHECKPOINT")]
    player: String,
    /// Play games against gnubg, random, linear or a checkpoint
    #[arg(long, value_name = "PLAYER")]
    against: Option<String>,
    /// Score the choices in this file of evaluated decisions
    #[arg(long, value_name = "FILE")]
    decisions: Option<PathBuf>,
    /// Evaluations that a checkpoint's agent may spend on each move; 1 means no look-ahead
    #[arg(long, default_value = "1", value_parser = up_to_a_million, allow_negative_numbers = true, value_name = "N")]
    evals: u32,
    /// Games to play; an odd number is rounded up, since every sequence of dice is played twice
    #[arg(long, default_value = "4000", value_parser = count, allow_negative_numbers = true, value_name = "N")]
    games: u64,
    /// How many plies GNU Backgammon looks ahead
    #[arg(
        long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=i64::from(MOST_PLIES)),
        allow_negative_numbers = true, value_name = "N",
    )]
    plies: u8,
    /// Seed of the dice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_name = "N")]
    seed: u32,
    /// Print each result as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    machine: MachineArgs,
}

impl VerbArgs for JudgeArgs {
    const PATH: &'static [&'static str] = &["eval", "backgammon"];
    const ABOUT: &'static str = "Judge a player of backgammon by games against another, or by decisions that were judged";

    fn help() -> String {
        HELP.into()
    }

    fn run(self) -> Result<()> {
        Machine::work(&self.machine, |machine| run(&self, machine, &SIGNALS))
    }
}

/// Games at a time: enough that a network thinks about many boards at once.
const ABREAST: usize = 64;

/// Somebody who plays. GNU Backgammon is asked for its troubles.
enum Contestant {
    Player(Box<dyn Player>),
    Gnubg(Gnubg),
}

impl Contestant {
    fn player(&mut self) -> &mut dyn Player {
        match self {
            Contestant::Player(player) => player.as_mut(),
            Contestant::Gnubg(gnubg) => gnubg,
        }
    }

    fn check(&mut self) -> Result<()> {
        match self {
            Contestant::Gnubg(gnubg) => gnubg.trouble().map_or(Ok(()), Err),
            Contestant::Player(_) => Ok(()),
        }
    }
}

fn run(args: &JudgeArgs, machine: &Machine, signals: &Signals) -> Result<()> {
    let named = |name: &str, seed| contestant(name, args, seed, machine);
    match (&args.against, &args.decisions) {
        (None, None) => bail!(Usage(
            "say against whom, as in `hothouse eval backgammon --against linear`: gnubg, random, linear or a checkpoint; \
             or give judged decisions with --decisions FILE"
                .into()
        )),
        (against, decisions) => {
            // Read first, so that a file that cannot be used costs no time.
            let decisions = decisions.as_deref().map(read).transpose()?;
            let mut player = named(&args.player, args.seed)?;
            if let Some(decisions) = decisions {
                judge(&mut player, &decisions, args.json)?;
            }
            match against {
                Some(other) => duel(&mut player, &mut named(other, args.seed.wrapping_add(1))?, args, signals),
                None => Ok(()),
            }
        }
    }
}

/// Who goes by this name: a baseline, GNU Backgammon, or the agent of a checkpoint.
fn contestant(name: &str, args: &JudgeArgs, seed: u32, machine: &Machine) -> Result<Contestant> {
    match name {
        "gnubg" => Ok(Contestant::Gnubg(Gnubg::start(args.plies, machine.threads().min(MOST_PROGRAMS))?)),
        _ => Ok(Contestant::Player(player(name, args.evals, seed, machine.host)?)),
    }
}

/// As many of GNU Backgammon's programs as there are threads, and no more than this.
const MOST_PROGRAMS: usize = 16;

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Line<'a> {
    Duel {
        player: String,
        against: String,
        seed: u32,
        games: u64,
        points_per_game: f64,
        standard_error: Option<f64>,
        win_share: f64,
        /// Single games, gammons and backgammons.
        won: [u64; 3],
        lost: [u64; 3],
        endless: u64,
        seconds: f64,
        decisions_per_s: f64,
    },
    Decisions {
        player: String,
        #[serde(flatten)]
        score: &'a Score,
        seconds: f64,
    },
}

fn duel(one: &mut Contestant, other: &mut Contestant, args: &JudgeArgs, signals: &Signals) -> Result<()> {
    let mut live = ProgressLine::new(args.json);
    let names = [one.player().name(), other.player().name()];
    let mut games = Duel::new(args.seed, args.games.div_ceil(2), ABREAST);
    let began = Instant::now();
    while !games.is_over() && !signals.stopping() {
        let stepped = games.advance(one.player(), other.player());
        // Trouble first: whoever is in it may have chosen anything.
        if let Err(error) = one.check().and_then(|()| other.check()) {
            // Ctrl-C reaches the programs that were started too.
            std::thread::sleep(Duration::from_millis(50));
            if signals.stopping() {
                break;
            }
            return Err(error);
        }
        stepped?;
        live.update(|| format!("{}, {}", summary(games.tally()), clock(began.elapsed().as_secs_f64())));
    }
    drop(live);
    let (tally, seconds) = (games.tally(), began.elapsed().as_secs_f64());
    let mut out = crate::plain::stdout();
    if args.json {
        let [player, against] = names;
        let line = Line::Duel {
            player,
            against,
            seed: args.seed,
            games: tally.games(),
            points_per_game: tally.mean(),
            standard_error: tally.standard_error(),
            win_share: tally.win_share(),
            won: tally.won,
            lost: tally.lost,
            endless: tally.endless,
            seconds,
            decisions_per_s: games.moves() as f64 / seconds.max(1e-9),
        };
        writeln!(out, "{}", serde_json::to_string(&line)?)?;
    } else {
        let [player, against] = names;
        let kinds = |[single, gammon, backgammon]: [u64; 3]| {
            format!("{} single, {} gammons, {} backgammons", grouped(single), grouped(gammon), grouped(backgammon))
        };
        writeln!(out, "{player} against {against}: {}", summary(tally))?;
        writeln!(out, "  won   {:.1}%: {}", 100.0 * tally.win_share(), kinds(tally.won))?;
        writeln!(out, "  lost  {}", kinds(tally.lost))?;
        if tally.endless > 0 {
            writeln!(out, "  {} had no end after 10,000 turns and count nothing", grouped(tally.endless))?;
        }
        writeln!(out, "  seed {}, duplicate dice, {}", args.seed, clock(seconds))?;
    }
    if !games.is_over() {
        bail!("stopped; what is told is of the games that had ended. Run the same command to play them all");
    }
    Ok(())
}

/// `+0.123 ± 0.020 points a game after 4,000 games`
fn summary(tally: &Tally) -> String {
    let error = tally.standard_error().map_or(String::new(), |error| format!(" ± {error:.3}"));
    format!("{:+.3}{error} points a game after {} games", tally.mean(), grouped(tally.games()))
}

fn read(file: &Path) -> Result<Vec<Decision>> {
    let shown = file.display();
    let bytes = files::read_any(file).context("there are no judged decisions")?;
    let (mut decisions, mut results) = (Vec::new(), Results::new());
    for (line, number) in bytes.lines().zip(1..) {
        let line = line.with_context(|| format!("cannot read line {number} of {shown}"))?;
        if line.trim().is_empty() {
            continue;
        }
        let decision = Decision::read(&line, &mut results);
        decisions.push(decision.with_context(|| format!("line {number} of {shown}"))?);
    }
    Ok(decisions)
}

fn judge(contestant: &mut Contestant, decisions: &[Decision], json: bool) -> Result<()> {
    let began = Instant::now();
    let score = score(contestant.player(), decisions);
    contestant.check()?;
    let player = contestant.player().name();
    let Some(score) = score else {
        bail!("{player} chose what a roll cannot lead to. Use another player");
    };
    let seconds = began.elapsed().as_secs_f64();
    let mut out = crate::plain::stdout();
    if json {
        writeln!(out, "{}", serde_json::to_string(&Line::Decisions { player, score: &score, seconds })?)?;
    } else {
        writeln!(
            out,
            "{player}: {:.1} ± {:.1} mEMG over {} decisions, {:.1}% without loss, {:.1}% lose 0.1 or more",
            score.memg,
            score.standard_error,
            grouped(score.decisions as u64),
            100.0 * score.best,
            100.0 * score.blunders
        )?;
    }
    Ok(())
}
