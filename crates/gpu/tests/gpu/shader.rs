//! Tests of the embedded texts of kernels.

use gpu::internals::{shortened, utf8};

#[testkit::test]
fn comments_indentation_and_empty_lines_are_left_out() {
    const TEXT: &[u8] = b"// Head.\n\nfn f(x: f32) -> f32 {\n    // Half.\n    return x / 2.0; // not 3\n}\n  \n";
    const SHORT: [u8; shortened::<0>(TEXT).1] = shortened(TEXT).0;
    assert_eq!(utf8(&SHORT), "fn f(x: f32) -> f32 {\nreturn x / 2.0;\n}\n");
}
