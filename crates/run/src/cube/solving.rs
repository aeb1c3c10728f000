//! The search for a solution of one state, in slices, with the weights that it began with.

use super::judging::Known;
use super::protocol::{SearchKind, Solution, SolveMethod, SolveView};
use crate::RunError;
use learn::cube::search::Stop;
use learn::cube::{Greedy, Judge, Limits, Method, Scores, Search};
use std::sync::Arc;
use worlds::cube::{Actions, Distances, Move};

/// Moves that a search looks ahead at most: no cube needs half as many.
const MOST_STEPS: usize = 60;

pub(super) struct Solving<P> {
    state: P,
    actions: Actions,
    exact: Option<Arc<Distances>>,
    /// Until it is done.
    search: Option<Search<P>>,
    view: SolveView,
    failure: Option<RunError>,
}

fn method(asked: SolveMethod) -> Option<Method> {
    let width = asked.width as usize;
    match asked.search {
        SearchKind::Greedy => Some(Method::Greedy(Greedy::Onward)),
        SearchKind::Beam => Some(Method::Beam { width }),
        SearchKind::AStar => Some(Method::AStar { weight: asked.weight, batch: width }),
        SearchKind::Exact => None,
    }
}

impl<P: Known> Solving<P> {
    /// `facelets` as they were typed; a search may take so many bytes.
    pub fn begin(
        state: P,
        facelets: String,
        asked: SolveMethod,
        actions: Actions,
        exact: Option<Arc<Distances>>,
        free_bytes: u64,
        judge: &mut dyn Judge<P>,
    ) -> Result<Solving<P>, RunError> {
        let view = SolveView {
            facelets,
            done: false,
            steps: 0,
            nodes: 0.0,
            nearest: None,
            solution: None,
            failure: None,
        };
        let mut solving = Solving { state, actions, exact, search: None, view, failure: None };
        let Some(method) = method(asked) else {
            let table = solving.exact.as_ref().and_then(|exact| state.solution(exact));
            let moves = table.ok_or_else(|| {
                RunError::refused(
                    "the distances of the 3x3x3's states are not known, so no table solves it",
                    "Choose beam, astar or greedy",
                )
            })?;
            solving.view.done = true;
            solving.solved(&moves, judge);
            return Ok(solving);
        };
        let limits = Limits { steps: MOST_STEPS, nodes: asked.nodes.into() };
        let needs = Search::<P>::bytes(method, limits);
        if needs > free_bytes {
            return Err(RunError::refused(
                format!(
                    "such a search may take {} MB of memory, and there are {}",
                    needs >> 20,
                    free_bytes >> 20
                ),
                "Choose fewer nodes, or a narrower beam",
            ));
        }
        let mut search = Search::new(method, limits, actions).map_err(RunError::below)?;
        search.begin(state);
        solving.search = Some(search);
        Ok(solving)
    }

    pub fn view(&self) -> &SolveView {
        &self.view
    }

    /// Why there is no solution, once that is known.
    pub fn failure(&self) -> Option<&RunError> {
        self.failure.as_ref()
    }

    /// A slice of it.
    pub fn advance(&mut self, judge: &mut dyn Judge<P>) -> Result<(), RunError> {
        let Some(search) = &mut self.search else { return Ok(()) };
        let outcome = search.advance(judge).map_err(RunError::below)?;
        self.view.steps = search.steps() as u32;
        self.view.nodes = search.nodes() as f64;
        self.view.nearest = search.nearest();
        let Some(outcome) = outcome else { return Ok(()) };
        self.search = None;
        self.view.done = true;
        match outcome.solution {
            Ok(actions) => {
                let moves: Vec<Move> =
                    actions.into_iter().map(|action| self.actions.moves()[usize::from(action)]).collect();
                self.solved(&moves, judge);
            }
            Err(stop) => {
                let failure = self.gave_up(stop);
                self.view.failure = Some(failure.to_string() + ".");
                self.failure = Some(failure);
            }
        }
        Ok(())
    }

    /// What was thought of each state on the way.
    fn solved(&mut self, moves: &[Move], judge: &mut dyn Judge<P>) {
        let optimal =
            self.exact.as_ref().and_then(|exact| self.state.distance(exact)).map(|distance| distance.into());
        let mut values = Vec::new();
        if judge.scores() == Scores::Value {
            let mut states = vec![self.state];
            for by in moves {
                let action = self.actions.find(*by).expect("a solution is made of actions");
                states.push(states[states.len() - 1].turned(action));
            }
            values.resize(states.len(), 0.0);
            judge.judge(&states, &mut values);
            // What is solved is known to be, whatever a network says.
            *values.last_mut().expect("there is one") = 0.0;
        }
        self.view.solution =
            Some(Solution { moves: moves.iter().map(Move::to_string).collect(), values, optimal });
    }

    fn gave_up(&self, stop: Stop) -> RunError {
        let SolveView { steps, nodes, nearest, .. } = self.view;
        let how = match stop {
            Stop::Steps => format!("it was not solved within {steps} moves"),
            Stop::Nodes => format!("it was not solved within the limit of nodes, {steps} moves ahead"),
            Stop::Nothing => format!("after {steps} moves every way led back to where it had been"),
        };
        let nearest = nearest.map_or(String::new(), |nearest| {
            format!("; the nearest state is thought to be {nearest:.1} moves from solved")
        });
        RunError::refused(
            format!("{how}, with {nodes:.0} nodes generated{nearest}"),
            "Try a wider beam or more nodes, or train for longer",
        )
    }
}
