//! Tests of declared settings. First, a learner accepts all values in the users' range, and rejects values beyond the learner's own bounds.
//! Then, the macros `settings` and `choices` are tested with settings that no learner has.

use learn::backgammon::{PublishedConfig, StrongConfig};
use learn::control::PpoConfig;
use learn::cube::{DqnConfig, Preset, Signal, SupervisedConfig};
use learn::logic::experiment::{self, Config as LogicConfig};
use learn::settings::{Choice, KnobKind, SHARE, SWITCH, Setting, Settings, Value, count, log, one_of, text, whole};
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

learn::choices! {
    enum Colour {
        Red = "red", "Red";
        Blue = "blue", "Blue";
    }
}

learn::settings! {
    struct Inner {
        live share: f32, [as "part", SHARE, "Share", "", "Of all."];
        fixed layers: Vec<usize>, [text(20), "Layers", "units", "Of each."];
    }
}

learn::settings! {
    #[derive(Copy)]
    struct Plain {
        live since: u64 = 5, [whole(0.0, 100.0), "Since", "", "From when on."];
    }
}

learn::settings! {
    struct Outer {
        live lr: f32, [log(1e-5, 0.1).down_to(0.0), "Rate", "", "How far."];
        fixed size: usize,
            [count(1.0, 8.0).up_to(9.0), "Size", "units", "How wide.", when |of| !of.tanh],
            [as "width", count(1.0, 4.0), "Width", "units", "How wide.", when |of| of.tanh];
        fixed tanh: bool, [SWITCH, "Tanh", "", "Or not."];
        nest inner: Inner;
        live colour: Colour, [one_of::<Colour>(), "Colour", "", "Of it."];
        fixed hidden: u32;
        live title: String, [text(4), "Title", "", "Of it."];
    }
}

fn outer() -> Outer {
    let inner = Inner { share: 0.1, layers: vec![3, 2] };
    Outer { lr: 0.1, size: 2, tanh: false, inner, colour: Colour::Blue, hidden: 7, title: "a".into() }
}

#[test]
fn settings_keep_their_order_and_are_set_by_name() {
    let mut it = outer();
    let line = |of: &Outer| of.values().iter().map(|(of, value)| format!("{}={value}", of.name)).collect::<Vec<_>>().join(" ");
    assert_eq!(line(&it), "lr=0.1 size=2 tanh=0 part=0.1 layers=3-2 colour=blue title=a");
    for (name, value) in [("part", 0.3.into()), ("layers", "8-x".into()), ("colour", "red".into())] {
        assert_eq!(it.set(name, &value), Ok(true));
    }
    assert_eq!(it.parse("tanh", "on"), Ok(true));
    assert_eq!(line(&it), "lr=0.1 width=2 tanh=1 part=0.3 layers=8-0 colour=red title=a");
    for unknown in ["size", "hidden", "share", ""] {
        assert_eq!(it.set(unknown, &1.0.into()), Ok(false), "{unknown}");
    }
    let live: Vec<&str> = it.values().iter().filter(|(of, _)| of.live).map(|(of, _)| of.name).collect();
    assert_eq!(live, ["lr", "part", "colour", "title"]);
}

#[test]
fn users_get_the_range_and_learners_the_bounds() {
    let mut it = outer();
    let error = |it: &mut Outer, name, value: Value| it.set(name, &value).unwrap_err().to_string();
    assert_eq!(error(&mut it, "lr", 0.0.into()), "lr = 0 is out of range; choose a number from 0.00001 to 0.1");
    assert_eq!(error(&mut it, "size", 1.5.into()), "size = 1.5 is out of range; choose a whole number from 1 to 8");
    assert!(error(&mut it, "lr", "x".into()).contains("lr = x has the wrong type; choose a number"));
    assert!(error(&mut it, "colour", "green".into()).contains("has the wrong type; choose one of: red, blue"));
    assert!(error(&mut it, "title", "abcde".into()).contains("a text of 4 bytes at most"));
    assert!(error(&mut it, "tanh", 2.0.into()).contains("out of range"));
    assert_eq!(it, outer());
    for (lr, size, refused) in [(0.0, 9, None), (-0.1, 9, Some("lr")), (f32::NAN, 2, Some("lr")), (0.1, 10, Some("size"))] {
        let found = Outer { lr, size, ..outer() }.in_range().err().map(|error| error.name);
        assert_eq!(found, refused, "{lr} {size}");
    }
    let inner = Inner { share: 1.1, ..outer().inner };
    assert_eq!(Outer { inner, ..outer() }.in_range().unwrap_err().name, "part");
    assert!(!outer().can_become(&Outer { hidden: 3, ..outer() }));
}

#[test]
fn never_is_saved_as_0() {
    let mut it = Plain { since: u64::MAX };
    assert_eq!(Plain::default(), Plain { since: 5 });
    assert_eq!(it.values()[0].1, 0.0.into());
    assert_eq!((it.set("since", &5.0.into()), it.since), (Ok(true), 5));
    assert_eq!((it.set("since", &0.0.into()), it.since), (Ok(true), u64::MAX));
}
