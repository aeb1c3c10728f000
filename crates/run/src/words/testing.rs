//! Test of the model. It has three results: the loss on fixed windows of the validation text, the entropy floor of these windows (the loss
//! of the best predictor), and a sample.

use super::knobs::Settings;
use super::phase::Learning;
use super::protocol::Sample;
use super::text::{Prepared, grammar};
use super::validation::Validation;
use super::writing::Written;
use crate::room::ByName;
use learn::Learner;
use learn::words::Reader;
use math::par;
use worlds::words::{Tokenizer, WindowPredictors};

/// Approximate number of multiply-adds in a slice.
const SLICE: u64 = 200_000_000;

/// A test in progress. It uses the weights at its beginning.
pub struct Test {
    phase: Phase,
    /// Number of iterations and number of training tokens after which the tested weights were copied. Training may continue during the
    /// test.
    at: (u32, f64),
    /// New text of a confirmation, and the windows of this text; `None` for a test, which uses the learner's text. A confirmation writes no
    /// sample.
    fresh: Option<(Prepared, Validation)>,
    /// Predictors that know the grammar and compute the entropy floor; `None` if the floor is already known, or for a user's text.
    ideal: Option<WindowPredictors<'static>>,
    /// Sum of the model's loss over the windows so far, in nats.
    nats: f64,
    /// Sum of the entropy floor over the windows so far, in nats.
    least: f64,
}

enum Phase {
    /// Computation of the loss of the windows: the reader of the weights, the number of completed windows, and the number of tokens read in
    /// the current window.
    Windows(Box<Reader>, usize, usize),
    Sample(Box<Written>),
    Done,
}

impl Test {
    pub fn new(learning: &Learning, fresh: Option<(Prepared, Validation)>) -> Test {
        let Learning { prepared, learner, validation } = learning;
        let (prepared, validation) = fresh.as_ref().map_or((prepared, validation), |(prepared, validation)| (prepared, validation));
        let reader = Reader::new(&learner.config().shape, learner.params(), learner.isa());
        let progress = learner.progress();
        let at = (progress.iterations as u32, progress.tokens as f64);
        let wanted = !prepared.own && validation.floor.is_none();
        let ideal = wanted.then(|| grammar().window_predictors());
        Test { phase: Phase::Windows(Box::new(reader), 0, 0), at, fresh, ideal, nats: 0.0, least: 0.0 }
    }

    /// Runs one slice. At the end of the test, returns the test's values and the sample; otherwise returns `None`. The sample is `None` for
    /// a confirmation, or if the knob `sample` is 0.
    pub fn advance(&mut self, learning: &mut Learning, settings: &Settings, seed: u32) -> Option<(ByName<Option<f64>>, Option<Sample>)> {
        let Learning { prepared, validation, .. } = learning;
        let (prepared, validation, most) = match &mut self.fresh {
            Some((prepared, validation)) => (&*prepared, validation, 0),
            None => (&*prepared, validation, settings.sample as u32),
        };
        let Prepared { corpus, tokenizer, .. } = prepared;
        match &mut self.phase {
            Phase::Windows(reader, done, read) if *done < validation.starts.len() => {
                let (context, products) = (validation.context, reader.shape().products());
                let windows = (SLICE / (context as u64 * products)).max(1) as usize;
                let tokens = (par::TURN / products as f64).max(1.0) as usize;
                for &start in validation.starts[*done..].iter().take(windows) {
                    let window: Vec<u32> = corpus.tokens(start..start + context + 1).collect();
                    let to = context.min(*read + tokens);
                    if *read == 0 {
                        reader.forget();
                    }
                    let surprises = reader.surprises_after(&window[*read..=to]);
                    self.nats += surprises.iter().map(|&nats| f64::from(nats)).sum::<f64>();
                    *read = to;
                    if to < context {
                        break;
                    }
                    self.least += self.ideal.as_ref().map_or(0.0, |ideal| least(ideal, tokenizer, &window));
                    (*done, *read) = (*done + 1, 0);
                }
                return None;
            }
            Phase::Windows(..) => {
                if self.ideal.take().is_some() {
                    validation.floor = Some(self.least / validation.tokens());
                }
                let Phase::Windows(reader, ..) = std::mem::replace(&mut self.phase, Phase::Done) else {
                    return None;
                };
                if most > 0 {
                    let prompt = prompt(prepared, settings);
                    let sample = Written::new(*reader, &prompt, &settings.sampling(seed), most, "");
                    self.phase = Phase::Sample(Box::new(sample));
                    return None;
                }
            }
            Phase::Sample(sample) => {
                let tokens = (SLICE / settings.config.shape.products()).max(1);
                sample.advance(tokenizer, tokens as u32);
                sample.ended()?;
            }
            Phase::Done => {}
        }
        let Phase::Sample(written) = &self.phase else { return Some((validation.values(self.nats), None)) };
        let ((iteration, tokens), val_loss) = (self.at, self.nats / validation.tokens());
        let prompt = tokenizer.decode(&prompt(prepared, settings));
        let sample = Sample { iteration, tokens, val_loss, prompt, text: written.text().into() };
        Some((validation.values(self.nats), Some(sample)))
    }
}

/// Returns the tokens of the samples' prompt. The prompt is the text of the knob `prompt`. If the text is longer than the context, only its
/// end is used. If the knob is empty or the tokenizer cannot represent its text, the prompt is the beginning of the validation text, a
/// quarter of the context long.
pub fn prompt(prepared: &Prepared, settings: &Settings) -> Vec<u32> {
    let Prepared { corpus, tokenizer, .. } = prepared;
    let requested = tokenizer.encode(&settings.prompt).unwrap_or_default();
    if requested.is_empty() {
        let from = corpus.validation().start;
        return corpus.tokens(from..from + corpus.context().div_ceil(4)).collect();
    }
    requested[requested.len().saturating_sub(corpus.context())..].to_vec()
}

/// Returns the loss in nats of the best predictor, summed over the tokens that follow the first token of a window. The predictor knows the
/// grammar, but not the text before the window.
fn least(ideal: &WindowPredictors, tokenizer: &Tokenizer, window: &[u32]) -> f64 {
    let text: Vec<u8> = window.iter().flat_map(|&token| tokenizer.token_bytes(token)).copied().collect();
    let before = tokenizer.token_bytes(window[0]).len() - 1;
    ideal.losses(text[0], &text[1..]).skip(before).sum()
}
