//! Messages between a shared run and its workers, which are other processes that compute parts of the run's iterations. A message contains
//! tensors in the file format of runs, and the identity of the build that wrote the message. A message from an incompatible build is
//! refused, because no machine could reproduce a run with results of several builds.

use crate::RunError;
use crate::container::{self, Sum, Tensors};
use crate::digest::arithmetic;
use crate::json;
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

/// Returns the identity of this build: the version, the arithmetic, and a hash of the results of sample work.
fn build<R: Room>(isa: Isa) -> String {
    // Cache of the hash for each room and instruction set.
    static KNOWN: Mutex<BTreeMap<(&str, &str), u64>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let key = (R::SCHEMA.id, isa.name());
    let found = known().get(&key).copied();
    // The lock is free during the computation, because the threads that compute the pieces may call this function too.
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
    let Header { build: found, .. } = json::read(&text).map_err(RunError::damaged)?;
    let here = build::<R>(isa);
    if found != here {
        return Err(RunError::OtherBuild { found, here });
    }
    Ok(tensors)
}
