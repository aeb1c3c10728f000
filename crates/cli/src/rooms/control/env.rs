//! `hothouse env`: serves an environment to another program. Every request and every answer is a JSON object on one line. An invalid
//! line changes no state; its answer is an error with a remedy.

use super::file::kind_of_file;
use crate::error::Usage;
use crate::format::quoted;
use crate::plain;
use crate::shell::VerbArgs;
use crate::stdio::{LINE_BYTES, converse};
use anyhow::Result;
use clap::Args;
use run::control::env::{Action, Actions, Env, EnvError, Spec, Text};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::{BufRead, Write};

/// Maximum number of names that the description of an environment lists in full.
const MOST_NAMES: usize = 16;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    Reset(Start),
    Action(Value),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Start {
    seed: Option<u32>,
    state: Option<Vec<f64>>,
    elapsed: Option<u32>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Begun {
        obs: Vec<f64>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        mask: Vec<bool>,
    },
    Stepped(run::control::env::Transition),
    Refused {
        error: String,
    },
}

#[derive(Debug, Args)]
pub struct EnvArgs {
    /// Environment: its Gymnasium id, or a Python file (.py) that defines it
    #[arg(value_name = "ENVIRONMENT")]
    name: String,
    /// Read requests and write answers, one JSON object per line
    #[arg(long)]
    stdio: bool,
}

impl VerbArgs for EnvArgs {
    const PATH: &'static [&'static str] = &["env"];
    const ABOUT: &'static str = "Serve a control environment to another program, or describe it";

    fn help() -> String {
        help()
    }

    /// Serves the environment if `--stdio` is set. Otherwise prints a description of the environment.
    fn run(self) -> Result<()> {
        let mut env = match kind_of_file(&self.name)? {
            Some(kind) => Env::of(&kind),
            None => Env::new(&self.name).map_err(|error| Usage(error.to_string()))?,
        };
        if self.stdio {
            return serve(&mut env, &mut std::io::stdin().lock(), &mut plain::stdout());
        }
        Ok(plain::stdout().write_all(described(env.spec(), &self.name).as_bytes())?)
    }
}

/// Answers each input line with one output line until the input ends.
fn serve(env: &mut Env, input: &mut impl BufRead, output: &mut impl Write) -> Result<()> {
    converse(input, output, |line| {
        let answer = match line {
            None => Err(format!("the line is longer than {LINE_BYTES} bytes; {}", usage(env))),
            Some(line) => answer(env, line),
        };
        let answer = answer.unwrap_or_else(|error| Answer::Refused { error });
        Ok(Some(serde_json::to_string(&answer)?))
    })
}

fn answer(env: &mut Env, line: &[u8]) -> Result<Answer, String> {
    let request = serde_json::from_slice(line).map_err(|error| format!("{error}; {}", usage(env)))?;
    let text = |error: EnvError| error.to_string();
    match request {
        Request::Reset(Start { seed: Some(seed), state: None, elapsed: None }) => {
            let obs = env.reset(seed).map_err(text)?;
            Ok(Answer::Begun { obs, mask: env.mask() })
        }
        Request::Reset(Start { seed: None, state: Some(state), elapsed }) => {
            let obs = env.reset_to(&state, elapsed.unwrap_or(0)).map_err(text)?;
            Ok(Answer::Begun { obs, mask: env.mask() })
        }
        Request::Reset(_) => Err(format!("a reset needs either a seed, or a state and the elapsed steps; {}", usage(env))),
        Request::Action(value) => {
            let Spec { id, actions, .. } = env.spec();
            let action = action(*actions, &value)
                .ok_or_else(|| format!("an action of {id} is {}, not {value}; {}", expected(*actions), usage(env)))?;
            env.step(action).map(Answer::Stepped).map_err(text)
        }
    }
}

/// Parses an action. A discrete action is a whole number; a continuous action is a list of numbers. Returns `None` for an invalid action.
fn action(actions: Actions, value: &Value) -> Option<Action> {
    match actions {
        Actions::Choices(_) => value.as_u64()?.try_into().ok().map(Action::Choice),
        Actions::Box { count, .. } => {
            let levels: Vec<f64> = value.as_array()?.iter().map(Value::as_f64).collect::<Option<_>>()?;
            (levels.len() == count as usize).then_some(Action::Levels(levels))
        }
    }
}

fn usage(env: &Env) -> String {
    format!("send {} or {}", r#"{"reset":{"seed":1}}"#, action_example(env.spec().actions))
}

fn action_example(actions: Actions) -> String {
    match actions {
        Actions::Choices(_) => r#"{"action":1}"#.into(),
        Actions::Box { count, .. } => format!(r#"{{"action":[{}]}}"#, vec!["0.3"; count as usize].join(",")),
    }
}

/// Describes a valid action.
fn expected(actions: Actions) -> String {
    match actions {
        Actions::Choices(count) => format!("a whole number from 0 to {}", count - 1),
        Actions::Box { count: 1, low, high } => format!("a list of one number, clipped to {low} to {high}"),
        Actions::Box { count, low, high } => format!("a list of {count} numbers, each clipped to {low} to {high}"),
    }
}

/// Lists names. Of a long list, only the first three and the last name are listed.
fn listed(names: &[Text]) -> String {
    match names {
        [a, b, c, .., last] if names.len() > MOST_NAMES => format!("{a}, {b}, {c} … {last} ({} numbers)", names.len()),
        _ => names.join(", "),
    }
}

/// Describes an environment for a human reader. `name` is the environment's name on the command line.
fn described(spec: &Spec, name: &str) -> String {
    let actions = expected(spec.actions);
    format!(
        "{}: {}\n\n  action       {actions}, as in {}\n  state        {}\n  observation  {}\n  \
         truncated    at {} steps\n\nUse it with `hothouse env {} --stdio`; `hothouse env --help` explains the requests.\n",
        spec.id,
        spec.summary,
        action_example(spec.actions),
        listed(&spec.state),
        listed(&spec.observation),
        spec.step_limit,
        quoted(name)
    )
}

/// Returns the help text that follows the options.
fn help() -> String {
    let mut text = String::from("Environments:\n");
    for spec in run::control::env::specs() {
        text += &format!("  {:<26}{}\n", spec.id, spec.summary);
    }
    text += r#"
With --stdio, each input line is a request and gets one answer line:
  {"reset":{"seed":1}}                              start an episode; the same seed gives the same start
  {"reset":{"state":[0.1,0,0.02,0],"elapsed":0}}    start at this internal state of Gymnasium
      -> {"obs":[…]}
  {"action":1}                                      discrete action
  {"action":[0.3]}                                  continuous action: one or more numbers, clipped as in Gymnasium
      -> {"obs":[…],"reward":1.0,"terminated":false,"truncated":false}
If the environment forbids choices in some states, each answer also has a "mask": one flag per choice, true if it is permitted.
An invalid line, a step before a reset or a step after the end of an episode changes nothing. The answer is
  {"error":"the problem; the remedy"}
The state of a Python file consists of the elements of its attributes in alphabetical order, and its numbers are 32-bit floats.
In the other environments, observations are in f64, before Gymnasium's rounding to f32. States and actions are rounded to f32 as in
Gymnasium; an action outside the range of f32 stays f64. A seed starts another episode than NumPy's
generator would, from the same distribution.
The end of the input ends the program."#;
    text
}
