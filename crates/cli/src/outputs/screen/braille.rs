//! A canvas of braille dots. Each terminal cell has two columns and four rows of dots.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;

/// Bit of each dot in a braille character, indexed `[row][column]`.
const BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

pub struct Braille {
    area: Rect,
    cells: Vec<(u8, Color)>,
}

impl Braille {
    pub fn new(area: Rect) -> Braille {
        Braille { area, cells: vec![(0, Color::Reset); usize::from(area.width) * usize::from(area.height)] }
    }

    /// Returns the width in dots.
    pub fn width(&self) -> f64 {
        f64::from(self.area.width) * 2.0
    }

    /// Returns the height in dots.
    pub fn height(&self) -> f64 {
        f64::from(self.area.height) * 4.0
    }

    /// Draws a dot. (0, 0) is the top left corner. Ignores a dot outside the canvas.
    pub fn dot(&mut self, x: f64, y: f64, color: Color) {
        if !(x >= 0.0 && y >= 0.0 && x < self.width() && y < self.height()) {
            return;
        }
        let (x, y) = (x as usize, y as usize);
        let cell = &mut self.cells[y / 4 * usize::from(self.area.width) + x / 2];
        *cell = (cell.0 | BITS[y % 4][x % 2], color);
    }

    pub fn line(&mut self, (x0, y0): (f64, f64), (x1, y1): (f64, f64), color: Color) {
        let (dx, dy) = (x1 - x0, y1 - y0);
        // The maximum limits the work for a line that extends far outside the canvas.
        let steps = dx.abs().max(dy.abs()).ceil().clamp(1.0, 2.0 * (self.width() + self.height()) + 1.0);
        for i in 0..=steps as u32 {
            let t = f64::from(i) / steps;
            self.dot(x0 + t * dx, y0 + t * dy, color);
        }
    }

    pub fn render(&self, buffer: &mut Buffer) {
        let columns = usize::from(self.area.width);
        for (i, &(bits, color)) in self.cells.iter().enumerate() {
            if bits != 0 {
                let position = (self.area.x + (i % columns) as u16, self.area.y + (i / columns) as u16);
                if let Some(cell) = buffer.cell_mut(position) {
                    let glyph = char::from_u32(0x2800 + u32::from(bits)).unwrap_or(' ');
                    cell.set_char(glyph).set_fg(color);
                }
            }
        }
    }
}
