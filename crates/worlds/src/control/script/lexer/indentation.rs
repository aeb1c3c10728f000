//! Indentation of the lines of a file.

/// Distance of tab stops in columns.
const TAB: usize = 4;

/// Open blocks, and the character that indents the file.
#[derive(Default)]
pub struct Indentation {
    /// Indentations of the open blocks in columns, in ascending order. The file's own indentation, 0, is not included.
    widths: Vec<usize>,
    /// Character that indents the file's first block, and the line of that block.
    character: Option<(char, u32)>,
    /// True after a line whose indentation contains another character than `character`. Only the first such line is an error.
    mixed: bool,
    /// Width of the latest indentation that matches no open block, and width of the nearest open block, in columns. Later lines with the
    /// first width are read as lines with the second width.
    wrong: Option<(usize, usize)>,
}

/// Change of the indentation at the start of a line.
pub struct Change {
    pub dedents: usize,
    pub indents: bool,
    pub problem: Option<String>,
}

impl Indentation {
    pub fn width(&self) -> usize {
        self.widths.last().copied().unwrap_or_default()
    }

    /// Closes the innermost block. Returns `false` if no block is open.
    pub fn close(&mut self) -> bool {
        self.widths.pop().is_some()
    }

    /// Reads the white space at the start of a line. Returns the change of the indentation.
    pub fn read(&mut self, space: &str, line: u32) -> Change {
        let mut problem = self.mixture(space, line);
        let mut width = space.chars().fold(0, |width, c| match c {
            '\t' => width / TAB * TAB + TAB,
            '\u{c}' => 0,
            _ => width + 1,
        });
        if let Some((wrong, read)) = self.wrong {
            if width == wrong {
                width = read;
            } else if width < read {
                self.wrong = None;
            }
        }
        if width < self.width() && width > 0 && !self.widths.contains(&width) {
            let nearest = self.nearest(width);
            problem = problem.or_else(|| Some(self.unmatched(width)));
            self.wrong = Some((width, nearest));
            width = nearest;
        }
        let before = self.widths.len();
        self.widths.retain(|&open| open <= width);
        let dedents = before - self.widths.len();
        let indents = width > self.width();
        if indents {
            self.widths.push(width);
        }
        Change { dedents, indents, problem }
    }

    /// Checks that the file is indented either by tabs or by spaces. Returns an error message for the first line that differs.
    fn mixture(&mut self, space: &str, line: u32) -> Option<String> {
        let first = space.chars().find(|c| matches!(c, ' ' | '\t'))?;
        let &mut (character, begun) = self.character.get_or_insert((first, line));
        let mixed = space.chars().any(|c| c != character && c != '\u{c}');
        let is_first = mixed && !std::mem::replace(&mut self.mixed, mixed);
        let name = if character == ' ' { "spaces" } else { "tabs" };
        is_first.then(|| match begun == line {
            true => "this line is indented by tabs and spaces; write four spaces for each block".into(),
            false => {
                let found = if space.contains(' ') && space.contains('\t') {
                    "tabs and spaces"
                } else if character == ' ' {
                    "tabs"
                } else {
                    "spaces"
                };
                format!("this line is indented by {found}, and line {begun} by {name}; write four spaces for each block in the whole file")
            }
        })
    }

    /// Returns the indentation of the open block that is nearest to `width`; the smaller of two equally near indentations.
    fn nearest(&self, width: usize) -> usize {
        let all = std::iter::once(0).chain(self.widths.iter().copied());
        all.min_by_key(|&open| open.abs_diff(width)).unwrap_or_default()
    }

    fn unmatched(&self, width: usize) -> String {
        let below = self.widths.iter().copied().filter(|&open| open < width).max().unwrap_or_default();
        let above = self.widths.iter().copied().find(|&open| open > width).unwrap_or(width);
        let columns = if width == 1 { "column" } else { "columns" };
        format!("this line is indented by {width} {columns}, unlike each open block; indent it by {below} or by {above}")
    }
}
