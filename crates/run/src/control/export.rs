//! Description of the policy for export to other programs.

use crate::export::Described;
use learn::control::Ppo;

pub fn described(ppo: &Ppo) -> Described {
    let critic = "The critic and the random choice of actions belong to training and are not in the model.";
    Described { model: ppo.exported(), remarks: vec![critic.into()] }
}
