//! Writer of protocol buffers: a message is a list of fields, each with its number and its value.

const VARINT: u64 = 0;
const BYTES: u64 = 2;
const FLOAT: u64 = 5;

#[derive(Default)]
pub struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value > 127 {
            self.0.push(value as u8 | 128);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub fn int(mut self, field: u64, value: i64) -> Message {
        self.varint(field << 3 | VARINT);
        self.varint(value as u64);
        self
    }

    pub fn float(mut self, field: u64, value: f32) -> Message {
        self.varint(field << 3 | FLOAT);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub fn bytes(mut self, field: u64, value: &[u8]) -> Message {
        self.varint(field << 3 | BYTES);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub fn text(self, field: u64, value: &str) -> Message {
        self.bytes(field, value.as_bytes())
    }

    pub fn message(self, field: u64, value: Message) -> Message {
        self.bytes(field, &value.0)
    }

    /// Adds one field with this number for each item.
    pub fn each<T>(self, field: u64, items: impl IntoIterator<Item = T>, add: impl Fn(Message, u64, T) -> Message) -> Message {
        items.into_iter().fold(self, |message, item| add(message, field, item))
    }

    pub fn done(self) -> Vec<u8> {
        self.0
    }
}
