//! `hothouse generate words`: a text behind a prompt, told as it is written.

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
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::Instant;

/// Bytes of a prompt at most.
const LONGEST_PROMPT: u64 = 16 << 20;

#[derive(Clone, Debug, Args)]
pub struct GenerateArgs {
    /// A checkpoint of `hothouse train words`, or of the page
    #[arg(value_name = "CHECKPOINT")]
    file: PathBuf,
    /// What to go on from, or - for standard input [default: the prompt of its samples]
    #[arg(long, allow_hyphen_values = true, value_name = "TEXT")]
    prompt: Option<String>,
    /// Tokens at most
    #[arg(
        long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=100_000),
        allow_negative_numbers = true, value_name = "N",
    )]
    tokens: u32,
    /// 0 takes the likeliest token always, 1 writes as the model has learned, more is bolder [default: that of its samples]
    #[arg(long, value_parser = number, allow_negative_numbers = true, value_name = "T")]
    temperature: Option<f64>,
    /// Choose among so many of the likeliest tokens; 0 for all [default: that of its samples]
    #[arg(long, value_parser = clap::value_parser!(u32), allow_negative_numbers = true, value_name = "K")]
    top_k: Option<u32>,
    /// Choose among the likeliest tokens that together have this probability
    #[arg(long, default_value = "1", value_parser = number, allow_negative_numbers = true, value_name = "P")]
    top_p: f64,
    /// Same checkpoint, prompt and seed: the same text
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_name = "N")]
    seed: u32,
    /// End where this comes
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
    const ABOUT: &'static str = "Write a text behind a prompt, as a trained model goes on";

    fn run(self) -> Result<()> {
        Machine::work(&self.machine, |machine| {
            let mut run = begin::restored(&self.file, &self.data, machine.host)?;
            if run.schema().id != "words" {
                let (file, room) = (self.file.display(), run.schema().id);
                bail!(Usage(format!("{file} is of the room '{room}', which writes no texts. Name a checkpoint of `hothouse train words`")));
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
    /// Why it ended: length, stop or asked.
    ended: String,
    tokens_per_s: f64,
}

fn generate(run: &mut dyn AnyRun, args: &GenerateArgs) -> Result<()> {
    let knobs = {
        let began = run.events().into_iter().find_map(|event| match event {
            run::protocol::Event::Began(began) => Some(began.knobs),
            _ => None,
        });
        began.context("a run tells its knobs")?
    };
    let given = match args.prompt.as_deref() {
        Some("-") => {
            let bytes = files::read_at_most(std::io::stdin().lock(), LONGEST_PROMPT, "the prompt")?;
            Some(String::from_utf8(bytes).context("the prompt is no text. Send UTF-8")?)
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
    // Another program gets every character of it.
    let mut out: Box<dyn Write> = match std::io::stdout().is_terminal() {
        true => Box::new(crate::plain::stdout()),
        false => Box::new(std::io::stdout().lock()),
    };
    if !args.json {
        write!(out, "{prompt}")?;
    }
    let began = Instant::now();
    let mut written = String::new();
    let view = loop {
        // About as many as a slice of training takes.
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
