//! Numbers and devices as people read them.

use run::protocol::Device;

/// `1,572,864`
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

/// `940`, `1.57 M`: three figures and the prefix engineers use.
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

/// `0.84 s`, `12.3 s`, `4:07`, `1:02:03`
pub fn clock(seconds: f64) -> String {
    let whole = seconds as u64;
    match whole {
        0..=9 => format!("{seconds:.2} s"),
        10..=59 => format!("{seconds:.1} s"),
        60..=3599 => format!("{}:{:02}", whole / 60, whole % 60),
        _ => format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60),
    }
}

/// A learner's number in at most `7` places: `0.0213`, `12.4`, `-1.2e-5`.
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

/// What trains, and why.
pub fn device(told: &Device) -> String {
    let what = match &told.gpu {
        Some(gpu) if told.on_gpu => gpu.as_str(),
        _ => "the processor",
    };
    let rates = told.rates.map_or(String::new(), |[processor, gpu]| {
        format!(" Processor {}/s, GPU {}/s.", short(processor), short(gpu))
    });
    format!("device: {what}. {}{rates}", told.why)
}

/// `text` cut to `width` columns, with a mark where something is missing.
pub fn fitted(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_string();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// One argument of a command line, safe to paste into a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:+@%,\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    if cfg!(windows) { format!("\"{word}\"") } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// The lines of `text`, broken between words at `width` columns.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_572_864), "1,572,864");
        assert_eq!(
            ["0", "475", "1.57 M", "12.3 k", "2.00 M"],
            [0.0, 475.0, 1_572_864.0, 12_345.0, 2e6]
                .map(short)
                .map(|s| Box::leak(s.into_boxed_str()) as &str)
        );
        assert_eq!([0.84, 12.34, 247.0, 3723.0].map(clock), ["0.84 s", "12.3 s", "4:07", "1:02:03"]);
        assert_eq!([0.0213, 0.0, -1.2e-5, 12.414].map(figure), ["0.0213", "0", "-1.2e-5", "12.41"]);
        assert_eq!(figure(f64::NAN), "NaN");
    }

    #[test]
    fn text_is_cut_broken_and_quoted() {
        assert_eq!(fitted("three small words", 9), "three sm…");
        assert_eq!(fitted("words", 5), "words");
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(quoted("run.safetensors"), "run.safetensors");
        #[cfg(unix)]
        assert_eq!(quoted("it's mine"), r"'it'\''s mine'");
    }
}
