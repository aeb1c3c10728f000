// Causal attention in squares of 32 queries by 32 keys, computed as products of 32 x 32 tiles. A workgroup of 64 threads has 32 rows of one
// head of one sequence. In each tile, a thread has four rows of four columns: rows from 4 * `down` on, columns from 4 * `across` on. Scores
// stay within the workgroup.
//
// The text before this one defines: struct Args; LEN; HEADS; COLS; SIZE (columns of a head); BLOCKS (number of blocks of 32 rows in LEN);
// `four_at` and `set_four`, which access four columns of a head's row and ignore columns beyond the head; `whole_at` and `set_whole`, which
// access four numbers.

// Four rows of four columns.
struct Tile { a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32> }

const LEAST = -1e30;

// Factors of a product: `left` is [k][rows / 4], `right` is [k][columns / 4]. `made` is a left factor that the workgroup has computed.
var<workgroup> left: array<vec4<f32>, 256>;
var<workgroup> right: array<vec4<f32>, 256>;
var<workgroup> made: array<vec4<f32>, 256>;
// Numbers that threads exchange, [columns / 4][rows / 4].
var<workgroup> shares: array<vec4<f32>, 64>;

fn turned(x: Tile) -> Tile {
    return Tile(
        vec4<f32>(x.a.x, x.b.x, x.c.x, x.d.x),
        vec4<f32>(x.a.y, x.b.y, x.c.y, x.d.y),
        vec4<f32>(x.a.z, x.b.z, x.c.z, x.d.z),
        vec4<f32>(x.a.w, x.b.w, x.c.w, x.d.w)
    );
}

// Multiplies each row by one component of `by`.
fn scaled(x: Tile, by: vec4<f32>) -> Tile { return Tile(x.a * by.x, x.b * by.y, x.c * by.z, x.d * by.w); }

// Returns the sum of each row.
fn sums(x: Tile) -> vec4<f32> {
    let ones = vec4<f32>(1.0);
    return vec4<f32>(dot(x.a, ones), dot(x.b, ones), dot(x.c, ones), dot(x.d, ones));
}

fn largest(x: vec4<f32>) -> f32 { return max(max(x.x, x.y), max(x.z, x.w)); }

// Returns four columns of a row, or 0 for a missing row. `base` is the offset of the head in the first row of the sequence.
fn row_at(base: u32, stride: u32, row: u32, column: u32) -> vec4<f32> {
    return four_at(base + min(row, LEN - 1u) * stride, column, row < LEN);
}

fn tile_at(base: u32, stride: u32, row: u32, column: u32) -> Tile {
    return Tile(
        row_at(base, stride, row, column),
        row_at(base, stride, row + 1u, column),
        row_at(base, stride, row + 2u, column),
        row_at(base, stride, row + 3u, column)
    );
}

fn set_tile(base: u32, stride: u32, row: u32, column: u32, x: Tile) {
    let at = base + row * stride;
    set_four(at, column, row < LEN, x.a);
    set_four(at + stride, column, row + 1u < LEN, x.b);
    set_four(at + 2u * stride, column, row + 2u < LEN, x.c);
    set_four(at + 3u * stride, column, row + 3u < LEN, x.d);
}

// Loads 32 rows and 32 columns as the left factor, transposed, so that k counts columns. Adjacent threads read 64 bytes of a row and write
// adjacent vectors.
fn load_left(base: u32, stride: u32, row: u32, column: u32, local: u32) {
    let four = local % 8u;
    let k = local / 8u * 4u;
    let x = turned(tile_at(base, stride, row + 4u * four, column + k));
    left[k * 8u + four] = x.a;
    left[(k + 1u) * 8u + four] = x.b;
    left[(k + 2u) * 8u + four] = x.c;
    left[(k + 3u) * 8u + four] = x.d;
}

fn load_right_turned(base: u32, stride: u32, row: u32, column: u32, local: u32) {
    let four = local % 8u;
    let k = local / 8u * 4u;
    let x = turned(tile_at(base, stride, row + 4u * four, column + k));
    right[k * 8u + four] = x.a;
    right[(k + 1u) * 8u + four] = x.b;
    right[(k + 2u) * 8u + four] = x.c;
    right[(k + 3u) * 8u + four] = x.d;
}

// Loads 32 rows and 32 columns as the right factor, not transposed, so that k counts rows.
fn load_right(base: u32, stride: u32, row: u32, column: u32, local: u32) {
    let four = local % 8u;
    let k = local / 8u * 4u;
    let x = tile_at(base, stride, row + k, column + 4u * four);
    right[k * 8u + four] = x.a;
    right[(k + 1u) * 8u + four] = x.b;
    right[(k + 2u) * 8u + four] = x.c;
    right[(k + 3u) * 8u + four] = x.d;
}

// Stores a tile as the left factor `made`, so that k counts the tile's columns.
fn make(x: Tile, down: u32, across: u32) {
    let y = turned(x);
    made[across * 32u + down] = y.a;
    made[across * 32u + 8u + down] = y.b;
    made[across * 32u + 16u + down] = y.c;
    made[across * 32u + 24u + down] = y.d;
}

fn add_product(sum: Tile, a: vec4<f32>, b: vec4<f32>) -> Tile {
    return Tile(
        fma(vec4<f32>(a.x), b, sum.a),
        fma(vec4<f32>(a.y), b, sum.b),
        fma(vec4<f32>(a.z), b, sum.c),
        fma(vec4<f32>(a.w), b, sum.d)
    );
}

fn add_left(given: Tile, down: u32, across: u32) -> Tile {
    var sum = given;
    for (var k = 0u; k < 256u; k += 8u) { sum = add_product(sum, left[k + down], right[k + across]); }
    return sum;
}

fn add_made(given: Tile, down: u32, across: u32) -> Tile {
    var sum = given;
    for (var k = 0u; k < 256u; k += 8u) { sum = add_product(sum, made[k + down], right[k + across]); }
    return sum;
}

// Sums each row over the eight threads that have its columns.
fn sum_rows(x: vec4<f32>, down: u32, across: u32) -> vec4<f32> {
    workgroupBarrier();
    shares[across * 8u + down] = x;
    workgroupBarrier();
    var y = shares[down];
    for (var i = 1u; i < 8u; i++) { y += shares[i * 8u + down]; }
    return y;
}

fn top_of_rows(x: vec4<f32>, down: u32, across: u32) -> vec4<f32> {
    workgroupBarrier();
    shares[across * 8u + down] = x;
    workgroupBarrier();
    var y = shares[down];
    for (var i = 1u; i < 8u; i++) { y = max(y, shares[i * 8u + down]); }
    return y;
}

// Scales the scores of one query and four keys, and masks keys after the query.
fn scores(x: vec4<f32>, query: u32, key: u32) -> vec4<f32> {
    let keys = vec4<u32>(key, key + 1u, key + 2u, key + 3u);
    return select(vec4<f32>(LEAST), x * SCALE, keys <= vec4<u32>(query));
}

// Scales the scores of one key and four queries, and masks queries before the key.
fn scores_of_key(x: vec4<f32>, query: u32, key: u32) -> vec4<f32> {
    let queries = vec4<u32>(query, query + 1u, query + 2u, query + 3u);
    return select(vec4<f32>(LEAST), x * SCALE, queries >= vec4<u32>(key));
}
