//! Tests of the solver for rigid bodies: first touches, contact points, sweeps over many scenes, and flight without sweeps.

use math::Isa;
use math::rng::{Rng, uniform_from_word};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, SQRT_2};
use testkit::test;
use worlds::control::lunar_lander::{HEIGHT, WIDTH, rig};
use worlds::internals::{
    BLOCK, BODIES, Body, Contact, Fixed, HINGES, Hinge, Meeting, NEAR, Rig, Scene, Solid, System, TOLERANCE, Touch, Turn, V2, impact,
    sweep_many, sweep_one, v2,
};

const SQUARE: [[f64; 2]; 4] = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];

#[test]
fn impact_time_of_a_falling_square_is_that_of_its_lowest_corner() {
    let solid = Solid::<f64>::new(&SQUARE, 1.0, 0.5);
    let expected = (3.0 - SQRT_2 - NEAR) / 2.0;
    for corner in 0..4u8 {
        let angle = FRAC_PI_4 - FRAC_PI_2 * f64::from(corner);
        let at = |y: f64| Body { place: v2(0.0, y), angle, ..Body::default() };
        let part = impact(&solid, &at(3.0), &at(1.0), [v2(-5.0, 0.0), v2(5.0, 0.0)]);
        let part = part.expect("the square reaches the ground");
        assert!((part - expected).abs() < TOLERANCE, "corner {corner}: {part}, not {expected}");
    }
}

/// Box2D solves two points at once up to a condition number of 1000.
#[test]
fn two_points_that_nearly_coincide_count_as_one() {
    let mut solid = Solid::<f64>::new(&SQUARE, 1.0, 0.5);
    (solid.inv_mass, solid.inv_inertia) = (1.0, 1.0);
    let anchors = [V2::default(); 2];
    let hinge = Hinge { anchors, zero: 0.0, low: 0.0, high: 0.0, speed: 0.0, most: 0.0 };
    let rig = Rig::new([solid; BODIES], [hinge; HINGES], 0.02, -10.0);
    let at = Body { place: v2(0.0, 1.0), ..Body::default() };
    // If the points are at ±x from the centre, the condition number is (1 + x²)² / 4x².
    for (x, two) in [(0.0137, false), (0.0156, false), (0.016, true), (0.5, true)] {
        let meeting = Meeting {
            piece: 0,
            of_body: false,
            normal: v2(0.0, 1.0),
            on_face: V2::default(),
            points: [v2(-x, -1.0), v2(x, -1.0)],
            feature: [0, 1],
            count: 2,
        };
        let contact = Contact::new(&rig, 0, 0, &at, meeting, &Touch::default());
        assert_eq!(contact.two(), two, "{x}");
    }
}

/// Returns a scene with random hinges and touches. `draw` returns random numbers from -1 to 1.
fn scene(draw: &mut impl FnMut() -> f32) -> System<f32> {
    let mut scene = System::none();
    scene.motions = [[(); 3]; 3].map(|motion| motion.map(|()| draw()));
    for hinge in &mut scene.hinges {
        *hinge = [(); 21].map(|()| 0.1 * draw());
        hinge[9] = (1.5 * draw()).round();
    }
    for touch in &mut scene.touches {
        if draw() < 0.0 {
            continue;
        }
        let (sin, cos) = draw().sin_cos();
        let together = draw() > 0.0;
        let second = if together { 0.2 } else { 0.0 };
        // A second point that is not solved keeps the impulses of the last step, even if they exceed the limit of friction.
        let impulses = [0.1 * draw().abs(), 0.1 * draw().abs(), 0.1 * draw(), draw()];
        let levers = [(); 4].map(|()| draw());
        touch[..4].copy_from_slice(&impulses);
        touch[4..6].copy_from_slice(&[-sin, cos]);
        touch[6..10].copy_from_slice(&levers);
        touch[10..14].copy_from_slice(&[0.2, second, 0.2, second]);
        touch[14..20].copy_from_slice(&[5.0, 1.0, 5.0, 5.0 / 24.0, -1.0 / 24.0, 5.0 / 24.0]);
        touch[BLOCK] = if together { 1.0 } else { 0.0 };
    }
    scene
}

#[test]
fn a_scene_does_not_depend_on_scenes_in_other_lanes() {
    let fixed = Fixed { inverses: [[0.2, 0.3], [1.0, 2.0], [1.0, 2.0]], friction: [0.1, 0.4, 0.4], motors: [[0.3, 0.8], [-0.3, 0.8]] };
    let (rng, mut drawn) = (Rng::new(1, 1), 0);
    let mut draw = || {
        drawn += 1;
        2.0 * uniform_from_word(rng.block([drawn, 0, 0, 0])[0]) - 1.0
    };
    let scenes: Vec<_> = (0..200).map(|_| scene(&mut draw)).collect();
    let mut alone = scenes.clone();
    alone.iter_mut().for_each(|scene| sweep_one(&fixed, scene));
    for isa in Isa::available() {
        let mut together = scenes.clone();
        sweep_many(isa, &fixed, &mut together);
        for (k, (one, many)) in alone.iter().zip(&together).enumerate() {
            let values = |scene: &System<f32>| (scene.motions, scene.hinges, scene.touches);
            assert_eq!(values(many), values(one), "scene {k}, {}", isa.name());
        }
    }
}

#[test]
fn a_craft_with_legs_at_their_stops_flies_without_sweeps() {
    let rig = rig::<f32>();
    let mut scene = Scene::default();
    let [hull, legs @ ..] = &mut scene.bodies;
    hull.place = v2(WIDTH as f32 / 2.0, HEIGHT as f32);
    for (leg, hinge) in legs.iter_mut().zip(&rig.hinges) {
        let stop = if hinge.speed < 0.0 { hinge.low - 0.01 } else { hinge.high + 0.01 };
        leg.angle = hinge.zero + stop;
        leg.place = hull.place + hinge.anchors[0] - Turn::by(leg.angle).of(hinge.anchors[1]);
    }
    let mut system = System::none();
    for t in 0..20 {
        let step = scene.begin(&rig, V2::default(), &mut system);
        assert!(step.flown, "step {t}");
        scene.finish(&rig, step, &system);
    }
}
