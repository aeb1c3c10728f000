//! Draws the full screen of a run with text and thin lines. Drawing keeps no state between frames.

use super::braille::Braille;
use super::{ACCENT, FAINT, MARKED, Mode, Screen};
use crate::format::{self, clock, fitted, short, wrapped};
use crate::outputs::view::{Points, RunView, View};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use run::protocol::{Column, Knob, KnobKind, Level, Standing, Value};

pub fn draw(frame: &mut Frame, screen: &Screen) {
    let area = frame.area();
    if area.width < 40 || area.height < 8 {
        frame.render_widget(first_words(&screen.view), area);
        return;
    }
    let area = Rect { x: area.x + 1, width: area.width - 2, ..area };
    // A terminal with fewer than 20 rows shows the curve, but not the time breakdown, the metrics and the knobs.
    let lower = if area.height >= 20 { 7 } else { 0 };
    let keys = footer(screen, area.width.into());
    let foot = if area.height >= 16 { keys.len() as u16 } else { 1 };
    let [head, rule, figures, details, upper, _, time, lower, _, note, foot] = Layout::vertical([
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
        Constraint::Length(foot),
    ])
    .areas(area);
    let right = if area.width >= 72 { (area.width * 2 / 5).clamp(28, 64) } else { 0 };
    let sides = |area: Rect| -> [Rect; 3] {
        let gap = if right > 0 { 2 } else { 0 };
        Layout::horizontal([Constraint::Min(20), Constraint::Length(gap), Constraint::Length(right)]).areas(area)
    };

    header(frame, head, screen);
    frame.render_widget(faint("─".repeat(rule.width.into())), rule);
    frame.render_widget(Text::from(keys), foot);
    self::note(frame, note, screen);
    let Some(run) = &screen.view.run else { return };
    headline(frame, [figures, details], &screen.view, run);
    if screen.keys {
        let below = Rect { height: note.y.saturating_sub(upper.y), ..upper };
        frame.render_widget(key_words(screen, below.width.into()), below);
        return;
    }
    match &screen.picture {
        Some(picture) => {
            let [chart_area, _, beside] = sides(upper);
            chart(frame, chart_area, run, screen.chart_name());
            picture.draw(frame, beside, &run.values);
        }
        // If the room has no picture, the curve has the full width.
        None => chart(frame, upper, run, screen.chart_name()),
    }
    breakdown(frame, time, run);
    let [metrics_area, _, knobs_area] = sides(lower);
    if right > 0 {
        metrics(frame, metrics_area, run);
        knobs(frame, knobs_area, screen);
    } else {
        knobs(frame, metrics_area, screen);
    }
}

/// Returns the text for a very small terminal: the leading number, or `-` if it is unknown.
fn first_words(view: &View) -> &str {
    view.run.as_ref().and_then(|run| run.standing.as_ref()).map_or("-", |standing| &standing.number)
}

pub fn faint(text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), Style::new().fg(FAINT))
}

pub fn bold(text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), Style::new().add_modifier(Modifier::BOLD))
}

fn header(frame: &mut Frame, area: Rect, screen: &Screen) {
    let view = &screen.view;
    let mut left = vec![bold("hothouse")];
    if let Some(run) = &view.run {
        let config = &run.config;
        left.push(Span::raw(format!("  {}  {}  seed {}", config.room, config.variant, config.seed)));
    }
    let o = &view.machine;
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

/// A label, a value and the value's style.
type Pair = (String, String, Style);

/// Draws the headline: the leading number and the state, and below it the other numbers. If there is no row below, all are in one row.
fn headline(frame: &mut Frame, [area, below]: [Rect; 2], view: &View, run: &RunView) {
    let remaining = view.remaining.as_ref().map(format::remaining).unwrap_or_default();
    let (state, color) = match (&view.summary, view.running) {
        (Some(_), _) => ("ended", MARKED),
        (None, false) => ("paused", MARKED),
        (None, true) => (remaining.as_str(), FAINT),
    };
    let (lead, rest) = (leading(run, area.width.into()), details(run));
    let rows = if below.height > 0 { vec![(area, lead), (below, rest)] } else { vec![(area, [lead, rest].concat())] };
    let last = rows.len() - 1;
    for (k, (area, pairs)) in rows.into_iter().enumerate() {
        // On a narrow terminal the numbers have priority over the state of the process.
        let state = if k == last && 2 * state.len() <= usize::from(area.width) { state } else { "" };
        let room = usize::from(area.width).saturating_sub(if state.is_empty() { 0 } else { state.len() + 2 });
        frame.render_widget(fitting(pairs, room), area);
        frame.render_widget(Line::styled(state, Style::new().fg(color)).right_aligned(), area);
    }
}

/// Returns the leading number after its name, which is cut to `width`, and the state in words.
fn leading(run: &RunView, width: usize) -> Vec<Pair> {
    let Some(Standing { name, number, words, .. }) = &run.standing else { return Vec::new() };
    let strong = Style::new().add_modifier(Modifier::BOLD);
    let name = fitted(name, width.saturating_sub(number.chars().count() + 1));
    vec![(name, number.clone(), strong.fg(ACCENT)), (String::new(), words.clone(), strong)]
}

/// Returns the main metric, the test columns except the leading one, the time, the counters and the rates.
fn details(run: &RunView) -> Vec<Pair> {
    let schema = run.schema;
    let lead = run.goal_column().or(schema.tests.first()).map(|column| column.name);
    let cells = |columns: &'static [Column], row: &Option<run::protocol::Row>| {
        let columns = columns.iter().enumerate().filter(|(_, column)| !column.brief.is_empty());
        let value = |i: usize| row.as_ref().and_then(|row| row.values.get(i).copied().flatten());
        columns.map(|(i, column)| (column, format::value(column, value(i)))).collect::<Vec<_>>()
    };
    let (rates, metrics): (Vec<_>, Vec<_>) = cells(schema.metrics, &run.metrics).into_iter().partition(|(column, _)| column.rate.is_some());
    let tests = cells(schema.tests, &run.test).into_iter().filter(|(column, _)| run.test.is_some() && Some(column.name) != lead);
    let pair = |(column, value): (&Column, String)| (column.brief.to_string(), value, Style::new());
    let counters = schema.counters.iter().zip(&run.progress.counts).map(|(column, &count)| (column, short(count)));
    let mut all: Vec<Pair> = metrics.into_iter().take(1).chain(tests).map(pair).collect();
    all.push(("time".into(), clock(run.progress.train_s), Style::new()));
    all.extend(counters.filter(|(column, _)| !column.brief.is_empty()).chain(rates).map(pair));
    all
}

/// Returns the first pairs that together fit into `room` characters.
fn fitting(pairs: Vec<Pair>, mut room: usize) -> Line<'static> {
    let mut spans = Vec::new();
    for (label, value, style) in pairs {
        let gap = if spans.is_empty() { "" } else { "   " };
        let label = format!("{gap}{label}{}", if label.is_empty() { "" } else { " " });
        let wanted = label.chars().count() + value.chars().count();
        if wanted > room {
            break;
        }
        room -= wanted;
        spans.extend([faint(label), Span::styled(value, style)]);
    }
    Line::from(spans)
}

/// Colours of the metrics in a chart.
const CURVES: [Color; 3] = [ACCENT, Color::Cyan, Color::Magenta];
/// Colours of the tests in a chart.
const TESTS: [Color; 3] = [Color::Reset, Color::Cyan, Color::Magenta];

/// Draws a chart with metrics, tests, the goal and knob changes. The x axis is the room's first counter.
fn chart(frame: &mut Frame, area: Rect, run: &RunView, name: &str) {
    let [metrics, tests] = run.chart(name);
    let log = metrics.iter().chain(&tests).any(|(column, _)| column.log);
    let scaled = |y: f64| if log { y.max(1e-12).log10() } else { y };
    let points = |curves: &[(&Column, Points)]| -> Vec<Points> {
        curves.iter().map(|(_, points)| points.iter().map(|&(x, y)| (x, scaled(y))).collect()).collect()
    };
    let (lines, dots) = (points(&metrics), points(&tests));
    let goal = run.goal_column().filter(|column| column.chart == name);
    let goal = goal.and_then(|_| run.variant.as_ref()?.goal).map(|goal| goal.at);
    let all = || lines.iter().chain(&dots).flatten();
    let right = all().map(|p| p.0).fold(1.0, f64::max);
    let heights = || all().map(|p| p.1).chain(goal);
    let [bottom, top] = bounds(heights().fold(f64::INFINITY, f64::min), heights().fold(f64::NEG_INFINITY, f64::max), log);
    let labels = labels([top, (top + bottom) / 2.0, bottom], log);
    let gutter = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0).max(5) as u16 + 1;
    if area.height < 3 || area.width < gutter + 8 {
        return;
    }
    // The row above the curve shows the names of changed knobs.
    let names = u16::from(!run.marks.is_empty() && area.height >= 6);
    let plot = Rect { x: area.x + gutter, y: area.y + names, width: area.width - gutter, height: area.height - 1 - names };
    let mut canvas = Braille::new(plot);
    let (w, h) = (canvas.width() - 1.0, canvas.height() - 1.0);
    let at = |(x, y): (f64, f64)| (x / right * w, (top - y) / (top - bottom) * h);

    if let Some(goal) = goal {
        let level = at((0.0, scaled(goal))).1;
        (0..=w as u32).step_by(6).for_each(|x| canvas.dot(x.into(), level, FAINT));
    }
    for mark in &run.marks {
        let x = at((mark.progress.counts[0], 0.0)).0;
        (0..=h as u32).step_by(3).for_each(|y| canvas.dot(x, y.into(), MARKED));
    }
    for (points, color) in dots.iter().zip(TESTS.iter().cycle()) {
        for &test in points {
            let (x, y) = at(test);
            canvas.dot(x, y, *color);
            canvas.dot(x, y - 1.0, *color);
        }
        // If the chart has no metrics, lines connect the tests.
        if lines.iter().all(Vec::is_empty) {
            points.windows(2).for_each(|pair| canvas.line(at(pair[0]), at(pair[1]), *color));
        }
    }
    for (points, color) in lines.iter().zip(CURVES.iter().cycle()) {
        points.windows(2).for_each(|pair| canvas.line(at(pair[0]), at(pair[1]), *color));
        if let [only] = points[..] {
            canvas.dot(at(only).0, at(only).1, *color);
        }
    }
    let buffer = frame.buffer_mut();
    canvas.render(buffer);

    // If names of knobs overlap, only the name of the latest change is drawn.
    let mut free_until = plot.right();
    for mark in run.marks.iter().rev() {
        let column = plot.x + (at((mark.progress.counts[0], 0.0)).0 / 2.0) as u16;
        let name = fitted(&mark.knob, 10);
        let width = name.chars().count() as u16;
        let start = if column + 1 + width <= plot.right() { column + 1 } else { column.saturating_sub(width) };
        if names > 0 && start >= plot.x && start + width <= free_until {
            buffer.set_string(start, area.y, name, Style::new().fg(MARKED));
            free_until = start.saturating_sub(1);
        }
    }

    for (row, label) in [0, plot.height / 2, plot.height - 1].into_iter().zip(&labels) {
        // The middle label is drawn only if the plot has at least five rows.
        if row == 0 || row == plot.height - 1 || plot.height >= 5 {
            let width = usize::from(gutter) - 1;
            buffer.set_string(area.x, plot.y + row, format!("{label:>width$}"), Style::new().fg(FAINT));
        }
    }
    let below = area.bottom() - 1;
    buffer.set_string(plot.x, below, "0", Style::new().fg(FAINT));
    let end = format!("{} {}", short(right), run.schema.counters[0].unit);
    buffer.set_string(plot.right().saturating_sub(end.len() as u16), below, &end, Style::new().fg(FAINT));
    // Legend of the colours.
    let mut x = plot.x + 3;
    let room = plot.right().saturating_sub(end.len() as u16 + 3);
    let colours = CURVES.iter().cycle().take(metrics.len()).chain(TESTS.iter().cycle().take(tests.len()));
    for ((column, _), color) in metrics.iter().chain(&tests).zip(colours) {
        let words = column.label.to_lowercase();
        let width = words.chars().count() as u16;
        if x + width + 2 <= room {
            buffer.set_string(x, below, "■ ", Style::new().fg(*color));
            buffer.set_string(x + 2, below, &words, Style::new().fg(FAINT));
            x += width + 4;
        }
    }
}

/// Returns the labels for the top, middle and bottom of an axis, with as few digits as possible. Each label differs from its value by at
/// most 1% of the axis length. On a logarithmic axis, `values` are exponents of ten, and only whole exponents have a label.
pub fn labels(values: [f64; 3], log: bool) -> [String; 3] {
    if log {
        return values.map(|power| if power.fract() == 0.0 { format!("1e{power:.0}") } else { String::new() });
    }
    let [top, _, bottom] = values;
    let close = (top - bottom).abs() / 100.0;
    let are_right = |labels: &[String; 3]| {
        labels.iter().zip(values).all(|(label, value)| label.parse::<f64>().is_ok_and(|shown| (shown - value).abs() <= close))
    };
    let largest = top.abs().max(bottom.abs());
    if largest >= 9995.0 {
        // Labels with a metric prefix (k, M, G, T) are shorter. They are used if they are exact enough.
        let short = values.map(|value| if value == 0.0 { "0".into() } else { short(value) });
        let digits = short.clone().map(|label| in_full(&label));
        if are_right(&digits) {
            return short;
        }
    }
    let fixed = (0..=7).map(|digits| values.map(|value| format!("{value:.digits$}")));
    let powers = (0..=12).map(|digits| values.map(|value| format!("{value:.digits$e}")));
    let mut all = fixed.filter(|_| largest < 1e9).chain(powers);
    all.find(are_right).unwrap_or_else(|| values.map(|value| format!("{value:.2e}")))
}

/// Converts a short number such as `2.62 M` to a parseable number such as `2.62e6`.
fn in_full(label: &str) -> String {
    let (number, prefix) = label.split_once(' ').unwrap_or((label, ""));
    let power = ["", "k", "M", "G", "T"].iter().position(|known| *known == prefix).unwrap_or(0);
    format!("{number}e{}", 3 * power)
}

/// Returns round numbers for the ends of an axis that contains `low` and `high`. On a logarithmic axis, `low`, `high` and the ends are
/// exponents of ten, and the ends are whole numbers.
pub fn bounds(low: f64, high: f64, log: bool) -> [f64; 2] {
    if !(low.is_finite() && high.is_finite()) {
        return [0.0, 1.0];
    }
    if log {
        return [low.floor(), high.ceil().max(low.floor() + 1.0)];
    }
    // If both ends have the same sign and differ by more than a factor of two, the end nearer to 0 becomes 0.
    let low = if low > 0.0 && low < 0.5 * high { 0.0 } else { low };
    let high = if high < 0.0 && high > 0.5 * low { 0.0 } else { high };
    let step = nice_above((high - low).max(1e-9 * high.abs()).max(1e-12) / 5.0);
    let (bottom, top) = ((low / step).floor() * step, (high / step).ceil() * step);
    if top > bottom { [bottom, top] } else { [bottom, bottom + step] }
}

/// Returns the smallest number that is at least `x` and equals 1, 2, 2.5, 5 or 10 times a power of ten.
fn nice_above(x: f64) -> f64 {
    if !(x.is_finite() && x > 0.0) {
        return 1.0;
    }
    let power = 10f64.powf(x.log10().floor());
    [1.0, 2.0, 2.5, 5.0, 10.0].map(|m| m * power).into_iter().find(|n| *n >= x).unwrap_or(10.0 * power)
}

/// Draws two columns of values: the metrics that the headline does not show, the iteration, and the counters except the first. Draws the
/// digest (hash of the weights) below.
fn metrics(frame: &mut Frame, area: Rect, run: &RunView) {
    let Some(row) = &run.metrics else { return };
    // The headline already shows the rates, and the first of the other metrics that has a short name.
    let all = run.schema.metrics.iter().zip(&row.values).filter(|(column, _)| column.rate.is_none());
    let first = all.clone().position(|(column, _)| !column.brief.is_empty());
    let all = all.enumerate().filter(|(i, _)| Some(*i) != first).map(|(_, cell)| cell);
    let mut cells: Vec<(String, String)> =
        all.map(|(column, &value)| (column.label.to_lowercase(), format::value(column, value))).collect();
    cells.push((run.schema.iteration_word.into(), format::grouped(row.progress.iteration.into())));
    let rest = run.schema.counters.iter().zip(&row.progress.counts).skip(1);
    cells.extend(rest.map(|(column, &count)| (column.label.to_lowercase(), short(count))));
    let rows = usize::from(area.height).saturating_sub(1);
    let wide = usize::from(area.width) / 2;
    let cell = |(label, value): &(String, String)| {
        let width = wide.saturating_sub(10).min(18);
        [faint(format!("{:<width$}", fitted(label, width))), Span::raw(format!("{value:>8}"))]
    };
    let mut lines: Vec<Line> = cells
        .chunks(2)
        .take(rows)
        .map(|pair| {
            let spans = pair.iter().map(cell).collect::<Vec<_>>().join(&Span::raw("  "));
            Line::from(spans)
        })
        .collect();
    if let Some(d) = &run.digest {
        let unit = run.schema.iteration_word;
        lines.push(Line::from(faint(format!("digest  {} at {unit} {}", d.weights, d.iteration))));
    }
    frame.render_widget(Text::from(lines), area);
}

/// Draws the time breakdown: a bar with the share of time of each part of an iteration. If there is space, draws a legend below.
fn breakdown(frame: &mut Frame, area: Rect, run: &RunView) {
    const LABEL: &str = "time  ";
    const COLORS: [Color; 7] = [Color::Green, Color::Cyan, Color::Gray, Color::Magenta, Color::Yellow, Color::Blue, Color::DarkGray];
    if area.height == 0 || usize::from(area.width) < LABEL.len() + 20 {
        return;
    }
    let whole: f64 = run.shares.iter().sum();
    // Before the first iteration, the shares are 0, so there is no bar.
    if !(whole.is_finite() && whole > 0.0) {
        return;
    }
    let width = f64::from(area.width) - LABEL.len() as f64;
    let mut bar = vec![faint(LABEL)];
    let mut legend = vec![faint(" ".repeat(LABEL.len()))];
    let (mut passed, mut column) = (0.0, 0);
    let parts = run.schema.all_parts().map(|part| part.name);
    for ((name, &share), color) in parts.zip(&run.shares).zip(COLORS.into_iter().cycle()) {
        passed += share;
        let end = (passed / whole * width).round() as usize;
        let room = end.saturating_sub(column);
        column = column.max(end);
        let words = [format!(" {name} {}", percent(share / whole)), format!(" {name}")];
        let text = words.into_iter().find(|words| words.len() <= room).unwrap_or_default();
        bar.push(Span::styled(format!("{text:room$}"), Style::new().fg(Color::Black).bg(color)));
        let entry = [Span::styled("■ ", Style::new().fg(color)), Span::raw(format!("{name} {}  ", percent(share / whole)))];
        let used: usize = legend.iter().chain(&entry).map(Span::width).sum();
        if used <= usize::from(area.width) + 2 && share >= 0.005 * whole {
            legend.extend(entry);
        }
    }
    let mut lines = vec![Line::from(bar)];
    if area.height >= 3 {
        lines.push(Line::from(legend));
    }
    frame.render_widget(Text::from(lines), area);
}

fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.0}%", 100.0 * share) } else { "-".into() }
}

/// Draws the live knobs: the settings that can change during a run. The chosen knob is always visible.
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
        // A label is a technical term, a colon and an explanation. The list shows only the term; the note shows the full label.
        let term = knob.label.split(':').next().unwrap_or(knob.label);
        let width = if wide { 20 } else { 13 };
        let name = fitted(term, width);
        let style = if chosen { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        let bar = usize::from(area.width).saturating_sub(width + 13).min(20);
        lines.push(Line::from(vec![
            Span::styled(if chosen { "> " } else { "  " }, Style::new().fg(ACCENT)),
            Span::styled(format!("{name:<width$}"), style),
            Span::styled(format!(" {:>8} ", fitted(&shown_value(value, knob), 8)), style),
            slider(knob, value, bar, chosen),
        ]));
    }
    frame.render_widget(Text::from(lines), area);
}

fn shown_value(value: &Value, knob: &Knob) -> String {
    match (knob.kind, value) {
        (KnobKind::Bool, Value::Number(number)) => (if *number == 0.0 { "off" } else { "on" }).into(),
        (_, Value::Number(number)) if number.abs() >= 1e6 => short(*number),
        (_, value) => value.to_string(),
    }
}

fn slider(knob: &Knob, value: &Value, width: usize, chosen: bool) -> Span<'static> {
    let (KnobKind::Float { .. } | KnobKind::Int { .. }, Value::Number(number)) = (knob.kind, value) else {
        return Span::raw("");
    };
    if width < 4 {
        return Span::raw("");
    }
    let at = (super::share(knob, *number) * (width - 1) as f64).round() as usize;
    let text = (0..width).map(|i| if i == at { '●' } else { '─' }).collect::<String>();
    Span::styled(text, Style::new().fg(if chosen { ACCENT } else { FAINT }))
}

/// Draws a note: the question or the input that waits for the user. If there is none, draws the current notice, or else the help of the
/// chosen knob.
fn note(frame: &mut Frame, area: Rect, screen: &Screen) {
    let (text, color) = match (&screen.mode, &screen.view.notice) {
        (Mode::AskReset, _) => ("Start a new run? Unsaved training is lost. y / n".to_string(), MARKED),
        (Mode::Typing(typed), _) => {
            let name = screen.live_knobs().nth(screen.chosen).map_or("", |knob| knob.name);
            (format!("{name} = {typed}▏"), ACCENT)
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
    frame.render_widget(Text::from(lines), area);
}

fn footer(screen: &Screen, width: usize) -> Vec<Line<'static>> {
    let keys: &[(&'static str, &'static str)] = match &screen.mode {
        Mode::Watching => &[("q", "quit"), ("c", "chart"), ("?", "keys")],
        Mode::Typing(_) => &[("enter", "set"), ("esc", "cancel")],
        Mode::AskReset => &[("y", "new run"), ("n", "cancel")],
        Mode::Stopping => &[("ctrl-c", "quit at once, without saving")],
        Mode::Training => &[
            ("space", if screen.view.running { "pause" } else { "resume" }),
            ("q", "save, quit"),
            ("↑↓", "knob"),
            ("←→", "change"),
            ("enter", "type"),
            ("w", "save"),
            ("r", "new run"),
            ("s", "step"),
            ("c", "chart"),
            ("d", "device"),
            ("?", "keys"),
        ],
    };
    key_lines(keys, width)
}

/// Returns the list of keys, with a sentence about each key.
fn key_words(screen: &Screen, width: usize) -> Text<'static> {
    const TRAINING: [(&str, &str); 11] = [
        ("space", "Pause or resume training."),
        ("s", "Train one iteration, then pause."),
        ("↑ ↓", "Choose a live knob."),
        ("← →", "Change the chosen knob from the next iteration on."),
        ("enter", "Type a value for the chosen knob."),
        ("c", "Show the next chart."),
        ("d", "Switch between GPU and CPU."),
        ("w", "Save the run to a file in this folder."),
        ("r", "Start a new run. Unsaved training is lost."),
        ("q", "Finish the iteration, save and quit, as Ctrl-C does. A second Ctrl-C quits at once."),
        ("?", "Close this list. Esc does the same."),
    ];
    const WATCHING: [(&str, &str); 3] =
        [("c", "Show the next chart."), ("q", "Stop watching. The run continues."), ("?", "Close this list. Esc does the same.")];
    let keys: &[(&'static str, &'static str)] = if screen.mode == Mode::Watching { &WATCHING } else { &TRAINING };
    let line = |(key, words): &(&'static str, &'static str)| {
        Line::from(vec![bold(format!("{key:<7}")), Span::raw(fitted(words, width.saturating_sub(7)))])
    };
    Text::from(keys.iter().map(line).collect::<Vec<_>>())
}

/// Formats keys and their actions, wrapped at `width`.
pub fn key_lines(keys: &[(&'static str, &'static str)], width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::default()];
    for (key, action) in keys {
        let pair = [bold(*key), faint(format!(" {action}   "))];
        let wanted = pair.iter().map(Span::width).sum::<usize>();
        let line = lines.last_mut().expect("there is one");
        // The three spaces after the last pair of a line may exceed the width.
        if line.width() > 0 && line.width() + wanted > width + 3 {
            lines.push(Line::from(pair.to_vec()));
        } else {
            line.spans.extend(pair);
        }
    }
    lines
}
