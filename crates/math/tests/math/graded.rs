//! Integer first layer. On every instruction set, an incrementally corrected sum equals a sum from scratch. Slopes agree with their
//! definition in f64.

use math::graded::{self, Grade};
use math::{Isa, Rng};
use testkit::test;

const WIDTH: usize = 144;

/// Returns the rules of a table: one row, then five rows of a graded input with three steps, then two rows. The rows outside the graded
/// input depend on no other row.
fn grades() -> Vec<Grade> {
    let grade = |step, scale, onward| Grade { step, scale, onward };
    vec![
        grade(0, 1.0, false),
        grade(1, 0.5, false),
        grade(2, 0.5, true),
        grade(3, 0.5, true),
        grade(3, 0.5, true),
        grade(3, 0.5, true),
        grade(4, 1.0, false),
        grade(5, 1.0, false),
    ]
}

fn steps() -> Vec<f32> {
    let mut steps = vec![0.0; 6 * WIDTH];
    Rng::new(3, 1).fill_normal(Isa::best(), 0, &mut steps);
    steps
}

/// Computes the rows of the table in f64.
fn rows(steps: &[f32]) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for grade in grades() {
        let step = &steps[grade.step as usize * WIDTH..][..WIDTH];
        let add = |c: usize| (f64::from(step[c]) * f64::from(grade.scale)).clamp(-1.9, 1.9);
        let before = |c: usize| if grade.onward { rows.last().map_or(0.0, |row| row[c]) } else { 0.0 };
        rows.push((0..WIDTH).map(|c| before(c) + add(c)).collect());
    }
    rows
}

#[test]
fn rows_are_sums_of_their_steps_and_incremental_sums_are_exact() {
    let (steps, grades) = (steps(), grades());
    let twin = rows(&steps);
    let mut first: Option<(Vec<u32>, Vec<f32>)> = None;
    for isa in Isa::available() {
        let mut table = vec![0; grades.len() * WIDTH];
        graded::fill(isa, WIDTH, &grades, &steps, &mut table);
        let (mut sum, mut fresh, mut changed) = (vec![0; WIDTH], vec![0.0; WIDTH], vec![0.0; WIDTH]);
        graded::sums(isa, WIDTH, &table, &[], &[0, 3, 6], &[], &mut sum, &mut []);
        graded::sums(isa, WIDTH, &table, &sum, &[5, 7], &[3, 6], &mut [], &mut changed);
        graded::sums(isa, WIDTH, &table, &[], &[0, 5, 7], &[], &mut [], &mut fresh);
        assert!(fresh == changed, "{isa:?}");
        for c in 0..WIDTH {
            let exact = (twin[0][c] + twin[5][c] + twin[7][c]).max(0.0);
            assert!((f64::from(fresh[c]) - exact).abs() < 1e-5, "{isa:?} {c}: {} {exact}", fresh[c]);
        }
        let (known_table, known) = first.get_or_insert_with(|| (table.clone(), fresh.clone()));
        assert!(*known_table == table && *known == fresh, "{isa:?}");
    }
}

#[test]
fn slopes_of_steps_sum_the_slopes_of_continuing_rows() {
    let grades = grades();
    let mut d = vec![0.0; 2 * WIDTH];
    Rng::new(3, 2).fill_normal(Isa::best(), 0, &mut d);
    for isa in Isa::available() {
        let mut d_rows = vec![0.0; grades.len() * WIDTH];
        graded::scatter(isa, WIDTH, &d[..WIDTH], &[0, 4, 6], &mut d_rows);
        graded::scatter(isa, WIDTH, &d[WIDTH..], &[0, 2], &mut d_rows);
        let mut slopes = vec![1.0; 6 * WIDTH];
        graded::gather_slopes(isa, WIDTH, &grades, &d_rows, &mut slopes);
        for c in 0..WIDTH {
            let (one, other) = (f64::from(d[c]), f64::from(d[WIDTH + c]));
            // Row 4 contains step 1, step 2 and twice step 3; row 2 contains steps 1 and 2.
            let exact = [one + other, 0.5 * (one + other), 0.5 * (one + other), one, one, 0.0];
            for (step, exact) in exact.into_iter().enumerate() {
                let slope = f64::from(slopes[step * WIDTH + c]);
                assert!((slope - exact).abs() < 1e-6, "{isa:?} {step} {c}: {slope} {exact}");
            }
        }
    }
}

#[test]
fn open_softmax_ignores_closed_columns() {
    let rows = 37;
    let mut x = vec![0.0; rows * 7];
    Rng::new(3, 3).fill_normal(Isa::best(), 0, &mut x);
    let open: Vec<u8> = (0..rows).map(|r| (r * 37 % 64) as u8).collect();
    for isa in Isa::available() {
        let mut y = vec![-1.0; rows * 6];
        graded::softmax_open(isa, 6, 7, &x, &open, &mut y);
        for r in 0..rows {
            let is_open = |c: usize| open[r] >> c & 1 == 1;
            let e = |c: usize| if is_open(c) { f64::from(x[7 * r + c]).exp() } else { 0.0 };
            let sum: f64 = (0..6).map(e).sum();
            for c in 0..6 {
                let exact = if is_open(c) { e(c) / sum } else { 0.0 };
                assert!((f64::from(y[6 * r + c]) - exact).abs() < 1e-6, "{isa:?} {r} {c}");
            }
        }
    }
}

#[test]
fn approach_interpolates_by_its_share() {
    let (x, start) = ([4.0f32; 21], [1.0f32; 21]);
    for isa in Isa::available() {
        let mut y = start;
        graded::approach(isa, 0.25, &x, &mut y);
        assert_eq!(y, [1.75; 21], "{isa:?}");
    }
}
