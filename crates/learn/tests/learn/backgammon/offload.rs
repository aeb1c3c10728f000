//! Offloading of the published learner to a fake device, which runs on this CPU. The device answers late and can fail. The learned
//! weights must always be bit-identical to those of training without offloading.

use super::{long, rounds, same, small};
use learn::backgammon::published::accelerator::{
    Accelerator, Answer, DECISION_WORDS, OffloadSpec, PACKED_SAMPLE_WORDS, PackedSample, TrainResult, TrainStateRef, Work, decision_words,
    packed_sample,
};
use learn::backgammon::published::{ACTIONS, Decision, LocalAccelerator, Shape};
use learn::backgammon::{Progress, Published, PublishedConfig, Stats};
use learn::offload::serve;
use learn::{Fault, Learner, Machine, Offload, Pass, Slice, part};
use math::Isa;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use worlds::backgammon::{Board, Results, Roll};

const LEAVES: Work = Work { leaves: true, learning: false };

#[derive(Clone)]
struct FakeDevice {
    /// Number of polls that each result takes.
    polls: u32,
    /// Number of calls that succeed before a call fails. With a negative number, no call fails.
    calls: Arc<AtomicI64>,
}

fn fake_device(polls: u32, calls: i64) -> FakeDevice {
    FakeDevice { polls, calls: Arc::new(AtomicI64::new(calls)) }
}

impl Machine for FakeDevice {
    fn special(&self, request: &dyn Any) -> Option<Result<Box<dyn Any>, Fault>> {
        serve(request, |spec: &OffloadSpec| {
            let accelerator = LocalAccelerator::new(spec)?;
            let working = Working { accelerator, work: spec.work, machine: self.clone(), polls: 0 };
            Ok(Box::new(working) as Box<dyn Accelerator>)
        })
    }
}

struct Working {
    accelerator: LocalAccelerator,
    work: Work,
    machine: FakeDevice,
    polls: u32,
}

impl Working {
    fn count_call(&self) -> Result<(), Fault> {
        match self.machine.calls.fetch_sub(1, Relaxed) {
            0 => Err(Fault::Lost { why: "test failure".into() }),
            _ => Ok(()),
        }
    }

    fn is_ready(&mut self) -> bool {
        self.polls += 1;
        self.polls.is_multiple_of(self.machine.polls)
    }
}

/// Implements methods that count each call and forward it to `accelerator`. At the call at which the device fails, the method returns a
/// fault.
macro_rules! until_failure {
    ($($method:ident ($($arg:ident: $type:ty),*) of $work:ident;)*) => {
        $(fn $method(&mut self, $($arg: $type),*) -> Result<(), Fault> {
            assert!(self.work.$work);
            self.count_call()?;
            self.accelerator.$method($($arg),*)
        })*
    };
}

impl Accelerator for Working {
    until_failure! {
        set_weights(weights: &[f32]) of leaves;
        ask(lane: usize, decisions: &[[u32; DECISION_WORDS]]) of leaves;
        set_state(state: &TrainStateRef) of learning;
        store_samples(first: usize, packed_samples: &[PackedSample]) of learning;
        step(adam: &graph::Adam, value_coef: f32, drawn: &[u32]) of learning;
        request_result() of learning;
    }

    fn answer(&mut self, lane: usize, answer: &mut Answer) -> Result<bool, Fault> {
        self.count_call()?;
        let is_ready = self.is_ready() && self.accelerator.answer(lane, answer)?;
        assert!(!is_ready || !answer.heads.is_empty(), "decisions were asked about");
        Ok(is_ready)
    }

    fn poll_result(&mut self, learned: &mut TrainResult) -> Result<bool, Fault> {
        self.count_call()?;
        Ok(self.is_ready() && self.accelerator.poll_result(learned)?)
    }
}

fn learner() -> Published {
    Published::new(small(), 5, Isa::best()).unwrap()
}

/// Returns a learner with a small network, for tests with many rounds. The size of the network does not affect slices and calls.
fn narrow_learner() -> Published {
    Published::new(PublishedConfig { width: 32, blocks: 1, ..small() }, 5, Isa::best()).unwrap()
}

/// Runs the next round. Returns the statistics of the round, and the faults that occurred.
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

/// Runs `count` rounds of `local` without offloading. Returns the learner, and the statistics of these rounds.
fn after_rounds(mut local: Published, count: usize) -> (Published, Vec<Stats>) {
    let stats = (0..count).map(|_| round(&mut local).0).collect();
    (local, stats)
}

/// Runs one round of `offloaded`, and then offloads its `work` to `machine`.
fn offloading(mut offloaded: Published, machine: &FakeDevice, work: Work) -> Result<Published, Fault> {
    rounds(&mut offloaded, 1);
    assert_eq!(offloaded.offloaded(), None);
    offloaded.offload_work(machine, work)?;
    assert_eq!(offloaded.offloaded(), Some(work));
    Ok(offloaded)
}

#[test]
fn offloaded_rounds_equal_local_rounds() {
    let (local, stats) = after_rounds(learner(), 6);
    let Progress { updates, games, .. } = local.progress();
    assert!(updates > 20 && games > 5, "{updates} updates, {games} games");
    for work in [LEAVES, Work::LEARNING, Work::ALL] {
        for polls in [1, 3] {
            let mut offloaded = offloading(learner(), &fake_device(polls, -1), work).unwrap();
            for stats in &stats[1..6] {
                assert_eq!(round(&mut offloaded), (*stats, vec![]), "{work:?}");
                assert!(offloaded.at_boundary());
            }
            same(&format!("{work:?}"), &offloaded.parts(), &local.parts());
            assert_eq!(offloaded.progress(), local.progress());
        }
    }
}

#[test]
fn offloading_can_end_within_a_round() {
    let (local, _) = after_rounds(narrow_learner(), 4);
    for work in [LEAVES, Work::LEARNING, Work::ALL] {
        for slices in [1, 7, 40, 100] {
            let mut offloaded = offloading(narrow_learner(), &fake_device(3, -1), work).unwrap();
            (0..slices).for_each(|_| _ = offloaded.advance());
            offloaded.end_offload();
            while offloaded.progress().iterations < 4 {
                assert!(!matches!(offloaded.advance(), Slice::Waiting | Slice::Stopped(_)));
            }
            same(&format!("{work:?}, local after {slices} slices"), &offloaded.parts(), &local.parts());
        }
    }
}

#[test]
fn a_device_failure_loses_no_work() {
    let (local, _) = after_rounds(narrow_learner(), 4);
    let mut stopped = [0; 2];
    for work in [LEAVES, Work::LEARNING, Work::ALL] {
        for calls in (0..700).step_by(47) {
            let Ok(mut offloaded) = offloading(narrow_learner(), &fake_device(2, calls), work) else {
                stopped[0] += 1;
                continue;
            };
            let faults: Vec<Fault> = (0..3).flat_map(|_| round(&mut offloaded).1).collect();
            same(&format!("{work:?}, lost after {calls} calls"), &offloaded.parts(), &local.parts());
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
fn probes_do_not_change_the_learner() {
    let (local, _) = after_rounds(learner(), 5);
    let mut probed = learner();
    let mut passes = 0;
    for work in [Work::LEARNING, Work::ALL, LEAVES, Work::ALL] {
        rounds(&mut probed, 1);
        let (before, progress) = (probed.parts(), probed.progress());
        probed.probe_work(&fake_device(2, -1), work).unwrap();
        let most = probed.pass_work();
        for _ in 0..2 {
            loop {
                assert!(probed.at_boundary() && probed.offloaded().is_none());
                if let Pass::Ended(evaluations) = probed.advance_probe().expect("the probe continues") {
                    assert!(evaluations <= most && evaluations > most / 2.0, "{evaluations} of {most}");
                    break;
                }
                // A save during a probe contains the state before the probe.
                same("during a probe", &probed.parts(), &before);
                assert_eq!(probed.progress(), progress);
                passes += 1;
            }
        }
        probed.end_probe();
        same("after a probe", &probed.parts(), &before);
    }
    rounds(&mut probed, 1);
    same("later", &probed.parts(), &local.parts());
    assert!(passes > 20);
}

#[test]
fn probes_do_not_change_the_next_rounds_statistics() {
    let (_, local) = after_rounds(learner(), 3);
    for work in [LEAVES, Work::ALL] {
        let mut probed = learner();
        rounds(&mut probed, 2);
        probed.probe_work(&fake_device(1, -1), work).unwrap();
        while !matches!(probed.advance_probe(), Ok(Pass::Ended(_))) {}
        probed.end_probe();
        // The statistics contain losses, gradient norms and seconds. The seconds are 0, because no clock is set.
        assert_eq!(round(&mut probed).0, local[2]);
    }
}

/// Searches continue over the end of a round, also if a device evaluates their leaves, and after a probe that was ended early.
#[test]
fn long_searches_equal_local_ones() {
    let begin = || Published::new(long(), 5, Isa::best()).unwrap();
    let (local, _) = after_rounds(begin(), 8);
    assert!(part(&local.parts(), "searches").is_some());
    for work in [LEAVES, Work::ALL] {
        let mut offloaded = offloading(begin(), &fake_device(2, -1), work).unwrap();
        rounds(&mut offloaded, 3);
        offloaded.end_offload();
        for slices in [1, 2, 9] {
            offloaded.probe_work(&fake_device(2, -1), work).unwrap();
            (0..slices).for_each(|_| _ = offloaded.advance_probe().unwrap());
            offloaded.end_probe();
        }
        rounds(&mut offloaded, 1);
        offloaded.offload_work(&fake_device(1, -1), work).unwrap();
        rounds(&mut offloaded, 3);
        same(&format!("{work:?}"), &offloaded.parts(), &local.parts());
    }
}

#[test]
fn failed_probes_do_not_change_the_learner() {
    let (local, _) = after_rounds(learner(), 3);
    let mut stopped = 0;
    for calls in (8..60).step_by(7) {
        let mut probed = learner();
        rounds(&mut probed, 1);
        probed.probe_work(&fake_device(1, calls), Work::ALL).unwrap();
        let fault = (0..60).find_map(|_| probed.advance_probe().err());
        assert!(matches!(fault, None | Some(Fault::Lost { .. })), "{fault:?}");
        stopped += usize::from(fault.is_some());
        probed.end_probe();
        rounds(&mut probed, 2);
        same(&format!("broken off after {calls}"), &probed.parts(), &local.parts());
    }
    assert!(stopped > 3, "{stopped}");
}

/// An action is a pair of places. A place is one of the 26 positions of a checker.
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
