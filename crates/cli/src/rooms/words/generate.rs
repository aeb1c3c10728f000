//! `hothouse generate words`: generates text that continues a prompt, and prints it while it is generated.

use crate::args::values::number;
use crate::args::{DataArgs, MachineArgs};
use crate::error::Usage;
use crate::host::Machine;
use crate::session::begin;
use crate::shell::VerbArgs;
use crate::signals::SIGNALS;
use anyhow::{Context, Result, bail};
use clap::Args;
use run::AnyRun;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Maximum length of a prompt in bytes.
const LONGEST_PROMPT: u64 = 16 << 20;

#[derive(Clone, Debug, Args)]
pub struct GenerateArgs {
    /// Checkpoint of the room words, saved here or in the page
    #[arg(value_name = "CHECKPOINT")]
    file: PathBuf,
    /// Prompt, or - for standard input [default: the prompt of the run's samples]
    #[arg(long, allow_hyphen_values = true, value_name = "TEXT")]
    prompt: Option<String>,
    /// Maximum number of tokens
    #[arg(
        long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000),
        allow_negative_numbers = true, value_name = "N",
    )]
    tokens: u32,
    /// Sampling temperature: 0 always selects the likeliest token, 1 samples from the model's distribution [default: the temperature of the
    /// run's samples]
    #[arg(long, value_parser = number, allow_negative_numbers = true, value_name = "T")]
    temperature: Option<f64>,
    /// Sample among the K likeliest tokens; 0 means all tokens [default: the number for the run's samples]
    #[arg(long, value_parser = clap::value_parser!(u32), allow_negative_numbers = true, value_name = "K")]
    top_k: Option<u32>,
    /// Sample among the likeliest tokens that together have this probability
    #[arg(long, default_value = "1", value_parser = number, allow_negative_numbers = true, value_name = "P")]
    top_p: f64,
    /// Seed; the same checkpoint, prompt, seed and other options give the same text with the same arithmetic
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_name = "N")]
    seed: u32,
    /// Stop at this text
    #[arg(long, allow_hyphen_values = true, value_name = "TEXT")]
    stop: Option<String>,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    machine: MachineArgs,
}

impl VerbArgs for GenerateArgs {
    const PATH: &'static [&'static str] = &["generate", "words"];
    const ABOUT: &'static str = "Generate text after a prompt";

    fn run(self) -> Result<()> {
        Machine::work(&self.machine, |machine| {
            let mut run = begin::restored(&self.file, &self.data, machine.host)?;
            if run.schema().id != "words" {
                let (file, room) = (self.file.display(), run.schema().id);
                bail!(Usage(format!("{file} belongs to room '{room}', not 'words'. Name a checkpoint of `hothouse train words`")));
            }
            generate(&mut *run, &self)
        })
    }
}

#[derive(Serialize)]
struct Line {
    prompt: String,
    text: String,
    tokens: u64,
    /// Reason why the text ended: `length` (token limit), `stop` (stop text) or `asked` (the user ended it).
    ended: String,
    tokens_per_s: f64,
}

fn generate(run: &mut dyn AnyRun, args: &GenerateArgs) -> Result<()> {
    let knobs = {
        let began = run.events().into_iter().find_map(|event| match event {
            run::protocol::Event::Began(began) => Some(began.knobs),
            _ => None,
        });
        began.context("a run reports its knobs")?
    };
    let given = match args.prompt.as_deref() {
        Some("-") => {
            let bytes = files::read_at_most(files::stdin(), LONGEST_PROMPT, "the prompt")?;
            Some(String::from_utf8(bytes).context("the prompt is not text. Send UTF-8")?)
        }
        given => given.map(String::from),
    };
    let of_samples = |knob: &str| knobs[knob].to_string().parse::<f64>().unwrap_or_default();
    let sampling = json!({
        "temperature": args.temperature.unwrap_or_else(|| of_samples("temperature")),
        "top_k": args.top_k.unwrap_or_else(|| of_samples("top_k") as u32),
        "top_p": args.top_p,
        "seed": args.seed,
    });
    let mut ask = |question| crate::shell::ask::<Value>(run, question);
    let stop = args.stop.as_deref().unwrap_or_default();
    ask(json!({
        "ask": "generate", "prompt": given, "sampling": sampling, "most": args.tokens, "stop": stop,
    }))?;
    let prompt = match given {
        Some(prompt) => prompt,
        None => ask(json!({ "ask": "prompt" }))?.as_str().context("a prompt")?.into(),
    };
    let mut out = crate::plain::data();
    if !args.json {
        write!(out, "{prompt}")?;
    }
    let began = Instant::now();
    let mut written = String::new();
    let view = loop {
        // Eight tokens take about as long as a slice of training (one call of `advance`). Longer requests would delay the text and the
        // reaction to Ctrl-C.
        let question = match SIGNALS.stopping() {
            true => json!({ "ask": "stop" }),
            false => json!({ "ask": "continue", "tokens": 8 }),
        };
        let view = ask(question)?;
        let text = view["text"].as_str().context("a text")?;
        if !args.json {
            write!(out, "{}", text.get(written.len()..).unwrap_or_default())?;
            out.flush()?;
        }
        written = text.into();
        if !view["ended"].is_null() {
            break view;
        }
    };
    let tokens = view["tokens"].as_u64().unwrap_or_default();
    if args.json {
        let ended = view["ended"].as_str().unwrap_or_default().into();
        let tokens_per_s = tokens as f64 / began.elapsed().as_secs_f64();
        serde_json::to_writer(&mut out, &Line { prompt, text: written, tokens, ended, tokens_per_s })?;
    }
    Ok(writeln!(out)?)
}
