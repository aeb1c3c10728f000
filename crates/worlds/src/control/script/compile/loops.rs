//! Translation of loops. Short loops of a constant length are unrolled. Other loops run with a mask of the lanes that are still in the
//! loop.

use super::super::ast::{Expr, ExprKind, Statement};
use super::super::program::{Instruction, Op, PASS_WORK, Type};
use super::frames::{Bound, Loop, Variable};
use super::items::Items;
use super::lower::{DRAWN, Level, Lower};
use super::survey::{self, Effects};
use super::values::{List, Place, Root, Shape, Slot, Value};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Largest number of passes (iterations) of a loop that is unrolled.
const MOST_UNROLLED: usize = 128;
/// Largest number of expressions in all passes of a loop that is unrolled. Each function that the loop calls counts as 30 expressions per
/// pass.
const MOST_EXPRESSIONS: usize = 1_500;

impl<'a> Lower<'a> {
    pub fn for_loop(&mut self, target: &'a Expr, items: &'a Expr, body: &'a [Statement]) -> Slot {
        let Some(items) = self.items_of(items) else { return self.bool(true) };
        let effects = self.effects_of(body, None, Some(target));
        let calls = effects.methods.len() + effects.functions.len();
        let size = effects.size + 30 * calls;
        match items.passes {
            Some(passes) if passes <= MOST_UNROLLED && passes * size <= MOST_EXPRESSIONS => self.unrolled(&items, passes, target, body),
            _ => self.masked_loop(Some((&items, target)), None, body, &effects),
        }
    }

    pub fn while_loop(&mut self, condition: &'a Expr, body: &'a [Statement]) -> Slot {
        let effects = self.effects_of(body, Some(condition), None);
        self.masked_loop(None, Some(condition), body, &effects)
    }

    /// Returns the effects of a loop's body, condition and target, including the effects of the functions that the loop calls.
    fn effects_of(&self, body: &'a [Statement], condition: Option<&'a Expr>, target: Option<&'a Expr>) -> Effects<'a> {
        let mut effects = survey::effects(body);
        condition.inspect(|condition| survey::visit(condition, &mut |expr| survey::add_expression(&mut effects, expr)));
        for name in effects.methods.clone() {
            self.outline.effects.get(name).inspect(|of| effects.add_call(of));
        }
        for name in effects.functions.clone() {
            self.outline.function_effects.get(name).inspect(|of| effects.add_call(of));
        }
        target.inspect(|target| {
            survey::visit(target, &mut |expr| {
                if let ExprKind::Name(name) = &expr.kind {
                    effects.locals.insert(name);
                }
            });
        });
        effects
    }

    fn enter_loop(&mut self) {
        let id = self.body.temporaries;
        self.body.temporaries += 1;
        let [stopped, left]: [Rc<str>; 2] = [format!("stopped {id}").into(), format!("left {id}").into()];
        let no = Value::Number(self.bool(false), Type::Bool);
        let frame = self.frame();
        self.bind((frame, stopped.clone()), no.clone());
        self.bind((frame, left.clone()), no);
        if let Some(frame) = self.frames.last_mut() {
            frame.loops.push(Loop { stopped, left, at_break: None, at_continue: None });
        }
    }

    /// Ends a loop. Returns a bool that is true in the lanes that continue after the loop. These lanes did not return from the function.
    fn exit_loop(&mut self) -> Slot {
        let frame = self.frame();
        let Some(of) = self.frames.last_mut().and_then(|frame| frame.loops.pop()) else { return self.bool(true) };
        let left = self.slot_of(&(frame, of.left.clone()));
        self.env.remove(&(frame, of.stopped));
        self.env.remove(&(frame, of.left));
        match left {
            Some(left) => self.op(Op::Not, &[left]),
            None => self.bool(true),
        }
    }

    /// Returns a bool that is true in the lanes that have not left the loop.
    fn inside(&mut self) -> Slot {
        let frame = self.frame();
        let Some(of) = self.frames.last().and_then(|frame| frame.loops.last()) else { return self.bool(true) };
        let names = [(frame, of.stopped.clone()), (frame, of.left.clone())];
        let [stopped, left] = names.map(|name| self.slot_of(&name));
        match (stopped, left) {
            (Some(stopped), Some(left)) => {
                let out = self.op(Op::Or, &[stopped, left]);
                self.op(Op::Not, &[out])
            }
            _ => self.bool(true),
        }
    }

    /// Translates `break` if `stops` is true, otherwise `continue`.
    pub fn leave(&mut self, stops: bool) {
        let definite = self.definite();
        let frame = self.frame();
        let yes = Value::Number(self.bool(true), Type::Bool);
        let Some(of) = self.frames.last_mut().and_then(|frame| frame.loops.last_mut()) else { return };
        let set = if stops { &mut of.at_break } else { &mut of.at_continue };
        *set = Some(set.take().map_or(definite.clone(), |set| &set & &definite));
        if stops {
            let variable = (frame, of.stopped.clone());
            self.bind(variable, yes);
        }
    }

    /// Clears the flag `definite` of all variables that are not in the set `to`. `None` changes nothing.
    fn restrict(&mut self, to: Option<BTreeSet<Variable>>) {
        if let Some(to) = to {
            self.env.iter_mut().filter(|(variable, _)| !to.contains(variable)).for_each(|(_, bound)| bound.definite = false);
        }
    }

    /// Translates one pass of a loop's body.
    fn pass(&mut self, item: Option<(&'a Expr, Value)>, body: &'a [Statement]) {
        if let Some((target, item)) = item {
            self.assign_target(target, item);
        }
        self.block(body);
        let at_continue = self.frames.last_mut().and_then(|frame| frame.loops.last_mut()).and_then(|of| of.at_continue.take());
        self.restrict(at_continue);
    }

    fn unrolled(&mut self, items: &Items, passes: usize, target: &'a Expr, body: &'a [Statement]) -> Slot {
        self.enter_loop();
        for k in 0..passes {
            if self.full {
                break;
            }
            let inside = self.inside();
            if self.is_false(inside) {
                break;
            }
            let counter = self.counter_at(items, k);
            if self.is_true(inside) {
                let item = self.item(items, counter);
                self.pass(Some((target, item)), body);
                continue;
            }
            let ((), env) = self.region(Level::If(inside), |lower| {
                let item = lower.item(items, counter);
                lower.pass(Some((target, item)), body);
            });
            self.merge(inside, env, true, true);
        }
        let at_break = self.frames.last_mut().and_then(|frame| frame.loops.last_mut()).and_then(|of| of.at_break.take());
        self.restrict(at_break);
        self.exit_loop()
    }

    /// Returns the variables that a loop changes.
    fn carried(&self, effects: &Effects<'a>) -> Vec<Variable> {
        let mut all: Vec<Variable> = effects.locals.iter().map(|name| self.local(name)).collect();
        all.extend(effects.attributes.iter().map(|name| (0, Rc::from(*name))));
        if effects.draws {
            all.push((0, DRAWN.into()));
        }
        if effects.returns {
            all.push(self.local("return"));
        }
        let loops = self.frames.last().map_or(&[][..], |frame| &frame.loops);
        if effects.breaks {
            all.extend(loops.last().map(|of| (self.frame(), of.stopped.clone())));
        }
        if effects.returns {
            all.extend(loops.iter().map(|of| (self.frame(), of.left.clone())));
        }
        all
    }

    /// Returns a value of the same type in new rows. The passes of a loop write these rows. A list in consecutive rows keeps its rows.
    fn fixed(&mut self, value: &Value) -> Value {
        match value {
            Value::Number(_, ty) => Value::Number(self.temporary(), *ty),
            Value::List(list) if matches!(list.place, Place::Items(_)) => {
                let items = (0..list.len()).map(|_| self.temporary()).collect();
                Value::List(List { place: Place::Items(items), ..list.clone() })
            }
            Value::Tuple(all) => Value::Tuple(all.iter().map(|value| self.fixed(value)).collect()),
            _ => value.clone(),
        }
    }

    /// Returns a value of the type `shape` with all bits 0, for a variable without a value before a loop.
    fn blank(&mut self, shape: &Shape) -> Value {
        let zero = self.int(0);
        match shape {
            Shape::Number(ty) => Value::Number(zero, *ty),
            Shape::List(ty, rows, columns) => {
                let place = Place::Items(vec![zero; rows * columns.unwrap_or(1)].into());
                Value::List(List { ty: *ty, rows: *rows, columns: *columns, place, root: None, is_row: false })
            }
            Shape::Tuple(all) => Value::Tuple(all.iter().map(|shape| self.blank(shape)).collect()),
            Shape::Nothing => Value::Nothing,
        }
    }

    /// Gives each variable that a loop changes its own rows, and copies the variable's value to these rows. Returns the variables with
    /// these rows, and the keys of variables whose types are not known yet.
    fn carry(&mut self, effects: &Effects<'a>) -> (Vec<(Variable, Value)>, Vec<Root>) {
        let (mut carried, mut unknown) = (Vec::new(), Vec::new());
        for variable in self.carried(effects) {
            let known = self.env.get(&variable).map(|bound| (bound.value.clone(), bound.definite));
            let (value, definite) = match known {
                Some(known) => known,
                None => {
                    let root = if variable.0 == 0 { ("self".into(), variable.1.clone()) } else { self.local_root(&variable.1) };
                    let definition = self.frames.last().and_then(|frame| frame.definition);
                    let in_memory = variable.0 != 0 && definition.is_some_and(|of| of.in_memory.contains(&*variable.1));
                    match self.types.get(&root).cloned() {
                        Some(shape) if !(matches!(shape, Shape::List(..)) && (in_memory || variable.0 == 0)) => (self.blank(&shape), false),
                        Some(_) => continue,
                        None => {
                            unknown.push(root);
                            continue;
                        }
                    }
                }
            };
            let fixed = self.fixed(&value);
            self.copy(&fixed, &value, None);
            self.env.insert(variable.clone(), Bound { value: fixed.clone(), definite });
            carried.push((variable, fixed));
        }
        (carried, unknown)
    }

    /// Copies the value `from` to the rows of `to`, in the lanes of the mask; without a mask, in all lanes.
    fn copy(&mut self, to: &Value, from: &Value, mask: Option<Slot>) {
        let mut pairs = Vec::new();
        pair(to, from, &mut pairs);
        self.copy_pairs(pairs, mask);
    }

    fn copy_pairs(&mut self, mut pairs: Vec<(Slot, Slot)>, mask: Option<Slot>) {
        pairs.retain(|(to, from)| to != from);
        let targets: BTreeSet<Slot> = pairs.iter().map(|(to, _)| *to).collect();
        for (_, from) in &mut pairs {
            // If the copy also writes the row `from`, the row is read before all writes.
            if targets.contains(from) {
                *from = self.read_row(*from);
            }
        }
        for (to, from) in pairs {
            let instruction = match mask {
                Some(mask) => Instruction { op: Op::Select, a: mask.0, b: from.0, c: to.0, ..Instruction::NOTHING },
                None => Instruction { op: Op::Move, a: from.0, ..Instruction::NOTHING },
            };
            self.emit(Instruction { d: to.0, ..instruction });
        }
    }

    fn masked_loop(
        &mut self,
        counted: Option<(&Items, &'a Expr)>,
        condition: Option<&'a Expr>,
        body: &'a [Statement],
        effects: &Effects<'a>,
    ) -> Slot {
        let before = self.definite();
        let repeats = self.body.repeats;
        let passes = counted.and_then(|(items, _)| items.passes);
        self.enter_loop();
        let (carried, unknown) = self.carry(effects);
        let mask = self.mask_slot();
        let [lanes, counter, present] = std::array::from_fn(|_| self.temporary());
        self.emit(Instruction { op: Op::Move, d: lanes.0, a: mask.0, ..Instruction::NOTHING });
        if let Some((items, _)) = counted {
            self.emit(Instruction { op: Op::Move, d: counter.0, a: items.start.0, ..Instruction::NOTHING });
        }
        self.body.repeats = repeats.saturating_mul(passes.unwrap_or(1).max(1));
        let head = self.body.code.len();
        let jump = self.emit(Instruction { op: Op::JumpNone, a: lanes.0, ..Instruction::NOTHING });
        self.emit(Instruction { op: Op::Move, d: present.0, a: lanes.0, ..Instruction::NOTHING });
        let (mut endless, mut at_end) = (false, BTreeSet::new());
        self.scoped(Some(Level::Exactly(present)), |lower| {
            let going = match (counted, condition) {
                (Some((items, _)), _) if items.step > 0 => lower.op(Op::LtI, &[counter, items.stop]),
                (Some((items, _)), _) => lower.op(Op::LtI, &[items.stop, counter]),
                (_, Some(condition)) => lower.truth_of(condition),
                _ => lower.bool(true),
            };
            endless = lower.is_true(going);
            let running = lower.temporary();
            lower.emit(Instruction { op: Op::And, d: running.0, a: present.0, b: going.0, ..Instruction::NOTHING });
            let work = lower.body.work;
            let counted_pass = passes.is_none().then(|| lower.emit(Instruction { op: Op::Pass, d: running.0, ..Instruction::NOTHING }));
            let (definite, env) = lower.region(Level::Exactly(running), |lower| {
                let item = counted.map(|(items, target)| (target, lower.item(items, counter)));
                lower.pass(item, body);
                lower.definite()
            });
            at_end = definite;
            lower.merge(running, env, true, true);
            lower.end_pass(&carried, present, running, lanes);
            if let Some((items, _)) = counted {
                lower.count_on(items, counter, lanes);
            }
            let end = lower.emit(Instruction { op: Op::Jump, n: head as u32, ..Instruction::NOTHING });
            lower.body.loops.push((head, end));
            let work = (lower.body.work - work) / lower.body.repeats;
            if let Some(pass) = counted_pass.and_then(|at| lower.body.code.get_mut(at)).filter(|pass| pass.op == Op::Pass) {
                pass.n = work.div_ceil(PASS_WORK) as u32;
            }
        });
        let end = self.body.code.len() as u32;
        if let Some(jump) = self.body.code.get_mut(jump) {
            jump.n = end;
        }
        self.body.repeats = repeats;
        // The variables in `unknown` had no value and no known type before the loop. If this translation has found the type of such a
        // variable, the file must be translated again.
        self.changed |= unknown.iter().any(|root| self.types.contains_key(root));
        if !endless && passes.is_none_or(|passes| passes == 0) {
            at_end.clear();
        }
        self.after_loop(carried, before, endless, at_end)
    }

    /// Adds the step to the counter of a loop. A lane whose next count does not fit into 32 bits leaves the loop.
    fn count_on(&mut self, items: &Items, counter: Slot, lanes: Slot) {
        let step = self.constant(items.step as u32);
        if !self.counts_fit(items) {
            let next = self.op(Op::AddU, &[counter, step]);
            let ordered = if items.step > 0 { [counter, next] } else { [next, counter] };
            let fits = self.op(Op::LtI, &ordered);
            self.emit(Instruction { op: Op::And, d: lanes.0, a: lanes.0, b: fits.0, ..Instruction::NOTHING });
        }
        self.emit(Instruction { op: Op::AddU, d: counter.0, a: counter.0, b: step.0, ..Instruction::NOTHING });
    }

    /// Returns true if the counter of a loop certainly fits into 32 bits, also after the last pass.
    fn counts_fit(&self, items: &Items) -> bool {
        let step = i64::from(items.step);
        let last = match (self.bits(items.start), items.passes) {
            (Some(start), Some(passes)) => Some(i64::from(start as i32) + step * passes as i64),
            _ => None,
        };
        step.abs() == 1 || last.is_some_and(|last| i32::try_from(last).is_ok())
    }

    /// Ends a pass: writes the values of the variables, and the lanes that run the next pass, to their rows.
    fn end_pass(&mut self, carried: &[(Variable, Value)], present: Slot, running: Slot, lanes: Slot) {
        let inside = self.inside();
        let mut pairs = Vec::new();
        for (variable, fixed) in carried {
            let Some(bound) = self.env.get(variable).cloned() else { continue };
            let value = fixed.shape().map_or(Value::Bad, |shape| self.convert(&bound.value, &shape));
            pair(fixed, &value, &mut pairs);
        }
        // The lanes of the next pass depend on rows that the copies change, so the lanes are computed first.
        let next = self.op(Op::And, &[running, inside]);
        self.copy_pairs(pairs, Some(present));
        self.emit(Instruction { op: Op::Move, d: lanes.0, a: next.0, ..Instruction::NOTHING });
    }

    /// Sets the variables after a loop, and returns the lanes that continue after the loop. A variable without a value before the loop has
    /// a value after the loop if every way out of the loop assigns a value. `at_end` contains the variables with a value at the end of a
    /// pass. The set is empty if the loop may have no pass.
    fn after_loop(
        &mut self,
        carried: Vec<(Variable, Value)>,
        before: BTreeSet<Variable>,
        endless: bool,
        at_end: BTreeSet<Variable>,
    ) -> Slot {
        let of = self.frames.last_mut().and_then(|frame| frame.loops.last_mut());
        let at_break = of.and_then(|of| of.at_break.take());
        for (variable, bound) in &mut self.env {
            let broken = at_break.as_ref().is_none_or(|set| set.contains(variable));
            bound.definite = before.contains(variable) || (broken && (endless || at_end.contains(variable)));
        }
        for (variable, fixed) in carried {
            if let Some(bound) = self.env.get_mut(&variable) {
                bound.value = fixed;
            }
        }
        self.exit_loop()
    }
}

/// Appends the pairs of corresponding rows of two values of the same type.
fn pair(to: &Value, from: &Value, out: &mut Vec<(Slot, Slot)>) {
    match (to, from) {
        (Value::Number(to, _), Value::Number(from, _)) => out.push((*to, *from)),
        (Value::Tuple(to), Value::Tuple(from)) => to.iter().zip(from.iter()).for_each(|(to, from)| pair(to, from, out)),
        (Value::List(List { place: Place::Items(to), .. }), Value::List(List { place: Place::Items(from), .. })) => {
            out.extend(to.iter().copied().zip(from.iter().copied()));
        }
        _ => {}
    }
}
