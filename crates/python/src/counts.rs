//! Whole numbers from Python, such as the number of environments.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::ops::RangeInclusive;

/// Number of characters of an invalid value in an error message.
const SHOWN: usize = 40;

/// Returns the whole number `value`. Raises an error that names the argument `name` and the permitted range if the value is no whole number
/// or not in the range.
pub fn whole(name: &str, value: &Bound<PyAny>, range: RangeInclusive<u64>) -> PyResult<u64> {
    let found = value.extract::<u64>();
    if let Some(&number) = found.as_ref().ok().filter(|number| range.contains(number)) {
        return Ok(number);
    }
    // A very long number has no text in Python.
    let text = value.repr().map_or("this value".into(), |text| text.to_string());
    let shown: String = text.chars().take(SHOWN).collect();
    let choose = format!("Choose {} to {}", range.start(), range.end());
    Err(match found {
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => {
            PyTypeError::new_err(format!("{name} = {shown} is not a whole number. {choose}"))
        }
        _ => PyValueError::new_err(format!("{name} = {shown} is out of range. {choose}")),
    })
}

/// Returns a seed, which is a whole number below 2^32.
pub fn seed(value: &Bound<PyAny>) -> PyResult<u32> {
    Ok(whole("seed", value, 0..=u32::MAX.into())? as u32)
}
