//! Gates and wires of automata.

use learn::logic::{Architecture, OPS, Wiring, Wirings, apply, coefficients, unique};

#[test]
fn operations_match_their_polynomials() {
    for op in 0..OPS as u8 {
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            let [c0, c1, c2, c3] = coefficients(op);
            let (x, y) = (f64::from(u8::from(a)), f64::from(u8::from(b)));
            assert_eq!(c0 + c1 * x + c2 * y + c3 * x * y, f64::from(u8::from(apply(op, a, b))), "{op} of {a}, {b}");
            assert_ne!(apply(op, a, b), apply(15 - op, a, b));
        }
    }
}

#[test]
fn pairs_match_the_publication() {
    let pairs = |inputs, gates| unique(inputs, gates).map(|w| w.a.into_iter().zip(w.b).collect::<Vec<_>>());
    assert_eq!(pairs(4, 2), Ok(vec![(0, 1), (2, 3)]));
    assert_eq!(pairs(5, 4), Ok(vec![(0, 1), (2, 3), (1, 2), (3, 4)]));
    assert_eq!(pairs(4, 6), Ok(vec![(0, 1), (2, 3), (1, 2), (0, 2), (1, 3), (0, 3)]));
    assert!(pairs(8, 3).is_err() && pairs(4, 7).is_err());
    for wiring in [Wiring::Unique, Wiring::Random] {
        let shape = Architecture { channels: 2, kernels: 3, perception: vec![8, 4, 2], update: vec![16, 8, 4, 2] };
        let wirings = Wirings::new(&shape, wiring, 7).unwrap();
        assert_eq!(wirings, Wirings::new(&shape, wiring, 7).unwrap());
        assert_ne!(wirings, Wirings::new(&shape, wiring, 8).unwrap());
        assert_eq!(shape.update_inputs(), 14);
        let mut first: Vec<u32> = wirings.perception[0].a.clone();
        first.sort_unstable();
        assert_eq!(first, [0, 1, 2, 3, 5, 6, 7, 8]);
        // Every input of the update is read.
        let read = |i| wirings.update[0].a.contains(&i) || wirings.update[0].b.contains(&i);
        assert!((0..14).all(read));
    }
}
