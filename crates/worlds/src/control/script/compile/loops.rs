//! Translation of loops. Short loops of a constant length are unrolled. Other loops run with a mask of the lanes that are still in the
//! loop.

use super::super::ast::{Expr, ExprKind, Statement};
use super::super::error::Span;
use super::super::program::{Instruction, Op, PASS_WORK, Type};
use super::frames::{Bound, Loop, Variable};
use super::items::Items;
use super::lower::{DRAWN, Level, Lower};
use super::survey::{self, Effects};
use super::values::{List, Place, Root, Shape, Slot, Value};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Maximum number of passes (iterations) of a loop that is unrolled.
const MOST_UNROLLED: usize = 128;
/// Maximum number of expressions in all passes of a loop that is unrolled. Each function that the loop calls counts as 30 expressions per
/// pass.
const MOST_EXPRESSIONS: usize = 1_500;

/// Variables that a loop changes.
#[derive(Default)]
struct Carried {
    /// Variables with the rows that the passes write.
    known: Vec<(Variable, Value)>,
    /// Local variables without a value before the loop whose lists are in consecutive rows.
    placed: Vec<Variable>,
    /// Variables whose types are not known yet.
    unknown: Vec<Root>,
}

impl<'a> Lower<'a> {
    pub fn for_loop(&mut self, target: &'a Expr, items: &'a Expr, body: &'a [Statement]) -> Slot {
        let Some(mut items) = self.items_of(items) else { return self.bool(true) };
        let used = items.used.take();
        let effects = self.effects_of(body, None, Some(target));
        let calls = effects.methods.len() + effects.functions.len();
        let size = effects.size + 30 * calls;
        let live = match items.passes {
            Some(passes) if passes <= MOST_UNROLLED && passes * size <= MOST_EXPRESSIONS => self.unrolled(&items, passes, target, body),
            _ => self.masked_loop(Some((&items, target)), None, body, &effects),
        };
        self.release(used);
        live
    }

    pub fn while_loop(&mut self, condition: &'a Expr, body: &'a [Statement]) -> Slot {
        let effects = self.effects_of(body, Some(condition), None);
        self.masked_loop(None, Some(condition), body, &effects)
    }

    /// Returns the effects of a loop's body, condition and target, including the effects of the functions that the loop calls.
    fn effects_of(&mut self, body: &'a [Statement], condition: Option<&'a Expr>, target: Option<&'a Expr>) -> Rc<Effects<'a>> {
        if let Some(known) = self.loop_effects.get(&body.as_ptr()) {
            return known.clone();
        }
        let mut effects = survey::effects(body);
        condition.inspect(|condition| survey::visit(condition, &mut |expr| survey::add_expression(&mut effects, expr)));
        self.add_calls(&mut effects);
        target.inspect(|target| {
            survey::visit(target, &mut |expr| {
                if let ExprKind::Name(name) = &expr.kind {
                    effects.locals.insert(name);
                }
            });
        });
        let effects = Rc::new(effects);
        self.loop_effects.insert(body.as_ptr(), effects.clone());
        effects
    }

    /// Adds the changed attributes, the calls and the random draws of all functions that are called.
    fn add_calls(&self, effects: &mut Effects<'a>) {
        let mut open: Vec<(bool, &'a str)> = effects.methods.iter().map(|name| (true, *name)).collect();
        open.extend(effects.functions.iter().map(|name| (false, *name)));
        while let Some((is_method, name)) = open.pop() {
            let all = if is_method { &self.outline.effects } else { &self.outline.function_effects };
            let Some(of) = all.get(name) else { continue };
            effects.attributes.extend(&of.attributes);
            effects.draws |= of.draws;
            open.extend(of.methods.iter().filter(|name| effects.methods.insert(name)).map(|name| (true, *name)));
            open.extend(of.functions.iter().filter(|name| effects.functions.insert(name)).map(|name| (false, *name)));
        }
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
                Value::List(List { ty: *ty, rows: *rows, columns: *columns, place, root: None, view: None, stale: false })
            }
            Shape::Tuple(all) => Value::Tuple(all.iter().map(|shape| self.blank(shape)).collect()),
            Shape::Nothing => Value::Nothing,
        }
    }

    /// Gives each variable that a loop changes its own rows, and copies the variable's value to these rows.
    fn carry(&mut self, effects: &Effects<'a>) -> Carried {
        let mut carried = Carried::default();
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
                        Some(_) => {
                            carried.placed.extend((variable.0 != 0).then_some(variable));
                            continue;
                        }
                        None => {
                            carried.unknown.push(root);
                            continue;
                        }
                    }
                }
            };
            let fixed = self.fixed(&value);
            self.copy(&fixed, &value, None);
            self.env.insert(variable.clone(), Bound { value: fixed.clone(), definite });
            carried.known.push((variable, fixed));
        }
        carried
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
        let span = counted.map(|(_, target)| target.span).or(condition.map(|condition| condition.span)).unwrap_or_default();
        let mark = self.begin_uses(span);
        let repeats = self.body.repeats;
        let passes = counted.and_then(|(items, _)| items.passes);
        self.enter_loop();
        let mut carried = self.carry(effects);
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
        let (mut endless, mut at_end, mut lost) = (false, BTreeSet::new(), Vec::new());
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
            lost = lower.end_pass(&mut carried, present, running, lanes);
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
        self.end_uses(span, mark, lost);
        // The variables in `unknown` of [`Carried`] had no value and no known type before the loop. If this translation has found the
        // type of such a variable, the file must be translated again.
        self.changed |= carried.unknown.iter().any(|root| self.types.contains_key(root));
        if !endless && passes.is_none_or(|passes| passes == 0) {
            at_end.clear();
        }
        self.after_loop(carried.known, before, endless, at_end)
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

    /// Ends a pass: writes the values of the variables, and the lanes that run the next pass, to their rows. Returns the owners of views
    /// that are other views after the pass.
    fn end_pass(&mut self, carried: &mut Carried, present: Slot, running: Slot, lanes: Slot) -> Vec<Root> {
        let inside = self.inside();
        let (mut pairs, mut lost) = (Vec::new(), Vec::new());
        for variable in &carried.placed {
            self.place_rows(variable);
        }
        for (variable, fixed) in &mut carried.known {
            let Some(bound) = self.env.get(variable).cloned() else { continue };
            let value = fixed.shape().map_or(Value::Bad, |shape| self.convert(&bound.value, &shape));
            let value = self.next_list(fixed, value, variable, &mut lost);
            pair(fixed, &value, &mut pairs);
        }
        // The lanes of the next pass depend on rows that the copies change, so the lanes are computed first.
        let next = self.op(Op::And, &[running, inside]);
        self.copy_pairs(pairs, Some(present));
        self.emit(Instruction { op: Op::Move, d: lanes.0, a: next.0, ..Instruction::NOTHING });
        lost
    }

    /// Writes the list of a local variable to its consecutive rows, if its elements are neither there nor constant.
    fn place_rows(&mut self, variable: &Variable) {
        let Some(Bound { value: Value::List(list), .. }) = self.env.get(variable).cloned() else { return };
        if matches!(list.place, Place::Items(_)) && self.needs_rows(&list, &variable.1) {
            let base = self.home(variable.clone(), list.len());
            self.write_rows(base, &list);
            if let Some(Bound { value: Value::List(list), .. }) = self.env.get_mut(variable) {
                list.place = Place::Memory(base);
            }
        }
    }

    /// Returns the value of a variable at the end of a pass. If the value is a list, its place becomes the kind of place that the list
    /// `fixed` has, and `fixed` becomes either of the two lists.
    fn next_list(&mut self, fixed: &mut Value, value: Value, variable: &Variable, lost: &mut Vec<Root>) -> Value {
        let (Value::List(of), Value::List(list)) = (fixed, &value) else { return value };
        let either = of.clone().or_parts_of(list);
        if (&either.root, either.view, either.stale) != (&of.root, of.view, of.stale) {
            lost.extend(of.root.clone());
        }
        *of = either;
        match (&of.place, &list.place) {
            (Place::Items(_), _) => Value::List(List { place: Place::Items(self.items(list)), ..list.clone() }),
            (Place::Memory(from), Place::Memory(to)) if from == to => value,
            _ => {
                let definition = self.frames.last().and_then(|frame| frame.definition);
                let parameter = definition.and_then(|of| of.parameters().iter().find(|of| *of.text == *variable.1));
                let (name, span) = (&variable.1, parameter.map_or_else(Span::default, |of| of.span));
                let message =
                    format!("a loop gives `{name}` a new list, and elements of the caller's list change too; write another name for one");
                self.problem(span, message)
            }
        }
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
