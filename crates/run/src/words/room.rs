//! The words room: a text is converted to tokens, and a transformer learns to predict them. Questions use copies of the weights and do not
//! affect training.

use super::answers::{self, Answers};
use super::events::EventLog;
use super::knobs::{self, Settings};
use super::phase::{Phase, Spent};
use super::protocol::{AboutView, Question, RoomEvent, Sample};
use super::schema::SCHEMA;
use super::testing::Test;
use super::text::{Preparation, bounds};
use super::validation::Validation;
use crate::RunError;
use crate::knobs::{Table, by_name};
use crate::plain_data::json;
use crate::protocol::{DataInfo, Knob, Knobs, Row, Value, Variant};
use crate::room::{Answer, ByName, Iteration, Room, Saved, Schema, Setup};
use learn::Learner;
use learn::settings::{Settings as _, changed};
use learn::words::{Pretrainer, Reader};
use math::Isa;
use serde::{Deserialize, Serialize};
use worlds::words::Tokenizer;

pub struct Words {
    settings: Settings,
    seed: u32,
    isa: Isa,
    phase: Phase,
    /// Test in progress, or the error that prevented its beginning; `None` without a test.
    test: Option<Result<Test, RunError>>,
    events: EventLog,
    answers: Answers,
    clock: fn() -> f64,
    spent: Spent,
}

/// Saved data that are not tensors.
#[derive(Serialize, Deserialize)]
struct Notes {
    tokenizer: serde_json::Value,
    samples: Vec<Sample>,
}

fn table(variant: &str) -> Table<Settings> {
    Table::new(knobs::preset(variant))
}

fn settings(setup: Setup) -> Result<Settings, RunError> {
    table(setup.variant).settings(setup.knobs)
}

impl Words {
    fn new(setup: Setup, settings: Settings, phase: Phase) -> Words {
        Words {
            isa: settings.isa(setup.host.isa),
            settings,
            seed: setup.seed,
            phase,
            test: None,
            events: EventLog::default(),
            answers: Answers::default(),
            clock: || 0.0,
            spent: Spent::default(),
        }
    }

    fn about(&self) -> AboutView {
        let preparing = if let Phase::Preparing(now) = &self.phase { Some(now.progress()) } else { None };
        let learning = self.phase.learning();
        AboutView {
            preparing,
            model: learning.map(|learning| answers::model(&learning.learner)),
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
        help: "The text needs at least twice as many tokens as the context, and two more: 258 for a context of 128. It is UTF-8; the \
               byte tokenizer accepts any file.",
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
        // At most three readers exist at the same time: for the test, for questions and for the text in progress.
        Ok(learner + text + 3 * Reader::bytes(&config.shape))
    }

    fn begin(setup: Setup) -> Result<Self, RunError> {
        let settings = settings(setup)?;
        let preparation = Preparation::new(&settings, setup, None)?;
        Ok(Words::new(setup, settings, Phase::begin(preparation)))
    }

    fn restore(setup: Setup, saved: Saved) -> Result<Self, RunError> {
        let settings = settings(setup)?;
        let notes =
            Notes::deserialize(saved.notes).map_err(|error| RunError::damaged(format!("its notes have no valid tokenizer: {error}")))?;
        let tokenizer = Tokenizer::from_json(&notes.tokenizer.to_string()).map_err(RunError::damaged)?;
        // The memory was estimated for a vocabulary of at most `most` tokens, so a larger vocabulary is refused.
        let (found, (most, _)) = (tokenizer.vocab(), bounds(&settings, setup));
        if found > most {
            let why = format!("its tokenizer has {found} tokens, but its settings allow at most {most}");
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
            return Err(RunError::damaged(format!("{name} does not belong to a model with these settings")));
        }
        let mut room = Words::new(setup, settings, Phase::learn(prepared, learner, || 0.0));
        room.events.samples = notes.samples;
        Ok(room)
    }

    fn notes(&self) -> serde_json::Value {
        let Some(learning) = self.phase.learning() else { return serde_json::Value::Null };
        let tokenizer = serde_json::from_str(&learning.prepared.tokenizer.to_json()).expect("JSON that was just written");
        let notes = Notes { tokenizer, samples: self.events.samples.clone() };
        json(&notes)
    }

    fn isa(&self, _host: Isa) -> Isa {
        self.isa
    }

    fn learner(&self) -> Option<&Pretrainer> {
        self.phase.learning().map(|learning| &learning.learner)
    }

    fn learner_mut(&mut self) -> Option<&mut Pretrainer> {
        self.phase.learning_mut().map(|learning| &mut learning.learner)
    }

    /// Runs one slice of the preparation. The last slice creates the learner.
    fn prepare(&mut self) {
        let Phase::Preparing(preparation) = &mut self.phase else { return };
        let (began, before) = ((self.clock)(), preparation.progress());
        let prepared = preparation.advance().expect("the text was checked");
        let now = preparation.progress();
        if let Some(prepared) = prepared {
            let learner = Pretrainer::new(self.settings.learner(prepared.tokenizer.vocab()), &prepared.corpus, self.seed, self.isa);
            self.phase = Phase::learn(prepared, learner.expect("the settings were checked"), self.clock);
            self.events.add(RoomEvent::Ready(Box::new(self.about())));
        }
        let report = self.spent.add((self.clock)() - began, &before, now);
        if let (Phase::Preparing(_), Some(report)) = (&self.phase, report) {
            self.events.add(RoomEvent::Preparing(report));
        }
    }

    fn end_iteration(&mut self, iteration: &mut Iteration) {
        let Phase::Learning(learning) = &self.phase else { return };
        let loss = iteration.metrics.iter().find(|(name, _)| *name == "loss").and_then(|&(_, loss)| loss);
        let bits = |loss| loss / std::f64::consts::LN_2 / learning.prepared.characters_per_token();
        iteration.metrics.push(("bits_per_char", loss.map(bits)));
        iteration.parts_s.push(("preparing", std::mem::take(&mut self.spent.all_s)));
    }

    fn set_clock(&mut self, clock: fn() -> f64) {
        self.clock = clock;
    }

    fn take_events(&mut self, _train_s: f64) -> Vec<(serde_json::Value, String)> {
        self.events.take()
    }

    fn values(&self) -> Knobs {
        by_name(self.settings.values())
    }

    fn may_change(&self, name: &str, value: &Value) -> Result<(), RunError> {
        changed(&self.settings, name, value).map(|_| ()).map_err(RunError::below)
    }

    fn change(&mut self, name: &str, value: &Value) -> Result<(), RunError> {
        let settings = changed(&self.settings, name, value).map_err(RunError::below)?;
        if let Phase::Learning(learning) = &mut self.phase {
            let config = settings.learner(learning.learner.config().shape.vocab);
            learning.learner.set(config).map_err(RunError::below)?;
        }
        self.settings = settings;
        Ok(())
    }

    fn test_is_due(&self, tests: &[Row], _: bool) -> bool {
        // The number of iterations between two tests is a quarter of the iterations before the last test, but at least 2 and at most 32.
        let last = tests.last().map_or(0, |test| test.progress.iteration);
        self.learner().is_some_and(|learner| learner.progress().iterations as u32 >= last + (last / 4).clamp(2, 32))
    }

    fn begin_test(&mut self) {
        while self.phase.learning().is_none() {
            self.prepare();
        }
        self.test = self.phase.learning().map(|learning| Ok(Test::new(learning, None)));
    }

    fn begin_confirmation(&mut self, seed: u32) -> bool {
        let Some(learning) = self.phase.learning() else { return false };
        let fresh = Validation::fresh(&learning.prepared, seed);
        self.test = Some(fresh.map(|fresh| Test::new(learning, Some(fresh))));
        true
    }

    fn advance_test(&mut self) -> Result<Option<ByName<Option<f64>>>, RunError> {
        let (Some(learning), Some(test)) = (self.phase.learning_mut(), self.test.take()) else { return Ok(None) };
        let mut test = test?;
        let Some((values, sample)) = test.advance(learning, &self.settings, self.seed) else {
            self.test = Some(Ok(test));
            return Ok(None);
        };
        if let Some(sample) = sample {
            self.events.keep(sample);
        }
        Ok(Some(values))
    }

    #[cfg(feature = "export")]
    fn exported(&self) -> Result<crate::export::Described, RunError> {
        Ok(super::export::described(self.learner().ok_or_else(answers::not_yet)?, self.settings.precision))
    }

    #[cfg(feature = "export")]
    fn examples(&self, count: usize, seed: u32) -> Result<crate::export::Examples, RunError> {
        Ok(self.learner().ok_or_else(answers::not_yet)?.examples(count, seed))
    }

    fn ask(&mut self, question: Question) -> Result<Answer, RunError> {
        match question {
            Question::About {} => Ok(Box::new(self.about())),
            Question::Samples {} => Ok(Box::new(self.events.samples.clone())),
            question => self.answers.answer(self.phase.learning().ok_or_else(answers::not_yet)?, &self.settings, question),
        }
    }
}
