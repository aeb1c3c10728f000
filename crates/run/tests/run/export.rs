//! Tests of exported models: whether a model's description agrees with the learner's own code, the model card, and refusals.
//! `tests/python/test_export.py` runs the files of all formats.

use crate::common::*;
use math::Isa;
use run::backgammon::Backgammon;
use run::control::Control;
use run::cube::Cube;
use run::export::{CARD_BEGINS, Exported, Format, agreement};
use run::internals::{block, plain};
use run::protocol::{Command, Config, Dataset};
use run::room::Room;
use run::words::Words;
use run::{AnyRun, Run};

const ITEMS: usize = 200;

/// Trains a run and exports its model. Asserts that the model, computed in f64, agrees with the learner's results on `items` inputs.
#[track_caller]
fn agrees<R: Room>(config: &Config, iterations: u32, items: usize) {
    let mut run = Run::<R>::new(config.clone(), host()).unwrap();
    run.command(Command::Start).unwrap();
    train(&mut run, iterations);
    let described = run.room().exported().unwrap();
    let examples = run.examples(items, 7).unwrap();
    let model = &described.model;
    assert_eq!((examples.inputs.len(), examples.outputs.len()), (model.inputs.len(), model.outputs.len()));
    let count = examples.inputs[0].shape[0];
    assert_eq!(count, items, "{:?}", config.knobs);
    let item = |values: &[f32], i: usize| -> Vec<f64> {
        let len = values.len() / count;
        values[i * len..][..len].iter().map(|&x| x.into()).collect()
    };
    let mut different = 0;
    for i in 0..count {
        let inputs: Vec<Vec<f64>> = examples.inputs.iter().map(|numbers| item(&numbers.values, i)).collect();
        let found = model.evaluate(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>());
        for (found, numbers) in found.iter().zip(&examples.outputs) {
            let expected = item(&numbers.values, i);
            assert_eq!(found.len(), expected.len());
            // The outputs are indices of best actions. Actions of almost equal value may be exchanged, so a few differences are allowed.
            if numbers.integers {
                different += usize::from(found != &expected);
                continue;
            }
            let largest = expected.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
            for (found, expected) in found.iter().zip(&expected) {
                let error = (found - expected).abs() / largest;
                assert!(error < agreement::F32, "{} of {:?}: {found}, not {expected}", numbers.name, config.knobs);
            }
        }
    }
    assert!(different * 50 <= count, "{different} actions of {:?} differ", config.knobs);
}

fn of(room: &str, variant: &str, knobs: &str) -> Config {
    with(small(room, variant, 3), knobs)
}

#[test]
fn control_models_agree() {
    agrees::<Control>(&of("control", "CartPole-v1", ""), 6, ITEMS);
    agrees::<Control>(&of("control", "CartPole-v1", "normalize_observation=1 tanh=1 shared=1"), 6, ITEMS);
    agrees::<Control>(&of("control", "LunarLander-v3", "normalize_observation=1"), 6, ITEMS);
    agrees::<Control>(&of("control", "Pendulum-v1", "normalize_observation=1"), 6, ITEMS);
    agrees::<Control>(&of("control", "Pendulum-v1", "squash=1 tanh=1 shared=1"), 6, ITEMS);
    let racer = include_str!("../../../worlds/src/control/script/templates/racer.py");
    let taxi = include_str!("../../../worlds/src/control/script/templates/taxi.py");
    for (name, text) in [("racer.py", racer), ("taxi.py", taxi)] {
        let data = Some(Dataset::new(name, text.as_bytes().to_vec()));
        agrees::<Control>(&Config { data, ..of("control", "own", "normalize_observation=1") }, 6, ITEMS);
    }
}

#[test]
fn cube_models_agree() {
    for inputs in ["stickers", "cubies", "folded", "symmetric"] {
        agrees::<Cube>(&of("cube", "2x2x2", &format!("inputs={inputs} norm=1")), 2, ITEMS);
    }
    for inputs in ["stickers", "cubies", "folded"] {
        agrees::<Cube>(&of("cube", "2x2x2-last", &format!("inputs={inputs} metric=htm")), 2, ITEMS);
        agrees::<Cube>(&of("cube", "2x2x2-dqn", &format!("inputs={inputs}")), 2, ITEMS);
    }
    agrees::<Cube>(&of("cube", "2x2x2-dqn", "dueling=0 norm=1 gamma=0.9"), 2, ITEMS);
    agrees::<Cube>(&of("cube", "3x3x3", "blocks=2"), 2, ITEMS);
    agrees::<Cube>(&of("cube", "3x3x3", "inputs=stickers norm=0"), 2, ITEMS);
}

#[test]
fn backgammon_models_agree() {
    agrees::<Backgammon>(&of("backgammon", "strong", ""), 3, ITEMS);
    agrees::<Backgammon>(&of("backgammon", "strong", "handmade=0 depth=2 bearoff=0"), 3, ITEMS);
    agrees::<Backgammon>(&of("backgammon", "published", "width=32 blocks=1"), 2, ITEMS);
}

#[test]
fn word_models_agree() {
    for knobs in
        ["norm=rms positions=rotary mlp=swiglu", "norm=layer positions=learned mlp=gelu bias=1 tied=0", "norm=layer positions=rotary"]
    {
        agrees::<Words>(&of("words", "char", knobs), 2, 4);
    }
}

/// After long training, weights and results are larger, and so are the differences of rounding.
#[test]
fn models_that_have_trained_for_long_agree() {
    let iterations = |few, many| if testkit::all() { many } else { few };
    agrees::<Control>(&of("control", "LunarLander-v3", "normalize_observation=1 lr=0.01"), iterations(20, 300), ITEMS);
    agrees::<Backgammon>(&of("backgammon", "strong", ""), iterations(20, 300), ITEMS);
    agrees::<Cube>(&of("cube", "2x2x2", ""), iterations(20, 300), ITEMS);
    agrees::<Words>(&of("words", "char", "steps=32 lr=0.02"), iterations(8, 120), 4);
}

/// The examples are in f32, the arithmetic of the model, and not in that of the run.
#[test]
fn word_models_of_runs_with_rounded_products_agree() {
    for (precision, isa) in [("bf16", Isa::Bf16), ("amx", Isa::Amx)] {
        if !has(isa) {
            testkit::skip(format_args!("{precision}: this processor has none"));
            continue;
        }
        let config = of("words", "char", &format!("precision={precision}"));
        agrees::<Words>(&config, 2, 4);
        assert!(card(&trained(&config, 1).export(Format::C).unwrap()).contains("computes products in bf16"));
    }
}

fn card(exported: &Exported) -> String {
    String::from_utf8(exported.card.bytes.clone()).unwrap()
}

#[test]
fn each_format_has_its_beginning_and_a_model_card() {
    let mut run = trained(&of("control", "CartPole-v1", ""), 20);
    run.test().unwrap();
    let equal = trained(&of("control", "CartPole-v1", ""), 20);
    for format in Format::ALL {
        let exported = run.export(format).unwrap();
        assert!(exported.model.bytes.starts_with(format.begins()), "{format:?}");
        assert_eq!(exported.model.name, format!("control-CartPole-v1.{}", format.name()));
        let card = card(&exported);
        assert!(card.starts_with(CARD_BEGINS) && exported.card.name.ends_with(".md"), "{card}");
        let digest = run.digest();
        for fact in ["CartPole", "--seed 3", "--steps 81920", &digest.weights, &digest.arithmetic, "mean\\_return", "475", "angle"] {
            assert!(card.contains(fact), "{fact} is not in {card}");
        }
        // Equal runs have equal cards on all machines, so a card contains neither times nor the processor.
        assert!(!card.contains("train_s") && !card.contains(math::Isa::best().name()), "{card}");
        assert_eq!(card, self::card(&equal.export(format).unwrap()));
    }
}

#[test]
fn names_of_a_user_have_no_effect_in_any_file() {
    let hostile = "a*/ </script> `x` [y](z)\n#.py";
    let text = "class World:\n    actions = 2\n    names = ['*/ \"); x(', 'b|c <b>']\n    def reset(self):\n        self.x = 0.0\n    \
                def step(self, action):\n        return 1.0 + action, False\n    def observe(self):\n        return [self.x, 1.0]\n";
    let config = Config { data: Some(Dataset::new(hostile, text.as_bytes().to_vec())), ..of("control", "own", "") };
    let mut run = start(&config);
    train(&mut *run, 1);
    for format in [Format::C, Format::Js] {
        let exported = run.export(format).unwrap();
        let source = String::from_utf8(exported.model.bytes.clone()).unwrap();
        assert!(!source.contains("</script>") && !source.contains("; x("), "{}", &source[..500]);
        let card = card(&exported);
        let (before, rest) = card.split_once("```text\n").unwrap();
        let (_, after) = rest.split_once("\n```\n").unwrap();
        assert!(!before.contains("</script>") && !after.contains("</script>"), "{card}");
        assert!(!after.contains("[y](z)") && !after.contains("\n#.py"), "{card}");
        assert!(before.contains("\\<b\\>") && before.contains("b\\|c"), "{before}");
    }
}

#[test]
fn models_without_a_form_are_refused() {
    let error = begin(&of("logic", "life", "")).export(Format::Onnx).err().unwrap();
    assert!(clear(&error).contains("hothouse export logic"), "{error}");
    let error = begin(&of("words", "char", "")).export(Format::C).err().unwrap();
    assert!(clear(&error).contains("still being prepared"), "{error}");
    let error = begin(&small("bandit", &variants("bandit")[0], 1)).export(Format::Js).err().unwrap();
    assert!(clear(&error).contains("no network"), "{error}");
    let error = Format::named("pt").err().unwrap();
    assert!(clear(&error).contains("onnx, c, js"), "{error}");
}

#[test]
fn the_document_states_the_bounds_of_the_differences() {
    let document = include_str!("../../../../docs/export.md");
    for bound in [format!("below {:e} |", agreement::F32), format!("below {} |", agreement::BF16)] {
        assert!(document.contains(&bound), "{bound}");
    }
}

#[test]
fn a_number_of_examples_beyond_the_memory_is_refused() {
    let run = begin(&of("control", "CartPole-v1", ""));
    for count in [0, 1 << 22, usize::MAX] {
        let error = run.examples(count, 1).err().unwrap();
        // An example has four numbers of the observation, two probabilities and an action.
        assert!(clear(&error).contains(&format!("count = {count} is out of range. Choose 1 to {}", (1 << 24) / 7)), "{error}");
    }
}

#[test]
fn text_has_no_effect_in_markdown() {
    assert_eq!(plain("x (m), 0.5 %"), "x (m), 0.5 %");
    assert_eq!(plain("<b>*a*_|\n# [x](y) `z` \\ !"), "\\<b\\>\\*a\\*\\_\\| \\# \\[x\\](y) \\`z\\` \\\\ \\!");
    assert_eq!(["1. a", "12) a", " - a", "---", "-0.5", "1.5"].map(plain), ["1\\. a", "12\\) a", "\\- a", "\\---", "-0.5", "1.5"]);
    assert_eq!(block("a"), "```text\na\n```\n");
    assert_eq!(block("```\n````x"), "`````text\n```\n````x\n`````\n");
}
