//! Entry of a [`Room`] in the list of rooms.

use super::check::{bytes, check};
use super::{AnyRoom, AnyRun, Run};
use crate::protocol::{Config, DataInfo, Dataset, Knob, Problem, Variant};
use crate::room::{Pack, Room, Setup};
use crate::schema::Schema;
use crate::{Host, RunError, shared};
use std::marker::PhantomData;
use std::ops::Range;

/// Entry of the room `R` in the list of rooms. It contains no value of type `R`.
pub struct Entry<R>(PhantomData<fn() -> R>);

impl<R> Entry<R> {
    pub const NEW: Entry<R> = Entry(PhantomData);
}

impl<R: Room> AnyRoom for Entry<R> {
    fn schema(&self) -> &'static Schema {
        R::SCHEMA
    }

    fn variants(&self) -> Vec<Variant> {
        R::variants()
    }

    fn variant(&self, config: &Config, host: Host) -> Result<Variant, RunError> {
        R::variant(Setup::new(config, &config.knobs, host))
    }

    fn problems(&self, text: &str) -> Vec<Problem> {
        R::problems(text)
    }

    fn pack(&self) -> Option<Pack> {
        R::PACK
    }

    fn data_variant(&self) -> Option<&'static str> {
        R::DATA_VARIANT
    }

    fn knobs(&self, variant: &str) -> Vec<Knob> {
        R::knobs(variant)
    }

    fn check(&self, config: &Config, host: Host) -> Result<(), RunError> {
        check::<R>(config, host).map(|_| ())
    }

    fn begin(&self, config: Config, host: Host) -> Result<Box<dyn AnyRun>, RunError> {
        Ok(Box::new(Run::<R>::new(config, host)?))
    }

    fn restore(&self, bytes: &[u8], host: Host, data: Option<&Dataset>) -> Result<Box<dyn AnyRun>, RunError> {
        Ok(Box::new(Run::<R>::restore_with(bytes, host, data)?))
    }

    fn bytes(&self, config: &Config, host: Host) -> Result<u64, RunError> {
        bytes::<R>(Setup::new(config, &config.knobs, host))
    }

    fn data(&self) -> Option<DataInfo> {
        R::DATA
    }

    fn play(&self, due: &[u8], pieces: Range<u64>, host: Host) -> Result<Vec<u8>, RunError> {
        let tensors = shared::unpack::<R>(due, host.isa)?;
        let played = R::play(&|name| learn::part(&tensors, name), pieces, host.isa)?;
        Ok(shared::pack::<R>(played, host.isa))
    }
}
