//! `hothouse eval backgammon`: measures a player's strength. In games against another player, the dice are duplicate: each dice sequence is
//! played twice, with exchanged sides. The player can also be scored on decisions that a strong player has evaluated.

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
A player is a checkpoint of the backgammon room, or one of
  linear    Tesauro's public evaluation of 1993, linear in 122 inputs (the default)
  random    random legal moves
  gnubg     an installed GNU Backgammon, at --plies
One evaluation of the strong agent's search covers one result, one roll of the opponent, and all replies to it.

Games are money games without a cube: gammons count 2 and backgammons 3. Each dice sequence is played twice with sides
exchanged, so that luck mostly cancels. The standard error is over such pairs.

A file of evaluated decisions has one JSON object per line, with all results of the roll and their equities:
  {\"id\":\"4HPwATDgc/ABMA\",\"dice\":[3,1],\"moves\":[[\"sGfwATDgc/ABMA\",0.159],…]}
mEMG is the average equity loss per decision against the best move, in thousandths of a point per game.";

#[derive(Clone, Debug, Args)]
pub struct JudgeArgs {
    /// Player to evaluate: a checkpoint, linear, random or gnubg
    #[arg(default_value = "linear", value_name = "CHECKPOINT")]
    player: String,
    /// Play games against gnubg, random, linear or a checkpoint
    #[arg(long, value_name = "PLAYER")]
    against: Option<String>,
    /// Score the player on this file of evaluated decisions
    #[arg(long, value_name = "FILE")]
    decisions: Option<PathBuf>,
    /// Evaluations per move of a checkpoint's agent; 1 means no look-ahead
    #[arg(long, default_value = "1", value_parser = up_to_a_million, allow_negative_numbers = true, value_name = "N")]
    evals: u32,
    /// Number of games; an odd number is rounded up, since every dice sequence is played twice
    #[arg(long, default_value = "4000", value_parser = count, allow_negative_numbers = true, value_name = "N")]
    games: u64,
    /// Search depth of GNU Backgammon in plies
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
    const ABOUT: &'static str = "Evaluate a backgammon player in games against another, or on evaluated decisions";

    fn help() -> String {
        HELP.into()
    }

    fn run(self) -> Result<()> {
        Machine::work(&self.machine, |machine| run(&self, machine, &SIGNALS))
    }
}

/// Number of simultaneous games. A network evaluates the boards of all these games in one batch.
const PARALLEL_GAMES: usize = 64;

/// One of the two players of a duel. GNU Backgammon has its own variant, because only its processes can fail.
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
            Contestant::Gnubg(gnubg) => gnubg.take_error().map_or(Ok(()), Err),
            Contestant::Player(_) => Ok(()),
        }
    }
}

fn run(args: &JudgeArgs, machine: &Machine, signals: &Signals) -> Result<()> {
    let named = |name: &str, seed| contestant(name, args, seed, machine);
    match (&args.against, &args.decisions) {
        (None, None) => bail!(Usage(
            "name an opponent, as in `hothouse eval backgammon --against linear` (gnubg, random, linear or a checkpoint), \
             or a file of evaluated decisions with --decisions FILE"
                .into()
        )),
        (against, decisions) => {
            // The file is read before the player is created, so that an invalid file is reported at once.
            let decisions = decisions.as_deref().map(read).transpose()?;
            let mut player = named(&args.player, args.seed)?;
            if let Some(decisions) = decisions {
                score_decisions(&mut player, &decisions, args.json)?;
            }
            match against {
                Some(other) => duel(&mut player, &mut named(other, args.seed.wrapping_add(1))?, args, signals),
                None => Ok(()),
            }
        }
    }
}

/// Creates the player with this name: `gnubg`, a baseline (`random` or `linear`), or the path of a checkpoint.
fn contestant(name: &str, args: &JudgeArgs, seed: u32, machine: &Machine) -> Result<Contestant> {
    match name {
        "gnubg" => Ok(Contestant::Gnubg(Gnubg::start(args.plies, machine.threads().min(MOST_PROGRAMS))?)),
        _ => Ok(Contestant::Player(player(name, args.evals, seed, machine.host)?)),
    }
}

/// Maximum number of GNU Backgammon processes. If there are fewer threads, there is one process per thread.
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
        /// Number of single games, gammons and backgammons that the evaluated player won.
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
    let mut progress = ProgressLine::new(args.json);
    let names = [one.player().name(), other.player().name()];
    let mut games = Duel::new(args.seed, args.games.div_ceil(2), PARALLEL_GAMES);
    let began = Instant::now();
    while !games.is_over() && !signals.stopping() {
        let stepped = games.advance(one.player(), other.player());
        // Errors of the players are checked before the game's own result, because a player's moves are arbitrary after an error.
        if let Err(error) = one.check().and_then(|()| other.check()) {
            // Ctrl-C also ends the GNU Backgammon processes, which causes the same error as a failure. The pause gives the signal handler
            // time to count the Ctrl-C.
            std::thread::sleep(Duration::from_millis(50));
            if signals.stopping() {
                break;
            }
            return Err(error);
        }
        stepped?;
        progress.update(|| format!("{}, {}", summary(games.tally()), clock(began.elapsed().as_secs_f64())));
    }
    drop(progress);
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
            writeln!(out, "  {} did not end within 10,000 turns and are not counted", grouped(tally.endless))?;
        }
        writeln!(out, "  seed {}, duplicate dice, {}", args.seed, clock(seconds))?;
    }
    if !games.is_over() {
        bail!("stopped early; results cover finished games only. Run the same command to play all games");
    }
    Ok(())
}

/// Formats the result of a duel, such as `+0.123 ± 0.020 points per game after 4,000 games`.
fn summary(tally: &Tally) -> String {
    let error = tally.standard_error().map_or(String::new(), |error| format!(" ± {error:.3}"));
    format!("{:+.3}{error} points per game after {} games", tally.mean(), grouped(tally.games()))
}

fn read(file: &Path) -> Result<Vec<Decision>> {
    let shown = file.display();
    let bytes = files::read_any(file).context("cannot read the evaluated decisions")?;
    let (mut decisions, mut results) = (Vec::new(), Results::new());
    for (line, number) in files::without_mark(&bytes).lines().zip(1..) {
        let line = line.with_context(|| format!("cannot read line {number} of {shown}"))?;
        if line.trim().is_empty() {
            continue;
        }
        let decision = Decision::read(&line, &mut results);
        decisions.push(decision.with_context(|| format!("line {number} of {shown}"))?);
    }
    Ok(decisions)
}

fn score_decisions(contestant: &mut Contestant, decisions: &[Decision], json: bool) -> Result<()> {
    let began = Instant::now();
    let score = score(contestant.player(), decisions);
    contestant.check()?;
    let player = contestant.player().name();
    let Some(score) = score else {
        bail!("{player} chose an illegal move. Use another player");
    };
    let seconds = began.elapsed().as_secs_f64();
    let mut out = crate::plain::stdout();
    if json {
        writeln!(out, "{}", serde_json::to_string(&Line::Decisions { player, score: &score, seconds })?)?;
    } else {
        writeln!(
            out,
            "{player}: {:.1} ± {:.1} mEMG over {} decisions, {:.1}% without loss, {:.1}% with a loss of 0.1 or more",
            score.memg,
            score.standard_error,
            grouped(score.decisions as u64),
            100.0 * score.best,
            100.0 * score.blunders
        )?;
    }
    Ok(())
}
