//! Tests of the full-screen terminal.

use cli::internals::{replace_steering, without_colours};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;
use ratatui::style::{Modifier, Style};

#[test]
fn removing_colours_keeps_bold_and_reversed() {
    let strong = Modifier::BOLD | Modifier::REVERSED;
    let mut buffer = Buffer::empty(Rect::new(0, 0, 2, 1));
    buffer.set_string(0, 0, "ab", Style::new().fg(Color::Green).bg(Color::Black).add_modifier(strong));
    without_colours(&mut buffer);
    for cell in &buffer.content {
        assert_eq!((cell.fg, cell.bg, cell.modifier), (Color::Reset, Color::Reset, strong));
    }
    assert_eq!(buffer.content[1].symbol(), "b");
}

#[test]
fn characters_of_files_cannot_steer_the_terminal() {
    let mut buffer = Buffer::empty(Rect::new(0, 0, 5, 1));
    for (cell, symbol) in buffer.content.iter_mut().zip(["\u{1b}", "a\u{202e}", "\u{9b}", "漢", "é"]) {
        cell.set_symbol(symbol);
    }
    replace_steering(&mut buffer);
    let shown: Vec<&str> = buffer.content.iter().map(|cell| cell.symbol()).collect();
    assert_eq!(shown, ["?", "?", "?", "漢", "é"]);
}
