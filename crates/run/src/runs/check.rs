//! Checks whether a run can start from a config on this host.

use crate::permalink::MOST_CHANGES;
use crate::protocol::{Change, Config, Knobs, Variant};
use crate::room::{Room, Setup};
use crate::version::check_version;
use crate::{Host, RunError};

/// Checks the config and returns its variant.
pub fn check<R: Room>(config: &Config, host: Host) -> Result<Variant, RunError> {
    check_version(config.version)?;
    let schema = R::SCHEMA;
    if config.room != schema.id {
        return Err(RunError::OtherRoom { found: config.room.clone(), here: schema.id.into() });
    }
    let setup = Setup::new(config, &config.knobs, host);
    let variant = R::variant(setup)?;
    if R::DATA.is_none() && setup.data.is_some() {
        return Err(RunError::NoData { room: schema.title });
    }
    fits::<R>(setup, host)?;
    check_changes::<R>(config, host)?;
    Ok(variant)
}

fn fits<R: Room>(setup: Setup, host: Host) -> Result<(), RunError> {
    R::check(setup)?;
    // The memory is estimated before anything is allocated.
    let (needs, has_mb) = (bytes::<R>(setup)?, host.memory_bytes >> 20);
    if needs > host.memory_bytes {
        return Err(match setup.data {
            Some(data) if bytes::<R>(Setup { data: None, ..setup })? <= host.memory_bytes => {
                RunError::DataTooLarge { name: data.name.clone(), data_mb: data.bytes >> 20, has_mb }
            }
            _ => RunError::TooMuchMemory { needs_mb: needs >> 20, has_mb },
        });
    }
    Ok(())
}

/// Checks the number of live changes, and each change together with all changes before it.
pub fn check_changes<R: Room>(config: &Config, host: Host) -> Result<(), RunError> {
    let count = config.changes.len();
    if count > MOST_CHANGES {
        return Err(RunError::TooManyChanges { count, most: MOST_CHANGES });
    }
    let known = R::knobs(&config.variant);
    let mut knobs: Knobs = config.knobs.clone();
    for Change { knob, value, .. } in &config.changes {
        knobs.insert(knob.clone(), value.clone());
        fits::<R>(Setup::new(config, &knobs, host), host)?;
        if !known.iter().any(|one| one.name == knob && one.live) {
            return Err(RunError::NotLive { name: knob.clone() });
        }
    }
    Ok(())
}

/// Returns an estimated upper bound of the bytes that a run allocates, including its user data.
pub fn bytes<R: Room>(setup: Setup) -> Result<u64, RunError> {
    Ok(R::bytes(setup)?.saturating_add(setup.data.map_or(0, |data| data.bytes)))
}
