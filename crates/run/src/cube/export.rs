//! Description of the cube networks for export to other programs.

use crate::export::Described;
use learn::cube::{Cube, CubeLearner};

const SCOPE: &str = "The model judges one state. The rules and the searches for solutions are not in it.";

pub fn described<P: Cube>(learner: &dyn CubeLearner<Cube = P>) -> Described {
    Described { model: learner.exported(), remarks: vec![SCOPE.into()] }
}
