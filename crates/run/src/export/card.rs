//! Model card: a Markdown file that states what a model computes, how it was trained, and its score.

use super::agreement;
use super::described::{Described, Facts};
use super::format::{CARD_BEGINS, Format};
use super::markdown::{block, plain};
use crate::permalink::can_be_reached;
use crate::protocol::{Column, Row};
use crate::version::VERSION;
use graph::export::Reads;

/// Returns the text of a model's card. Equal runs with the same arithmetic give equal cards on all machines.
pub fn card(described: &Described, facts: &Facts, format: Format, bytes: usize) -> String {
    let title = format!("# {}: {}\n\n{}\n", plain(facts.schema.title), plain(&facts.variant.name), plain(&facts.variant.summary));
    let parts = [CARD_BEGINS.to_string(), title, use_of(described, format, bytes), training(facts), score(facts)];
    parts.map(|part| format!("{}\n", part.trim_end())).join("\n")
}

/// Describes the model's inputs and outputs.
fn use_of(Described { model, remarks }: &Described, format: Format, bytes: usize) -> String {
    let how = match format {
        Format::Onnx => "ONNX, for onnxruntime and other runtimes",
        Format::C => "C99 without dependencies: the function `hothouse_predict`",
        Format::Js => "JavaScript module: the function `predict`",
    };
    let mut text = format!("## Model\n\nFormat: {how}. Size: {bytes} bytes. Weights and results are 32-bit floats.\n");
    text += &format!(
        "Results differ from those of Hothouse in 32-bit arithmetic by less than {:e} of the largest number of an output, or of 1 if that \
         is larger.\n",
        agreement::F32
    );
    if model.is_batched() {
        text += match format {
            Format::Onnx => "The first axis of each input and output is the batch, which may have any length.\n",
            _ => "A call computes one item.\n",
        };
    }
    text += "\n| | name | shape | numbers |\n| --- | --- | --- | --- |\n";
    let mut row = |kind, name, dims: &[usize], integers: bool| {
        let dims = dims.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        let dims = if dims.is_empty() { "one number" } else { &dims };
        text += &format!("| {kind} | `{name}` | {dims} | {} |\n", if integers { "integers" } else { "floats" });
    };
    model.inputs.iter().for_each(|input| row("input", input.name, &model.input_dims(input), input.integers));
    model.outputs.iter().for_each(|output| row("output", output.name, &model.output_dims(output), output.reads == Reads::Largest));
    model.inputs.iter().for_each(|input| text += &described_numbers(input.name, &input.help, &input.numbers));
    model.outputs.iter().for_each(|output| text += &described_numbers(output.name, &output.help, &output.numbers));
    remarks.iter().for_each(|remark| text += &format!("\n{}\n", plain(remark)));
    text
}

/// Describes an input or an output, with the meaning of each of its numbers.
fn described_numbers(name: &str, help: &str, numbers: &[String]) -> String {
    let mut text = format!("\n`{name}`: {}\n", plain(help));
    if !numbers.is_empty() {
        text += "\n| index | meaning |\n| --- | --- |\n";
        numbers.iter().enumerate().for_each(|(i, number)| text += &format!("| {i} | {} |\n", plain(number)));
    }
    text
}

fn training(facts: &Facts) -> String {
    let Facts { schema, config, digest, count, command, .. } = facts;
    let counter = schema.counters[0].name;
    let limit = if *count > 0.0 { format!(" --steps {count}") } else { String::new() };
    let mut text = format!("## Training\n\nThis command trains the same run:\n\n{}\n", block(&format!("{command}{limit}")));
    text += "| fact | value |\n| --- | --- |\n";
    let mut fact = |name: &str, value: &str| text += &format!("| {name} | {} |\n", plain(value));
    fact("Hothouse", &format!("{} (format {VERSION})", env!("CARGO_PKG_VERSION")));
    fact(schema.variant_word, &config.variant);
    fact("seed", &config.seed.to_string());
    fact(&format!("{}s", schema.iteration_word), &digest.iteration.to_string());
    fact(counter, &count.to_string());
    fact("digest of the weights", &digest.weights);
    fact("arithmetic of the digest", &digest.arithmetic);
    if let Some(data) = &config.data {
        fact("data", &format!("{}, {} bytes, hash {}", data.name, data.bytes, data.hash));
    }
    for (name, value) in &config.knobs {
        fact(name, &value.to_string());
    }
    for change in &config.changes {
        fact(&format!("{} after {}", change.knob, change.iteration), &change.value.to_string());
    }
    if !can_be_reached(&digest.arithmetic) {
        text += "\nThis arithmetic is not reproducible, so the weights of other runs differ in their last digits.\n";
    }
    text
}

fn score(Facts { schema, variant, test, solved, .. }: &Facts) -> String {
    let mut text = "## Score\n\n".to_string();
    let counter = schema.counters[0].name;
    match test {
        None => text += "The run has not tested this agent.\n",
        Some(Row { progress, values }) => {
            text += &format!("Latest test, after {} {counter}:\n\n| column | value |\n| --- | --- |\n", progress.counts[0]);
            for (column, value) in schema.tests.iter().zip(values) {
                text += &format!("| {} | {} |\n", plain(&title(column)), value.map_or("none".into(), |value| value.to_string()));
            }
        }
    }
    if let Some(goal) = variant.goal {
        let state = solved.map_or("The run did not reach it.".into(), |count| format!("The run reached it after {count} {counter}."));
        text += &format!("\nGoal: `{}` of {}. {state}\n", goal.column, goal.at);
    }
    text
}

/// Returns the name, the label and the unit of a column.
fn title(column: &Column) -> String {
    let unit = if column.unit.is_empty() { String::new() } else { format!(" ({})", column.unit) };
    format!("{}: {}{unit}", column.name, column.label)
}
