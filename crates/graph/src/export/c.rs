//! Models in C99: one file with a function `hothouse_predict`. The file includes only `math.h`.

use super::helpers::Dialect;
use super::model::{C_BEGINS, ExportError, Model, Reads};
use super::nodes::Program;

const C: Dialect = Dialect {
    words: &[("INT", "int"), ("REAL", "float"), ("exp(", "expf("), ("tanh(", "tanhf("), ("log(", "logf("), ("sqrt(", "sqrtf(")],
    function: "static void ",
    parameter: |kind| match kind {
        "to" => "float *",
        "from" => "const float *",
        "int" => "int ",
        _ => "float ",
    },
};

/// Number of weights on a line.
const PER_LINE: usize = 12;

/// Returns the source of a model. `title` is a line of printable ASCII characters.
pub fn c(model: &Model, title: &str) -> Result<String, ExportError> {
    let program = Program::new(model)?;
    let mut text = format!("{}\n// {title}\n", String::from_utf8_lossy(C_BEGINS));
    text += "// The model card describes the inputs and outputs. Compile with -std=c99 and link with -lm.\n";
    text += "// Arrays of intermediate results are static, so only one thread may call the function at a time.\n#include <math.h>\n\n";
    text += &format!("{};\n\n", prototype(model));
    for (i, weights) in program.weights.iter().enumerate() {
        text += &format!("static const float w{i}[{}] = {{\n", weights.len());
        for line in weights.chunks(PER_LINE) {
            text += &line.iter().map(|weight| format!("{weight:e}f,")).collect::<String>();
            text.push('\n');
        }
        text += "};\n";
    }
    for (name, len) in &program.arrays {
        text += &format!("static float {name}[{len}];\n");
    }
    for helper in program.helpers() {
        text += "\n";
        // `largest` is the only helper that returns a value, an index.
        text += &match helper.name {
            "largest" => helper.text(&Dialect { function: "static int ", ..C }),
            _ => helper.text(&C),
        };
    }
    text += &format!("\n{} {{\n", prototype(model));
    for input in &model.inputs {
        let (array, len) = (program.input(input.name), model.input_dims(input).iter().product::<usize>());
        text += &format!("  for (int i = 0; i < {len}; i++) {array}[i] = {}{};\n", cast(input.integers), at(input.name));
    }
    program.statements.iter().for_each(|statement| text += &format!("  {statement}\n"));
    for (i, output) in model.outputs.iter().enumerate() {
        let (array, len) = program.output(i);
        text += &match output.reads {
            Reads::Numbers => format!("  for (int i = 0; i < {len}; i++) {} = {array}[i];\n", at(output.name)),
            Reads::Largest => format!("  {}[0] = largest({array}, {len});\n", output.name),
        };
    }
    Ok(text + "}\n")
}

fn at(array: &str) -> String {
    format!("{array}[i]")
}

fn cast(integers: bool) -> &'static str {
    if integers { "(float)" } else { "" }
}

/// Returns the declaration of `hothouse_predict`, without a semicolon. The lengths of the arrays are in brackets.
fn prototype(model: &Model) -> String {
    let len = |dims: &[usize]| dims.iter().product::<usize>();
    let input = |input: &super::model::Input| {
        let kind = if input.integers { "int" } else { "float" };
        format!("const {kind} {}[{}]", input.name, len(&model.input_dims(input)))
    };
    let output = |output: &super::model::Output| {
        let kind = if output.reads == Reads::Largest { "int" } else { "float" };
        format!("{kind} {}[{}]", output.name, len(&model.output_dims(output)))
    };
    let parameters: Vec<String> = model.inputs.iter().map(input).chain(model.outputs.iter().map(output)).collect();
    format!("void hothouse_predict({})", parameters.join(", "))
}
