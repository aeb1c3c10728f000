//! The test under way: of the learner's own text, or of fresh text that confirms another.

use super::knobs::Settings;
use super::protocol::Sample;
use super::stage::Learning;
use super::testing::{Test, Validation, prompt};
use super::text::Prepared;
use crate::RunError;
use crate::room::ByName;
use learn::Learner;
use learn::words::Reader;
use math::Isa;

#[derive(Default)]
pub struct Trials {
    test: Option<Test>,
    /// The text of a confirmation, or why there is none; of a test it is the learner's.
    fresh: Option<Result<(Prepared, Validation), RunError>>,
}

/// What a test found, and what was written at it.
type Done = (ByName<Option<f64>>, Option<Sample>);

impl Trials {
    pub fn begin(&mut self, learning: &Learning, isa: Isa) {
        self.fresh = None;
        self.begin_on_text(learning, isa);
    }

    pub fn begin_confirmation(&mut self, learning: &Learning, seed: u32, isa: Isa) {
        self.fresh = Some(Validation::fresh(&learning.prepared, seed));
        self.begin_on_text(learning, isa);
    }

    fn begin_on_text(&mut self, learning: &Learning, isa: Isa) {
        let Learning { prepared, learner, validation } = learning;
        let (prepared, validation) = match &self.fresh {
            Some(Ok((prepared, validation))) => (prepared, validation),
            _ => (prepared, validation),
        };
        let reader = Reader::new(&learner.config().shape, learner.params(), isa);
        let progress = learner.progress();
        let at = (progress.iterations as u32, progress.tokens as f64);
        self.test = Some(Test::new(reader, prepared, validation, at));
    }

    /// A slice of it.
    pub fn advance(&mut self, learning: &mut Learning, settings: &Settings, seed: u32) -> Result<Option<Done>, RunError> {
        let Some(test) = &mut self.test else { return Ok(None) };
        let Learning { prepared, validation, .. } = learning;
        if let Some(Err(error)) = self.fresh.take_if(|fresh| fresh.is_err()) {
            return Err(error);
        }
        let found = match &mut self.fresh {
            Some(Ok((prepared, validation))) => {
                // A confirmation writes no sample.
                test.advance(prepared, validation, &Settings { sample: 0, ..settings.clone() }, seed)
            }
            _ => test.advance(prepared, validation, settings, seed),
        };
        let Some(found) = found else { return Ok(None) };
        // Of what was learned by then: another machine may have gone on since.
        let (iteration, tokens) = test.at;
        self.test = None;
        let sample = found.sample.map(|text| {
            let prompt = prepared.tokenizer.decode(&prompt(prepared, settings));
            Sample { iteration, tokens, val_loss: found.val_loss, prompt, text }
        });
        Ok(Some((found.values, sample)))
    }
}
