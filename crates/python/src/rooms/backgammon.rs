//! Rules of backgammon: positions in the format of GNU Backgammon's ids, and all results of a roll.

use crate::arrays;
use numpy::{Ix3, PyArray3, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use worlds::backgammon::{BAR, Board, Results, Roll, notation};

pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(backgammon_start, module)?)?;
    module.add_function(wrap_pyfunction!(backgammon_boards, module)?)?;
    module.add_function(wrap_pyfunction!(backgammon_ids, module)?)?;
    module.add_function(wrap_pyfunction!(backgammon_results, module)?)
}

fn wrong(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn board(id: &str) -> PyResult<Board> {
    Board::from_id(id).map_err(wrong)
}

/// Id of the start position.
#[pyfunction]
fn backgammon_start() -> String {
    Board::START.id().as_str().into()
}

/// Number of checkers at each place, `[n][2][25]`. The places are points 1 to 24 and the bar, first of the player on roll, then of the
/// opponent. Each side has its own numbering of the points.
#[pyfunction]
fn backgammon_boards<'py>(py: Python<'py>, ids: Vec<String>) -> PyResult<Bound<'py, PyArray3<u8>>> {
    let mut places = Vec::with_capacity(ids.len() * 2 * BAR);
    for id in &ids {
        let board = board(id)?;
        places.extend(board.mine().places());
        places.extend(board.theirs().places());
    }
    numpy::PyArray1::from_vec(py, places).reshape([ids.len(), 2, BAR])
}

/// Ids of boards in the format of [`backgammon_boards`].
#[pyfunction]
fn backgammon_ids(boards: &Bound<PyAny>) -> PyResult<Vec<String>> {
    let boards = arrays::read::<u8, Ix3>(boards, "boards")?;
    if boards.shape()[1..] != [2, BAR] {
        return Err(wrong(format!("boards must have shape (n, 2, {BAR}), not {:?}", boards.shape())));
    }
    let sides = boards.as_slice()?.as_chunks::<BAR>().0.as_chunks::<2>().0;
    sides.iter().map(|&[mine, theirs]| Ok(Board::new(mine, theirs).map_err(wrong)?.id().as_str().into())).collect()
}

/// All distinct results of a roll from each position, as pairs of an id and a move. The id is from the point of view of the player who
/// moved.
#[pyfunction]
fn backgammon_results(ids: Vec<String>, dice: (u8, u8)) -> PyResult<Vec<Vec<(String, String)>>> {
    let roll = Roll::new(dice.0, dice.1).map_err(wrong)?;
    let mut room = Results::new();
    ids.iter()
        .map(|id| {
            let from = board(id)?;
            let results = from.results(roll, &mut room).to_vec();
            let named = |to: &Board| Ok((to.id().as_str().to_string(), notation::write(&from, roll, to).map_err(wrong)?));
            results.iter().map(named).collect()
        })
        .collect()
}
