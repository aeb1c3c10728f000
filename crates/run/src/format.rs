//! Numbers, rows and devices as readable text, for text shells.

use crate::protocol::{Column, Confirmation, Device, Goal, Progress, Row, Value};
use crate::room::Schema;
pub use crate::safe_text::{bounded, brief, plain, steers};

/// Formats a number with commas between thousands: `1,572,864`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a number with three significant figures, but at most two decimals, and an SI prefix: `1.57 M`. A number below 9995 has no prefix
/// and keeps all its integer digits: `940`.
pub fn short(x: f64) -> String {
    let (scaled, prefix) = match x.abs() {
        a if a >= 999.5e9 => (x / 1e12, " T"),
        a if a >= 999.5e6 => (x / 1e9, " G"),
        a if a >= 999.5e3 => (x / 1e6, " M"),
        a if a >= 9995.0 => (x / 1e3, " k"),
        _ => (x, ""),
    };
    let decimals = match scaled.abs() {
        a if prefix.is_empty() && x.fract() == 0.0 || a >= 99.95 => 0,
        a if a >= 9.995 => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$}{prefix}")
}

/// Formats a duration in seconds: `0.84 s`, `12.3 s`, `4:07`, `1:02:03`.
pub fn clock(seconds: f64) -> String {
    let whole = seconds as u64;
    match whole {
        0..=9 => format!("{seconds:.2} s"),
        10..=59 => format!("{seconds:.1} s"),
        60..=3599 => format!("{}:{:02}", whole / 60, whole % 60),
        _ => format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60),
    }
}

/// Formats a number, such as a loss, in a few characters, usually at most 7: `0.0213`, `12.41`, `-1.2e-5`.
pub fn figure(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        a if !a.is_finite() => x.to_string(),
        a if a < 1e-3 => format!("{x:.1e}"),
        a if a < 1.0 => format!("{x:.4}"),
        a if a < 100.0 => format!("{x:.2}"),
        _ => short(x),
    }
}

/// Formats a value of a column in a few characters; `-` for `None`.
pub fn value(column: &Column, value: Option<f64>) -> String {
    match value {
        None => "-".into(),
        Some(x) if !x.is_finite() => x.to_string(),
        Some(x) if column.share => format!("{:.0}%", 100.0 * x),
        // A number from 1 to 9995 has exactly one decimal, because users compare such numbers, for example returns and points.
        Some(x) if (1.0..9995.0).contains(&x.abs()) && column.rate.is_none() => format!("{x:.1}"),
        Some(x) => figure(x),
    }
}

/// Formats a share as a percentage: `91.8%`. Values between 99% and 100% are rounded down.
pub fn percent(share: f64) -> String {
    let all = 100.0 * share;
    if all > 99.0 && all < 100.0 {
        return format!("{}%", trimmed(format!("{:.2}", (100.0 * all + 1e-9).floor() / 100.0)));
    }
    format!("{}%", three(all))
}

/// Formats the leading number of a headline: `97.8%`, `0.42` for points, `496.3`, `-87.5`, `9.35`, `1,234`.
pub fn leading(column: &Column, x: f64) -> String {
    match x.abs() {
        a if !a.is_finite() => x.to_string(),
        _ if column.share => percent(x),
        _ if column.unit == "points" => format!("{x:.2}"),
        a if a >= 999.95 => format!("{}{}", if x < 0.0 { "-" } else { "" }, grouped(a.round() as u64)),
        a if a >= 99.995 => trimmed(format!("{x:.1}")),
        _ => three(x),
    }
}

/// Formats a count with three significant figures, with words for large numbers and the unit of its column: `852 thousand steps`.
pub fn amount(column: &Column, count: f64) -> String {
    let words = match count {
        n if n >= 999.5e9 => format!("{} trillion", three(n / 1e12)),
        n if n >= 999.5e6 => format!("{} billion", three(n / 1e9)),
        n if n >= 999.5e3 => format!("{} million", three(n / 1e6)),
        n if n >= 1e3 => format!("{} thousand", three(n / 1e3)),
        n => grouped(n as u64),
    };
    format!("{words} {}", unit(column))
}

/// Formats a number with three significant figures, without zeros at the end: `9.35`, `0.042`, `12`.
fn three(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        a if a < 1e-3 => format!("{x:.1e}"),
        a => trimmed(format!("{x:.*}", (2 - a.log10().floor() as i32).max(0) as usize)),
    }
}

fn trimmed(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// Returns `text` with a small first letter.
pub fn uncapitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// Returns the unit of a counter, or its name if it has no unit.
fn unit(column: &Column) -> &'static str {
    if column.unit.is_empty() { column.name } else { column.unit }
}

/// Formats a count with the unit of its column: `1,572,864 steps`.
pub fn counted(column: &Column, count: f64) -> String {
    format!("{} {}", grouped(count as u64), unit(column))
}

/// Formats a number with a noun in singular or plural: `1 setting`, `5 seeds`.
pub fn plural(n: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(n as u64), if n == 1 { "" } else { "s" })
}

/// Formats all counters: `1,572,864 steps, 7,301 episodes`.
pub fn counts(schema: &Schema, progress: &Progress) -> String {
    let all = schema.counters.iter().zip(&progress.counts);
    all.map(|(column, &count)| counted(column, count)).collect::<Vec<_>>().join(", ")
}

/// Returns the short name and the text of the value for each column that the terminal's status line shows: `return` and `212.5 (9 to 500)`.
pub fn briefs(columns: &[Column], values: &[Option<f64>]) -> Vec<(String, String)> {
    let find = |name: &str| columns.iter().position(|column| column.name == name).and_then(|i| values.get(i).copied()?);
    let shown = |(column, &at): (&Column, &Option<f64>)| {
        let spread = match *column.spread {
            [error] => find(error).map(|e| format!(" ±{e:.2}")),
            [low, high] => find(low).zip(find(high)).map(|(l, h)| format!(" ({l:.0} to {h:.0})")),
            _ => None,
        };
        (column.brief.to_string(), value(column, at) + &spread.unwrap_or_default())
    };
    columns.iter().zip(values).filter(|(column, _)| !column.brief.is_empty()).map(shown).collect()
}

/// Formats the values of a test on one line.
pub fn test(schema: &Schema, row: &Row) -> String {
    let pairs = briefs(schema.tests, &row.values);
    pairs.into_iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

/// Formats a goal in words: `Test return of 475`.
pub fn goal(schema: &Schema, goal: &Goal) -> String {
    let column = schema.test(goal.column).map(|i| &schema.tests[i]);
    let unit = column.map_or("", |column| column.unit);
    let label = column.map_or(goal.column, |column| column.label);
    format!("{label} of {}{}{unit}", goal.at as f32, if unit.is_empty() { "" } else { " " })
}

/// Formats the share of time that each part of an iteration took, the largest share first: `gradient 61%, policy 17%`. `parts_s` contains
/// the parts' seconds, in the order of [`Schema::all_parts`]. Shares below 0.5% are left out. Returns `None` if no time was spent.
pub fn breakdown(schema: &Schema, parts_s: &[f64]) -> Option<String> {
    let whole_s: f64 = parts_s.iter().sum();
    let share = |part_s: f64| 100.0 * part_s / whole_s;
    let mut parts: Vec<(f64, &str)> = parts_s.iter().copied().zip(schema.all_parts().map(|p| p.name)).collect();
    parts.sort_by(|a, b| b.0.total_cmp(&a.0));
    parts.retain(|(part_s, _)| share(*part_s) >= 0.5);
    let words: Vec<String> = parts.into_iter().map(|(part_s, name)| format!("{name} {:.0}%", share(part_s))).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Formats a knob's value in the form that a user types; long texts are cut.
pub fn knob(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Text(text) => fitted(text, 40),
    }
}

/// Formats a failed confirmation in words.
pub fn attempt(failed: &Confirmation) -> String {
    let value = failed.value.map_or("nothing".into(), |value| (value as f32).to_string());
    format!("not solved: a test reached {}, its confirmation {value}; training continues", failed.goal as f32)
}

/// Formats the device in use, with the reason for its choice.
pub fn device(device: &Device) -> String {
    let what = match &device.gpu {
        Some(gpu) if device.on_gpu => gpu.as_str(),
        _ => "the CPU",
    };
    let rates = device.rates.map_or(String::new(), |[cpu, gpu]| format!(" CPU {}/s, GPU {}/s.", short(cpu), short(gpu)));
    format!("device: {what}. {}{rates}", device.why)
}

/// Cuts `text` to `width` characters, including an ellipsis that marks the cut.
pub fn fitted(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// Breaks `text` between words into lines of at most `width` characters. A longer word gets a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}
