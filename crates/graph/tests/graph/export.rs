//! Tests of the encodings in exported models.

use graph::internals::{Message, encoded};
use testkit::test;

/// The bytes are those of the examples in the documentation of the format.
#[test]
fn fields_of_messages_have_the_documented_bytes() {
    assert_eq!(Message::default().int(1, 150).done(), [0x08, 0x96, 0x01]);
    assert_eq!(Message::default().text(2, "testing").done(), [0x12, 7, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
    assert_eq!(Message::default().message(3, Message::default().int(1, 150)).done(), [0x1a, 3, 0x08, 0x96, 0x01]);
    assert_eq!(Message::default().int(1, -2).done(), [8, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    assert_eq!(Message::default().float(1, 1.0).done(), [0x0d, 0, 0, 0x80, 0x3f]);
}

#[test]
fn base64_texts_are_those_of_the_standard() {
    let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
    let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
    assert_eq!(texts.map(|text| encoded(text.as_bytes())), expected);
    assert_eq!(encoded(&[0xfb, 0xff]), "+/8=");
}
