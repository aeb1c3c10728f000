//! Draws the shapes of an environment as coloured half blocks. A terminal cell shows two pixels, one above the other.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use run::control::env::{COLOURS, Shape};

/// Background colour, also used for an unknown colour name.
const PAPER: [u8; 3] = [250, 250, 247];
/// Width of a drawn line, as a share of the picture's shorter side.
const LINE: f64 = 0.02;
/// Characters for cells whose two pixels have one colour, from dark to light. On a terminal with colours all characters look alike, because
/// a character has the colour of its background.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];

/// A picture of pixels. Coordinates and lengths of shapes have the unit of `size`, the argument of [`Raster::new`].
pub struct Raster {
    area: Rect,
    /// Number of pixels per unit of length.
    scale: f64,
    /// Half of the width of a line, in units of length.
    half: f64,
    pixels: Vec<[u8; 3]>,
}

impl Raster {
    /// Creates an empty picture of width and height `size`, scaled to fit into `within` and centred there.
    pub fn new(within: Rect, size: [f32; 2]) -> Raster {
        let [width, height] = size.map(|side| f64::from(side).max(f64::MIN_POSITIVE));
        let scale = (f64::from(within.width) / width).min(2.0 * f64::from(within.height) / height);
        let columns = ((width * scale).round() as u16).clamp(1, within.width.max(1));
        let rows = ((height * scale / 2.0).round() as u16).clamp(1, within.height.max(1));
        let area = Rect {
            x: within.x + (within.width.saturating_sub(columns)) / 2,
            y: within.y + (within.height.saturating_sub(rows)) / 2,
            width: columns,
            height: rows,
        };
        let half = (width.min(height) * LINE).max(1.0 / scale) / 2.0;
        Raster { area, scale, half, pixels: vec![PAPER; 2 * usize::from(columns) * usize::from(rows)] }
    }

    /// Draws the shapes. A later shape covers an earlier shape; texts cover all other shapes.
    pub fn draw(mut self, shapes: &[Shape], buffer: &mut Buffer) {
        shapes.iter().for_each(|shape| self.fill(shape));
        self.copy(buffer);
        for shape in shapes {
            self.write(shape, buffer);
        }
    }

    fn fill(&mut self, Shape { kind, numbers, colour, .. }: &Shape) {
        let colour = rgb(colour);
        let numbers: Vec<f64> = numbers.iter().map(|&x| f64::from(x)).collect();
        match (*kind, &numbers[..]) {
            ("rect", &[x, y, w, h]) => self.paint([x, y, x + w, y + h], colour, |_, _| true),
            ("circle", &[x, y, r]) => self.paint([x - r, y - r, x + r, y + r], colour, |px, py| (px - x).hypot(py - y) <= r),
            ("line", &[x1, y1, x2, y2]) => {
                let half = self.half;
                let bounds = [x1.min(x2) - half, y1.min(y2) - half, x1.max(x2) + half, y1.max(y2) + half];
                self.paint(bounds, colour, |px, py| distance([px, py], [x1, y1], [x2, y2]) <= half);
            }
            ("polygon", corners) => {
                let corners = corners.as_chunks::<2>().0;
                let bounds = corners.iter().fold([f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY], |b, &[x, y]| {
                    [b[0].min(x), b[1].min(y), b[2].max(x), b[3].max(y)]
                });
                self.paint(bounds, colour, |px, py| is_inside(corners, px, py));
            }
            _ => {}
        }
    }

    /// Paints the pixels within `bounds` (left, top, right, bottom) whose centre is in the shape. If `bounds` is narrower or lower than a
    /// pixel, also paints the pixel in the middle of `bounds`, so that the shape stays visible.
    fn paint(&mut self, bounds: [f64; 4], colour: [u8; 3], contains: impl Fn(f64, f64) -> bool) {
        let (columns, rows) = (usize::from(self.area.width), 2 * usize::from(self.area.height));
        let [left, top, right, bottom] = bounds.map(|side| side * self.scale);
        let range = |from: f64, to: f64, most: usize| {
            let clamped = |at: f64| at.clamp(0.0, most as f64) as usize;
            clamped((from - 0.5).ceil())..clamped((to - 0.5).floor() + 1.0)
        };
        for y in range(top, bottom, rows) {
            for x in range(left, right, columns) {
                if contains((x as f64 + 0.5) / self.scale, (y as f64 + 0.5) / self.scale) {
                    self.pixels[y * columns + x] = colour;
                }
            }
        }
        let (x, y) = ((left + right) / 2.0, (top + bottom) / 2.0);
        let small = right - left < 1.0 || bottom - top < 1.0;
        if small && right >= left && x >= 0.0 && y >= 0.0 && x < columns as f64 && y < rows as f64 {
            self.pixels[y as usize * columns + x as usize] = colour;
        }
    }

    fn copy(&self, buffer: &mut Buffer) {
        let columns = usize::from(self.area.width);
        for (i, pair) in self.pixels.chunks_exact(2 * columns).enumerate() {
            let (upper, lower) = pair.split_at(columns);
            for (x, (&upper, &lower)) in upper.iter().zip(lower).enumerate() {
                let symbol = if upper == lower { shade(upper) } else { '▀' };
                let style = Style::new().fg(color(upper)).bg(color(lower));
                let at = (self.area.x + x as u16, self.area.y + i as u16);
                if let Some(cell) = buffer.cell_mut(at) {
                    cell.set_char(symbol).set_style(style);
                }
            }
        }
    }

    /// Writes the text of a shape, centred horizontally at the shape's point.
    fn write(&self, Shape { numbers, text, colour, .. }: &Shape, buffer: &mut Buffer) {
        let (Some(text), &[x, y, ..]) = (text, &numbers[..]) else { return };
        let (x, y) = (f64::from(x) * self.scale, f64::from(y) * self.scale / 2.0);
        let first = (x - text.chars().count() as f64 / 2.0).round();
        let row = y.floor();
        if !(row >= 0.0 && row < self.area.height.into()) {
            return;
        }
        for (i, letter) in text.chars().enumerate() {
            let column = first + i as f64;
            if column >= 0.0 && column < self.area.width.into() {
                let at = (self.area.x + column as u16, self.area.y + row as u16);
                if let Some(cell) = buffer.cell_mut(at) {
                    cell.set_char(letter).set_fg(color(rgb(colour)));
                }
            }
        }
    }
}

fn rgb(name: &str) -> [u8; 3] {
    COLOURS.iter().find(|(known, _)| *known == name).map_or(PAPER, |(_, rgb)| *rgb)
}

fn color([r, g, b]: [u8; 3]) -> Color {
    Color::Rgb(r, g, b)
}

/// Returns the character that represents a colour on a terminal without colours.
fn shade(colour: [u8; 3]) -> char {
    let sum: usize = colour.iter().map(|&part| usize::from(part)).sum();
    SHADES[sum * SHADES.len() / (3 * 256)]
}

/// Returns the distance of the point `p` from the line segment between `a` and `b`.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    let square = dx * dx + dy * dy;
    let along = if square > 0.0 { ((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / square } else { 0.0 };
    let along = along.clamp(0.0, 1.0);
    (p[0] - a[0] - along * dx).hypot(p[1] - a[1] - along * dy)
}

/// Returns true if a point is inside a polygon: if a ray from the point crosses the sides an odd number of times.
fn is_inside(corners: &[[f64; 2]], x: f64, y: f64) -> bool {
    let next = corners.iter().cycle().skip(1);
    let crossed =
        corners.iter().zip(next).filter(|&(a, b)| (a[1] > y) != (b[1] > y) && x < a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]));
    crossed.count() % 2 == 1
}
