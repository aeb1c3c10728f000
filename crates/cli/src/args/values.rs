//! Values as people write them.

use run::RunError;
use run::protocol::{DeviceWish, Knob, KnobKind, Knobs, Value};

/// A number as people write it: `2000000`, `2_000_000`, `2e6`, `2.5e6`.
pub fn number(text: &str) -> Result<f64, String> {
    let grouped = text.split('_').all(|part| !part.is_empty());
    let digits = text.replace('_', "");
    match digits.parse::<f64>() {
        Ok(value) if grouped && value.is_finite() => Ok(value),
        _ => Err("write a number, as in 2e6 or 2_000_000".into()),
    }
}

pub fn count(text: &str) -> Result<u64, String> {
    // Beyond 2^53 not every whole number is an f64.
    match number(text)? {
        value if value >= 1.0 && value <= (1u64 << 53) as f64 && value.fract() == 0.0 => Ok(value as u64),
        _ => Err("write a whole number from 1, as in 2e6 or 2_000_000".into()),
    }
}

pub fn up_to_a_million(text: &str) -> Result<u32, String> {
    match count(text)? {
        value @ 1..=1_000_000 => Ok(value as u32),
        _ => Err("write a whole number from 1 to 1_000_000".into()),
    }
}

pub fn seconds(text: &str) -> Result<f64, String> {
    match number(text)? {
        value if value > 0.0 => Ok(value),
        _ => Err("write seconds above 0, as in 90 or 0.5".into()),
    }
}

pub fn device(text: &str) -> Result<DeviceWish, String> {
    match text {
        "auto" => Ok(DeviceWish::Auto),
        "cpu" => Ok(DeviceWish::Cpu),
        "gpu" => Ok(DeviceWish::Gpu),
        _ => Err("choose auto, cpu or gpu".into()),
    }
}

pub fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("write it as KNOB=VALUE, as in lr=0.003".into()),
    }
}

pub fn change(text: &str) -> Result<(u32, String, String), String> {
    let wrong = "write it as ITERATION:KNOB=VALUE, as in 320:lr=1e-4";
    let (iteration, assigned) = text.split_once(':').ok_or(wrong)?;
    let count = if iteration == "0" { 0 } else { count(iteration).map_err(|_| wrong)? };
    let (knob, value) = assignment(assigned).map_err(|_| wrong)?;
    Ok((count.try_into().map_err(|_| wrong)?, knob, value))
}

/// What was set, each checked against the knobs there are. A number may be written as people write it.
pub fn set(given: &[(String, String)], knobs: &[Knob]) -> Result<Knobs, RunError> {
    given.iter().map(|(name, text)| Ok((name.clone(), set_one(name, text, knobs)?))).collect()
}

pub fn set_one(name: &str, text: &str, knobs: &[Knob]) -> Result<Value, RunError> {
    let knob = knobs.iter().find(|knob| knob.name == name).ok_or_else(|| RunError::UnknownKnob {
        name: name.into(),
        known: knobs.iter().map(|knob| knob.name).collect::<Vec<_>>().join(", "),
    })?;
    let plain = match knob.kind {
        KnobKind::Bool if text == "yes" => "1".into(),
        KnobKind::Bool if text == "no" => "0".into(),
        KnobKind::Choice { .. } | KnobKind::Text { .. } => text.to_string(),
        _ => number(text).map_or_else(|_| text.to_string(), |value| value.to_string()),
    };
    run::knobs::parse(knob, &plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_are_set_as_their_kind_wants() {
        let knobs = run::rooms()[0].knobs(run::rooms()[0].variants()[0].id);
        let set = |name: &str, text: &str| set_one(name, text, &knobs);
        assert_eq!(set("lr", "3e-3").unwrap(), 0.003.into());
        assert_eq!(set("envs", "1_024").unwrap(), 1024.0.into());
        for yes in ["1", "on", "true", "yes"] {
            assert_eq!(set("clip_value", yes).unwrap(), 1.0.into());
        }
        assert!(set("lr", "fast").is_err() && set("lr", "99").is_err() && set("wings", "2").is_err());
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        assert_eq!(count("2e6"), Ok(2_000_000));
        assert_eq!(count("1_000_000"), Ok(1_000_000));
        assert_eq!(count("2.5e3"), Ok(2500));
        for bad in ["", "0", "-1", "1.5", "1e99", "nan", "inf", "_1", "1__0", "1_", "ten"] {
            assert!(count(bad).is_err(), "{bad}");
        }
        assert_eq!(seconds("0.5"), Ok(0.5));
        assert!(seconds("0").is_err() && seconds("-3").is_err());
        assert_eq!(assignment("lr=3e-3"), Ok(("lr".into(), "3e-3".into())));
        assert!(assignment("lr").is_err() && assignment("=3").is_err());
        assert!(up_to_a_million("1e7").is_err());
        assert_eq!(change("3e2:lr=3e-3"), Ok((300, "lr".into(), "3e-3".into())));
        assert_eq!(change("0:lr=1"), Ok((0, "lr".into(), "1".into())));
        for bad in ["lr=1", "1.5:lr=1", "-1:lr=1", "5:lr", "5:=1", "4294967296:lr=1"] {
            assert!(change(bad).is_err(), "{bad}");
        }
    }
}
