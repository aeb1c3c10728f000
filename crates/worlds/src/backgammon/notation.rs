//! Playing a roll one checker at a time, and moves in standard notation: `24/18*/13 6/5(2)`, `bar/22`, `4/off`. A step is legal if a result
//! of the roll can still be reached after it. The steps of a written move may be in any order: the function `read` tries all orders and
//! accepts those that end in a result.
//!
//! [`Board::results`] enumerates the results; this module finds the steps that lead to them.

use super::moves::{Turn, places};
use super::{BAR, Board, OFF, POINTS, Results, Roll};
use std::collections::HashSet;

/// Move of one checker by one die. Points are counted from the mover's point of view. The checker starts from [`BAR`] or a point and ends
/// on a point or at [`OFF`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Step {
    pub from: u8,
    pub to: u8,
    pub hit: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotationError {
    #[error("no checker can move from {} to {} now; choose a legal step", name(*.from), name(*.to))]
    Step { from: u8, to: u8 },
    #[error("the move is empty; enter a move like 8/5 6/5")]
    Empty,
    #[error("{0:?} is not a move; enter it like 8/5 6/5, bar/22* or 6/off(2)")]
    Unreadable(String),
    #[error("this move is not legal with {} and {}; check the points, and enter from the bar first", .0.high(), .0.low())]
    Illegal(Roll),
    #[error("this move does not use all of {} and {}; add the missing steps", .0.high(), .0.low())]
    Unfinished(Roll),
    #[error("this move is ambiguous: the checkers hit depend on the path; put a * after each point with a hit")]
    Ambiguous,
    #[error("this roll does not lead to that position; choose one of its results")]
    Result,
}

/// Notation of a turn in which no move is legal.
const NO_MOVE: &str = "no move";

/// Dice of a roll that are not played yet. For a double, the value is the number of these dice, 0 to 4. Otherwise, bit 0 is set for the
/// higher die and bit 1 for the lower die.
type DiceLeft = u8;

fn all_left(roll: Roll) -> DiceLeft {
    if roll.is_double() { 4 } else { 3 }
}

/// Returns each distinct die that can be played next, with the dice left after this die.
fn dice(roll: Roll, left: DiceLeft) -> impl Iterator<Item = (usize, DiceLeft)> {
    let of_two = [(left & 1, roll.high, left & 2), (left & 2, roll.low, left & 1)];
    let double = [(left, roll.high, left.saturating_sub(1)), (0, 0, 0)];
    let which = if roll.is_double() { double } else { of_two };
    which.into_iter().filter(|&(there, ..)| there > 0).map(|(_, die, rest)| (die.into(), rest))
}

fn step(turn: &Turn, from: usize, die: usize) -> (Step, Turn) {
    let then = turn.moved(from, die);
    let hit = then.board().theirs().bar() > turn.board().theirs().bar();
    (Step { from: from as u8, to: from.saturating_sub(die) as u8, hit }, then)
}

/// A partly played roll.
#[derive(Clone)]
pub struct Play {
    roll: Roll,
    results: HashSet<Board>,
    /// State before each step, in order. The last element is the current state.
    history: Vec<Node>,
    taken: Vec<Step>,
}

/// A board after some steps, and the sets of dice that may be left. Two sets are possible if either of the two dice may have been used to
/// bear off a checker.
#[derive(Clone, Copy)]
struct Node {
    turn: Turn,
    /// Bit d is set if d is a possible value of [`DiceLeft`].
    left: u32,
}

impl Play {
    pub fn new(board: Board, roll: Roll) -> Play {
        let results = board.results(roll, &mut Results::new()).iter().copied().collect();
        let start = Node { turn: Turn::new(&board), left: 1 << all_left(roll) };
        Play { roll, results, history: vec![start], taken: Vec::new() }
    }

    fn now(&self) -> &Node {
        self.history.last().expect("the history contains the start")
    }

    /// Returns the board after the steps taken, from the mover's point of view.
    pub fn board(&self) -> Board {
        self.now().turn.board()
    }

    pub fn taken(&self) -> &[Step] {
        &self.taken
    }

    /// Returns the values of the dice that are not played yet, the higher first. If either die may have been used to bear off a checker,
    /// the lower die counts as played.
    pub fn left(&self) -> Vec<u8> {
        let Roll { high, low } = self.roll;
        let one_of = |left: DiceLeft| self.now().left >> left & 1 == 1;
        if self.roll.is_double() {
            return vec![high; (0..=4).find(|&left| one_of(left)).unwrap_or(0).into()];
        }
        let which = [(3, vec![high, low]), (1, vec![high]), (2, vec![low])];
        which.into_iter().find(|&(left, _)| one_of(left)).map_or(Vec::new(), |(_, dice)| dice)
    }

    /// Returns the distinct legal next steps, from the highest point down.
    pub fn open(&self) -> Vec<Step> {
        let mut open: Vec<Step> = self.ways().into_iter().map(|(step, _)| step).collect();
        open.sort_unstable_by(|a, b| b.cmp(a));
        open
    }

    /// Returns true if no legal step is left, so that the turn can end.
    pub fn is_complete(&self) -> bool {
        self.ways().is_empty()
    }

    pub fn take(&mut self, from: u8, to: u8) -> Result<Step, NotationError> {
        let way = self.ways().into_iter().find(|(step, _)| (step.from, step.to) == (from, to));
        let (step, node) = way.ok_or(NotationError::Step { from, to })?;
        self.history.push(node);
        self.taken.push(step);
        Ok(step)
    }

    /// Undoes and returns the latest step; `None` if no step was taken.
    pub fn undo(&mut self) -> Option<Step> {
        let step = self.taken.pop()?;
        self.history.pop();
        Some(step)
    }

    /// Returns every legal step, each with the state after the step.
    fn ways(&self) -> Vec<(Step, Node)> {
        let mut ways: Vec<(Step, Node)> = Vec::new();
        for left in (0..=4).filter(|left| self.now().left >> left & 1 == 1) {
            for (die, rest) in dice(self.roll, left) {
                for from in places(self.now().turn.sources(die)) {
                    let (step, turn) = step(&self.now().turn, from, die);
                    if !self.leads_to_a_result(&turn, rest) {
                        continue;
                    }
                    match ways.iter_mut().find(|(known, _)| *known == step) {
                        Some((_, node)) => node.left |= 1 << rest,
                        None => ways.push((step, Node { turn, left: 1 << rest })),
                    }
                }
            }
        }
        ways
    }

    fn leads_to_a_result(&self, turn: &Turn, left: DiceLeft) -> bool {
        self.results.contains(&turn.board())
            || dice(self.roll, left)
                .any(|(die, rest)| places(turn.sources(die)).any(|from| self.leads_to_a_result(&turn.moved(from, die), rest)))
    }
}

/// Returns one sequence of steps from a board to a result of a roll. Both boards are from the mover's point of view.
pub fn route(board: &Board, roll: Roll, result: &Board) -> Result<Vec<Step>, NotationError> {
    let mut results = Results::new();
    if !board.results(roll, &mut results).contains(result) {
        return Err(NotationError::Result);
    }
    let mut steps = Vec::new();
    if search(&Turn::new(board), roll, all_left(roll), BAR, result, &mut steps) {
        return Ok(steps);
    }
    Err(NotationError::Result)
}

/// Searches depth-first for steps to the board `goal`. Returns false if there are no such steps. With a double, only steps from `rear` (the
/// start of the previous step) or from lower places are tried. Every result can be reached by steps in this order.
fn search(turn: &Turn, roll: Roll, left: DiceLeft, rear: usize, goal: &Board, steps: &mut Vec<Step>) -> bool {
    if turn.board() == *goal && dice(roll, left).all(|(die, _)| turn.sources(die) == 0) {
        return true;
    }
    for (die, rest) in dice(roll, left) {
        for from in places(turn.sources(die)) {
            if roll.is_double() && from > rear {
                continue;
            }
            let (step, then) = step(turn, from, die);
            steps.push(step);
            if search(&then, roll, rest, from, goal, steps) {
                return true;
            }
            steps.pop();
        }
    }
    false
}

fn name(place: u8) -> String {
    match place as usize {
        OFF => "off".into(),
        BAR => "bar".into(),
        _ => place.to_string(),
    }
}

/// Writes the move from a board to a result of a roll in standard notation.
pub fn write(board: &Board, roll: Roll, result: &Board) -> Result<String, NotationError> {
    Ok(words(&route(board, roll, result)?))
}

/// Writes steps in standard notation, from the highest point down. The steps of one checker are joined. Equal moves are written once, with
/// their number in parentheses.
pub fn words(steps: &[Step]) -> String {
    /// Places of one checker's path, each with a flag that is true for a hit at this place.
    type Way = Vec<(u8, bool)>;
    let mut ways: Vec<Way> = Vec::new();
    let mut steps = steps.to_vec();
    steps.sort_by_key(|step| std::cmp::Reverse(step.from));
    for step in steps {
        let stop = (step.to, step.hit);
        match ways.iter_mut().find(|way| way.last().is_some_and(|&(at, _)| at == step.from)) {
            Some(way) => way.push(stop),
            None => ways.push(vec![(step.from, false), stop]),
        }
    }
    let points = |way: &Way| way.iter().map(|&(at, _)| at).collect::<Vec<_>>();
    ways.sort_by_key(|way| std::cmp::Reverse(points(way)));
    let mut counted: Vec<(Way, usize)> = Vec::new();
    for way in ways {
        match counted.last_mut().filter(|(known, _)| points(known) == points(&way)) {
            Some((known, count)) => {
                known.iter_mut().zip(&way).for_each(|(stop, other)| stop.1 |= other.1);
                *count += 1;
            }
            None => counted.push((way, 1)),
        }
    }
    if counted.is_empty() {
        return NO_MOVE.into();
    }
    let text = |(way, count): &(Way, usize)| {
        let mut text = name(way[0].0);
        for (i, &(at, hit)) in way.iter().enumerate().skip(1) {
            // Intermediate points without a hit are omitted.
            if hit || i + 1 == way.len() {
                text += &format!("/{}{}", name(at), if hit { "*" } else { "" });
            }
        }
        if *count > 1 { format!("{text}({count})") } else { text }
    };
    counted.iter().map(text).collect::<Vec<_>>().join(" ")
}

/// The remaining path of one checker in a written move; `at` is the place of the checker.
#[derive(Clone, PartialEq)]
struct Written {
    at: usize,
    /// Places that the checker must still reach; the last element is the next place.
    stops: Vec<usize>,
}

/// Reads a move in standard notation and returns its result. Steps may be in any order, joined or separate. The stars that mark hits may be
/// missing if the move is unambiguous without them.
pub fn read(board: &Board, roll: Roll, text: &str) -> Result<Board, NotationError> {
    let mut results = Results::new();
    let results = board.results(roll, &mut results);
    let text = text.trim();
    if text.is_empty() {
        return Err(NotationError::Empty);
    }
    if text.eq_ignore_ascii_case(NO_MOVE) {
        return if results == [*board] { Ok(*board) } else { Err(NotationError::Unfinished(roll)) };
    }
    let (mut written, mut starred) = (Vec::new(), 0u32);
    for word in text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
        let unreadable = || NotationError::Unreadable(word.chars().take(20).collect());
        let (way, stars, count) = way(word).ok_or_else(unreadable)?;
        starred |= stars;
        written.extend(std::iter::repeat_n(way, count));
        if written.len() > 4 {
            return Err(NotationError::Illegal(roll));
        }
    }
    let mut ends = Ends { roll, results, found: Vec::new(), unfinished: false };
    ends.follow(&Turn::new(board), all_left(roll), &written, 0);
    let one = |found: &[(Board, u32)]| found.first().map(|end| end.0).filter(|first| found.iter().all(|(board, _)| board == first));
    let exact: Vec<_> = ends.found.iter().copied().filter(|&(_, hits)| hits == starred).collect();
    match one(&ends.found).or_else(|| one(&exact)) {
        Some(result) => Ok(result),
        None if !ends.found.is_empty() => Err(NotationError::Ambiguous),
        None if ends.unfinished => Err(NotationError::Unfinished(roll)),
        None => Err(NotationError::Illegal(roll)),
    }
}

/// Parses a word such as `24/18*/13(2)` to the path of a checker, a mask of the points with stars, and the number of checkers. Returns
/// `None` if the word is invalid.
fn way(word: &str) -> Option<(Written, u32, usize)> {
    let (path, count) = match word.strip_suffix(')') {
        Some(rest) => {
            let (path, count) = rest.split_once('(')?;
            (path, matches!(count, "1" | "2" | "3" | "4").then(|| count.parse().ok())??)
        }
        None => (word, 1),
    };
    let (mut stops, mut stars) = (Vec::new(), 0);
    for (i, stop) in path.split('/').enumerate() {
        let bare = stop.strip_suffix('*');
        let at = place(bare.unwrap_or(stop))?;
        if i > 4 || stops.last().is_some_and(|&before| at >= before) {
            return None;
        }
        if bare.is_some() {
            if i == 0 || at == OFF {
                return None;
            }
            stars |= 1 << at;
        }
        stops.push(at);
    }
    stops.reverse();
    let at = stops.pop()?;
    (!stops.is_empty()).then_some((Written { at, stops }, stars, count))
}

fn place(text: &str) -> Option<usize> {
    match text.to_ascii_lowercase().as_str() {
        "bar" | "b" => Some(BAR),
        "off" | "o" => Some(OFF),
        // A sign and leading zeros are not accepted.
        digits if digits.starts_with(|c: char| c.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0')) => {
            digits.parse().ok().filter(|&at: &usize| at <= POINTS + 1)
        }
        _ => None,
    }
}

/// Search for the results that a written move can lead to.
struct Ends<'a> {
    roll: Roll,
    results: &'a [Board],
    /// Results found, each with a mask of the points on which a checker was hit.
    found: Vec<(Board, u32)>,
    /// True if a legal order of the written steps ends with a board that is not a result.
    unfinished: bool,
}

impl Ends<'_> {
    /// Plays the remaining steps of `written` in all orders and adds the results to `found`. `hits` is the mask of the points hit so far.
    fn follow(&mut self, turn: &Turn, left: DiceLeft, written: &[Written], hits: u32) {
        if written.iter().all(|way| way.stops.is_empty()) {
            let end = (turn.board(), hits);
            if !self.results.contains(&end.0) {
                self.unfinished = true;
            } else if !self.found.contains(&end) {
                self.found.push(end);
            }
            return;
        }
        for (i, way) in written.iter().enumerate() {
            let Some(&next) = way.stops.last() else { continue };
            if written[..i].contains(way) {
                continue;
            }
            for (die, rest) in dice(self.roll, left) {
                let to = way.at.saturating_sub(die);
                if to < next || turn.sources(die) >> way.at & 1 == 0 {
                    continue;
                }
                let (step, then) = step(turn, way.at, die);
                let mut on = written.to_vec();
                on[i].at = to;
                if to == next {
                    on[i].stops.pop();
                }
                self.follow(&then, rest, &on, hits | u32::from(step.hit) << to);
            }
        }
    }
}
