//! The published learner while another machine does some of its work: a stand-in on this processor, which answers late, and is lost
//! when it is told to. Whatever happens, what is learned is to the bit what it would have been on the processor.

use crate::{rounds, same, small};
use learn::backgammon::published::accelerator::{
    Accelerator, Answer, DECISION_WORDS, OffloadSpec, PACKED_SAMPLE_WORDS, PackedSample, TrainResult, TrainStateRef, Work, decision_words,
    packed_sample,
};
use learn::backgammon::published::{ACTIONS, Decision, LocalAccelerator, Shape};
use learn::backgammon::{Progress, Published, Stats};
use learn::offload::serve;
use learn::{Fault, Learner, Machine, Offload, Pass, Slice};
use math::Isa;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use worlds::backgammon::{Board, Results, Roll};

const LEAVES: Work = Work { leaves: true, learning: false };

#[derive(Clone)]
struct StandIn {
    /// Looks at an answer until it is there.
    looks: u32,
    /// Calls after which it is lost.
    lives: Arc<AtomicI64>,
}

fn stand_in(looks: u32, lives: i64) -> StandIn {
    StandIn { looks, lives: Arc::new(AtomicI64::new(lives)) }
}

impl Machine for StandIn {
    fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        serve(request, |spec: &OffloadSpec| {
            let accelerator = LocalAccelerator::new(spec)?;
            let working = Working { accelerator, work: spec.work, machine: self.clone(), looks: 0 };
            Ok(Box::new(working) as Box<dyn Accelerator>)
        })
    }
}

struct Working {
    accelerator: LocalAccelerator,
    work: Work,
    machine: StandIn,
    looks: u32,
}

impl Working {
    fn live(&self) -> Result<(), Fault> {
        match self.machine.lives.fetch_sub(1, Relaxed) {
            0 => Err(Fault::Lost { why: "a test pulled its plug".into() }),
            _ => Ok(()),
        }
    }

    fn is_here(&mut self) -> bool {
        self.looks += 1;
        self.looks.is_multiple_of(self.machine.looks)
    }
}

/// Orders of offloaded work, passed on until the machine is lost.
macro_rules! while_it_lives {
    ($($method:ident ($($arg:ident: $type:ty),*) of $work:ident;)*) => {
        $(fn $method(&mut self, $($arg: $type),*) -> Result<(), Fault> {
            assert!(self.work.$work);
            self.live()?;
            self.accelerator.$method($($arg),*)
        })*
    };
}

impl Accelerator for Working {
    while_it_lives! {
        set_weights(weights: &[f32]) of leaves;
        ask(lane: usize, decisions: &[[u32; DECISION_WORDS]]) of leaves;
        set_state(state: &TrainStateRef) of learning;
        store_samples(first: usize, packed_samples: &[PackedSample]) of learning;
        step(adam: &graph::Adam, value_coef: f32, drawn: &[u32]) of learning;
        request_result() of learning;
    }

    fn answer(&mut self, lane: usize, answer: &mut Answer) -> Result<bool, Fault> {
        self.live()?;
        let is_here = self.is_here() && self.accelerator.answer(lane, answer)?;
        assert!(!is_here || !answer.heads.is_empty(), "decisions were asked about");
        Ok(is_here)
    }

    fn poll_result(&mut self, learned: &mut TrainResult) -> Result<bool, Fault> {
        self.live()?;
        Ok(self.is_here() && self.accelerator.poll_result(learned)?)
    }
}

fn learner() -> Published {
    Published::new(small(), 5, Isa::best()).unwrap()
}

/// The numbers of the next round, and the faults on the way.
fn round(learner: &mut Published) -> (Stats, Vec<Fault>) {
    let mut faults = Vec::new();
    loop {
        match learner.advance() {
            Slice::Ended(stats) => return (stats, faults),
            Slice::Stopped(fault) => faults.push(fault),
            Slice::Worked | Slice::Waiting => {}
        }
    }
}

/// A learner on the processor, and the numbers of its first rounds.
fn at_home(rounds: usize) -> (Published, Vec<Stats>) {
    let mut home = learner();
    let stats = (0..rounds).map(|_| round(&mut home).0).collect();
    (home, stats)
}

/// A learner whose work is offloaded after its first round.
fn offloading(machine: &StandIn, work: Work) -> Result<Published, Fault> {
    let mut offloaded = learner();
    rounds(&mut offloaded, 1);
    assert_eq!(offloaded.offloaded(), None);
    offloaded.offload_work(machine, work)?;
    assert_eq!(offloaded.offloaded(), Some(work));
    Ok(offloaded)
}

#[test]
fn with_work_lent_a_run_is_the_one_at_home() {
    let (home, stats) = at_home(6);
    let Progress { updates, games, .. } = home.progress();
    assert!(updates > 20 && games > 5, "{updates} updates, {games} games");
    for work in [LEAVES, Work::LEARNING, Work::ALL] {
        for looks in [1, 3] {
            let mut offloaded = offloading(&stand_in(looks, -1), work).unwrap();
            for stats in &stats[1..6] {
                assert_eq!(round(&mut offloaded), (*stats, vec![]), "{work:?}");
                assert!(offloaded.at_boundary());
            }
            same(&format!("{work:?}"), &offloaded.parts(), &home.parts());
            assert_eq!(offloaded.progress(), home.progress());
        }
    }
}

#[test]
fn it_comes_home_in_the_middle_of_a_round_too() {
    let (home, _) = at_home(4);
    for work in [LEAVES, Work::LEARNING, Work::ALL] {
        for slices in [1, 7, 40, 100] {
            let mut offloaded = offloading(&stand_in(3, -1), work).unwrap();
            (0..slices).for_each(|_| _ = offloaded.advance());
            offloaded.end_offload();
            while offloaded.progress().iterations < 4 {
                assert!(!matches!(offloaded.advance(), Slice::Waiting | Slice::Stopped(_)));
            }
            same(&format!("{work:?}, home after {slices} slices"), &offloaded.parts(), &home.parts());
        }
    }
}

#[test]
fn whenever_the_machine_is_lost_nothing_else_is() {
    let (home, _) = at_home(4);
    let mut stopped = [0; 2];
    for work in [LEAVES, Work::LEARNING, Work::ALL] {
        for lives in (0..700).step_by(47) {
            let Ok(mut offloaded) = offloading(&stand_in(2, lives), work) else {
                stopped[0] += 1;
                continue;
            };
            let faults: Vec<Fault> = (0..3).flat_map(|_| round(&mut offloaded).1).collect();
            same(&format!("{work:?}, lost after {lives} calls"), &offloaded.parts(), &home.parts());
            assert_eq!(faults.len(), usize::from(offloaded.offloaded().is_none()));
            stopped[1] += faults.len();
        }
    }
    assert!(stopped[0] > 0 && stopped[1] > 15, "{stopped:?}");
}

#[test]
fn a_local_accelerator_learns_without_lanes() {
    for lane_rows in [0, 1] {
        let spec = OffloadSpec { work: Work::LEARNING, isa: Isa::best(), shape: Shape::PUBLISHED, lane_rows, minibatch: 64, replay: 64 };
        assert!(LocalAccelerator::new(&spec).is_ok(), "{lane_rows} rows");
    }
}

#[test]
fn a_trial_leaves_no_trace() {
    let (home, _) = at_home(5);
    let mut tried = learner();
    let mut passes = 0;
    for work in [Work::LEARNING, Work::ALL, LEAVES, Work::ALL] {
        rounds(&mut tried, 1);
        let (before, progress) = (tried.parts(), tried.progress());
        tried.probe_work(&stand_in(2, -1), work).unwrap();
        let most = tried.pass_work();
        for _ in 0..2 {
            loop {
                assert!(tried.at_boundary() && tried.offloaded().is_none());
                if let Pass::Ended(evaluations) = tried.advance_probe().expect("it goes on") {
                    assert!(evaluations <= most && evaluations > most / 2.0, "{evaluations} of {most}");
                    break;
                }
                // Who saves in the middle of it saves what was there before.
                same("in a trial", &tried.parts(), &before);
                assert_eq!(tried.progress(), progress);
                passes += 1;
            }
        }
        tried.end_probe();
        same("after a trial", &tried.parts(), &before);
    }
    rounds(&mut tried, 1);
    same("later", &tried.parts(), &home.parts());
    assert!(passes > 20);
}

#[test]
fn a_trial_leaves_no_trace_in_the_numbers_of_the_next_round() {
    let (_, home) = at_home(3);
    for work in [LEAVES, Work::ALL] {
        let mut tried = learner();
        rounds(&mut tried, 2);
        tried.probe_work(&stand_in(1, -1), work).unwrap();
        while !matches!(tried.advance_probe(), Ok(Pass::Ended(_))) {}
        tried.end_probe();
        // Losses, lengths of gradients and seconds, of which the clock shows none.
        assert_eq!(round(&mut tried).0, home[2]);
    }
}

#[test]
fn a_trial_that_breaks_off_leaves_no_trace_either() {
    let (home, _) = at_home(3);
    let mut stopped = 0;
    for lives in (8..60).step_by(7) {
        let mut tried = learner();
        rounds(&mut tried, 1);
        tried.probe_work(&stand_in(1, lives), Work::ALL).unwrap();
        let fault = (0..60).find_map(|_| tried.advance_probe().err());
        assert!(matches!(fault, None | Some(Fault::Lost { .. })), "{fault:?}");
        stopped += usize::from(fault.is_some());
        tried.end_probe();
        rounds(&mut tried, 2);
        same(&format!("broken off after {lives}"), &tried.parts(), &home.parts());
    }
    assert!(stopped > 3, "{stopped}");
}

/// An action's number is the two places that it leaves, each of 26.
#[test]
fn a_packed_sample_has_a_bit_for_each_legal_action_and_for_no_other() {
    const SAMPLE_WORDS: usize = PACKED_SAMPLE_WORDS - ACTIONS.div_ceil(32);
    let (mut scratch, mut room) = (Results::new(), Results::new());
    for (place, roll) in Roll::ALL.into_iter().enumerate() {
        let board = Board::START;
        let decision = Decision { board, roll: place as u8, second: false };
        let mut sample = [0; SAMPLE_WORDS];
        sample[..DECISION_WORDS].copy_from_slice(&decision_words(&decision));
        let packed = packed_sample(&sample, &mut scratch);
        assert_eq!(packed[..SAMPLE_WORDS], sample);
        if roll.is_double() {
            board.halves(roll, &mut room);
        } else {
            board.results(roll, &mut room);
        }
        let mut legal: Vec<usize> = room.plays().iter().map(|play| usize::from(play[0]) * 26 + usize::from(play[1])).collect();
        legal.sort_unstable();
        let is_set = |&action: &usize| packed[SAMPLE_WORDS + action / 32] >> (action % 32) & 1 == 1;
        let set: Vec<usize> = (0..32 * ACTIONS.div_ceil(32)).filter(is_set).collect();
        assert_eq!(set, legal, "{roll:?}");
    }
}
