//! One screen of a run, drawn from its view: type and thin rules, no boxes. It refuses to keep
//! state; the same screen gives the same cells, which is how it is tested.

use crate::braille::Braille;
use crate::screen::{Mode, Screen};
use crate::view::View;
use crate::words::{clock, figure, fitted, grouped, short, wrapped};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use run::protocol::{Axis, Environment, Knob, KnobKind, Level, PARTS};

const ACCENT: Color = Color::Green;
const MARKED: Color = Color::Yellow;
const FAINT: Color = Color::DarkGray;

/// Half the track of CartPole-v1 (m), and the part of a pole's height that is the pole.
const TRACK_M: f64 = 2.4;
const POLE_SHARE: f64 = 0.78;

pub fn draw(frame: &mut Frame, screen: &Screen) {
    let area = frame.area();
    if area.width < 40 || area.height < 8 {
        let mean = screen.view.metrics.and_then(|m| m.mean_return).map_or("-".into(), |r| format!("{r:.1}"));
        frame.render_widget(format!("return {mean}"), area);
        return;
    }
    let area = Rect { x: area.x + 1, width: area.width - 2, ..area };
    // The lower part gives way first; the curve is what people came for.
    let lower = if area.height >= 20 { 7 } else { 0 };
    let [head, rule, figures, _, upper, _, time, lower, _, note, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(u16::from(area.height >= 14)),
        Constraint::Min(3),
        Constraint::Length(u16::from(area.height >= 28)),
        Constraint::Length(if area.height >= 28 { 3 } else { u16::from(lower > 0) }),
        Constraint::Length(lower),
        Constraint::Length(u16::from(area.height >= 26)),
        Constraint::Length(if area.height >= 16 { 2 } else { 1 }),
        Constraint::Length(1),
    ])
    .areas(area);
    let right = if area.width >= 72 { (area.width * 2 / 5).clamp(28, 64) } else { 0 };
    let sides = |area: Rect| -> [Rect; 3] {
        let gap = if right > 0 { 2 } else { 0 };
        Layout::horizontal([Constraint::Min(20), Constraint::Length(gap), Constraint::Length(right)])
            .areas(area)
    };

    header(frame, head, screen);
    frame.render_widget(faint("─".repeat(rule.width.into())), rule);
    headline(frame, figures, &screen.view);
    // Who watches another process gets no poles, but the whole width for the curve.
    let no_poles = screen.mode == Mode::Watching && screen.clip.is_empty();
    let [chart_area, _, poles_area] = if no_poles { [upper, Rect::ZERO, Rect::ZERO] } else { sides(upper) };
    chart(frame, chart_area, &screen.view);
    population(frame, poles_area, screen);
    breakdown(frame, time, &screen.view);
    let [learning_area, _, knobs_area] = sides(lower);
    if right > 0 {
        learning(frame, learning_area, &screen.view);
        knobs(frame, knobs_area, screen);
    } else {
        knobs(frame, learning_area, screen);
    }
    self::note(frame, note, screen);
    footer(frame, foot, screen);
}

fn faint(text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), Style::new().fg(FAINT))
}

fn bold(text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), Style::new().add_modifier(Modifier::BOLD))
}

fn header(frame: &mut Frame, area: Rect, screen: &Screen) {
    let view = &screen.view;
    let mut left = vec![bold("hothouse")];
    if let Some(c) = &view.config {
        left.push(Span::raw(format!("  {}  {}  seed {}", c.room, c.env, c.seed)));
    }
    let o = &view.opened;
    let threads = if o.threads == 1 { "thread" } else { "threads" };
    let gpu = view.device.as_ref().filter(|device| device.on_gpu).and_then(|device| device.gpu.as_ref());
    let right = match gpu {
        Some(gpu) => gpu.clone(),
        None => format!("{}  {}  {} {threads}", o.isa, o.arithmetic, o.threads),
    };
    let left = Line::from(left);
    let room = usize::from(area.width).saturating_sub(left.width() + 2);
    frame.render_widget(left, area);
    if right.chars().count() <= room {
        frame.render_widget(Line::from(faint(right)).right_aligned(), area);
    }
}

/// The few numbers that matter most.
fn headline(frame: &mut Frame, area: Rect, view: &View) {
    let state = match (&view.summary, view.running) {
        (Some(_), _) => "ended",
        (None, false) => "paused",
        (None, true) => "",
    };
    let mut spans = Vec::new();
    let mut room = usize::from(area.width).saturating_sub(if state.is_empty() { 0 } else { state.len() + 2 });
    let mut pair = |label: &str, value: String, style: Style| {
        let gap = if spans.is_empty() { "" } else { "   " };
        let wanted = gap.len() + label.len() + 1 + value.chars().count();
        // What does not fit whole is left out, and so is all that comes after it.
        let fits = wanted <= room;
        room = room.saturating_sub(wanted);
        if fits {
            spans.push(faint(format!("{gap}{label} ")));
            spans.push(Span::styled(value, style));
        }
    };
    let strong = Style::new().add_modifier(Modifier::BOLD);
    let metrics = view.metrics.unwrap_or_default();
    pair("return", metrics.mean_return.map_or("-".into(), |r| format!("{r:.1}")), strong.fg(ACCENT));
    if let Some(e) = &view.evaluation {
        pair("evaluation", format!("{:.1}", e.mean_return), strong);
    }
    if let Some(at) = &view.solved {
        pair("solved at", clock(at.train_s), strong);
    }
    pair("time", clock(view.progress.train_s), Style::new());
    pair("steps/s", short(metrics.steps_per_s), Style::new());
    pair("steps", short(view.progress.env_steps as f64), Style::new());
    frame.render_widget(Line::from(spans), area);
    frame.render_widget(Line::styled(state, Style::new().fg(MARKED)).right_aligned(), area);
}

/// Returns against steps, with the threshold, evaluations, and what was changed on the way.
fn chart(frame: &mut Frame, area: Rect, view: &View) {
    const GUTTER: u16 = 6;
    if area.height < 3 || area.width < GUTTER + 8 {
        return;
    }
    // What was changed is named above the curve, once there is something to name.
    let names = u16::from(!view.marks.is_empty() && area.height >= 6);
    let plot = Rect {
        x: area.x + GUTTER,
        y: area.y + names,
        width: area.width - GUTTER,
        height: area.height - 1 - names,
    };
    let points: Vec<(f64, f64)> = view.returns.iter().collect();
    let evaluations: Vec<(f64, f64)> = view.evaluations.iter().collect();
    let all = || points.iter().chain(&evaluations);
    let right = all().map(|p| p.0).fold(1.0, f64::max);
    let (threshold, [low, high]) =
        view.environment.as_ref().map_or((0.0, [0.0, 1.0]), |e| (e.solved_at, e.returns));
    let top = match all().map(|p| p.1).fold(high, f64::max) {
        beyond if beyond > high => nice_above(beyond),
        _ => high,
    };
    let bottom = match all().map(|p| p.1).fold(low, f64::min) {
        beyond if beyond < low => -nice_above(-beyond),
        _ => low,
    };
    let mut canvas = Braille::new(plot);
    let (w, h) = (canvas.width() - 1.0, canvas.height() - 1.0);
    let at = |(x, y): (f64, f64)| (x / right * w, (top - y) / (top - bottom) * h);

    let level = at((0.0, threshold)).1;
    (0..=w as u32).step_by(6).for_each(|x| canvas.dot(x.into(), level, FAINT));
    for mark in &view.marks {
        let x = at((mark.progress.env_steps as f64, 0.0)).0;
        (0..=h as u32).step_by(3).for_each(|y| canvas.dot(x, y.into(), MARKED));
    }
    for &e in &evaluations {
        let (x, y) = at(e);
        canvas.dot(x, y, Color::Reset);
        canvas.dot(x, y - 1.0, Color::Reset);
    }
    points.windows(2).for_each(|pair| canvas.line(at(pair[0]), at(pair[1]), ACCENT));
    if let [only] = points[..] {
        canvas.dot(at(only).0, at(only).1, ACCENT);
    }
    let buffer = frame.buffer_mut();
    canvas.render(buffer);

    // The newest marks keep their names where names would collide.
    let mut free_until = plot.right();
    for mark in view.marks.iter().rev() {
        let column = plot.x + (at((mark.progress.env_steps as f64, 0.0)).0 / 2.0) as u16;
        let name = fitted(&mark.knob, 10);
        let width = name.chars().count() as u16;
        let start =
            if column + 1 + width <= plot.right() { column + 1 } else { column.saturating_sub(width) };
        if names > 0 && start >= plot.x && start + width <= free_until {
            buffer.set_string(start, area.y, name, Style::new().fg(MARKED));
            free_until = start.saturating_sub(1);
        }
    }

    let label = |value: f64| format!("{:>5}", short(value));
    for (row, value) in [(0, top), (plot.height / 2, (top + bottom) / 2.0), (plot.height - 1, bottom)] {
        // Three labels need room; the ends come first.
        if row == 0 || row == plot.height - 1 || plot.height >= 5 {
            buffer.set_string(area.x, plot.y + row, label(value), Style::new().fg(FAINT));
        }
    }
    let below = area.bottom() - 1;
    buffer.set_string(plot.x, below, "0", Style::new().fg(FAINT));
    let end = format!("{} steps", short(right));
    buffer.set_string(plot.right().saturating_sub(end.len() as u16), below, &end, Style::new().fg(FAINT));
    let fits = |title: &&str| title.len() + end.len() + 6 < usize::from(plot.width);
    if let Some(title) = ["mean return of the last 100 episodes", "mean return"].into_iter().find(fits) {
        buffer.set_string(plot.x + 3, below, title, Style::new().fg(FAINT));
    }
}

/// The next of 1, 2, 2.5, 5, 10 times a power of ten.
fn nice_above(x: f64) -> f64 {
    if !(x.is_finite() && x > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(x.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|n| *n >= x).unwrap_or(10.0 * power)
}

/// Some of the environments that train, at the pace of the real thing: poles as they stand, of any other
/// world where each is in its plane.
fn population(frame: &mut Frame, area: Rect, screen: &Screen) {
    let (Some(environment), false) = (&screen.view.environment, screen.clip.is_empty()) else { return };
    if area.height < 4 || area.width < 10 {
        return;
    }
    if environment.id == "CartPole-v1" {
        poles(frame, area, screen);
    } else {
        plane(frame, area, screen, environment);
    }
}

fn plane(frame: &mut Frame, area: Rect, screen: &Screen, environment: &Environment) {
    let place = Rect { height: area.height - 1, ..area };
    let mut canvas = Braille::new(place);
    let (w, h) = (canvas.width() - 1.0, canvas.height() - 1.0);
    let at = |axis: &Axis, observation: &[f32]| {
        let value = match axis.of[..] {
            [cos, sin] => f64::from(observation[sin as usize].atan2(observation[cos as usize])),
            [i, ..] => f64::from(observation[i as usize]),
            [] => axis.low,
        };
        ((value - axis.low) / (axis.high - axis.low)).clamp(0.0, 1.0)
    };
    let [x, y] = &environment.plane;
    let middle = |axis: &Axis, size: f64| {
        (axis.low < 0.0 && axis.high > 0.0).then(|| -axis.low / (axis.high - axis.low) * size)
    };
    if let Some(column) = middle(x, w) {
        (0..=h as u32).step_by(4).for_each(|row| canvas.dot(column, row.into(), FAINT));
    }
    if let Some(row) = middle(y, h) {
        (0..=w as u32).step_by(4).for_each(|column| canvas.dot(column.into(), h - row, FAINT));
    }
    let mut shown = 0;
    for observation in screen.clip.now() {
        canvas.dot(at(x, observation) * w, (1.0 - at(y, observation)) * h, ACCENT);
        shown += 1;
    }
    let buffer = frame.buffer_mut();
    canvas.render(buffer);
    let caption = format!("{shown} environments: {} across, {} up", x.name, y.name);
    buffer.set_string(area.x, area.bottom() - 1, fitted(&caption, area.width.into()), Style::new().fg(FAINT));
}

fn poles(frame: &mut Frame, area: Rect, screen: &Screen) {
    let states: Vec<[f32; 2]> =
        screen.clip.now().map(|observation| [observation[0], observation[2]]).collect();
    let place = Rect { height: area.height - 1, ..area };
    // Characters are about twice as high as wide, so these are nearly square.
    let rows = (place.height / 4).clamp(1, 5);
    let columns = (place.width / 9).clamp(1, 6);
    let shown = usize::from(rows * columns).min(states.len());
    let mut canvas = Braille::new(place);
    let (w, h) = ((canvas.width() / f64::from(columns)).floor(), (canvas.height() / f64::from(rows)).floor());
    for (i, &[x_m, angle]) in states.iter().take(shown).enumerate() {
        let (column, row) = (i % usize::from(columns), i / usize::from(columns));
        let (left, ground) = (column as f64 * w, (row + 1) as f64 * h - 3.0);
        let track = w - 4.0;
        let foot = (left + track * (0.5 + 0.5 * (f64::from(x_m) / TRACK_M).clamp(-1.0, 1.0)), ground - 1.0);
        let length = (h * POLE_SHARE).min(track);
        let tip = (foot.0 + length * f64::from(angle).sin(), foot.1 - length * f64::from(angle).cos());
        (0..track as u32).step_by(2).for_each(|x| canvas.dot(left + f64::from(x), ground + 1.0, FAINT));
        canvas.line((foot.0 - 2.0, foot.1), (foot.0 + 2.0, foot.1), Color::Reset);
        canvas.line((foot.0 - 2.0, ground), (foot.0 + 2.0, ground), Color::Reset);
        canvas.line(foot, tip, ACCENT);
    }
    let buffer = frame.buffer_mut();
    canvas.render(buffer);
    let caption = match screen.view.values.get("envs") {
        Some(envs) => format!("{shown} of {} poles", grouped(*envs as u64)),
        None => format!("{shown} poles"),
    };
    buffer.set_string(area.x, area.bottom() - 1, fitted(&caption, area.width.into()), Style::new().fg(FAINT));
}

/// What the learner says about itself, in two columns.
fn learning(frame: &mut Frame, area: Rect, view: &View) {
    let Some(m) = &view.metrics else { return };
    let rows = [
        ("policy loss", figure(m.policy_loss), "entropy", figure(m.entropy)),
        ("value loss", figure(m.value_loss), "kl", figure(m.approx_kl)),
        ("gradient", figure(m.grad_norm), "clipped", percent(m.clip_fraction)),
        ("rate", figure(m.lr), "explained", percent(m.explained_variance)),
        ("iteration", grouped(m.progress.iteration.into()), "acting", percent(m.shares[0] + m.shares[1])),
        (
            "episodes",
            grouped(m.progress.episodes),
            "length",
            m.mean_length.map_or("-".into(), |l| format!("{l:.1}")),
        ),
    ];
    let mut lines: Vec<Line> = rows
        .into_iter()
        .map(|(a, x, b, y)| {
            let cell = |label: &str, value: String| {
                [faint(format!("{label:<12}")), Span::raw(format!("{value:>9}"))]
            };
            let [a, x] = cell(a, x);
            let [b, y] = cell(b, y);
            Line::from(vec![a, x, Span::raw("   "), b, y])
        })
        .collect();
    if let Some(d) = &view.digest {
        lines.push(Line::from(faint(format!("digest      {} at iteration {}", d.weights, d.iteration))));
    }
    frame.render_widget(ratatui::text::Text::from(lines), area);
}

/// Where the time goes: a bar in parts with what they are, and below it, where there is room, each in words.
fn breakdown(frame: &mut Frame, area: Rect, view: &View) {
    const LABEL: &str = "time  ";
    const COLORS: [Color; PARTS.len()] = [
        Color::Green,
        Color::Cyan,
        Color::Gray,
        Color::Magenta,
        Color::Yellow,
        Color::Blue,
        Color::DarkGray,
        Color::Green,
    ];
    if area.height == 0 || usize::from(area.width) < LABEL.len() + 20 {
        return;
    }
    let whole: f64 = view.shares.iter().sum();
    // Before the first iteration nothing has taken any time.
    if !(whole.is_finite() && whole > 0.0) {
        return;
    }
    let width = f64::from(area.width) - LABEL.len() as f64;
    let mut bar = vec![faint(LABEL)];
    let mut legend = vec![faint(" ".repeat(LABEL.len()))];
    let (mut passed, mut column) = (0.0, 0);
    for ((name, &share), color) in PARTS.iter().zip(&view.shares).zip(COLORS) {
        passed += share;
        let end = (passed / whole * width).round() as usize;
        let room = end.saturating_sub(column);
        column = column.max(end);
        let words = [format!(" {name} {}", percent(share / whole)), format!(" {name}")];
        let text = words.into_iter().find(|words| words.len() <= room).unwrap_or_default();
        bar.push(Span::styled(format!("{text:room$}"), Style::new().fg(Color::Black).bg(color)));
        let entry = [
            Span::styled("■ ", Style::new().fg(color)),
            Span::raw(format!("{name} {}  ", percent(share / whole))),
        ];
        let used: usize = legend.iter().chain(&entry).map(Span::width).sum();
        if used <= usize::from(area.width) + 2 && share >= 0.005 * whole {
            legend.extend(entry);
        }
    }
    let mut lines = vec![Line::from(bar)];
    if area.height >= 3 {
        lines.push(Line::from(legend));
    }
    frame.render_widget(ratatui::text::Text::from(lines), area);
}

fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.0}%", 100.0 * share) } else { "-".into() }
}

/// The knobs that can be turned now, the chosen one always in sight.
fn knobs(frame: &mut Frame, area: Rect, screen: &Screen) {
    let live: Vec<&Knob> = screen.live_knobs().collect();
    if area.height == 0 || live.is_empty() {
        return;
    }
    let height = usize::from(area.height);
    let first = screen.chosen.saturating_sub(height / 2).min(live.len().saturating_sub(height));
    let wide = area.width >= 44;
    let mut lines = Vec::new();
    for (i, knob) in live.iter().enumerate().skip(first).take(height) {
        let value = screen.value(knob);
        let chosen = i == screen.chosen && screen.mode != Mode::Watching;
        let name = fitted(if wide { knob.label } else { knob.name }, if wide { 20 } else { 13 });
        let width = if wide { 20 } else { 13 };
        let style = if chosen { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        let bar = usize::from(area.width).saturating_sub(width + 13).min(20);
        lines.push(Line::from(vec![
            Span::styled(if chosen { "> " } else { "  " }, Style::new().fg(ACCENT)),
            Span::styled(format!("{name:<width$}"), style),
            Span::styled(format!(" {:>8} ", shown_value(knob, value)), style),
            slider(knob, value, bar, chosen),
        ]));
    }
    frame.render_widget(ratatui::text::Text::from(lines), area);
}

fn shown_value(knob: &Knob, value: f64) -> String {
    match knob.kind {
        KnobKind::Bool => (if value == 0.0 { "off" } else { "on" }).into(),
        _ if value.abs() >= 1e6 => short(value),
        _ => value.to_string(),
    }
}

fn slider(knob: &Knob, value: f64, width: usize, chosen: bool) -> Span<'static> {
    if width < 4 || knob.kind == KnobKind::Bool {
        return Span::raw("");
    }
    let at = (crate::screen::share(knob, value) * (width - 1) as f64).round() as usize;
    let text = (0..width).map(|i| if i == at { '●' } else { '─' }).collect::<String>();
    Span::styled(text, Style::new().fg(if chosen { ACCENT } else { FAINT }))
}

/// A question, else news, else what the chosen knob means.
fn note(frame: &mut Frame, area: Rect, screen: &Screen) {
    let (text, color) = match (&screen.mode, &screen.view.notice) {
        (Mode::AskReset, _) => {
            ("Begin again with fresh weights? What is not saved is lost. y / n".to_string(), MARKED)
        }
        (_, Some((Level::Info, text))) if screen.notice_is_fresh() => (text.clone(), ACCENT),
        (_, Some((Level::Warning, text))) if screen.notice_is_fresh() => (text.clone(), MARKED),
        (_, Some((Level::Error, text))) => (text.clone(), Color::Red),
        (Mode::Watching, _) => return,
        _ => match screen.live_knobs().nth(screen.chosen) {
            Some(knob) => (format!("{}: {}", knob.label, knob.help), FAINT),
            None => return,
        },
    };
    let mut lines = wrapped(&text, area.width.into());
    if lines.len() > usize::from(area.height) {
        let rest = lines.split_off(usize::from(area.height).saturating_sub(1)).join(" ");
        lines.push(fitted(&rest, area.width.into()));
    }
    let lines: Vec<Line> = lines.into_iter().map(|l| Line::styled(l, Style::new().fg(color))).collect();
    frame.render_widget(ratatui::text::Text::from(lines), area);
}

fn footer(frame: &mut Frame, area: Rect, screen: &Screen) {
    let keys: &[(&str, &str)] = match screen.mode {
        Mode::Watching => &[("q", "quit")],
        Mode::AskReset => &[("y", "begin again"), ("n", "go on")],
        Mode::Stopping => &[("ctrl-c", "quit at once, without saving")],
        Mode::Training => &[
            ("space", if screen.view.running { "pause" } else { "go on" }),
            ("q", "save, quit"),
            ("↑↓", "knob"),
            ("←→", "change"),
            ("w", "save"),
            ("r", "reset"),
            ("s", "step"),
            ("d", "device"),
        ],
    };
    let mut spans = Vec::new();
    for (key, what) in keys {
        spans.push(bold(*key));
        spans.push(faint(format!(" {what}   ")));
    }
    frame.render_widget(Line::from(spans), area);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Opened, Record};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use run::protocol::{Digest, Evaluation, Event, Frame as Poles, Mark, Metrics, Progress};
    use std::time::Instant;

    /// A run half-way to solving its task, with one change on the way.
    fn screen(mode: Mode) -> Screen {
        let opened =
            Opened { isa: "avx2".into(), threads: 2, arithmetic: "fused".into(), version: "1".into() };
        let mut screen = Screen::new(View::new(opened, run::knob_list("CartPole-v1")), mode);
        let mut tell = |event| screen.apply(Record::Event(event));
        tell(Event::Began {
            config: run::default_config(),
            environment: Box::new(run::environments().swap_remove(0)),
            knobs: run::knob_list("CartPole-v1").iter().map(|k| (k.name.to_string(), k.default)).collect(),
            history: Vec::new(),
            marks: Vec::new(),
            evaluations: Vec::new(),
            progress: Progress::default(),
        });
        tell(Event::Running { running: true });
        for i in 1..=40u32 {
            let progress = Progress {
                iteration: i,
                env_steps: u64::from(i) * 65_536,
                episodes: u64::from(i) * 300,
                train_s: f64::from(i) * 0.02,
            };
            let mean = f64::from(i) * 10.0;
            tell(Event::Metrics(Metrics {
                progress,
                mean_return: Some(mean),
                mean_length: Some(mean),
                policy_loss: -0.0021,
                entropy: 0.5,
                steps_per_s: 3.2e6,
                shares: [0.25, 0.125, 0.01, 0.015, 0.5, 0.05, 0.05, 0.0],
                ..Metrics::default()
            }));
            if i == 20 {
                tell(Event::Mark(Mark { progress, knob: "lr".into(), from: 0.0025, to: 0.0032 }));
                tell(Event::Evaluation(Evaluation {
                    progress,
                    episodes: 100,
                    mean_return: 212.5,
                    min_return: 9.0,
                    max_return: 500.0,
                }));
            }
        }
        tell(Event::Digest(Digest {
            iteration: 32,
            weights: "0123456789abcdef".into(),
            arithmetic: "fused".into(),
        }));
        let observations = (0..1024).map(|i| (i as f32).sin() * 0.2).collect();
        let poles = Poles { shown: 256, steps: 1, features: 4, observations, ..Poles::default() };
        screen.clip.give(poles, 0.02, Instant::now());
        screen
    }

    fn rows(screen: &Screen, width: u16, height: u16) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| draw(frame, screen)).unwrap();
        let cells: Vec<&str> = terminal.backend().buffer().content().iter().map(|c| c.symbol()).collect();
        cells.chunks(width.into()).map(|row| row.concat().trim_end().to_string()).collect()
    }

    fn dots(rows: &[String], columns: std::ops::Range<usize>) -> u32 {
        let all = rows.iter().flat_map(|r| r.chars().skip(columns.start).take(columns.len()));
        all.filter(|c| ('\u{2801}'..='\u{28ff}').contains(c)).map(|c| (c as u32 - 0x2800).count_ones()).sum()
    }

    #[test]
    fn an_ordinary_terminal_shows_everything() {
        let rows = rows(&screen(Mode::Training), 80, 24);
        assert_eq!(
            rows[0],
            " hothouse  control  CartPole-v1  seed 1                  avx2  fused  2 threads"
        );
        assert_eq!(rows[2], " return 400.0   evaluation 212.5   time 0.80 s   steps/s 3.20 M   steps 2.62 M");
        assert!(rows[4].contains("lr"), "the change has its name over its mark: {}", rows[4]);
        assert!(rows[5].starts_with("   500 ") && rows[11].starts_with("     0 "), "{rows:#?}");
        assert!(rows[12].contains("2.62 M steps"), "{}", rows[12]);
        assert!(rows[13].starts_with(" time   policy 25%        world      gradient 50%"), "{}", rows[13]);
        assert!(
            rows[14].starts_with(" policy loss   -0.0021   entropy        0.5000  > lr "),
            "{}",
            rows[14]
        );
        assert!(rows[14].contains('●') && rows[20].contains("0123456789abcdef at iteration 32"), "{rows:#?}");
        assert!(rows[23].starts_with(" space pause   q save, quit   ↑↓ knob   ←→ change"), "{}", rows[23]);
        assert!(dots(&rows[5..12], 7..48) > 100, "the curve is drawn");
        assert!(dots(&rows[4..12], 48..80) > 100, "poles are drawn");
    }

    #[test]
    fn the_bar_of_time_is_cut_as_the_shares_are() {
        let screen = screen(Mode::Training);
        let mut terminal = Terminal::new(TestBackend::new(107, 30)).unwrap();
        terminal.draw(|frame| draw(frame, &screen)).unwrap();
        let buffer = terminal.backend().buffer();
        let at = |row: u16, column: u16| buffer.cell((column, row)).unwrap();
        let row =
            (0..30).find(|row| (1..5).map(|x| at(*row, x).symbol()).collect::<String>() == "time").unwrap();
        // A column is a hundredth: a space, the label's six columns, then the parts.
        let mut widths: Vec<(Color, u32)> = Vec::new();
        for x in 7..106 {
            match widths.last_mut() {
                Some((color, width)) if *color == at(row, x).bg => *width += 1,
                _ => widths.push((at(row, x).bg, 1)),
            }
        }
        let widths: Vec<u32> = widths.into_iter().map(|(_, width)| width).collect();
        assert_eq!(widths, [25, 12, 1, 2, 49, 5, 5]);
        let legend: String = (0..107).map(|x| at(row + 1, x).symbol()).collect();
        for words in ["policy 25%", "world 12%", "advantages", "gather 2%", "gradient 50%", "rest 5%"] {
            assert!(legend.contains(words), "{legend}");
        }
    }

    #[test]
    fn the_curve_rises_as_the_returns_do() {
        let mut only_curve = screen(Mode::Training);
        only_curve.view.marks.clear();
        only_curve.view.evaluations = Default::default();
        let rows = rows(&only_curve, 80, 24);
        // The lowest part of the plot on the left, the upper part on the right.
        assert!(dots(&rows[10..12], 7..12) > 3, "{rows:#?}");
        assert_eq!(dots(&rows[8..12], 42..47), 0, "{rows:#?}");
        assert!(dots(&rows[4..7], 42..47) > 3, "{rows:#?}");
    }

    #[test]
    fn no_size_and_no_number_breaks_the_drawing() {
        let mut wild = screen(Mode::Training);
        let mut metrics = wild.view.metrics.unwrap();
        (metrics.value_loss, metrics.explained_variance, metrics.mean_return) =
            (f64::NAN, f64::NEG_INFINITY, Some(-1e300));
        wild.apply(Record::Event(Event::Metrics(metrics)));
        wild.view.values.insert("lr".into(), f64::NAN);
        let observations: Vec<f32> = [f32::NAN, 1e30, f32::INFINITY, -1e30].repeat(32);
        let frame = Poles { shown: 2, steps: 1, features: 4, observations, ..Poles::default() };
        wild.clip.give(frame.clone(), 0.02, Instant::now());
        let mut other = screen(Mode::Training);
        other.view.environment = run::environments().into_iter().find(|e| e.id == "MountainCar-v0");
        other.clip.give(frame, 0.02, Instant::now());
        for screen in [wild, other, screen(Mode::AskReset), screen(Mode::Watching), screen(Mode::Stopping)] {
            for width in (1..30).chain([39, 40, 41, 71, 72, 80, 133, 250]) {
                for height in (1..28).chain([40, 90]) {
                    assert_eq!(rows(&screen, width, height).len(), usize::from(height));
                }
            }
        }
    }

    #[test]
    fn each_mode_says_which_keys_it_takes() {
        let last = |mode| rows(&screen(mode), 80, 24).pop().unwrap();
        assert_eq!(last(Mode::Watching), " q quit");
        assert_eq!(last(Mode::AskReset), " y begin again   n go on");
        assert_eq!(last(Mode::Stopping), " ctrl-c quit at once, without saving");
        let mut paused = screen(Mode::Training);
        paused.apply(Record::Event(Event::Running { running: false }));
        let rows = rows(&paused, 80, 24);
        assert!(rows[2].ends_with("paused") && rows[23].starts_with(" space go on"), "{rows:#?}");
    }
}
