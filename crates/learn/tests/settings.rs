//! Tests of the settings of all learners. A learner accepts all values in the users' range, and rejects values beyond the learner's own
//! bounds.

use learn::backgammon::{PublishedConfig, StrongConfig};
use learn::control::PpoConfig;
use learn::cube::{DqnConfig, Preset, Signal, SupervisedConfig};
use learn::logic::experiment::{self, Config as LogicConfig};
use learn::settings::{Choice, KnobKind, Setting, Settings};
use learn::words::Config as WordsConfig;
use std::collections::BTreeSet;
use std::fmt::Debug;
use worlds::cube::{Three, Two};

/// Returns a copy of `settings` in which the setting `name` has the value `x`, which may be out of range.
fn with<C: Settings>(settings: &C, name: &str, x: f64) -> C {
    let mut changed = settings.clone();
    changed.visit(&mut |setting, field| {
        if setting.name == name {
            field.set(&x.into());
        }
    });
    changed
}

/// Returns a value near `x`: larger if `by` is 1, smaller if `by` is -1.
fn beyond(x: f64, whole: bool, by: f64) -> f64 {
    let step = if whole { 1.0 } else { (0.1 * x.abs()).max(0.01 * f64::from(u8::from(x == 0.0))) };
    x + by * step
}

fn check<C: Settings + PartialEq + Debug>(settings: &C) {
    assert_eq!(settings.in_range(), Ok(()));
    assert!(settings.can_become(settings));
    let mut names = BTreeSet::new();
    for (setting, default) in settings.values() {
        let Setting { name, span, live, .. } = setting;
        assert!(names.insert(name), "{name} twice");
        let mut copy = settings.clone();
        assert_eq!(copy.set(name, &default), Ok(true), "{name}");
        assert_eq!(copy, *settings, "{name} = {default} sets the default");
        let (ends, bounds, whole) = match (span.kind, span.bounds()) {
            (KnobKind::Float { min, max, .. }, KnobKind::Float { min: least, max: most, .. }) => ([min, max], [least, most], false),
            (KnobKind::Int { min, max, .. }, KnobKind::Int { min: least, max: most, .. }) => ([min, max], [least, most], true),
            _ => continue,
        };
        for x in ends {
            assert_eq!(copy.set(name, &x.into()), Ok(true), "{name} = {x}");
            assert_eq!(copy.in_range(), Ok(()), "{name} = {x}");
            assert_eq!(settings.can_become(&copy), *live || copy == *settings, "{name}");
        }
        for x in bounds {
            assert_eq!(with(settings, name, x).in_range(), Ok(()), "{name} = {x}");
        }
        for (x, by) in [(bounds[0], -1.0), (bounds[1], 1.0)] {
            let x = beyond(x, whole, by);
            assert!(copy.set(name, &x.into()).is_err(), "{name} = {x}");
            // The field of a whole-number setting cannot contain negative values, so `with` is not tested with negative values.
            if !whole || x >= 0.0 {
                let refused = with(settings, name, x).in_range().err().map(|error| error.name);
                assert_eq!(refused, Some(*name), "{name} = {x}");
            }
        }
    }
}

#[test]
fn settings_have_valid_ranges_and_only_live_ones_change() {
    worlds::control::kinds().into_iter().for_each(|kind| check(&PpoConfig::preset(kind)));
    check(&StrongConfig::default());
    check(&PublishedConfig::default());
    Preset::ALL.into_iter().for_each(|preset| check(&DqnConfig::preset(preset)));
    for signal in Signal::ALL {
        check(&SupervisedConfig::preset::<Two>(signal));
        check(&SupervisedConfig::preset::<Three>(signal));
    }
    for &preset in experiment::Preset::ALL {
        check(&LogicConfig::preset(preset));
        check(&LogicConfig::published(preset));
    }
    check(&WordsConfig::default());
}
