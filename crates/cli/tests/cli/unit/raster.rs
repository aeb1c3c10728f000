//! Tests of the shapes of an environment as coloured half blocks.

use cli::internals::control::Raster;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use run::control::env::{COLOURS, Shape};

fn shape(kind: &'static str, numbers: &[f32], colour: &str) -> Shape {
    Shape { kind, numbers: numbers.to_vec(), text: None, colour: colour.into() }
}

/// Returns the pixel colours of a picture with one pixel per unit of length, as letters: r, g, b, or `.` for paper.
fn letters(size: [f32; 2], shapes: &[Shape]) -> Vec<String> {
    let area = Rect::new(0, 0, size[0] as u16, (size[1] / 2.0) as u16);
    let mut buffer = Buffer::empty(area);
    Raster::new(area, size).draw(shapes, &mut buffer);
    let letter = |found: Color| {
        COLOURS.iter().find(|(_, [r, g, b])| Color::Rgb(*r, *g, *b) == found).map_or('.', |(name, _)| name.chars().next().unwrap())
    };
    let row = |y: u16| -> String {
        let pixel = |x| {
            let cell = &buffer[(x, y / 2)];
            letter(if y.is_multiple_of(2) { cell.fg } else { cell.bg })
        };
        (0..area.width).map(pixel).collect()
    };
    (0..2 * area.height).map(row).collect()
}

#[test]
fn shapes_cover_their_pixels_and_earlier_shapes() {
    let shapes = [
        shape("rect", &[0.0, 0.0, 4.0, 2.0], "red"),
        shape("circle", &[4.0, 4.0, 2.0], "green"),
        shape("polygon", &[6.0, 0.0, 8.0, 0.0, 8.0, 2.0, 6.0, 2.0], "blue"),
        shape("line", &[0.0, 5.5, 3.0, 5.5], "pink"),
    ];
    let expected = ["rrrr..bb", "rrrr..bb", "...gg...", "..gggg..", "..gggg..", "ppppg..."];
    assert_eq!(letters([8.0, 6.0], &shapes), expected);
}

#[test]
fn small_shapes_and_texts_stay_visible_and_far_shapes_are_harmless() {
    let small = shape("circle", &[2.2, 1.2, 0.01], "red");
    let far = [shape("rect", &[1e30, -1e30, 1e30, 1e30], "blue"), shape("line", &[-1e9, 3.0, -1e8, 3.0], "blue")];
    assert_eq!(letters([4.0, 4.0], &[&[small][..], &far].concat())[1], "..r.");
    let area = Rect::new(0, 0, 5, 1);
    let mut buffer = Buffer::empty(area);
    let text = Shape { text: Some("score".into()), ..shape("text", &[2.5, 1.0], "black") };
    Raster::new(area, [5.0, 2.0]).draw(&[text], &mut buffer);
    let row: String = buffer.content.iter().map(|cell| cell.symbol()).collect();
    assert_eq!(row, "score");
}
