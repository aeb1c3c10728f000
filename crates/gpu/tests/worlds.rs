//! Worlds on the device against the same on the CPU.

#![cfg(not(target_family = "wasm"))]

use gpu::{Gpu, OpenOptions, Program, Readback, Space, groups, world};
use math::rng::{hash_1, uniform_from_word};
use math::{Isa, PANEL, Rng};

fn open() -> Gpu {
    Gpu::open_blocking(OpenOptions::default())
        .expect("an adapter; a software one will do (mesa-vulkan-drivers)")
}

/// Runs one kernel over `len` items and gives its floats and words, `[row][len]`.
fn rows(
    gpu: &Gpu,
    text: &str,
    args: &[u32],
    len: usize,
    [floats, words]: [usize; 2],
) -> (Vec<f32>, Vec<u32>) {
    let mut space = Space::default();
    let (y, n) = (space.floats(len * floats), space.words(len * words));
    let mut program = Program::new(gpu);
    let kernel = program.kernel("rows", text);
    let args = [&[len as u32][..], args].concat();
    program.dispatch(&kernel, &args, groups(len, 64));
    let memory = space.allocate(gpu).unwrap();
    program.bind(&memory);
    let mut encoder = gpu.encoder();
    program.encode(&mut encoder, 0..1);
    gpu.submit(encoder);
    let (mut floats, mut words) = Readback::new(&memory, &[y], &[n]).now().unwrap();
    (floats.remove(0), words.remove(0))
}

const MAIN: &str = "
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    let len = args.len;
    if (i >= len) { return; }
";

#[test]
fn random_words_are_those_of_the_cpu() {
    let gpu = open();
    let body = "
        let a = threefry(args.key, vec4<u32>(i, 7u * i, i ^ 0xF0F0F0F0u, 3u));
        let b = hash(args.key.xy, vec2<u32>(i * 0x9E3779B9u, 0x12345678u));
        for (var w = 0u; w < 4u; w++) {
            words[w * len + i] = a[w];
            words[(4u + w) * len + i] = b[w];
        }
        mem[i] = uniform_of(b.x);
    }";
    let text = format!(
        "struct Args {{ len: u32, a: u32, b: u32, c: u32, key: vec4<u32> }}\n{}{}{MAIN}{body}",
        gpu::POLY,
        gpu::RNG
    );
    let (len, key) = (1000, [1, 0xFFFF_FFFF, 0x8000_0001, 77]);
    let args = [0, 0, 0, key[0], key[1], key[2], key[3]];
    let (floats, words) = rows(&gpu, &text, &args, len, [1, 8]);
    for i in 0..len {
        let n = i as u32;
        let a = Rng { key }.block([n, n.wrapping_mul(7), n ^ 0xF0F0_F0F0, 3]);
        let b = hash_1([key[0], key[1]], [n.wrapping_mul(0x9E37_79B9), 0x1234_5678]);
        let expected = a.into_iter().chain(b);
        for (w, expected) in expected.enumerate() {
            assert_eq!(words[w * len + i], expected, "word {w} of {i}");
        }
        assert_eq!(floats[i], uniform_from_word(b[0]));
    }
}

/// Of every world: the first states of some environments and episodes.
#[test]
fn episodes_begin_where_they_begin_on_the_cpu() {
    let gpu = open();
    for kind in worlds::kinds() {
        let Some(world) = world(kind.spec.id) else { continue };
        let (seed, first, len) = (11, 4_000_000_000, 1000);
        let body = "
            let state = world_first(args.first + i, 0u, args.key);
            for (var s = 0u; s < STATE; s++) { mem[s * len + i] = state[s]; }
        }";
        let args = "struct Args { len: u32, first: u32, b: u32, c: u32, key: vec4<u32> }\n";
        let text = format!("{args}{}{MAIN}{body}", world.text);
        let key = (world.key)(seed);
        let args = [first, 0, 0, key[0], key[1], key[2], key[3]];
        let (floats, _) = rows(&gpu, &text, &args, len, [world.state, 0]);
        let many = (kind.many)(Isa::best(), seed, first, len.next_multiple_of(PANEL));
        let mut state = vec![0.0; world.state];
        for env in 0..len {
            many.environment(env, &mut state);
            for (s, expected) in state.iter().enumerate() {
                let found = floats[s * len + env];
                let ulps = (i64::from(found.to_bits()) - i64::from(expected.to_bits())).abs();
                assert!(ulps <= 1, "{}: {found}, not {expected}", kind.spec.id);
            }
        }
    }
}
