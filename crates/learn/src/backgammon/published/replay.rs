//! Samples: what a search made of a decision, and how the game ended. And learning from a shard of them.

use super::inputs::{self, Decision, INPUTS};
use super::net::{self, ACTIONS, HEADS};
use super::tree::{self, Edge};
use graph::{Executor, Packed, Params, Plan};
use std::sync::Arc;
use worlds::backgammon::{BAR, Board, Results, Roll};

/// Words of a sample: four of each side's places, four bits each; the roll, the half and how many shares follow; how it ended for
/// who decided (an index into `Chances`), or before the end who that is; and shares, 16 bits of an action above 16 of its visits.
pub const WORDS: usize = 40;
const SHARES: usize = WORDS - 10;
pub type Sample = [u32; WORDS];

/// Far below any logit, and no less than an f32 can add to one.
const ILLEGAL: f32 = -1e9;

pub fn sample(decision: &Decision, decider: u32, edges: &[Edge]) -> Sample {
    let mut sample = [0; WORDS];
    write_board(&decision.board, &mut sample);
    let mut shares = 0;
    // The most visited, where there are more than a sample holds: those tried first come first, and seldom matter if they do not.
    let (mut least, mut fits) = (1, edges.iter().filter(|edge| edge.visits >= 1).count());
    while fits > SHARES {
        least += 1;
        fits = edges.iter().filter(|edge| edge.visits >= least).count();
    }
    for edge in edges.iter().filter(|edge| edge.visits >= least) {
        sample[10 + shares] = u32::from(edge.action) << 16 | u32::from(edge.visits);
        shares += 1;
    }
    sample[8] = u32::from(decision.roll) | u32::from(decision.second) << 8 | (shares as u32) << 16;
    sample[9] = decider;
    sample
}

pub fn write_board(board: &Board, to: &mut [u32]) {
    for (words, side) in to[..8].chunks_exact_mut(4).zip([board.mine(), board.theirs()]) {
        for (i, count) in side.places().into_iter().enumerate() {
            words[i / 8] |= u32::from(count) << (4 * (i % 8));
        }
    }
}

pub fn read_board(from: &[u32]) -> Option<Board> {
    let side =
        |words: &[u32]| -> [u8; BAR] { std::array::from_fn(|i| (words[i / 8] >> (4 * (i % 8))) as u8 & 15) };
    Board::new(side(from.get(..4)?), side(from.get(4..8)?)).ok()
}

pub fn read_decision(words: &[u32]) -> Option<Decision> {
    let (roll, second) = (words.get(8)? & 0xFF, words[8] >> 8 & 1 == 1);
    let board = read_board(words)?;
    ((roll as usize) < Roll::ALL.len() && board.points() == 0).then_some(Decision {
        board,
        roll: roll as u8,
        second,
    })
}

/// The actions that are legal where a sample was taken.
pub fn legal<'a>(sample: &Sample, room: &'a mut Results) -> impl Iterator<Item = u16> + 'a {
    let plays = match read_decision(sample) {
        Some(decision) => {
            tree::list(&decision, room);
            room.plays()
        }
        None => &[],
    };
    plays.iter().map(|play| net::action([play[0], play[1]]))
}

/// Whether words that were saved are a sample.
pub fn is_sound(sample: &Sample) -> bool {
    let shares = sample[8] >> 16;
    let sound = |&share: &u32| (share >> 16) < ACTIONS as u32;
    read_decision(sample).is_some()
        && (1..=SHARES as u32).contains(&shares)
        && sample[9] < 6
        && sample[10..10 + shares as usize].iter().all(sound)
        && sample[10..10 + shares as usize].iter().any(|&share| share & 0xFFFF > 0)
}

/// The newest samples, the oldest written over.
pub struct Replay {
    pub samples: Vec<Sample>,
    most: usize,
    /// Where the next one goes once it is full.
    pub next: usize,
}

impl Replay {
    pub fn new(most: usize) -> Replay {
        Replay { samples: Vec::with_capacity(most), most, next: 0 }
    }

    pub fn add(&mut self, samples: &[Sample]) {
        for &sample in samples {
            if self.samples.len() < self.most {
                self.samples.push(sample);
            } else {
                self.samples[self.next] = sample;
            }
            self.next = (self.next + 1) % self.most;
        }
    }
}

/// Works on one shard of each minibatch.
pub struct Shard {
    executor: Executor,
    pub grads: Vec<f32>,
    /// Policy and value.
    pub losses: [f32; 2],
    room: Results,
    rows: usize,
}

impl Shard {
    pub fn new(plan: &Arc<Plan>, rows: usize) -> Shard {
        let grads = vec![0.0; plan.table().len()];
        Shard { executor: Executor::new(plan), grads, losses: [0.0; 2], room: Results::new(), rows }
    }

    /// The gradient of these samples, as many as the shard has rows.
    pub fn learn<'a>(
        &mut self,
        params: &Params,
        packed: &Packed,
        value_coef: f32,
        samples: impl Iterator<Item = &'a Sample>,
    ) {
        self.executor.input_mut("value_coef")[0] = value_coef;
        self.executor.input_mut("inputs").fill(0.0);
        self.executor.input_mut("mask").fill(ILLEGAL);
        self.executor.input_mut("share").fill(0.0);
        for (row, sample) in samples.take(self.rows).enumerate() {
            let Some(decision) = read_decision(sample) else { continue };
            let to = &mut self.executor.input_mut("inputs")[row * INPUTS..][..INPUTS];
            inputs::each(&decision, |input, x| to[input] = x);
            let mask = &mut self.executor.input_mut("mask")[row * ACTIONS..][..ACTIONS];
            legal(sample, &mut self.room).for_each(|action| mask[usize::from(action)] = 0.0);
            let shares = &sample[10..][..(sample[8] >> 16) as usize];
            let sum: u32 = shares.iter().map(|share| share & 0xFFFF).sum();
            let to = &mut self.executor.input_mut("share")[row * ACTIONS..][..ACTIONS];
            for share in shares {
                to[(share >> 16) as usize] = (share & 0xFFFF) as f32 / sum as f32;
            }
            self.executor.input_mut("outcome")[row * HEADS..][..HEADS]
                .copy_from_slice(&net::outcome(sample[9] as usize));
        }
        self.executor.train(params, packed, &mut self.grads, false);
        self.losses = ["policy_loss", "value_loss"].map(|name| self.executor.output(name)[0]);
    }
}
