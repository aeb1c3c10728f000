//! What a learner saves of itself: arrays by name.

/// A part of a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    F32(Vec<f32>),
    F64(Vec<f64>),
    U32(Vec<u32>),
    U64(Vec<u64>),
}

impl Data {
    pub fn len(&self) -> usize {
        match self {
            Data::F32(values) => values.len(),
            Data::F64(values) => values.len(),
            Data::U32(values) => values.len(),
            Data::U64(values) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether all of its numbers are: a restored learner begins with no others.
    pub fn is_finite(&self) -> bool {
        match self {
            Data::F32(values) => values.iter().all(|x| x.is_finite()),
            Data::F64(values) => values.iter().all(|x| x.is_finite()),
            Data::U32(_) | Data::U64(_) => true,
        }
    }
}

/// Shape and contents of a part of a checkpoint, by name.
pub type Find<'a> = dyn Fn(&str) -> Option<(&'a [usize], &'a Data)> + 'a;
