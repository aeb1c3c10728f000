//! Words as a room: a text becomes tokens, a transformer learns them, and what is asked of it is answered by copies of its weights, so
//! that nothing leaves a trace in what is learned.

use super::asking::Asked;
use super::knobs::{self, Precision, Settings};
use super::protocol::{AboutView, Preparing, Question, RoomEvent, Sample};
use super::schema::SCHEMA;
use super::telling::Telling;
use super::testing::{Test, Validation, prompt};
use super::text::{Preparation, Prepared, bounds};
use crate::RunError;
use crate::bench::Bench;
use crate::knobs::Table;
use crate::protocol::{DataInfo, Knob, Knobs, Row, Value, Variant};
use crate::room::{Answer, ByName, Iteration, Room, Saved, Schema, Setup};
use learn::Learner;
use learn::words::{Config, Pretrainer, Reader, Shape};
use math::Isa;
use serde::{Deserialize, Serialize};
use worlds::words::Tokenizer;

pub struct Words {
    table: Table<Settings>,
    settings: Settings,
    seed: u32,
    isa: Isa,
    stage: Stage,
    test: Option<Test>,
    /// The text of a confirmation, or why there is none; of a test it is the learner's.
    fresh: Option<Result<(Prepared, Validation), RunError>>,
    telling: Telling,
    asked: Asked,
    clock: fn() -> f64,
    /// Seconds of the preparation, which the first iteration tells of, and those of them before the part that it is at.
    prepared_s: f64,
    parts_before_s: f64,
}

enum Stage {
    Preparing(Box<Preparation>),
    Learning(Box<Learning>),
}

impl Stage {
    fn learning(prepared: Prepared, mut learner: Pretrainer, clock: fn() -> f64) -> Stage {
        learner.set_clock(clock);
        let validation = Validation::new(&prepared);
        Stage::Learning(Box::new(Learning { prepared, learner, validation }))
    }
}

/// A text in tokens, and whoever learns from it.
pub(super) struct Learning {
    pub prepared: Prepared,
    pub learner: Pretrainer,
    pub validation: Validation,
}

/// What is saved beside the tensors.
#[derive(Serialize, Deserialize)]
struct Notes {
    tokenizer: serde_json::Value,
    samples: Vec<Sample>,
}

impl Settings {
    /// The learner's, for a vocabulary of so many tokens.
    fn learner(&self, vocab: usize) -> Config {
        let half = self.precision == Precision::F16;
        Config { shape: Shape { vocab, ..self.config.shape }, half, ..self.config }
    }
}

fn table(variant: &str) -> Table<Settings> {
    Table::new(knobs::preset(variant))
}

fn settings(setup: Setup) -> Result<Settings, RunError> {
    table(setup.variant).settings(setup.knobs)
}

impl Words {
    fn new(setup: Setup, settings: Settings, stage: Stage) -> Words {
        Words {
            table: table(setup.variant),
            isa: settings.isa(setup.host.isa),
            settings,
            seed: setup.seed,
            stage,
            test: None,
            fresh: None,
            telling: Telling::default(),
            asked: Asked::default(),
            clock: || 0.0,
            prepared_s: 0.0,
            parts_before_s: 0.0,
        }
    }

    /// Nothing before the text is prepared.
    pub(super) fn learning(&self) -> Option<&Learning> {
        match &self.stage {
            Stage::Learning(learning) => Some(learning),
            Stage::Preparing(_) => None,
        }
    }

    /// The model with its text, the settings in force, and what answers questions about it.
    pub(super) fn learning_and_asked(&mut self) -> Option<(&Learning, &Settings, &mut Asked)> {
        match &self.stage {
            Stage::Learning(learning) => Some((learning, &self.settings, &mut self.asked)),
            Stage::Preparing(_) => None,
        }
    }

    /// Begins a test on the text of a confirmation, or on the learner's.
    fn test_on(&mut self) {
        let Stage::Learning(learning) = &self.stage else { return };
        let Learning { prepared, learner, validation } = &**learning;
        let (prepared, validation) = match &self.fresh {
            Some(Ok((prepared, validation))) => (prepared, validation),
            _ => (prepared, validation),
        };
        let reader = Reader::new(&learner.config().shape, learner.params(), self.isa);
        let progress = learner.progress();
        let at = (progress.iterations as u32, progress.tokens as f64);
        self.test = Some(Test::new(reader, prepared, validation, at));
    }

    fn about(&self) -> AboutView {
        let preparing = if let Stage::Preparing(now) = &self.stage { Some(now.progress()) } else { None };
        let learning = self.learning();
        AboutView {
            preparing,
            model: learning.map(|learning| super::asking::model(&learning.learner)),
            corpus: learning.map(|learning| learning.prepared.view(learning.validation.floor)),
        }
    }
}

impl Room for Words {
    const SCHEMA: &'static Schema = &SCHEMA;
    type Learner = Pretrainer;
    type Question = Question;
    const DATA: Option<DataInfo> = Some(DataInfo {
        label: "Text",
        help: "Some thousands of characters at least, as UTF-8. With the tokenizer for bytes any file will do.",
    });

    fn variants() -> Vec<Variant> {
        knobs::variants()
    }

    fn knobs(variant: &str) -> Vec<Knob> {
        table(variant).knobs()
    }

    fn check(setup: Setup) -> Result<(), RunError> {
        let settings = settings(setup)?;
        settings.check_precision(setup.host.isa)?;
        let (vocab, _) = bounds(&settings, setup);
        settings.learner(vocab).check().map_err(RunError::below)
    }

    fn bytes(setup: Setup) -> Result<u64, RunError> {
        let settings = settings(setup)?;
        let (vocab, text) = bounds(&settings, setup);
        let config = settings.learner(vocab);
        let learner = Pretrainer::bytes(&config).map_err(RunError::below)?;
        // One reader tests, one is asked, and one writes.
        Ok(learner + text + 3 * Reader::bytes(&config.shape))
    }

    fn begin(setup: Setup) -> Result<Self, RunError> {
        let settings = settings(setup)?;
        let preparation = Preparation::new(&settings, setup, None)?;
        Ok(Words::new(setup, settings, Stage::Preparing(Box::new(preparation))))
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        let settings = settings(setup)?;
        let notes =
            Notes::deserialize(saved.notes).map_err(|error| RunError::damaged(format!("its notes say nothing of a tokenizer: {error}")))?;
        let tokenizer = Tokenizer::from_json(&notes.tokenizer.to_string()).map_err(RunError::damaged)?;
        // Memory was reckoned for so many.
        let (found, (most, _)) = (tokenizer.vocab(), bounds(&settings, setup));
        if found > most {
            let why = format!("its tokenizer knows {found} tokens, and with its settings there are {most} at most");
            return Err(RunError::damaged(why));
        }
        let prepared = Preparation::new(&settings, setup, Some(tokenizer))?.finish()?;
        let config = settings.learner(prepared.tokenizer.vocab());
        let isa = settings.isa(setup.host.isa);
        let learner = Pretrainer::restore(config, &prepared.corpus, setup.seed, isa, &|name| saved.find(name));
        let learner = learner.map_err(RunError::damaged)?;
        let known = learner.parts();
        let foreign = saved.tensors.iter().find(|(name, ..)| known.iter().all(|part| part.0 != *name));
        if let Some((name, ..)) = foreign {
            return Err(RunError::damaged(format!("{name} is of no model of these settings")));
        }
        let mut room = Words::new(setup, settings, Stage::learning(prepared, learner, || 0.0));
        room.telling.samples = notes.samples;
        Ok(room)
    }

    fn notes(&self) -> serde_json::Value {
        let Some(learning) = self.learning() else { return serde_json::Value::Null };
        let json = learning.prepared.tokenizer.to_json();
        let tokenizer = serde_json::from_str(&json).expect("JSON that was just written");
        let notes = Notes { tokenizer, samples: self.telling.samples.clone() };
        serde_json::to_value(notes).expect("plain data with string keys")
    }

    fn isa(&self, _host: Isa) -> Isa {
        self.isa
    }

    fn learner(&self) -> Option<&Pretrainer> {
        self.learning().map(|learning| &learning.learner)
    }

    fn learner_mut(&mut self) -> Option<&mut Pretrainer> {
        match &mut self.stage {
            Stage::Learning(learning) => Some(&mut learning.learner),
            Stage::Preparing(_) => None,
        }
    }

    /// A slice of the preparation; after the last the learner stands.
    fn prepare(&mut self) {
        let Stage::Preparing(preparation) = &mut self.stage else { return };
        let (began, before) = ((self.clock)(), preparation.progress());
        let prepared = preparation.advance().expect("a text that was looked through");
        let now = preparation.progress();
        if let Some(prepared) = prepared {
            let learner = Pretrainer::new(self.settings.learner(prepared.tokenizer.vocab()), &prepared.corpus, self.seed, self.isa);
            self.stage = Stage::learning(prepared, learner.expect("settings that were checked"), self.clock);
            self.telling.add(RoomEvent::Ready(Box::new(self.about())));
        }
        self.prepared_s += (self.clock)() - began;
        let Stage::Preparing(_) = &self.stage else { return };
        if now.part != before.part {
            self.parts_before_s = self.prepared_s;
        }
        if now.part != before.part || (20.0 * now.done).floor() > (20.0 * before.done).floor() {
            let spent_s = (self.prepared_s - self.parts_before_s) as f32;
            let left_s = (now.done >= 0.05).then_some(spent_s * (1.0 - now.done) / now.done);
            self.telling.add(RoomEvent::Preparing(Preparing { left_s, ..now }));
        }
    }

    fn end_iteration(&mut self, iteration: &mut Iteration) {
        let Stage::Learning(learning) = &self.stage else { return };
        let loss = iteration.metrics.iter().find(|(name, _)| *name == "loss").and_then(|&(_, loss)| loss);
        let bits = |loss| loss / std::f64::consts::LN_2 / learning.prepared.characters_per_token();
        iteration.metrics.push(("bits_per_char", loss.map(bits)));
        iteration.parts_s.push(("preparing", std::mem::take(&mut self.prepared_s)));
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock = clock;
    }

    fn tell(&mut self, _train_s: f64) -> Vec<(serde_json::Value, String)> {
        self.telling.take()
    }

    fn values(&self) -> Knobs {
        self.table.values(&self.settings)
    }

    fn may_set(&self, name: &str, value: &Value) -> Result<(), RunError> {
        self.table.changed(&self.settings, name, value).map(|_| ())
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(Value, Value), RunError> {
        let (settings, change) = self.table.changed(&self.settings, name, value)?;
        if let Stage::Learning(learning) = &mut self.stage {
            let config = settings.learner(learning.learner.config().shape.vocab);
            learning.learner.set(config).map_err(RunError::below)?;
        }
        self.settings = settings;
        Ok(change)
    }

    fn test_is_due(&self, tests: &[Row], _: bool) -> bool {
        // Soon, and then ever less often.
        let last = tests.last().map_or(0, |test| test.progress.iteration);
        self.learner().is_some_and(|learner| learner.progress().iterations as u32 >= last + (last / 4).clamp(2, 32))
    }

    fn begin_test(&mut self) {
        while self.learning().is_none() {
            self.prepare();
        }
        self.fresh = None;
        self.test_on();
    }

    fn begin_confirmation(&mut self, seed: u32) -> bool {
        let Stage::Learning(learning) = &self.stage else { return false };
        self.fresh = Some(Validation::fresh(&learning.prepared, seed));
        self.test_on();
        true
    }

    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError> {
        let (Some(test), Stage::Learning(learning)) = (&mut self.test, &mut self.stage) else {
            return Ok(None);
        };
        let Learning { prepared, validation, .. } = &mut **learning;
        let mut settings = self.settings.clone();
        let found = match &mut self.fresh {
            Some(Err(_)) => None,
            Some(Ok((prepared, validation))) => {
                // A confirmation writes no sample.
                settings.sample = 0;
                test.advance(prepared, validation, &settings, self.seed)
            }
            None => test.advance(prepared, validation, &settings, self.seed),
        };
        if let Some(Err(error)) = self.fresh.take_if(|fresh| fresh.is_err()) {
            return Err(error);
        }
        let Some(found) = found else { return Ok(None) };
        let prompt = prepared.tokenizer.decode(&prompt(prepared, &self.settings));
        // Of what was learned by then: another machine may have gone on since.
        let (iteration, tokens) = test.at;
        self.test = None;
        if let Some(text) = found.sample {
            self.telling.keep(Sample { iteration, tokens, val_loss: found.val_loss, prompt, text });
        }
        Ok(Some(found.values))
    }

    fn ask(&mut self, question: Question) -> Result<Answer, RunError> {
        match question {
            Question::About {} => Ok(Box::new(self.about())),
            Question::Samples {} => Ok(Box::new(self.telling.samples.clone())),
            question => self.answer(question),
        }
    }

    fn bench(bench: &mut Bench) {
        super::bench::run(bench);
    }

    fn profile(bench: &mut Bench) {
        super::bench::profiled(bench);
    }
}
