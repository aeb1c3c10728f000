//! A population of automata. An automaton learns its target with some seeds and fails with others. Several members with different wires and
//! data therefore train in parallel. The hard loss of a member is the share of visible bits (bits of the compared channels) that its
//! hardened automaton gets wrong in a test. For a rule, the hard loss is the share of the 512 neighbourhoods with a wrong next state. A
//! member is perfect if its hard loss is 0. A perfect member stops training, unless it is the only member. A member is stagnant if it was
//! never perfect and its hard loss has not fallen for many updates. A new member with the next seed replaces a stagnant member. If all
//! members are perfect, new members replace all members except the best.
//!
//! Members share no data, so results do not depend on the number of threads.

mod offload;
mod offloaded;

use super::automaton::{Automaton, GateForm};
use super::check::{Checked, check};
use super::experiment::{Config, Experiment, ExperimentError, Form};
use super::train::{Optimiser, Trainer};
use super::{LogicError, Wirings};
use crate::progress;
use crate::settings::Settings;
use crate::state::{bad, counters, floats_of, missing, numbers, words};
use crate::{ByName, Data, Failure, Find, Iteration, Learner, Offload, Parts, Slice, Tensor, WorkedOn};
use math::{Isa, Rng, par, poly};
use offloaded::Offloaded;
use worlds::logic::Rule;

/// Statistics of one iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// Squared error per visible bit, mean over the members that trained in this iteration; `None` if no member trained.
    pub loss: Option<f32>,
    /// Hard loss, mean over the members that trained in this iteration. `None` if no member trained.
    pub hard_loss: Option<f32>,
    /// Gradient norm, mean over the updates and members of this iteration. `None` if no member trained.
    pub grad_norm: Option<f32>,
    /// Hard loss of the best member.
    pub best: f32,
    /// Certainty of the best member: the weight of the operation to which a gate is hardened, averaged over the member's gates.
    pub certainty: f32,
    /// Seconds spent on training, then seconds spent on tests of hardened automata.
    pub parts_s: [f64; 2],
    pub finite: bool,
    /// Number of updates in this iteration, over all members.
    pub updates: u64,
}

impl From<Stats> for Iteration {
    fn from(stats: Stats) -> Iteration {
        let metrics = [
            ("loss", stats.loss),
            ("hard_loss", stats.hard_loss),
            ("best", Some(stats.best)),
            ("certainty", Some(stats.certainty)),
            ("grad_norm", stats.grad_norm),
        ];
        let [learning, hardening] = stats.parts_s;
        Iteration {
            metrics: metrics.map(|(name, value)| (name, value.map(f64::from))).to_vec(),
            parts_s: vec![("learning", learning), ("hardening", hardening)],
            failure: Failure::unless(stats.finite),
            work: Some(stats.updates as f64),
        }
    }
}

progress! {
    /// Number of updates, over all members.
    updates,
    /// Number of members that became perfect.
    perfect_runs,
    /// Number of members that became perfect, plus the number of stagnant members that were replaced.
    ended,
}

pub struct Member {
    pub seed: u32,
    pub trainer: Trainer,
    pub perfect: bool,
    /// Squared error per visible bit, mean over the latest iteration in which the member trained. `None` if the member has not completed
    /// such an iteration.
    pub loss: Option<f32>,
    /// Result of the latest test.
    pub checked: Checked,
    /// Minimum hard loss so far.
    best: f32,
    /// Number of updates when the lowest hard loss was reached.
    best_at: u64,
    /// Number of remaining updates in this iteration.
    left: u32,
    /// Number of completed updates in this iteration.
    done: u32,
    /// Sum of the losses per visible bit over the completed updates of this iteration.
    loss_sum: f32,
    /// Sum of the gradient norms over the completed updates of this iteration.
    grad_norm_sum: f32,
    start: Vec<f32>,
    target: Vec<f32>,
}

pub struct Population {
    isa: Isa,
    seed: u32,
    config: Config,
    experiment: Experiment,
    members: Vec<Member>,
    /// Number of members created so far, including replacements. This number determines the seed of the next member.
    begun: u32,
    progress: Progress,
    /// Parameters of all members at the latest boundary between two iterations.
    weights: Vec<f32>,
    under_way: bool,
    ending: Option<Ending>,
    parts_s: [f64; 2],
    clock: fn() -> f64,
    offloaded: Option<Offloaded>,
    probe: Option<Offloaded>,
}

/// Progress of the tests at the end of an iteration. Each slice tests at most one member per thread. First, the members that trained are
/// tested, then the new members that replace others. The results take effect after all tests. If the population is saved during the tests,
/// the restored population repeats the tests.
#[derive(Default)]
struct Ending {
    /// New members, with the positions of the members that they replace. `None` until all trained members have been tested.
    replacements: Option<Vec<(usize, Member)>>,
    /// Number of members tested so far: of the replacements if `replacements` is `Some`, otherwise of the members that trained.
    tested: usize,
}

/// Maximum number of gate evaluations in one member's forward passes per slice. These evaluations take some milliseconds. A slice runs at
/// least one update of a member, even if the update exceeds this number.
const SLICE_WORK: f64 = 2e7;
/// Limit of a parameter's absolute value. A member with a parameter at or above the limit has failed: f32 values of this size are so far
/// apart that an Adam step does not change them.
const WILD: f32 = 1e9;

impl Population {
    pub fn new(config: Config, seed: u32, isa: Isa) -> Result<Population, ExperimentError> {
        let mut population = Population::without_members(config, seed, isa)?;
        for _ in 0..population.config.population {
            population.begun += 1;
            let member = population.member(population.seed_of(population.begun), None)?;
            population.members.push(member);
        }
        population.check_all();
        population.copy_weights();
        Ok(population)
    }

    fn without_members(config: Config, seed: u32, isa: Isa) -> Result<Population, ExperimentError> {
        Ok(Population {
            isa,
            seed,
            members: Vec::with_capacity(config.population),
            experiment: config.experiment()?,
            config,
            begun: 0,
            progress: Progress::default(),
            weights: Vec::new(),
            under_way: false,
            ending: None,
            parts_s: [0.0; 2],
            clock: || 0.0,
            offloaded: None,
            probe: None,
        })
    }

    /// Returns an upper estimate of a population's memory in bytes.
    pub fn bytes(config: &Config) -> Result<u64, ExperimentError> {
        let experiment = config.experiment()?;
        let (shape, rollout) = (&experiment.architecture, &experiment.training);
        let params = (shape.gates() * super::OPS) as f64;
        let cells = rollout.width as f64 * rollout.height as f64 * rollout.batch as f64;
        // `states` is the number of values in all states of a rollout. `gates` is the number of gate outputs of one step and of their
        // gradients.
        let states = cells * shape.channels as f64 * (rollout.steps + 3) as f64;
        let gates = 2.0 * cells * shape.gates_per_cell() as f64;
        // The six arrays are parameters, gradients, two moments, noise and a copy of the parameters.
        let floats = 6.0 * params + states + gates;
        // The cast saturates.
        Ok((4.0 * (floats + 1024.0) * config.population as f64) as u64)
    }

    /// Returns the seed of member `number`. Members are numbered from 1 in the order of their start.
    fn seed_of(&self, number: u32) -> u32 {
        Rng::new(self.seed, PURPOSE_SEEDS).block([number, 0, 0, 0])[0]
    }

    /// Creates a member. If `saved` is given, restores the member's training state.
    fn member(&self, seed: u32, saved: Option<&Find>) -> Result<Member, ExperimentError> {
        let (config, experiment) = (&self.config, &self.experiment);
        let form = match config.form {
            Form::Softmax => GateForm::Softmax,
            Form::Four => GateForm::Four,
            Form::Gumbel => GateForm::Gumbel { temperature: config.temperature },
        };
        let wirings = Wirings::new(&experiment.architecture, config.wiring, seed)?;
        let mut automaton = Automaton::new(experiment.architecture.clone(), wirings, form);
        set_initial_logit(&mut automaton, config.init);
        let rollout = experiment.training.clone();
        let cells = rollout.batch * rollout.width * rollout.height;
        let optimiser = optimiser(config);
        let trainer = match saved {
            None => Trainer::new(self.isa, automaton, rollout, optimiser, seed),
            Some(find) => Trainer::restore(self.isa, automaton, rollout, optimiser, seed, find)?,
        };
        Ok(Member {
            seed,
            trainer,
            perfect: false,
            loss: None,
            checked: Checked::default(),
            best: f32::INFINITY,
            best_at: 0,
            left: 0,
            done: 0,
            loss_sum: 0.0,
            grad_norm_sum: 0.0,
            start: vec![0.0; cells * experiment.architecture.channels],
            target: vec![0.0; cells * experiment.shown()],
        })
    }

    /// Runs one slice of the tests at the end of an iteration. After the last test, ends the iteration.
    fn advance_end(&mut self, began_s: f64) -> Slice<Stats> {
        let stats = self.test_members().map(|replacements| self.end_iteration(replacements));
        self.parts_s[1] += (self.clock)() - began_s;
        match stats {
            None => Slice::Worked,
            Some(stats) => Slice::Ended(Stats { parts_s: std::mem::take(&mut self.parts_s), ..stats }),
        }
    }

    /// Runs one slice of the tests: tests at most one member per thread, or creates the replacements. Returns the replacements after all
    /// tests, otherwise `None`.
    fn test_members(&mut self) -> Option<Vec<(usize, Member)>> {
        let mut ending = self.ending.take().unwrap_or_default();
        let all: &mut dyn Iterator<Item = &mut Member> = match &mut ending.replacements {
            None => &mut self.members.iter_mut().filter(|member| member.done > 0),
            Some(replacements) => &mut replacements.iter_mut().map(|(_, member)| member),
        };
        let mut group: Vec<&mut Member> = all.skip(ending.tested).take(par::threads()).collect();
        if !group.is_empty() {
            check_each(self.isa, &self.experiment, &mut group);
            ending.tested += group.len();
        } else if ending.replacements.is_some() {
            return ending.replacements;
        } else {
            ending = Ending { replacements: Some(self.replacements()), tested: 0 };
        }
        self.ending = Some(ending);
        None
    }

    fn end_iteration(&mut self, replacements: Vec<(usize, Member)>) -> Stats {
        self.under_way = false;
        self.progress.iterations += 1;
        let learning: Vec<&Member> = self.members.iter().filter(|member| member.done > 0).collect();
        let mean = |of: &dyn Fn(&Member) -> f32| {
            (!learning.is_empty()).then(|| learning.iter().map(|m| of(m)).sum::<f32>() / learning.len() as f32)
        };
        let updates = learning.iter().map(|member| u64::from(member.done)).sum();
        self.progress.updates += updates;
        let loss = mean(&|member| member.loss.unwrap_or(0.0));
        let hard_loss = mean(&|member| member.checked.wrong);
        let grad_norm = mean(&|member| member.grad_norm_sum / member.done as f32);
        let best = self.best();
        let certainty = self.members[best].trainer.automaton().certainty();
        let stats = Stats {
            loss,
            hard_loss,
            grad_norm,
            best: self.members[best].checked.wrong,
            certainty: certainty.iter().sum::<f32>() / certainty.len() as f32,
            parts_s: [0.0; 2],
            finite: self.members.iter().all(Member::is_sound),
            updates,
        };
        self.record_results();
        self.begun += replacements.len() as u32;
        for (i, member) in replacements {
            self.members[i] = member;
        }
        self.copy_weights();
        stats
    }

    /// Returns new members that replace stagnant members, each with the position of the replaced member. If all members are perfect, all
    /// except the best are replaced.
    fn replacements(&self) -> Vec<(usize, Member)> {
        let patience = u64::from(self.config.patience);
        let is_perfect = |member: &Member| if member.done > 0 { member.checked.wrong == 0.0 } else { member.perfect };
        let best = self.members.iter().all(is_perfect).then(|| self.best());
        let is_replaced = |i: &usize| best.map_or_else(|| self.members[*i].is_stuck(patience), |best| *i != best);
        let replaced = (0..self.members.len()).filter(is_replaced);
        let begin = |(number, i)| {
            let seed = self.seed_of(self.begun + number);
            (i, self.member(seed, None).expect("this shape was wired before"))
        };
        (1..).zip(replaced).map(begin).collect()
    }

    /// Marks the perfect members, and counts the members that became perfect or stagnant in this iteration.
    fn record_results(&mut self) {
        let patience = u64::from(self.config.patience);
        for member in self.members.iter_mut().filter(|member| member.done > 0) {
            self.progress.ended += u64::from(member.is_stuck(patience));
            let (wrong, updates) = (member.checked.wrong, member.trainer.updates());
            member.perfect = wrong == 0.0;
            if wrong < member.best {
                (member.best, member.best_at) = (wrong, updates);
                self.progress.perfect_runs += u64::from(member.perfect);
                self.progress.ended += u64::from(member.perfect);
            }
        }
    }

    fn check_all(&mut self) {
        check_each(self.isa, &self.experiment, &mut self.members.iter_mut().collect::<Vec<_>>());
    }

    fn copy_weights(&mut self) {
        self.weights.clear();
        for member in &self.members {
            self.weights.extend_from_slice(&member.trainer.automaton().params);
        }
    }

    /// Returns the index of the member with the lowest hard loss. If several members have the lowest hard loss, returns the index of the
    /// member with the smallest circuit.
    pub fn best(&self) -> usize {
        self.best_of(0..self.members.len())
    }

    /// Returns the best member as [`Self::best`] does, but considers only the members with the indices `members`.
    ///
    /// # Panics
    /// If `members` is empty.
    pub fn best_of(&self, members: impl Iterator<Item = usize>) -> usize {
        let rank = |i: &usize| {
            let Checked { wrong, gates, .. } = self.members[*i].checked;
            (wrong, gates)
        };
        let order = |a: &usize, b: &usize| {
            let ((wrong, gates), (other_wrong, other_gates)) = (rank(a), rank(b));
            wrong.total_cmp(&other_wrong).then(gates.cmp(&other_gates))
        };
        members.min_by(order).expect("a population is never empty")
    }

    pub fn members(&self) -> &[Member] {
        &self.members
    }

    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Changes the settings. Returns an error if [`Config::can_become`] returns false. Call this method only between two iterations.
    pub fn set(&mut self, config: Config) -> Result<(), LogicError> {
        if !self.config.can_become(&config) {
            return Err(LogicError::Fixed);
        }
        self.config = config;
        let optimiser = optimiser(&self.config);
        self.members.iter_mut().for_each(|member| member.trainer.set_optimiser(optimiser));
        Ok(())
    }

    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Returns the seed of the population. The members' seeds derive from this seed.
    pub fn seed(&self) -> u32 {
        self.seed
    }

    /// Restores a population from its [`Population::parts`]. The settings and the seed must be those of the saved population. Training then
    /// continues bit-identically.
    pub fn restore(config: Config, seed: u32, isa: Isa, find: &Find) -> Result<Population, ExperimentError> {
        let count = config.population;
        let whole = |name: &str| words(find, name).ok().filter(|values| values.len() == count).ok_or_else(|| missing(name));
        let floats = |name: &str| floats_of(find, name, count);
        let (seeds, perfect) = (whole("seeds")?, whole("perfect")?);
        let (loss, best, best_at) = (floats("loss")?, floats("best")?, numbers(find, "best_at")?);
        if best_at.len() != count {
            return Err(missing("best_at").into());
        }
        let [begun, iterations, updates, perfect_runs, ended] = counters(find, "counts")?;
        let mut population = Population::without_members(config, seed, isa)?;
        population.begun = begun as u32;
        population.progress = Progress { iterations, updates, perfect_runs, ended };
        for i in 0..count {
            let find = |name: &str| find(&format!("member.{i}.{name}"));
            let mut member = population.member(seeds[i], Some(&find))?;
            member.perfect = perfect[i] != 0;
            member.loss = (loss[i] >= 0.0).then_some(loss[i]);
            member.best = if best[i] >= 0.0 { best[i] } else { f32::INFINITY };
            member.best_at = best_at[i].min(member.trainer.updates());
            population.members.push(member);
        }
        population.check_all();
        population.copy_weights();
        population.under_way = find("iteration.left").is_some();
        if population.under_way {
            let (left, done) = (whole("iteration.left")?, whole("iteration.done")?);
            let (loss, grad_norm) = (floats("iteration.loss")?, floats("iteration.grad_norm")?);
            for (i, member) in population.members.iter_mut().enumerate() {
                (member.left, member.done) = (left[i], done[i]);
                (member.loss_sum, member.grad_norm_sum) = (loss[i], grad_norm[i]);
                let name = format!("member.{i}.missed");
                let missed = words(find, &name)?;
                // The missed states must be distinct and in ascending order.
                if !missed.is_sorted_by(|one, next| one < next) || missed.last().is_some_and(|&state| state as usize >= Rule::STATES) {
                    return Err(bad(&name).into());
                }
                member.checked.missed = missed.iter().map(|&state| state as u16).collect();
            }
        }
        Ok(population)
    }
}

impl Learner for Population {
    type Stats = Stats;
    type Progress = Progress;

    crate::learner_settings!(config, set, Config::experiment);

    /// Runs some updates of several members, at most one member per thread. After the last update of an iteration, each slice tests members
    /// instead of updating them. The last of these slices ends the iteration.
    fn advance(&mut self) -> Slice<Stats> {
        if let Some(there) = self.offloaded.take() {
            return self.advance_offloaded(there);
        }
        let began_s = (self.clock)();
        if !self.under_way {
            self.under_way = true;
            let (updates, alone) = (self.config.updates, self.members.len() == 1);
            self.members.iter_mut().for_each(|member| member.begin(if member.learns(alone) { updates } else { 0 }));
        }
        let (experiment, hard_share) = (&self.experiment, self.config.hard_share);
        let work = (SLICE_WORK / experiment.work()).max(1.0) as u32;
        let mut group: Vec<&mut Member> = self.members.iter_mut().filter(|member| member.left > 0).take(par::threads()).collect();
        if !group.is_empty() {
            par::each_mut(&mut group, |_, member| member.step(experiment, hard_share, work));
            self.parts_s[0] += (self.clock)() - began_s;
            return Slice::Worked;
        }
        self.advance_end(began_s)
    }

    fn at_boundary(&self) -> bool {
        !self.under_way
    }

    fn saves_mid_iteration(&self) -> bool {
        self.offloaded.is_none()
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn counts(&self) -> ByName<f64> {
        let gate_cells = self.progress.updates as f64 * self.experiment.work();
        let mut counts = crate::Progress::counts(&self.progress);
        counts.push(("gate_cells", gate_cells));
        counts
    }

    /// Returns the parameters of all members at the latest boundary between two iterations.
    fn weights(&self) -> &[f32] {
        &self.weights
    }

    fn tensors(&self) -> Vec<Tensor<'_>> {
        let tensors = self.members.iter().enumerate().map(|(i, Member { trainer, .. })| {
            let (automaton, state) = (trainer.automaton(), trainer.state());
            let shape = vec![automaton.architecture.gates(), automaton.form.width()];
            Tensor { name: format!("member.{i}.gates"), shape, weights: state.weights, gradients: state.m }
        });
        tensors.collect()
    }

    fn parts(&self) -> Parts {
        let mut parts = Vec::new();
        for (i, member) in self.members.iter().enumerate() {
            let named = |(name, shape, data)| (format!("member.{i}.{name}"), shape, data);
            parts.extend(member.trainer.parts().into_iter().map(named));
        }
        let count = self.members.len();
        let floats = |of: &dyn Fn(&Member) -> f32| Data::F32(self.members.iter().map(of).collect());
        let Progress { iterations, updates, perfect_runs, ended } = self.progress;
        let counts = vec![self.begun.into(), iterations, updates, perfect_runs, ended];
        parts.extend([
            ("seeds".into(), vec![count], Data::U32(self.members.iter().map(|m| m.seed).collect())),
            ("perfect".into(), vec![count], Data::U32(self.members.iter().map(|m| m.perfect.into()).collect())),
            // Missing values are saved as -1.
            ("loss".into(), vec![count], floats(&|m| m.loss.unwrap_or(-1.0))),
            ("best".into(), vec![count], floats(&|m| if m.best.is_finite() { m.best } else { -1.0 })),
            ("best_at".into(), vec![count], Data::U64(self.members.iter().map(|m| m.best_at).collect())),
            ("counts".into(), vec![counts.len()], Data::U64(counts)),
        ]);
        if self.under_way {
            let whole = |of: &dyn Fn(&Member) -> u32| Data::U32(self.members.iter().map(of).collect());
            parts.extend([
                ("iteration.left".into(), vec![count], whole(&|m| m.left)),
                ("iteration.done".into(), vec![count], whole(&|m| m.done)),
                ("iteration.loss".into(), vec![count], floats(&|m| m.loss_sum)),
                ("iteration.grad_norm".into(), vec![count], floats(&|m| m.grad_norm_sum)),
            ]);
            // The missed states are saved, because members use them as hard examples until the iteration ends.
            for (i, member) in self.members.iter().enumerate() {
                let missed: Vec<u32> = member.checked.missed.iter().map(|&state| state.into()).collect();
                parts.push((format!("member.{i}.missed"), vec![missed.len()], Data::U32(missed)));
            }
        }
        parts
    }

    fn is_finite(&self) -> bool {
        self.members.iter().all(Member::is_sound)
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock = clock;
    }

    fn offload(&mut self) -> Result<&mut dyn Offload, &'static str> {
        Ok(self)
    }

    fn worked_on(&self) -> WorkedOn {
        WorkedOn::of(self.offloaded.is_some())
    }
}

impl Member {
    /// Returns true if the member trains in an iteration. A member trains if it is not perfect, or if `alone` is true: the population has
    /// no other member.
    fn learns(&self, alone: bool) -> bool {
        !self.perfect || alone
    }

    fn begin(&mut self, updates: u32) {
        (self.left, self.done, self.loss_sum, self.grad_norm_sum) = (updates, 0, 0.0, 0.0);
    }

    fn step(&mut self, experiment: &Experiment, hard_share: f32, most: u32) {
        let shown = experiment.shown();
        let updates = self.left.min(most);
        for _ in 0..updates {
            let hard = (hard_share, &self.checked.missed[..]);
            experiment.fill(self.seed, self.trainer.updates(), hard, &mut self.start, &mut self.target);
            let stats = self.trainer.step(&self.start, &self.target, shown);
            self.loss_sum += stats.loss / self.target.len() as f32;
            self.grad_norm_sum += stats.grad_norm;
        }
        self.left -= updates;
        self.done += updates;
        if self.left == 0 {
            self.loss = Some(self.loss_sum / self.done as f32);
        }
    }

    /// Returns true if the member trained in this iteration, was never perfect, and has not lowered its hard loss for `patience` updates.
    fn is_stuck(&self, patience: u64) -> bool {
        let is_no_better = self.done > 0 && self.checked.wrong >= self.best;
        is_no_better && self.best > 0.0 && self.trainer.updates() - self.best_at >= patience
    }

    fn is_sound(&self) -> bool {
        let params = &self.trainer.automaton().params;
        let losses = [self.loss_sum, self.grad_norm_sum, self.loss.unwrap_or(0.0)];
        losses.iter().all(|x| x.is_finite()) && params.iter().all(|x| x.abs() < WILD)
    }
}

/// Hardens and tests each member.
fn check_each(isa: Isa, experiment: &Experiment, members: &mut [&mut Member]) {
    par::each_mut(members, |_, member| {
        let trainer = &member.trainer;
        member.checked = check(isa, experiment, trainer.automaton(), member.seed, trainer.updates());
    });
}

/// Sets the initial logit of the operation that returns the first input; the other logits stay 0. The logits of a four-parameter gate are
/// set such that the gate computes the same function as a gate with 16 logits. The standard library's `exp` and `ln` round differently on
/// other machines.
fn set_initial_logit(automaton: &mut Automaton, logit: f32) {
    let same = Isa::Portable;
    let to = match automaton.form {
        GateForm::Four => poly::ln_1(same, (poly::exp_1(same, logit) + 7.0) / 8.0),
        GateForm::Softmax | GateForm::Gumbel { .. } => logit,
    };
    automaton.params.iter_mut().filter(|x| **x != 0.0).for_each(|x| *x = to.copysign(*x));
}

fn optimiser(config: &Config) -> Optimiser {
    let Config { lr, beta2, weight_decay, .. } = *config;
    Optimiser { lr, beta2, weight_decay, ..Optimiser::default() }
}

const PURPOSE_SEEDS: u32 = 17;
