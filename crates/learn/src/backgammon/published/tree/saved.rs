//! Saved trees: the words of a tree, and the tree that is restored from them.

use super::{Chance, Edge, NONE, Node, Reached, STRIDES, State, Tree, UNKNOWN, hash_of_second, legal, reached};
use crate::backgammon::published::inputs::Decision;
use crate::backgammon::published::replay::{DECISION_WORDS, decision_words, read_decision};
use worlds::backgammon::{Board, Results, Roll};

/// Number of words of a board: those of a decision without its roll.
const BOARD_WORDS: usize = DECISION_WORDS - 1;
/// Number of words of the rolls of a chance node, two rolls per word.
const ROLL_WORDS: usize = Roll::ALL.len().div_ceil(2);
/// Maximum numbers of visits in a saved tree. A search adds far fewer visits than the counters can still count.
const MOST_EDGE_VISITS: u32 = u16::MAX as u32 / 2;
const MOST_VISITS: u32 = u32::MAX / 2;

/// Takes the next `N` words from the front of `words`.
fn take<'a, const N: usize>(words: &mut &'a [u32]) -> Option<&'a [u32; N]> {
    let (first, rest) = words.split_first_chunk()?;
    *words = rest;
    Some(first)
}

/// Returns the number with these bits; `None` for infinity and NaN.
fn number(bits: u32) -> Option<f32> {
    Some(f32::from_bits(bits)).filter(|x| x.is_finite())
}

impl Tree {
    /// Appends the words of the tree to `to`. No evaluation may be pending.
    pub fn save(&self, to: &mut Vec<u32>) {
        to.extend([self.salt as u32, (self.salt >> 32) as u32, self.nodes.len() as u32, self.chances.len() as u32]);
        for node in &self.nodes {
            to.extend(decision_words(&node.decision));
            to.extend([u32::from(node.count) | u32::from(node.tried) << 16, node.visits, node.value.to_bits()]);
            for (i, edge) in self.edges[node.first as usize..][..usize::from(node.count)].iter().enumerate() {
                to.extend([edge.prior.to_bits(), u32::from(edge.action) | u32::from(edge.child) << 16]);
                // An untried edge has no visits.
                if i < usize::from(node.tried) {
                    to.extend([edge.sum.to_bits(), edge.visits.into()]);
                }
            }
        }
        for Chance { board, rolls, start, stride, visits } in &self.chances {
            to.extend_from_slice(&decision_words(&Decision { board: *board, roll: 0, second: false })[..BOARD_WORDS]);
            to.extend([u32::from(*start) | u32::from(*stride) << 8, *visits]);
            to.extend(rolls.chunks(2).map(|pair| u32::from(pair[0]) | u32::from(*pair.get(1).unwrap_or(&NONE)) << 16));
        }
    }

    /// Restores the tree from the words of [`Tree::save`], which are taken from the front of `words`. Returns `None` for words that no
    /// tree of this size has. The tree is then in an undefined state, and the caller must restart it.
    pub fn restore(&mut self, words: &mut &[u32], scratch: &mut Results) -> Option<()> {
        let &[low, high, nodes, chances] = take(words)?;
        if nodes as usize >= self.most_nodes || chances as usize > self.most_nodes {
            return None;
        }
        self.clear(u64::from(low) | u64::from(high) << 32);
        for _ in 0..nodes {
            let node = self.read_node(words)?;
            self.nodes.push(node);
        }
        for _ in 0..chances {
            self.chances.push(read_chance(words)?);
        }
        let sound = self.nodes.iter().all(|node| self.is_sound(node, scratch)) && self.chances.iter().all(|chance| self.leads(chance));
        sound.then(|| self.fill_table())
    }

    /// Reads a node, and adds its edges.
    fn read_node(&mut self, words: &mut &[u32]) -> Option<Node> {
        let decision = read_decision(take::<DECISION_WORDS>(words)?)?;
        let &[counts, visits, value] = take(words)?;
        let (count, tried, first) = (counts as u16, (counts >> 16) as u16, self.edges.len() as u32);
        if tried > count || visits > MOST_VISITS || self.edges.len() + usize::from(count) > self.most_edges {
            return None;
        }
        for i in 0..count {
            let &[prior, target] = take(words)?;
            let &[sum, visits] = if i < tried { take(words)? } else { &[0; 2] };
            if visits > MOST_EDGE_VISITS {
                return None;
            }
            let (action, child) = (target as u16, (target >> 16) as u16);
            self.edges.push(Edge { prior: number(prior)?, sum: number(sum)?, visits: visits as u16, pending: 0, action, child });
        }
        let state = if count > 0 { State::Open } else { State::Fresh };
        Some(Node { decision, state, first, count, tried, visits, pending: 0, value: number(value)? })
    }

    /// Returns true if the edges of a node are its legal actions, and lead to the results of these actions.
    fn is_sound(&self, node: &Node, scratch: &mut Results) -> bool {
        let edges = &self.edges[node.first as usize..][..usize::from(node.count)];
        let mut listed: Vec<u16> = edges.iter().map(|edge| edge.action).collect();
        let mut allowed: Vec<u16> = legal(&node.decision, scratch).collect();
        listed.sort_unstable();
        allowed.sort_unstable();
        let (tried, untried) = edges.split_at(node.tried.into());
        (listed.is_empty() || listed == allowed)
            && untried.iter().all(|edge| edge.child == UNKNOWN)
            && tried.iter().all(|edge| match reached(&node.decision, edge.action) {
                Reached::Second(decision) => Self::second_of(edge).is_some_and(|id| self.decides(id, &decision)),
                Reached::Roll(board) => self.chances.get(usize::from(edge.child)).is_some_and(|chance| chance.board == board),
                Reached::End(child) => edge.child == child,
            })
    }

    /// Returns true if the known rolls of a chance node lead to the decisions of these rolls.
    fn leads(&self, chance: &Chance) -> bool {
        let decision = |roll: usize| Decision { board: chance.board, roll: roll as u8, second: false };
        chance.rolls.iter().enumerate().all(|(roll, &id)| id == NONE || self.decides(id, &decision(roll)))
    }

    fn decides(&self, id: u16, decision: &Decision) -> bool {
        self.nodes.get(usize::from(id)).is_some_and(|node| node.decision == *decision)
    }

    /// Fills the hash table. As in a tree that grew, the table does not contain the root.
    fn fill_table(&mut self) {
        for id in 1..self.nodes.len() {
            let decision = self.nodes[id].decision;
            if decision.second {
                self.insert(hash_of_second(&decision), id as u16 | super::SECOND);
            }
        }
        for id in 0..self.chances.len() {
            self.insert(self.chances[id].board.hash64(), id as u16);
        }
    }
}

fn read_chance(words: &mut &[u32]) -> Option<Chance> {
    let mut decision = [0; DECISION_WORDS];
    decision[..BOARD_WORDS].copy_from_slice(take::<BOARD_WORDS>(words)?);
    let board: Board = read_decision(&decision)?.board;
    let &[order, visits] = take(words)?;
    let (start, stride) = (order as u8, (order >> 8) as u8);
    if start >= 36 || !STRIDES.contains(&stride) || visits > MOST_VISITS {
        return None;
    }
    let pairs = take::<ROLL_WORDS>(words)?;
    let rolls = std::array::from_fn(|roll| (pairs[roll / 2] >> (16 * (roll % 2))) as u16);
    Some(Chance { board, rolls, start, stride, visits })
}
