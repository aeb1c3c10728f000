//! Matrix products of other libraries, timed in the same rounds as this crate's products. They are built only with the feature `rivals`;
//! the product of faer also needs the feature `faer`. Only benches may use them.

/// Function that computes `c[m][n] = a[m][k] · b[k][n]` on one thread. All matrices are row-major.
pub type Product = fn(m: usize, n: usize, k: usize, a: &[f32], b: &[f32], c: &mut [f32]);

pub struct Rival {
    pub name: &'static str,
    pub product: Product,
}

#[cfg(not(feature = "rivals"))]
pub const ALL: &[Rival] = &[];

#[cfg(feature = "rivals")]
pub const ALL: &[Rival] = &[
    Rival { name: "gemm", product: by_gemm },
    Rival { name: "matrixmultiply", product: by_matrixmultiply },
    #[cfg(feature = "faer")]
    Rival { name: "faer", product: by_faer },
];

#[cfg(feature = "rivals")]
fn check(m: usize, n: usize, k: usize, a: &[f32], b: &[f32], c: &[f32]) {
    assert!(a.len() == m * k && b.len() == k * n && c.len() == m * n);
}

#[cfg(feature = "rivals")]
fn by_gemm(m: usize, n: usize, k: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    check(m, n, k, a, b, c);
    let serial = gemm::Parallelism::None;
    let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
    let (k_stride, n_stride) = (k as isize, n as isize);
    // SAFETY: the lengths were checked, so every (row, column) of these strides lies in its slice.
    unsafe {
        gemm::gemm(m, n, k, c, 1, n_stride, false, a, 1, k_stride, b, 1, n_stride, 0.0, 1.0, false, false, false, serial);
    }
}

#[cfg(feature = "rivals")]
fn by_matrixmultiply(m: usize, n: usize, k: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    check(m, n, k, a, b, c);
    let (a, b, c) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr());
    let (k_stride, n_stride) = (k as isize, n as isize);
    // SAFETY: the lengths were checked, so every (row, column) of these strides lies in its slice.
    unsafe { matrixmultiply::sgemm(m, k, n, 1.0, a, k_stride, 1, b, n_stride, 1, 0.0, c, n_stride, 1) }
}

#[cfg(feature = "faer")]
fn by_faer(m: usize, n: usize, k: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul};
    let (a, b) = (MatRef::from_row_major_slice(a, m, k), MatRef::from_row_major_slice(b, k, n));
    let c = MatMut::from_row_major_slice_mut(c, m, n);
    matmul(c, Accum::Replace, a, b, 1.0, Par::Seq);
}
