//! `hothouse eval FILE`: runs the room's test on the agent of a checkpoint.

use crate::args::EvalArgs;
use crate::error::Usage;
use crate::format;
use crate::format::counted;
use crate::host::Machine;
use crate::rooms;
use crate::session::begin;
use crate::session::record::Record;
use crate::shell::RoomShell;
use anyhow::{Context, Result, bail};
use run::protocol::{Event, Row};
use std::io::Write;

pub fn run(args: &EvalArgs) -> Result<()> {
    let machine = Machine::new(&args.machine)?;
    let file = args.file.as_deref().expect("the grammar requires it");
    let bytes = files::read_checkpoint(file)?;
    let cannot = || format!("cannot use {}", file.display());
    let mut run = machine.pool.install(|| begin::restored_from(&bytes, file, &args.data, machine.host))?;
    let schema = run.schema();
    let row: Row = match (args.episodes, args.seed) {
        (None, None) => machine.pool.install(|| run.test())?,
        (episodes, seed) => {
            let test = |shell: &'static dyn RoomShell| shell.test(&bytes, episodes, seed.unwrap_or(1), machine.host);
            let tested = machine.pool.install(|| rooms::shell(schema.id).and_then(test));
            let Some(row) = tested else {
                bail!(Usage(format!("tests of {} accept neither --episodes nor --seed. Omit them", schema.title.to_lowercase())));
            };
            row.with_context(cannot)?
        }
    };
    let mut out = crate::plain::stdout();
    if args.json {
        writeln!(out, "{}", Record::Event(Event::Test(row)).line(schema))?;
    } else {
        let config = run.config();
        let after = counted(&schema.counters[0], row.progress.counts[0]);
        let test = format::test(schema, &row);
        writeln!(out, "{} / {}, seed {}, after {after}: {test}", config.room, config.variant, config.seed)?;
    }
    Ok(())
}
