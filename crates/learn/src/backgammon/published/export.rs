//! The published learner's network as a model for other programs.

use super::inputs::{self, Decision, INPUTS};
use super::net::{ACTIONS, Evaluator, Weights, plan_search, whole_on};
use super::{Published, tree};
use crate::backgammon::random_play;
use graph::export::{Examples, Input, Model, Output, Reads};
use graph::{Graph, PlanError};
use worlds::backgammon::Results;

/// Number that is subtracted from the logits of illegal actions.
const ILLEGAL: f32 = 1e9;
/// Number of decisions that the examples evaluate at once.
const ROWS: usize = 64;

const ABOUT_INPUTS: &str = "The board before a move and the roll, from the point of view of the player on roll. First index and \
    count: 0: 24 x 6, for each point of the player on roll: at least 1, 2, 3, 4, 5 checkers, and half the number beyond 5. 144: 3, \
    on the bar: at least one, at least two, half the number beyond 2. 147: 3, borne off: share of the first, second and third five \
    checkers. 150: 4, pips / 100, share of home points made, longest prime / 6, blots / 5. 154: 3, place of the rear checker / 25, \
    checkers in the opponent's home / 5, checkers in the own home / 15. 157: 157, the same for the other side, in its own \
    numbering. 314: 2, 1 while the sides are in contact, lead in pips / 100. 316: 21, the roll: one is 1, in the order 1-1, 2-1, \
    2-2, 3-1, and so on to 6-6. 337: 6, the numbers on the dice. 343: 1, 1 in the second half of a double.";
const ABOUT_LEGAL: &str = "1 for each legal action, otherwise 0. The index of an action is 26 times the place from which the larger \
    die is played, plus the place for the smaller die. Place 0 means that the die is not played, 1 to 24 are points, and 25 is the \
    bar. A double is played in two halves of up to two moves; in a half, the first place is the higher one.";
const HEADS: [&str; 5] = ["win", "win at least a gammon", "win a backgammon", "lose at least a gammon", "lose a backgammon"];

impl Published {
    pub(super) fn model(&self) -> Model {
        let mut g = Graph::new();
        let x = g.input("inputs", [1, INPUTS]);
        let (policy, value) = whole_on(&mut g, self.config.shape(), x);
        let legal = g.input("legal", [1, ACTIONS]);
        let shift = g.affine(legal, ILLEGAL, -ILLEGAL);
        let logits = g.add(policy, shift);
        let policy = g.softmax(logits);
        let value = g.sigmoid(value);
        let input = |name, help: &str| Input { name, integers: false, help: help.into(), numbers: Vec::new() };
        let output = |name, node, help: &str, numbers| Output { name, node, reads: Reads::Numbers, help: help.into(), numbers };
        let heads = HEADS.map(String::from).to_vec();
        Model {
            params: self.state().params.clone(),
            inputs: vec![input("inputs", ABOUT_INPUTS), input("legal", ABOUT_LEGAL)],
            outputs: vec![
                output("policy", policy, "Probability of each legal action.", Vec::new()),
                output("value", value, "Probabilities for the player on roll.", heads),
            ],
            graph: g,
        }
    }

    /// Returns `count` decisions of random play as inputs of the model, with the results of the search's evaluator.
    pub(super) fn example_decisions(&self, count: usize, seed: u32) -> Result<Examples, PlanError> {
        let mut decisions: Vec<Decision> = Vec::new();
        random_play::play(count, [seed, 0x4558], |board, roll, _, _| decisions.push(Decision::new(*board, roll)));
        let plan = plan_search(self.config.shape(), ROWS, self.isa)?;
        let weights = Weights::new(&plan, &self.state().params);
        let (mut evaluator, mut scratch) = (Evaluator::new(&plan, ROWS), Results::new());
        let [mut seen, mut legal, mut policy] = [INPUTS, ACTIONS, ACTIONS].map(|len| vec![0.0; count * len]);
        let mut value = Vec::new();
        for (block, decisions) in decisions.chunks(ROWS).enumerate() {
            evaluator.clear();
            decisions.iter().for_each(|decision| evaluator.see(decision));
            evaluator.run(&weights);
            for (row, decision) in decisions.iter().enumerate() {
                let item = block * ROWS + row;
                inputs::write(decision, &mut seen[item * INPUTS..][..INPUTS]);
                let actions: Vec<u16> = tree::legal(decision, &mut scratch).collect();
                let mut found = vec![0.0; actions.len().next_multiple_of(16)];
                evaluator.policy(&weights, row, &actions, &mut found);
                for (&action, found) in actions.iter().zip(found) {
                    legal[item * ACTIONS + usize::from(action)] = 1.0;
                    policy[item * ACTIONS + usize::from(action)] = found;
                }
                value.extend(evaluator.heads(row));
            }
        }
        Ok(Examples { inputs: vec![seen, legal], outputs: vec![policy, value] })
    }
}
