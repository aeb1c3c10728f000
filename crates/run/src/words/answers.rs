//! Answers to questions about the model. The answers are computed with copies of the model's weights.

use super::knobs::Settings;
use super::phase::Learning;
use super::protocol::{AttentionView, Ended, ModelView, NextView, Question, ReadView, Sampling, TensorView, TokenView};
use super::testing;
use super::writing::Written;
use crate::RunError;
use crate::questions::Answer;
use learn::words::{Pretrainer, Reader, Shape};
use learn::{Learner, WorkedOn};
use math::ops;
use worlds::words::Tokenizer;

/// Maximum number of tokens in a generated text.
const LONGEST: u32 = 100_000;
/// Maximum number of tokens that one question generates.
const MOST_AT_ONCE: u32 = 4096;
/// Maximum number of likely tokens in an answer, summed over the tokens of the text.
const MOST_PREDICTED: usize = 1 << 18;

/// Version of weights: the number of iterations and, if the CPU trains, the number of steps. If another machine trains, the number of steps
/// is `None`: a step is counted when it begins, but its weights arrive only at the end of the iteration.
type WeightsVersion = (u64, Option<u64>);

/// Cached reader (a copy of the model for inference) and the text in progress.
#[derive(Default)]
pub struct Answers {
    /// Reader for questions, with the version of its weights.
    reader: Option<(WeightsVersion, Reader)>,
    /// Text in progress, with the number of iterations after which the weights for this text were copied.
    written: Option<(u32, Written)>,
}

/// Returns the error for a request that needs the model before the text is prepared.
pub fn not_yet() -> RunError {
    RunError::refused("the text is still being prepared", "Try again when training has begun")
}

pub fn model(learner: &Pretrainer) -> ModelView {
    let shape = learner.config().shape;
    let specs = learner.params().table().specs();
    let embeddings = specs.iter().filter(|spec| spec.name.starts_with("transformer.w"));
    let tensor = |spec: &graph::ParamSpec| TensorView {
        name: spec.name.to_string(),
        shape: spec.file_shape().iter().map(|&side| side as u32).collect(),
    };
    ModelView {
        vocabulary: shape.vocab as u32,
        width: shape.width as u32,
        layers: shape.layers as u32,
        heads: shape.heads as u32,
        context: shape.context as u32,
        parameters: learner.params().count() as u32,
        embeddings: embeddings.map(graph::ParamSpec::len).sum::<usize>() as u32,
        flops_per_token: shape.flops_per_token(),
        tensors: specs.iter().map(tensor).collect(),
    }
}

fn views(tokenizer: &Tokenizer, tokens: &[u32]) -> Vec<TokenView> {
    tokens.iter().map(|&id| TokenView { id, text: tokenizer.token_text(id) }).collect()
}

/// Returns the tokens of `text`. An empty text, or a text longer than the context, is an error. `what` names the text in the error message.
fn fitting(tokenizer: &Tokenizer, shape: &Shape, text: &str, what: &str) -> Result<Vec<u32>, RunError> {
    let tokens = tokenizer.encode(text).map_err(RunError::below)?;
    if tokens.is_empty() {
        return Err(RunError::refused(format!("{what} is empty"), "Enter at least one character, for example a line break"));
    }
    if tokens.len() > shape.context {
        let what = format!("{what} has {} tokens, and the model sees {} at once", tokens.len(), shape.context);
        return Err(RunError::refused(what, "Shorten it, or train with a longer context"));
    }
    Ok(tokens)
}

/// Returns an error if a question asks for more than `most` tokens.
fn at_most(name: &str, asked: u32, most: u32) -> Result<(), RunError> {
    if asked <= most {
        return Ok(());
    }
    Err(RunError::OutOfRange { name: name.into(), value: asked.to_string(), range: format!("0 to {most}") })
}

fn check(sampling: &Sampling) -> Result<(), RunError> {
    let &Sampling { temperature, top_p, .. } = sampling;
    if !(0.0..=100.0).contains(&temperature) {
        let what = format!("the temperature {temperature} is out of range");
        return Err(RunError::refused(what, "Choose 0 to 100; 1 uses the model's own probabilities"));
    }
    if !(top_p > 0.0 && top_p <= 1.0) {
        let what = format!("top-p {top_p} is out of range");
        return Err(RunError::refused(what, "Choose a probability above 0 and at most 1; 1 allows all tokens"));
    }
    Ok(())
}

impl Answers {
    /// Answers a question that needs the model.
    pub fn answer(&mut self, learning: &Learning, settings: &Settings, question: Question) -> Result<Answer, RunError> {
        let Learning { prepared, learner, .. } = learning;
        let (tokenizer, shape) = (&prepared.tokenizer, learner.config().shape);
        let (isa, iteration) = (learner.isa(), learner.progress().iterations as u32);
        let fresh = || Reader::new(&shape, learner.params(), isa);
        let unbegun = || RunError::refused("no text has begun", "Begin one with a prompt");
        Ok(match question {
            Question::Tokens { text } => {
                let tokens = tokenizer.encode(&text).map_err(RunError::below)?;
                Box::new(views(tokenizer, &tokens))
            }
            Question::Read { text, next } => {
                let tokens = fitting(tokenizer, &shape, &text, "the text")?;
                at_most("next", next.min(shape.vocab as u32), (MOST_PREDICTED / tokens.len()) as u32)?;
                let reader = self.reader(learner, fresh);
                Box::new(read(reader, tokenizer, iteration, &tokens, next as usize))
            }
            Question::Attention { text, layer, head } => {
                let tokens = fitting(tokenizer, &shape, &text, "the text")?;
                if layer as usize >= shape.layers || head as usize >= shape.heads {
                    let what = format!("there is no head {head} in a layer {layer}");
                    let next = format!("Choose a layer of 0 to {} and a head of 0 to {}", shape.layers - 1, shape.heads - 1);
                    return Err(RunError::refused(what, next));
                }
                let reader = self.reader(learner, fresh);
                reader.forget();
                reader.read(&tokens);
                let weights = reader.attention(layer as usize, head as usize);
                Box::new(AttentionView { iteration, layer, head, tokens: views(tokenizer, &tokens), weights })
            }
            Question::Prompt {} => Box::new(tokenizer.decode(&testing::prompt(prepared, settings))),
            Question::Generate { prompt, sampling, most, stop } => {
                let prompt = match prompt {
                    Some(prompt) => fitting(tokenizer, &shape, &prompt, "the prompt")?,
                    None => testing::prompt(prepared, settings),
                };
                check(&sampling)?;
                at_most("most", most, LONGEST)?;
                let written = Written::new(fresh(), &prompt, &sampling, most, &stop);
                let (iteration, written) = self.written.insert((iteration, written));
                Box::new(written.view(*iteration))
            }
            Question::Continue { tokens } => {
                let (iteration, written) = self.written.as_mut().ok_or_else(unbegun)?;
                written.advance(tokenizer, tokens.min(MOST_AT_ONCE));
                Box::new(written.view(*iteration))
            }
            Question::Stop {} => {
                let (iteration, written) = self.written.as_mut().ok_or_else(unbegun)?;
                written.end(Ended::Asked);
                Box::new(written.view(*iteration))
            }
            Question::About {} | Question::Samples {} => unreachable!("answered by the room"),
        })
    }

    /// Returns a reader of the current weights. Calls `fresh` to create the reader if no reader of these weights is cached.
    fn reader(&mut self, learner: &Pretrainer, fresh: impl FnOnce() -> Reader) -> &mut Reader {
        let progress = learner.progress();
        let version = (progress.iterations, (learner.worked_on() == WorkedOn::Processor).then_some(progress.steps));
        let kept = self.reader.take().filter(|kept| kept.0 == version);
        &mut self.reader.insert(kept.unwrap_or_else(|| (version, fresh()))).1
    }
}

fn read(reader: &mut Reader, tokenizer: &Tokenizer, iteration: u32, tokens: &[u32], most: usize) -> ReadView {
    reader.forget();
    reader.read(tokens);
    let (count, vocab) = (tokens.len(), reader.shape().vocab);
    let isa = reader.isa();
    let mut logs = vec![0.0; count * vocab];
    ops::softmax(isa, count, vocab, reader.logits(count), &mut logs, true);
    let mut odds = vec![0.0; count * vocab];
    ops::softmax(isa, count, vocab, reader.logits(count), &mut odds, false);
    let mut order: Vec<u32> = Vec::new();
    let mut view = ReadView {
        iteration,
        tokens: views(tokenizer, tokens),
        surprise: vec![None; count],
        entropy: Vec::new(),
        next: Vec::new(),
        loss: None,
        bits_per_char: None,
    };
    for (i, (logs, odds)) in logs.chunks_exact(vocab).zip(odds.chunks_exact(vocab)).enumerate() {
        if let Some(&token) = tokens.get(i + 1) {
            view.surprise[i + 1] = Some(-logs[token as usize]);
        }
        view.entropy.push(-odds.iter().zip(logs).map(|(p, log)| p * log).sum::<f32>());
        order.clear();
        order.extend(0..vocab as u32);
        let likelier = |&a: &u32, &b: &u32| odds[b as usize].total_cmp(&odds[a as usize]).then(a.cmp(&b));
        let most = most.min(vocab);
        if most > 0 && most < vocab {
            order.select_nth_unstable_by(most - 1, likelier);
        }
        order.truncate(most);
        order.sort_unstable_by(likelier);
        let next = |&id: &u32| NextView { id, text: tokenizer.token_text(id), probability: odds[id as usize] };
        view.next.push(order.iter().map(next).collect());
    }
    let nats: f32 = view.surprise.iter().flatten().sum();
    if count > 1 {
        let predicted = tokenizer.decode(&tokens[1..]).chars().count();
        view.loss = Some(nats / (count - 1) as f32);
        view.bits_per_char = Some(nats / std::f32::consts::LN_2 / predicted as f32);
    }
    view
}
