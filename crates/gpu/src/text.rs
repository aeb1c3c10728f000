//! WGSL text with constants and repeated lines. A line that begins with `#NAME ` is repeated. [`Text::count`] or [`Text::word`] sets the
//! number of copies for NAME. In each copy, the copy's index replaces `#`.
//!
//! Repeated lines replace loops, because WGSL compilers add a counter to each loop. Drivers do not unroll a loop with this counter, and do
//! not keep an array with a variable index in registers.

use std::fmt::{Display, Write as _};

#[derive(Default)]
pub struct Text {
    pub text: String,
    counts: Vec<(&'static str, usize)>,
}

impl Text {
    pub fn constant(mut self, name: &str, ty: &str, value: impl Display) -> Text {
        let _ = writeln!(self.text, "const {name}: {ty} = {value};");
        self
    }

    pub fn word(self, name: &'static str, value: usize) -> Text {
        self.constant(name, "u32", format_args!("{value}u")).count(name, value)
    }

    pub fn words(self, words: &[(&'static str, usize)]) -> Text {
        words.iter().fold(self, |text, &(name, value)| text.word(name, value))
    }

    /// Adds a count for repeated lines. Unlike [`Text::word`], adds no constant to the text.
    pub fn count(mut self, name: &'static str, value: usize) -> Text {
        self.counts.push((name, value));
        self
    }

    pub fn float(self, name: &str, value: f32) -> Text {
        // The digits are those of the number as an f64. A compiler that parses numbers as f64 therefore obtains exactly the f32.
        self.constant(name, "f32", format_args!("{:?}", f64::from(value)))
    }

    pub fn flag(self, name: &str, value: bool) -> Text {
        self.constant(name, "bool", value)
    }

    pub fn add(mut self, text: &str) -> Text {
        for line in text.lines() {
            match line.trim_start().strip_prefix('#').and_then(|line| line.split_once(' ')) {
                Some((name, line)) => {
                    let count = self.counts.iter().find(|count| count.0 == name).expect("the text has a count of this name").1;
                    (0..count).for_each(|i| self.text += &(line.replace('#', &i.to_string()) + "\n"));
                }
                None => self.text += &format!("{line}\n"),
            }
        }
        self
    }
}
