//! Search for a solution of one state. The run advances the search in slices. The search uses the weights of the moment at which it begins.
//! If offloading begins during the search, the search continues with the weights of that moment. If a beam fails, the search tries a beam
//! of twice the width, provided that the limits on nodes (generated states) and memory allow it.

use super::judging::Known;
use super::protocol::{Failure, SearchKind, Solution, SolveMethod, SolveView};
use crate::RunError;
use learn::cube::search::{SearchError, Stop};
use learn::cube::{Greedy, Judge, Limits, Method, Scores, Search};
use std::sync::Arc;
use worlds::cube::{Actions, Distances, Move};

/// Maximum number of moves that a search looks ahead. No state needs more than 26 moves. After a beam fails, a wider beam finds a solution
/// more often than a deeper beam.
const MOST_STEPS: usize = 40;
/// Number of levels that a wider beam must be able to search. The wider beam begins only if the remaining nodes suffice for these levels.
const LEAST_STEPS: u64 = 20;

pub(super) struct Solving<P> {
    state: P,
    actions: Actions,
    exact: Option<Arc<Distances>>,
    requested: SolveMethod,
    free_bytes: u64,
    /// Search in progress; `None` after its end.
    search: Option<Search<P>>,
    /// For the narrower beams that failed: their number of nodes, and their smallest estimate of the moves left.
    before: (u64, Option<f32>),
    view: SolveView,
}

fn method(requested: SolveMethod) -> Option<Method> {
    let width = requested.width as usize;
    match requested.search {
        SearchKind::Greedy => Some(Method::Greedy(Greedy::Onward)),
        SearchKind::Beam => Some(Method::Beam { width }),
        SearchKind::AStar => Some(Method::AStar { weight: requested.weight, batch: width }),
        SearchKind::Exact => None,
    }
}

impl<P: Known> Solving<P> {
    /// Begins a search. `number` is the number of the search in the run. `facelets` are the facelets of the request. The search may
    /// allocate `free_bytes` bytes.
    pub fn begin(
        number: u32,
        (state, facelets): (P, String),
        requested: SolveMethod,
        actions: Actions,
        exact: Option<Arc<Distances>>,
        free_bytes: u64,
        judge: &mut dyn Judge<P>,
    ) -> Result<Solving<P>, RunError> {
        let view = SolveView {
            number,
            facelets,
            done: false,
            width: (requested.search == SearchKind::Beam).then_some(requested.width),
            steps: 0,
            nodes: 0.0,
            nearest: None,
            solution: None,
            failure: None,
        };
        let mut solving = Solving { state, actions, exact, requested, free_bytes, search: None, before: (0, None), view };
        let Some(method) = method(requested) else {
            let table = solving.exact.as_ref().and_then(|exact| state.solution(exact));
            let moves =
                table.ok_or_else(|| RunError::refused("there is no table of distances for the 3x3x3", "Choose beam, astar or greedy"))?;
            solving.solved(&moves, judge);
            return Ok(solving);
        };
        if matches!(method, Method::AStar { .. }) && judge.scores() == Scores::Policy && state != P::SOLVED {
            return Err(RunError::below(SearchError::NeedsValues));
        }
        let limits = solving.limits();
        let needs = Search::<P>::bytes(method, limits);
        if needs > free_bytes {
            return Err(RunError::refused(
                format!("this search may need {} MB of memory, but {} MB are available", needs >> 20, free_bytes >> 20),
                "Choose fewer nodes, or a narrower beam",
            ));
        }
        let mut search = Search::new(method, limits, actions).map_err(RunError::below)?;
        search.begin(state);
        solving.search = Some(search);
        Ok(solving)
    }

    fn limits(&self) -> Limits {
        Limits { steps: MOST_STEPS, nodes: u64::from(self.requested.nodes).saturating_sub(self.before.0) }
    }

    pub fn view(&self) -> &SolveView {
        &self.view
    }

    pub fn advance(&mut self, judge: &mut dyn Judge<P>) {
        if let Err(error) = self.continue_search(judge) {
            self.fail(&error);
        }
    }

    fn fail(&mut self, error: &RunError) {
        self.view.done = true;
        self.view.failure = Some(Failure { text: error.what(), next_step: error.next_step() });
    }

    fn continue_search(&mut self, judge: &mut dyn Judge<P>) -> Result<(), RunError> {
        let Some(search) = &mut self.search else { return Ok(()) };
        let outcome = search.advance(judge).map_err(RunError::below)?;
        let (nodes, nearest) = self.before;
        self.view.steps = search.steps() as u32;
        self.view.nodes = (nodes + search.nodes()) as f64;
        self.view.nearest = search.nearest().into_iter().chain(nearest).reduce(f32::min);
        let Some(outcome) = outcome else { return Ok(()) };
        self.search = None;
        if matches!(outcome.solution, Err(Stop::Steps | Stop::Nothing)) && self.widen()? {
            return Ok(());
        }
        let actions = outcome.solution.map_err(|stop| self.failure(stop))?;
        let moves: Vec<Move> = actions.into_iter().map(|action| self.actions.moves()[usize::from(action)]).collect();
        self.solved(&moves, judge);
        Ok(())
    }

    /// Begins a beam search of twice the width. Returns false if the limits do not allow such a beam, or if the method is not a beam
    /// search.
    fn widen(&mut self) -> Result<bool, RunError> {
        let Some(narrow) = self.view.width else { return Ok(false) };
        let wide = narrow.saturating_mul(2);
        self.before = (self.view.nodes as u64, self.view.nearest);
        let (limits, method) = (self.limits(), Method::Beam { width: wide as usize });
        let least = u64::from(wide) * self.actions.count() as u64 * LEAST_STEPS;
        if limits.nodes < least || Search::<P>::bytes(method, limits) > self.free_bytes {
            return Ok(false);
        }
        let mut search = Search::new(method, limits, self.actions).map_err(RunError::below)?;
        search.begin(self.state);
        (self.search, self.view.width) = (Some(search), Some(wide));
        Ok(true)
    }

    /// Ends the search with the solution `moves`. Evaluates each state along the solution.
    fn solved(&mut self, moves: &[Move], judge: &mut dyn Judge<P>) {
        let optimal = self.exact.as_ref().and_then(|exact| self.state.distance(exact)).map(|distance| distance.into());
        let mut states = vec![self.state];
        for by in moves {
            let action = self.actions.find(*by).expect("a solution is made of actions");
            states.push(states[states.len() - 1].turned(action));
        }
        let count = judge.scores().count(self.actions.count());
        let mut scores = vec![0.0; states.len() * count];
        judge.judge(&states, &mut scores);
        let best = |scores: &[f32]| scores.iter().copied().fold(f32::INFINITY, f32::min);
        let mut values: Vec<f32> = match judge.scores() {
            Scores::Policy => Vec::new(),
            Scores::Value | Scores::ActionValues => scores.chunks_exact(count).map(best).collect(),
        };
        if let Some(last) = values.last_mut() {
            // The value is the number of moves to the solved state, so the value of the solved state is 0.
            *last = 0.0;
        }
        self.view.done = true;
        self.view.solution = Some(Solution { moves: moves.iter().map(Move::to_string).collect(), values, optimal });
    }

    fn failure(&self, stop: Stop) -> RunError {
        let SolveView { steps, nodes, nearest, .. } = self.view;
        let how = match stop {
            Stop::Steps => format!("it was not solved within {steps} moves"),
            Stop::Nodes => format!("the search looked {steps} moves ahead and reached the limit of nodes"),
            Stop::Nothing => format!("after {steps} moves all continuations repeat earlier states"),
        };
        let nearest = nearest.map_or(String::new(), |nearest| format!("; the nearest state has an estimated {nearest:.1} moves left"));
        let widths = match self.view.width {
            Some(width) if width > self.requested.width => {
                format!(" by beams of {} to {width} states", self.requested.width)
            }
            _ => String::new(),
        };
        RunError::refused(
            format!("{how}, with {nodes:.0} nodes generated{widths}{nearest}"),
            "Try a wider beam or more nodes, or train for longer",
        )
    }
}

impl SolveView {
    /// Returns the state of the search as a sentence.
    pub(super) fn text(&self) -> String {
        match (&self.solution, &self.failure) {
            (Some(solution), _) => format!("solved in {} moves", solution.moves.len()),
            (_, Some(failure)) => failure.text.clone(),
            _ => format!("searching: {} states, {} moves ahead", self.nodes, self.steps),
        }
    }
}
