//! Decoding and encoding of checkpoints, for tests that change values in a way that no run does.

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, TensorView};
use std::collections::HashMap;

/// A decoded checkpoint.
#[derive(Clone)]
pub struct Apart {
    /// Hothouse's metadata in the checkpoint.
    pub header: serde_json::Value,
    /// Name, type, shape and bytes of each tensor, in the order in which the checksum covers the tensors.
    pub tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
}

pub fn apart(file: &[u8]) -> Apart {
    let (_, metadata) = SafeTensors::read_metadata(file).unwrap();
    let text = &metadata.metadata().as_ref().unwrap()["hothouse"];
    let all = SafeTensors::deserialize(file).unwrap();
    let tensor = |(name, view): (String, TensorView)| (name, view.dtype(), view.shape().to_vec(), view.data().to_vec());
    let mut tensors: Vec<_> = all.tensors().into_iter().map(tensor).collect();
    tensors.sort_by(|a, b| (a.0 == "run.history", &a.0).cmp(&(b.0 == "run.history", &b.0)));
    Apart { header: serde_json::from_str(text).unwrap(), tensors }
}

impl Apart {
    /// Encodes the checkpoint, with a valid checksum.
    pub fn together(&self) -> Vec<u8> {
        let mut header = self.header.clone();
        header.as_object_mut().unwrap().remove("checksum");
        let mut text = header.to_string();
        text.pop();
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let tensors = self.tensors.iter().flat_map(|t| t.0.bytes().chain(t.3.iter().copied()));
        for byte in text.bytes().chain(tensors) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        text += &format!(r#","checksum":"{hash:016x}"}}"#);
        let views = self.tensors.iter().map(|(name, dtype, shape, bytes)| (name, TensorView::new(*dtype, shape.clone(), bytes).unwrap()));
        safetensors::serialize(views, Some(HashMap::from([("hothouse".to_string(), text)]))).unwrap()
    }

    pub fn tensor(&mut self, name: &str) -> &mut Vec<u8> {
        &mut self.tensors.iter_mut().find(|t| t.0 == name).unwrap_or_else(|| panic!("no {name}")).3
    }

    /// Returns the tensors that determine later training. The history is excluded, because it contains times.
    pub fn state(&self) -> impl Iterator<Item = &(String, Dtype, Vec<usize>, Vec<u8>)> {
        self.tensors.iter().filter(|t| t.0 != "run.history")
    }
    /// Sets the weights of networks and gates to `f32::MAX` and `-f32::MAX`. Training with too large a learning rate can produce such
    /// weights.
    pub fn set_extreme_weights(&mut self) {
        let wild = |name: &str| {
            name.ends_with(".weight") || name.ends_with(".gates") || matches!(name, "weights" | "strong.learned" | "strong.weights")
        };
        for (_, dtype, _, bytes) in self.tensors.iter_mut().filter(|t| wild(&t.0)) {
            assert_eq!(*dtype, Dtype::F32);
            for (i, weight) in bytes.chunks_exact_mut(4).enumerate() {
                let value = if i % 4 < 3 { f32::MAX } else { -f32::MAX };
                weight.copy_from_slice(&value.to_le_bytes());
            }
        }
    }
}
