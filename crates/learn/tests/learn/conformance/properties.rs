//! Properties that all learners have. A learner can declare an exception with a reason.

use super::cases::each_case;
use super::subject::{Case, Damage, Failing, SEED, Subject, alike, describe, iterate, same};
use learn::settings::{KnobKind, Setting, Settings, Value};
use learn::{Data, Failure, Fault, Iteration, Offload, Parts, Progress, Slice, Tensor, WorkedOn};
use math::par::Threads;
use math::{Isa, LINE};
use testkit::test;

/// Maximum number of saves that are restored per case.
const SAVES: usize = 8;

#[test]
fn saves_at_any_slice_resume_bit_identically() {
    each_case!(resumes);
}

fn resumes<S: Subject>(case: &Case<S>) {
    let mut whole = case.warmed();
    let (mut saves, mut reported) = (Vec::new(), Vec::new());
    while reported.len() < 2 {
        if whole.at_boundary() || whole.saves_mid_iteration() {
            saves.push((reported.len(), whole.parts()));
        }
        reported.extend(whole.advance().ended().map(describe));
    }
    assert!(saves.len() > 2 || !whole.saves_mid_iteration(), "{}: {} saves", case.name, saves.len());
    for (i, (ended, parts)) in saves.iter().enumerate().step_by(saves.len().div_ceil(SAVES)) {
        let what = format!("{}, restored before slice {i} of those that save", case.name);
        let mut again = case.restore(&case.config, parts).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(again.is_finite(), "{what}");
        same(&again.parts(), parts, &what);
        assert_eq!(iterate(&mut again, 2 - *ended as u64), reported[*ended..], "{what}");
        alike(&again, &whole, &what);
    }
}

#[test]
fn results_depend_on_seeds_but_not_on_threads_or_clocks() {
    each_case!(is_determined);
}

fn is_determined<S: Subject>(case: &Case<S>) {
    let run = |config: &S::Config, count, seed, isa, clock: Option<fn() -> f64>| {
        let mut learner = S::begin(case.world, config.clone(), seed, isa).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        clock.into_iter().for_each(|clock| learner.set_clock(clock));
        (iterate(&mut learner, count), learner.parts(), learner.weights().to_vec())
    };
    let (config, count) = case.wide.as_ref().map_or((&case.config, case.warm + 2), |wide| (wide, 2));
    let on = |threads, clock| Threads::of(threads).map(|pool| pool.run(|| run(config, count, SEED, Isa::best(), clock)));
    let one = on(1, None).expect("one thread is always available");
    let clock: fn() -> f64 = || 1.0;
    let runs = [(1, Some(clock)), (2, None), (3, Some(clock))];
    // Runs with larger settings take long. Unless all tests run, such a case runs on one thread and on three threads only.
    let runs = if case.wide.is_some() && !testkit::all() { &runs[2..] } else { &runs[..] };
    for &(threads, clock) in runs {
        // In a browser, `on` may return `None` for several threads.
        let Some(other) = on(threads, clock) else { continue };
        let what = format!("{} on {threads} threads", case.name);
        same(&one.1, &other.1, &what);
        assert!(one.0 == other.0 && one.2 == other.2, "{what}");
    }
    let mut known: [Option<Parts>; 2] = [None, None];
    for isa in Isa::available() {
        let parts = run(&case.config, 2, SEED, isa, None).1;
        let first = known[usize::from(isa.fused())].get_or_insert_with(|| parts.clone());
        same(first, &parts, &format!("{} with {isa:?}", case.name));
    }
    let other = run(&case.config, 2, SEED + 1, Isa::best(), None).1;
    assert!(known.iter().flatten().all(|known| *known != other), "{}: another seed must give another run", case.name);
}

#[test]
fn tensors_cover_the_weights() {
    each_case!(is_covered);
}

fn is_covered<S: Subject>(case: &Case<S>) {
    let learner = case.warmed();
    let tensors = learner.tensors();
    for (i, Tensor { name, shape, weights, gradients }) in tensors.iter().enumerate() {
        assert_eq!((weights.len(), gradients.len()), (shape.iter().product(), weights.len()), "{}: {name}", case.name);
        assert!(tensors[..i].iter().all(|other| other.name != *name), "{}: two tensors are called {name}", case.name);
    }
    // Each tensor begins at a cache line, so there may be zeros between two tensors.
    let (all, known) = (learner.weights().len(), tensors.iter().map(|tensor| tensor.weights.len()).sum::<usize>());
    assert!(known <= all && all < known + LINE * tensors.len().max(1), "{}: {known} of {all} weights", case.name);
}

#[test]
fn damaged_saves_are_rejected() {
    each_case!(is_refused);
}

fn is_refused<S: Subject>(case: &Case<S>) {
    let mut learner = case.warmed();
    if learner.saves_mid_iteration() {
        let at_boundary = case.begin().parts().len();
        while learner.parts().len() == at_boundary && matches!(learner.advance(), Slice::Worked) {}
    }
    let parts = learner.parts();
    case.restore(&case.config, &parts).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    for i in 0..parts.len() {
        for damage in [Damage::LeftOut, Damage::Cut, Damage::Lengthened, Damage::OtherType, Damage::NoNumber] {
            let name = &parts[i].0;
            let Some(damaged) = damaged(&parts, i, damage) else { continue };
            let what = format!("{}: {name} {damage:?}", case.name);
            let report = PanicReport(&what);
            let found = case.restore(&case.config, &damaged).err();
            drop(report);
            if S::tolerates(name, damage).is_some() {
                continue;
            }
            let error = found.unwrap_or_else(|| panic!("{what} is not rejected"));
            // An array of a population's member has the prefix `member.` and a number. The error contains the array's name without this
            // prefix.
            let own = if name.starts_with("member.") { name.splitn(3, '.').last() } else { Some(&name[..]) };
            assert!(damage != Damage::LeftOut || own.is_some_and(|own| error.contains(own)), "{what}: {error}");
        }
    }
}

/// Text that names the tested case. If this value is dropped during a panic, the text is printed.
struct PanicReport<'a>(&'a str);

impl Drop for PanicReport<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.0);
        }
    }
}

/// Returns a copy of `parts` in which the array at index `i` is damaged, or `None` if the array cannot have this damage.
fn damaged(parts: &Parts, i: usize, damage: Damage) -> Option<Parts> {
    let mut all = parts.clone();
    let (_, shape, data) = &mut all[i];
    match damage {
        Damage::LeftOut => drop(all.remove(i)),
        Damage::Cut | Damage::Lengthened => {
            let len = if damage == Damage::Cut { data.len().checked_sub(1)? } else { data.len() + 1 };
            *shape = vec![len];
            match data {
                Data::F32(values) => values.resize(len, 0.0),
                Data::F64(values) => values.resize(len, 0.0),
                Data::U32(values) => values.resize(len, 0),
                Data::U64(values) => values.resize(len, 0),
                Data::U8(values) => values.resize(len, 0),
            }
        }
        Damage::OtherType => {
            *data = match &*data {
                Data::F32(values) => Data::F64(values.iter().map(|&x| x.into()).collect()),
                Data::F64(values) => Data::F32(values.iter().map(|&x| x as f32).collect()),
                Data::U32(values) => Data::U64(values.iter().map(|&x| x.into()).collect()),
                Data::U64(values) => Data::U32(values.iter().map(|&x| x as u32).collect()),
                Data::U8(values) => Data::U32(values.iter().map(|&x| x.into()).collect()),
            }
        }
        Damage::NoNumber => match data {
            Data::F32(values) => *values.last_mut()? = f32::NAN,
            Data::F64(values) => *values.last_mut()? = f64::NAN,
            Data::U32(_) | Data::U64(_) | Data::U8(_) => return None,
        },
    }
    Some(all)
}

#[test]
fn live_settings_change_during_training_and_fixed_ones_do_not() {
    each_case!(is_set);
}

fn is_set<S: Subject>(case: &Case<S>) {
    let mut learner = case.warmed();
    let mut live_ones = 0;
    for (setting, value) in case.config.values() {
        let what = format!("{}: {}", case.name, setting.name);
        let before = learner.config().clone();
        let mut config = before.clone();
        let other = other(setting, &value);
        assert_eq!(config.set(setting.name, &other), Ok(true), "{what} = {other}");
        assert!(config != before && before.can_become(&config) == setting.live, "{what}");
        assert!(learner.may_change(setting.name, &other).is_ok() || !setting.live, "{what}");
        let changed = learner.change(setting.name, &other);
        assert_eq!(changed.is_ok(), setting.live, "{what}: {changed:?}");
        assert!(*learner.config() == if setting.live { config.clone() } else { before }, "{what}");
        if !setting.live {
            continue;
        }
        live_ones += 1;
        // A learner that is restored with the new settings must continue like the changed learner.
        let mut again = case.restore(&config, &learner.parts()).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(iterate(&mut again, 1), iterate(&mut learner, 1), "{what}");
        alike(&again, &learner, &what);
    }
    assert!(live_ones > 2, "{}", case.name);
}

/// Returns a value that differs from `value` and is in the users' range. With the returned value, an iteration takes at most a little more
/// work.
fn other(setting: &Setting, value: &Value) -> Value {
    match setting.span.kind {
        KnobKind::Float { min, max, .. } => {
            let x = value.number();
            Value::Number(if x > min { (x + min) / 2.0 } else { (min + max) / 2.0 })
        }
        KnobKind::Int { min, max, .. } => {
            let x = value.number();
            Value::Number(if x > min { x - 1.0 } else { x + 1.0 }.clamp(min, max))
        }
        KnobKind::Bool => Value::Number(1.0 - value.number()),
        KnobKind::Choice { options } => options.iter().find(|option| option.name != value.text()).expect("several").name.into(),
        KnobKind::Text { .. } => "16".into(),
    }
}

fn offload<S: Subject>(learner: &mut S) -> &mut dyn Offload {
    learner.offload().unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn offloaded_work_is_bit_identical() {
    each_case!(offloads);
}

fn offloads<S: Subject>(case: &Case<S>) {
    let (mut here, mut there) = (case.warmed(), case.warmed());
    assert_eq!(there.worked_on(), WorkedOn::Processor, "{}", case.name);
    let Ok(machine) = S::machine(&case.config) else { return };
    let ways = there.offload().unwrap_or_else(|why| panic!("{}: {why}", case.name)).ways().len();
    for way in 0..ways {
        let what = format!("{}, offloaded in way {way}", case.name);
        // A probe must not change the learner.
        offload(&mut there).begin_probe(&*machine, way).expect("a suitable machine");
        (0..10).for_each(|_| _ = offload(&mut there).advance_probe().expect("no fault"));
        offload(&mut there).end_probe();
        alike(&here, &there, &format!("{what}, tried"));

        offload(&mut there).begin_offload(&*machine, way).expect("a suitable machine");
        // Reported losses are not compared: an offloaded iteration may report the loss of its last step only, or sum losses differently.
        iterate(&mut there, 2);
        iterate(&mut here, 2);
        assert!(offload(&mut there).is_offloaded() && there.worked_on() != WorkedOn::Processor, "{what}");

        // Work that was started but has no result is repeated on the CPU.
        assert!(matches!(there.advance(), Slice::Worked | Slice::Waiting), "{what}");
        offload(&mut there).end_offload();
        assert_eq!(there.worked_on(), WorkedOn::Processor, "{what}");
        iterate(&mut here, 1);
        let left = here.progress().iterations() - there.progress().iterations();
        iterate(&mut there, left);
        alike(&here, &there, &what);
    }
}

#[test]
fn a_lost_machine_costs_one_iteration() {
    each_case!(continues_on_cpu);
}

fn continues_on_cpu<S: Subject>(case: &Case<S>) {
    // Number of calls after which each worker fails. For most learners, these calls suffice for several iterations.
    const CALLS: u32 = 50;
    let Ok(machine) = S::machine(&case.config) else { return };
    let machine = Failing(machine, CALLS);
    let ways = offload(&mut case.begin()).ways().len();
    for way in 0..ways {
        let what = format!("{}, lost in way {way}", case.name);
        let (mut here, mut there) = (case.warmed(), case.warmed());
        offload(&mut there).begin_probe(&machine, way).expect("a suitable machine");
        while offload(&mut there).advance_probe().is_ok() {}
        offload(&mut there).end_probe();
        alike(&here, &there, &format!("{what}, tried"));

        offload(&mut there).begin_offload(&machine, way).expect("a suitable machine");
        let fault = loop {
            if let Slice::Stopped(fault) = there.advance() {
                break fault;
            }
        };
        assert!(matches!(fault, Fault::Lost { .. }) && !offload(&mut there).is_offloaded(), "{what}: {fault}");
        iterate(&mut here, there.progress().iterations() + 1 - case.warm);
        iterate(&mut there, 1);
        alike(&here, &there, &what);
    }
}

/// A learner must report divergence, so that its caller can keep the last valid save.
#[test]
fn divergence_is_reported() {
    each_case!(diverges);
}

fn diverges<S: Subject>(case: &Case<S>) {
    let mut parts = case.warmed().parts();
    for (name, _, data) in &mut parts {
        if let Data::F32(values) = data
            && ["weight", "bias", "gates", "learned"].iter().any(|end| name.ends_with(end))
        {
            values.iter_mut().for_each(|x| *x *= 1e30);
        }
    }
    let mut learner = case.restore(&case.config, &parts).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    // In a population, diverged members restart, so the weights are finite after the iteration.
    let at_once = !learner.is_finite();
    let iteration: Iteration = loop {
        if let Some(stats) = learner.advance().ended() {
            break stats.into();
        }
    };
    assert!(iteration.failure == Some(Failure::Diverged) && (at_once || !learner.is_finite()), "{}: {iteration:?}", case.name);
}
