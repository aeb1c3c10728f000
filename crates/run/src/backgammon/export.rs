//! Description of the backgammon networks for export to other programs.

use crate::export::Described;
use learn::backgammon::SelfTaught;

const SCOPE: &str = "The model evaluates one position. The rules, look-ahead, the table of bear-off positions and decisions about \
    the doubling cube are not in it.";

pub fn described(learner: &dyn SelfTaught) -> Described {
    Described { model: learner.exported(), remarks: vec![SCOPE.into()] }
}
