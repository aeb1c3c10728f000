//! Shapes of the pictures that environments draw.

/// Names of the colours that a shape can have. The numbers are the red, green and blue components, 0 to 255.
pub const COLOURS: [(&str, [u8; 3]); 16] = [
    ("black", [46, 52, 60]),
    ("gray", [128, 134, 142]),
    ("lightgray", [200, 204, 208]),
    ("white", [255, 255, 255]),
    ("red", [200, 70, 60]),
    ("orange", [214, 122, 62]),
    ("yellow", [242, 190, 84]),
    ("green", [74, 140, 90]),
    ("lightgreen", [190, 216, 176]),
    ("darkgreen", [44, 92, 62]),
    ("blue", [64, 118, 164]),
    ("lightblue", [196, 220, 236]),
    ("darkblue", [36, 56, 84]),
    ("purple", [126, 100, 172]),
    ("pink", [228, 158, 176]),
    ("brown", [140, 96, 66]),
];

/// A shape of a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Name of the function that draws the shape.
    pub kind: &'static str,
    /// Numeric arguments; for a polygon, x and y of each corner.
    pub numbers: Vec<f32>,
    /// Text or number that the function `text` writes; `None` for other shapes.
    pub text: Option<String>,
    /// Name of the colour; see [`COLOURS`].
    pub colour: String,
}
