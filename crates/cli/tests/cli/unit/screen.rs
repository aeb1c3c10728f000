//! Tests of the state of the full screen.

use cli::internals::{Key, Mode, Record, Request, Screen, picture, share, turned, turned_number};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use run::protocol::{Began, Named, Progress, Row};
use run::protocol::{Command, Event, Knob, KnobKind, Value};

/// Returns the `Began` record of a run of this room with this history.
pub fn began(room: &dyn run::AnyRoom, history: Vec<Row>) -> Record {
    let config = run::config_of(room);
    let knobs = room.knobs(&config.variant);
    Record::Event(Event::Began(Box::new(Began {
        config,
        knobs: knobs.into_iter().map(|knob| (knob.name.to_string(), knob.default)).collect(),
        progress: Progress { counts: vec![0.0; room.schema().counters.len()], ..Progress::default() },
        solved: None,
        attempts: 0,
        history,
        tests: Vec::new(),
        marks: Vec::new(),
        room: serde_json::Value::Null,
    })))
}

pub fn screen_of(mode: Mode, room: &str) -> Screen {
    let mut screen = match mode {
        Mode::Watching => Screen::watching(),
        mode => Screen::new(mode, picture),
    };
    screen.apply(began(run::room(room).unwrap(), Vec::new()));
    screen
}

fn press(screen: &mut Screen, code: KeyCode) -> Option<Command> {
    match screen.key(KeyEvent::new(code, KeyModifiers::NONE)) {
        Key::Request(Request::Command(command)) => Some(command),
        _ => None,
    }
}

fn all_knobs() -> Vec<Knob> {
    let rooms = run::rooms();
    let knobs = |room: &&dyn run::AnyRoom| {
        let variants = room.variants();
        variants.iter().flat_map(|variant| room.knobs(&variant.id)).collect::<Vec<_>>()
    };
    rooms.iter().flat_map(knobs).collect()
}

#[test]
fn knobs_step_through_round_values_within_their_range() {
    let knob = |kind| Knob { kind, ..all_knobs().remove(0) };
    let lr = knob(KnobKind::Float { min: 1e-5, max: 0.1, log: true });
    let gamma = knob(KnobKind::Float { min: 0.9, max: 1.0, log: false });
    let epochs = knob(KnobKind::Int { min: 1.0, max: 20.0, log: true });
    let anneal = knob(KnobKind::Float { min: 0.0, max: 1e8, log: false });
    let flag = knob(KnobKind::Bool);
    let turn = |knob: &Knob, value: f64, by| turned_number(knob, value, by);
    assert_eq!((turn(&lr, 0.0025, 1), turn(&lr, 0.0025, -1)), (0.0032, 0.002));
    assert_eq!((turn(&lr, 0.1, 1), turn(&lr, 1e-5, -1)), (0.1, 1e-5));
    assert_eq!(turn(&gamma, 0.99, -1), 0.989);
    assert_eq!((turn(&epochs, 4.0, 1), turn(&epochs, 1.0, -1)), (5.0, 1.0));
    assert_eq!([0.0, 1e3, 1e6].map(|v| turn(&anneal, v, 1)), [1e3, 1250.0, 1.25e6]);
    assert_eq!((turn(&anneal, 1e3, -1), turn(&anneal, 1e8, 1)), (0.0, 1e8));
    assert_eq!((turn(&flag, 0.0, 1), turn(&flag, 1.0, -1)), (1.0, 0.0));
    const OPTIONS: [Named; 2] = [Named { name: "tanh", label: "" }, Named { name: "relu", label: "" }];
    let choice = knob(KnobKind::Choice { options: &OPTIONS });
    assert_eq!(turned(&choice, &"tanh".into(), 1), Some("relu".into()));
    assert_eq!(turned(&choice, &"tanh".into(), -1), Some("relu".into()));
    assert_eq!(turned(&knob(KnobKind::Text { most: 9 }), &"x".into(), 1), None);
}

#[test]
fn every_step_of_every_knob_changes_the_value_and_stays_in_range() {
    for knob in all_knobs() {
        let (KnobKind::Float { min, max, .. } | KnobKind::Int { min, max, .. }) = knob.kind else {
            continue;
        };
        for (by, end) in [(1, max), (-1, min)] {
            let Value::Number(mut value) = knob.default else { panic!("{} is a number", knob.name) };
            let mut turns = 0;
            while value != end {
                let next = turned_number(&knob, value, by);
                assert!((min..=max).contains(&next) && next != value, "{} sticks at {value}", knob.name);
                assert!((0.0..=1.0).contains(&share(&knob, next)));
                value = next;
                turns += 1;
                assert!(turns < 1000, "{} takes too many turns", knob.name);
            }
        }
    }
}

#[test]
fn keys_send_the_commands_of_the_footer() {
    for room in run::rooms() {
        let mut screen = screen_of(Mode::Training, room.schema().id);
        assert_eq!(press(&mut screen, KeyCode::Char(' ')), Some(Command::Start));
        screen.apply(Record::Event(Event::Running { running: true }));
        assert_eq!(press(&mut screen, KeyCode::Char(' ')), Some(Command::Pause));
        assert_eq!(press(&mut screen, KeyCode::Char('s')), Some(Command::Step));
        assert_eq!(press(&mut screen, KeyCode::Char('r')), None);
        assert_eq!(screen.mode, Mode::AskReset);
        assert_eq!(press(&mut screen, KeyCode::Char('n')), None);
        press(&mut screen, KeyCode::Char('r'));
        assert_eq!(press(&mut screen, KeyCode::Char('y')), Some(Command::Reset { config: None }));

        let live: Vec<Knob> = screen.live_knobs().cloned().collect();
        assert_eq!(press(&mut screen, KeyCode::Up), None);
        let up = turned(&live[0], &live[0].default, 1).unwrap();
        let command = Command::SetKnob { name: live[0].name.into(), value: up.clone() };
        assert_eq!(press(&mut screen, KeyCode::Right), Some(command));
        assert_eq!(screen.value(&live[0]), &up, "shown before the run confirms it");
        press(&mut screen, KeyCode::Down);
        assert!(matches!(press(&mut screen, KeyCode::Right), Some(Command::SetKnob { name, .. }) if name == live[1].name));
        (0..50).for_each(|_| drop(press(&mut screen, KeyCode::Down)));
        assert_eq!(screen.chosen, live.len() - 1);

        let quit = |screen: &mut Screen, key| matches!(screen.key(key), Key::Quit);
        let ctrl_c = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        assert!(quit(&mut screen, ctrl_c) && quit(&mut screen, KeyCode::Char('q').into()));
        screen.mode = Mode::Stopping;
        assert!(!quit(&mut screen, KeyCode::Char('q').into()), "only Ctrl-C quits at once");
        assert!(quit(&mut screen, ctrl_c));
        screen.mode = Mode::Watching;
        assert_eq!(press(&mut screen, KeyCode::Right), None, "a watched run cannot be changed");
        assert_eq!(press(&mut screen, KeyCode::Char('?')), None);
        assert!(screen.keys, "the list of keys is open");
        assert!(!quit(&mut screen, KeyCode::Esc.into()));
        assert!(!screen.keys, "the list of keys is closed");
        let first = screen.chart_name();
        press(&mut screen, KeyCode::Char('c'));
        assert_ne!(screen.chart_name(), first, "the next chart");
    }
}

#[test]
fn a_value_can_be_typed() {
    let mut screen = screen_of(Mode::Training, "control");
    let lr = screen.live_knobs().position(|knob| knob.name == "lr").unwrap();
    screen.chosen = lr;
    let type_in = |screen: &mut Screen, text: &str| {
        press(screen, KeyCode::Enter);
        text.chars().for_each(|letter| drop(press(screen, KeyCode::Char(letter))));
        press(screen, KeyCode::Enter)
    };
    let command = Command::SetKnob { name: "lr".into(), value: 0.001.into() };
    assert_eq!(type_in(&mut screen, "1e-3"), Some(command));
    assert_eq!(type_in(&mut screen, "quick"), None, "q is a letter here");
    assert!(screen.view.notice.as_ref().unwrap().1.contains("wrong type"), "{:?}", screen.view.notice);
    assert_eq!(screen.mode, Mode::Training);
}
