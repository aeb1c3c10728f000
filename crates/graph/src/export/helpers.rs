//! Helper functions that the exported C or JavaScript code calls. Each helper is written once for both languages.
//!
//! A helper has a name, parameters and a body. The word before a parameter is its kind: `to` for an array that the helper fills, `from` for
//! an array that it reads, `int` or `real` for a number. In a body, `INT` and `REAL` begin the declaration of a variable.

/// Notation of a language.
pub struct Dialect {
    /// Replacements in a body.
    pub words: &'static [(&'static str, &'static str)],
    /// Text before the name of a function.
    pub function: &'static str,
    /// Text before the name of a parameter, by its kind.
    pub parameter: fn(&str) -> &'static str,
}

pub struct Helper {
    pub name: &'static str,
    parameters: &'static str,
    body: &'static str,
}

impl Helper {
    pub fn text(&self, dialect: &Dialect) -> String {
        let parameter = |text: &str| {
            let (kind, name) = text.split_once(' ').expect("a kind and a name");
            format!("{}{name}", (dialect.parameter)(kind))
        };
        let parameters = self.parameters.split(", ").map(parameter).collect::<Vec<_>>().join(", ");
        let body = dialect.words.iter().fold(self.body.to_string(), |body, (word, with)| body.replace(word, with));
        format!("{}{}({parameters}) {body}\n", dialect.function, self.name)
    }
}

/// Defines a helper that applies an expression to each number v of an array.
macro_rules! unary {
    ($name:literal, $value:literal) => {
        Helper {
            name: concat!("unary_", $name),
            parameters: "to y, from x, int n",
            body: concat!("{\n  for (INT i = 0; i < n; i++) {\n    REAL v = x[i];\n    y[i] = ", $value, ";\n  }\n}"),
        }
    };
}

/// Defines a helper that applies an expression to pairs of numbers p and q of two operands. `a_row`, `a_col`, `b_row` and `b_col` are
/// distances between rows and columns. A distance is 0 if the operand is repeated along this axis.
macro_rules! binary {
    ($name:literal, $value:literal) => {
        Helper {
            name: concat!("binary_", $name),
            parameters: "to y, int rows, int cols, from a, int a_row, int a_col, from b, int b_row, int b_col",
            body: concat!(
                "{\n  for (INT r = 0; r < rows; r++) {\n    for (INT c = 0; c < cols; c++) {\n      ",
                "REAL p = a[r * a_row + c * a_col], q = b[r * b_row + c * b_col];\n      y[r * cols + c] = ",
                $value,
                ";\n    }\n  }\n}"
            ),
        }
    };
}

pub static HELPERS: [Helper; 24] = [
    unary!("relu", "v > 0 ? v : 0"),
    unary!("tanh", "tanh(v)"),
    unary!("gelu", "v * (1 + tanh(0.7978845608 * (v + 0.044715 * v * v * v))) / 2"),
    unary!("exp", "exp(v)"),
    unary!("ln", "log(v)"),
    unary!("sigmoid", "1 / (1 + exp(-v))"),
    unary!("silu", "v / (1 + exp(-v))"),
    binary!("add", "p + q"),
    binary!("sub", "p - q"),
    binary!("mul", "p * q"),
    binary!("min", "p < q ? p : q"),
    binary!("max", "p > q ? p : q"),
    Helper {
        name: "affine",
        parameters: "to y, from x, int n, real scale, real shift",
        body: "{\n  for (INT i = 0; i < n; i++) y[i] = x[i] * scale + shift;\n}",
    },
    // Each row of w contains the weights of one output.
    Helper {
        name: "product",
        parameters: "to y, from x, from w, int rows, int outputs, int inputs",
        body: "{
  for (INT r = 0; r < rows; r++) {
    for (INT o = 0; o < outputs; o++) {
      REAL sum = 0;
      for (INT i = 0; i < inputs; i++) sum += x[r * inputs + i] * w[o * inputs + i];
      y[r * outputs + o] = sum;
    }
  }
}",
    },
    Helper {
        name: "sum_rows",
        parameters: "to y, from x, int rows, int cols",
        body: "{
  for (INT r = 0; r < rows; r++) {
    REAL sum = 0;
    for (INT c = 0; c < cols; c++) sum += x[r * cols + c];
    y[r] = sum;
  }
}",
    },
    Helper {
        name: "layer_norm",
        parameters: "to y, from x, from gamma, from beta, int rows, int cols, real eps",
        body: "{
  for (INT r = 0; r < rows; r++) {
    REAL mean = 0, square = 0;
    for (INT c = 0; c < cols; c++) mean += x[r * cols + c];
    mean /= cols;
    for (INT c = 0; c < cols; c++) square += (x[r * cols + c] - mean) * (x[r * cols + c] - mean);
    REAL scale = 1 / sqrt(square / cols + eps);
    for (INT c = 0; c < cols; c++) y[r * cols + c] = (x[r * cols + c] - mean) * scale * gamma[c] + beta[c];
  }
}",
    },
    Helper {
        name: "rms_norm",
        parameters: "to y, from x, from gamma, int rows, int cols, real eps",
        body: "{
  for (INT r = 0; r < rows; r++) {
    REAL square = 0;
    for (INT c = 0; c < cols; c++) square += x[r * cols + c] * x[r * cols + c];
    REAL scale = 1 / sqrt(square / cols + eps);
    for (INT c = 0; c < cols; c++) y[r * cols + c] = x[r * cols + c] * scale * gamma[c];
  }
}",
    },
    Helper {
        name: "softmax",
        parameters: "to y, from x, int rows, int cols",
        body: "{
  for (INT r = 0; r < rows; r++) {
    REAL top = x[r * cols], sum = 0;
    for (INT c = 1; c < cols; c++) top = x[r * cols + c] > top ? x[r * cols + c] : top;
    for (INT c = 0; c < cols; c++) sum += y[r * cols + c] = exp(x[r * cols + c] - top);
    for (INT c = 0; c < cols; c++) y[r * cols + c] /= sum;
  }
}",
    },
    Helper {
        name: "log_softmax",
        parameters: "to y, from x, int rows, int cols",
        body: "{
  for (INT r = 0; r < rows; r++) {
    REAL top = x[r * cols], sum = 0;
    for (INT c = 1; c < cols; c++) top = x[r * cols + c] > top ? x[r * cols + c] : top;
    for (INT c = 0; c < cols; c++) sum += exp(x[r * cols + c] - top);
    for (INT c = 0; c < cols; c++) y[r * cols + c] = x[r * cols + c] - top - log(sum);
  }
}",
    },
    // An index below 0 selects no row of the table.
    Helper {
        name: "sum_of_rows",
        parameters: "to y, from table, from index, int rows, int count, int cols",
        body: "{
  for (INT r = 0; r < rows; r++) {
    for (INT c = 0; c < cols; c++) y[r * cols + c] = 0;
    for (INT i = 0; i < count; i++) {
      INT row = index[r * count + i];
      for (INT c = 0; row >= 0 && c < cols; c++) y[r * cols + c] += table[row * cols + c];
    }
  }
}",
    },
    // Copies the columns first..first + count.
    Helper {
        name: "columns",
        parameters: "to y, from x, int rows, int cols, int first, int count",
        body: "{
  for (INT r = 0; r < rows; r++) {
    for (INT c = 0; c < count; c++) y[r * count + c] = x[r * cols + first + c];
  }
}",
    },
    // Rotates pairs of the first two thirds of the columns, which are queries and keys. A row of the table has cosines, followed by sines.
    Helper {
        name: "rotate",
        parameters: "to y, from x, from table, int rows, int cols, int size",
        body: "{
  for (INT r = 0; r < rows; r++) {
    for (INT c = 0; c < cols; c++) {
      INT part = c % size, half = size / 2, at = r * cols + c;
      REAL cosine = table[r * size + part % half], sine = table[r * size + half + part % half];
      if (c >= cols / 3 * 2) y[at] = x[at];
      else if (part < half) y[at] = x[at] * cosine - x[at + half] * sine;
      else y[at] = x[at] * cosine + x[at - half] * sine;
    }
  }
}",
    },
    // A larger score than all previous scores becomes the new reference of the exponentials. The earlier sums are then rescaled.
    Helper {
        name: "attend",
        parameters: "to y, from x, int rows, int width, int heads",
        body: "{
  INT size = width / heads, cols = 3 * width;
  for (INT r = 0; r < rows; r++) {
    for (INT h = 0; h < width; h += size) {
      REAL top = -1e30, sum = 0;
      for (INT c = h; c < h + size; c++) y[r * width + c] = 0;
      for (INT s = 0; s <= r; s++) {
        REAL score = 0;
        for (INT c = h; c < h + size; c++) score += x[r * cols + c] * x[s * cols + width + c];
        score /= sqrt(size);
        REAL highest = score > top ? score : top, fade = exp(top - highest), share = exp(score - highest);
        sum = sum * fade + share;
        for (INT c = h; c < h + size; c++) y[r * width + c] = y[r * width + c] * fade + share * x[s * cols + 2 * width + c];
        top = highest;
      }
      for (INT c = h; c < h + size; c++) y[r * width + c] /= sum;
    }
  }
}",
    },
    Helper {
        name: "largest",
        parameters: "from x, int n",
        body: "{\n  INT best = 0;\n  for (INT i = 1; i < n; i++) best = x[i] > x[best] ? i : best;\n  return best;\n}",
    },
];
