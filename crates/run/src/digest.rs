//! A short name for a state of the weights: FNV-1a over their little-endian bytes. It tells two
//! runs apart; it is no defence against somebody who wants them to look alike.

pub(crate) struct Fnv(u64);

impl Fnv {
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub fn value(&self) -> u64 {
        self.0
    }

    pub fn hex(&self) -> String {
        format!("{:016x}", self.0)
    }
}

pub(crate) fn of_weights(weights: &[f32]) -> String {
    let mut hash = Fnv::new();
    for w in weights {
        hash.write(&w.to_le_bytes());
    }
    hash.hex()
}

#[cfg(test)]
mod tests {
    #[test]
    fn fnv_agrees_with_its_published_vectors() {
        // Fowler, Noll, Vo: "" and "foobar".
        let hash = |text: &str| {
            let mut h = super::Fnv::new();
            h.write(text.as_bytes());
            h.hex()
        };
        assert_eq!(hash(""), "cbf29ce484222325");
        assert_eq!(hash("foobar"), "85944171f73967e8");
    }
}
