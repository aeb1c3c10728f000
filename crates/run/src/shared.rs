//! What travels between a run whose iterations are shared and who does pieces of them: a learner's parts in the file of runs, with the
//! build that made them. A piece from a build that plays otherwise would be a run that no machine could do again, so it is refused.

use crate::RunError;
use crate::container::{self, Sum, Tensors};
use crate::digest::arithmetic;
use crate::room::Room;
use crate::version::VERSION;
use math::Isa;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Mutex;

#[derive(Serialize, Deserialize)]
struct Header {
    version: u32,
    config: Of,
    build: String,
}

#[derive(Serialize, Deserialize)]
struct Of {
    room: String,
}

/// Its version, its arithmetic, and a hash over pieces that it does.
fn build<R: Room>(isa: Isa) -> String {
    // Found out once, for each room and instruction set.
    static KNOWN: Mutex<BTreeMap<(&str, &str), u64>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let key = (R::SCHEMA.id, isa.name());
    let found = known().get(&key).copied();
    // Pieces are done without the lock: threads that do them may come by here.
    let fingerprint = found.unwrap_or_else(|| R::fingerprint(isa));
    known().insert(key, fingerprint);
    format!("{} {} {fingerprint:016x}", env!("CARGO_PKG_VERSION"), arithmetic(isa))
}

pub(crate) fn pack<R: Room>(tensors: Tensors, isa: Isa) -> Vec<u8> {
    let of = Of { room: R::SCHEMA.id.into() };
    container::pack(&Header { version: VERSION, config: of, build: build::<R>(isa) }, tensors, Sum::Whole)
}

pub(crate) fn unpack<R: Room>(bytes: &[u8], isa: Isa) -> Result<Tensors, RunError> {
    let (text, tensors) = container::unpack(bytes, R::SCHEMA.id, Sum::Whole)?;
    let Header { build: found, .. } = serde_json::from_str(&text).map_err(RunError::damaged)?;
    let here = build::<R>(isa);
    if found != here {
        return Err(RunError::OtherBuild { found, here });
    }
    Ok(tensors)
}
