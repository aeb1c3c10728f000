//! Parsers of argument values, such as `2e6` or `lr=0.003`.

use run::protocol::DeviceWish;
pub use run::typed::{number, set, set_one};

pub fn count(text: &str) -> Result<u64, String> {
    // Above 2^53, f64 cannot represent every whole number.
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

const DEVICES: [(&str, DeviceWish); 3] = [("auto", DeviceWish::Auto), ("cpu", DeviceWish::Cpu), ("gpu", DeviceWish::Gpu)];

pub fn device(text: &str) -> Result<DeviceWish, String> {
    let named = DEVICES.into_iter().find(|(name, _)| *name == text);
    named.map(|(_, wish)| wish).ok_or("choose auto, cpu or gpu".into())
}

pub fn device_name(wish: DeviceWish) -> &'static str {
    DEVICES.into_iter().find(|(_, known)| *known == wish).map_or("auto", |(name, _)| name)
}

pub fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err("write it as KNOB=VALUE, as in lr=0.003".into()),
    }
}

pub fn change(text: &str) -> Result<(u32, String, String), String> {
    let expected = "write it as ITERATION:KNOB=VALUE, as in 320:lr=1e-4";
    let (iteration, assigned) = text.split_once(':').ok_or(expected)?;
    let count = if iteration == "0" { 0 } else { count(iteration).map_err(|_| expected)? };
    let (knob, value) = assignment(assigned).map_err(|_| expected)?;
    Ok((count.try_into().map_err(|_| expected)?, knob, value))
}
