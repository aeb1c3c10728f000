//! Models as a JavaScript module, for browsers and Node. It exports the function `predict`, and the lengths of the inputs and outputs.

use super::base64::encoded;
use super::helpers::Dialect;
use super::model::{ExportError, JS_BEGINS, Model, Reads};
use super::nodes::Program;

const JS: Dialect = Dialect {
    words: &[
        ("INT", "let"),
        ("REAL", "let"),
        ("exp(", "Math.exp("),
        ("tanh(", "Math.tanh("),
        ("log(", "Math.log("),
        ("sqrt(", "Math.sqrt("),
    ],
    function: "function ",
    parameter: |_| "",
};

/// Returns the source of a model. `title` is a line of printable ASCII characters.
pub fn js(model: &Model, title: &str) -> Result<String, ExportError> {
    let program = Program::new(model)?;
    let mut text = format!("{}\n// {title}\n", String::from_utf8_lossy(JS_BEGINS));
    text += "// The model card describes the inputs and outputs.\n\n";
    let dims = |all: Vec<(&str, Vec<usize>)>| {
        let each: Vec<String> = all.into_iter().map(|(name, dims)| format!("{name}: {dims:?}")).collect();
        format!("{{ {} }}", each.join(", "))
    };
    let inputs = model.inputs.iter().map(|input| (input.name, model.input_dims(input))).collect();
    let outputs = model.outputs.iter().map(|output| (output.name, model.output_dims(output))).collect();
    text += &format!("/** Lengths of the axes of each input. */\nexport const inputs = {};\n", dims(inputs));
    text += &format!("/** Lengths of the axes of each output; empty for a number. */\nexport const outputs = {};\n\n", dims(outputs));
    let bytes: Vec<u8> = program.weights.iter().copied().flatten().flat_map(|weight| weight.to_le_bytes()).collect();
    text += &format!("const bytes = Uint8Array.from(atob(\"{}\"), (letter) => letter.charCodeAt(0));\n", encoded(&bytes));
    text += "const weights = new Float32Array(bytes.buffer);\n";
    let mut first = 0;
    for (i, weights) in program.weights.iter().enumerate() {
        text += &format!("const w{i} = weights.subarray({first}, {});\n", first + weights.len());
        first += weights.len();
    }
    for (name, len) in &program.arrays {
        text += &format!("const {name} = new Float32Array({len});\n");
    }
    program.helpers().for_each(|helper| text += &format!("\n{}", helper.text(&JS)));
    text += TAKE;
    let names: Vec<&str> = model.inputs.iter().map(|input| input.name).collect();
    text += &format!(
        "\n/** Returns the outputs for one set of inputs, which are arrays of numbers. */\nexport function predict({{ {} }}) {{\n",
        names.join(", ")
    );
    for input in &model.inputs {
        text += &format!("  take({}, {}, \"{}\");\n", program.input(input.name), input.name, input.name);
    }
    program.statements.iter().for_each(|statement| text += &format!("  {statement}\n"));
    let output = |(i, output): (usize, &super::model::Output)| {
        let (array, len) = program.output(i);
        match output.reads {
            Reads::Numbers => format!("{}: {array}.slice()", output.name),
            Reads::Largest => format!("{}: largest({array}, {len})", output.name),
        }
    };
    let outputs: Vec<String> = model.outputs.iter().enumerate().map(output).collect();
    Ok(text + &format!("  return {{ {} }};\n}}\n", outputs.join(", ")))
}

/// JavaScript function that checks the length of an input and copies the input to its array.
const TAKE: &str = "
function take(to, from, name) {
  if (from?.length !== to.length) throw new RangeError(`${name} has ${from?.length} numbers; give ${to.length}`);
  to.set(from);
}
";
