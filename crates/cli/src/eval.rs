//! `hothouse eval FILE`: a saved agent is tested as its room tests it.

use crate::args::EvalArgs;
use crate::format::counted;
use crate::host::Machine;
use crate::record::Record;
use crate::{Usage, format, rooms, train};
use anyhow::{Context, Result, bail};
use run::protocol::{Event, Row};
use std::io::Write;

pub fn run(args: &EvalArgs) -> Result<()> {
    let machine = Machine::new(&args.machine)?;
    let file = args.file.as_deref().expect("the grammar asks for it");
    let bytes = files::read_checkpoint(file)?;
    let cannot = || format!("cannot use {}", file.display());
    let mut run = machine.pool.install(|| train::restored_from(&bytes, file, &args.data, machine.host))?;
    let schema = run.schema();
    let row: Row = match (args.episodes, args.seed) {
        (None, None) => machine.pool.install(|| run.test())?,
        (episodes, seed) => {
            let tested =
                machine.pool.install(|| rooms::test(schema.id, &bytes, episodes, seed, machine.host));
            let Some(row) = tested else {
                bail!(Usage(format!(
                    "tests of {} have neither --episodes nor --seed. Leave them out",
                    schema.title.to_lowercase()
                )));
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
