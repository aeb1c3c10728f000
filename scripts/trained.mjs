// `npm run trained`: trains the agents that the page loads beside a visitor's run, and packs each agent into www/public/trained. A packed
// file is a checkpoint without the history and the earlier tests, in which the tensors that only training needs are zero. Its metadata
// contain the digest of the training run. Its agent acts exactly as the trained one, but cannot train.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { program, target } from "./native.mjs";
import { own } from "./rooms.mjs";
import { main, options, root, sh, step, Trouble } from "./sh.mjs";

const FOLDER = join(root, "www/public/trained");
/** Size limit of a packed file after compression, in bytes. */
export const MOST_BYTES = 300_000;
const HISTORY = "run.history";
const CHECKSUM = ',"checksum":';
const MASK = 0xffff_ffff_ffff_ffffn;
const FLAGS = {
  from: "<FOLDER>  pack the files ROOM.safetensors and ROOM.events of this folder instead of training",
  program: "<FILE>  use this build of hothouse instead of building it",
};

/** Returns the 64-bit FNV-1a hash over several buffers, in hexadecimal. */
export function fnv(buffers) {
  let hash = 0xcbf2_9ce4_8422_2325n;
  for (const buffer of buffers) for (const byte of buffer) hash = ((hash ^ BigInt(byte)) * 0x100_0000_01b3n) & MASK;
  return hash.toString(16).padStart(16, "0");
}

/** Reads a checkpoint: its metadata, and its tensors in the order of the file. */
export function unpacked(bytes) {
  const start = 8 + Number(bytes.readBigUInt64LE(0));
  const { __metadata__, ...named } = JSON.parse(bytes.subarray(8, start));
  const tensors = Object.entries(named)
    .map(([name, { dtype, shape, data_offsets }]) => ({ name, dtype, shape, from: data_offsets[0], to: data_offsets[1] }))
    .sort((a, b) => a.from - b.from)
    .map(({ name, dtype, shape, from, to }) => ({ name, dtype, shape, data: bytes.subarray(start + from, start + to) }));
  return { metadata: JSON.parse(__metadata__.hothouse), tensors };
}

/** Returns the bytes of a checkpoint with this metadata and these tensors; the inverse of `unpacked`. */
function packed({ checksum: _, ...metadata }, tensors) {
  const stated = JSON.stringify(metadata).slice(0, -1);
  const order = ({ name }) => `${Number(name === HISTORY)}${name}`;
  const sorted = [...tensors].sort((a, b) => (order(a) < order(b) ? -1 : 1));
  const sum = fnv([stated, ...sorted.flatMap(({ name, data }) => [name, data])].map((part) => Buffer.from(part)));
  let end = 0;
  const header = { __metadata__: { hothouse: `${stated}${CHECKSUM}"${sum}"}` } };
  for (const { name, dtype, shape, data } of tensors) header[name] = { dtype, shape, data_offsets: [end, (end += data.length)] };
  const text = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8, " ")]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return Buffer.concat([length, padded, ...tensors.map(({ data }) => data)]);
}

/**
 * Removes the contents of a checkpoint that only training needs. `summary` is the last event of the training. The history and the tensors
 * that match `dropped` are omitted. All other float tensors become zero, unless their names match `kept`. `notes` replaces fields of the
 * room's metadata.
 */
export function reduced(bytes, summary, { kept, dropped, notes }) {
  const { metadata, tensors } = unpacked(bytes);
  const { progress, names } = metadata;
  const result = {
    ...metadata,
    tests: [{ progress, values: names.tests.map((name) => summary.test[name] ?? null) }],
    testing: false,
    confirming: false,
    room: notes ? { ...metadata.room, ...notes } : metadata.room,
    digest: { iteration: progress.iteration, weights: summary.digest, arithmetic: summary.arithmetic },
  };
  const needed = tensors
    .filter(({ name }) => name !== HISTORY && !dropped?.test(name))
    .map((tensor) => (tensor.dtype !== "F32" || kept.test(tensor.name) ? tensor : { ...tensor, data: Buffer.alloc(tensor.data.length) }));
  return packed(result, needed);
}

const lastLine = (file) => JSON.parse(readFileSync(file, "utf8").trim().split("\n").at(-1));

/**
 * Resumes a packed file and checks that its weights have the digest in its metadata. No training follows, because the run has reached its
 * budget.
 */
async function verify(hothouse, bytes, folder) {
  const { metadata } = unpacked(bytes);
  const [file, events] = [join(folder, "packed.safetensors"), join(folder, "packed.events")];
  writeFileSync(file, bytes);
  const steps = ["--steps", String(metadata.progress.counts[0])];
  await sh(hothouse, ["resume", file, ...steps, "--device", "cpu", "--json", "--events", events], { limitMs: 120_000 });
  const { digest } = lastLine(events);
  for (const one of [file, events]) rmSync(one);
  if (digest !== metadata.digest.weights)
    throw new Trouble(
      `the packed weights have the digest ${digest}, not ${metadata.digest.weights}`,
      "keep the tensors that the digest covers",
    );
}

await main(import.meta.url, async () => {
  const given = options(FLAGS);
  const hothouse = given.program ?? (await program());
  const folder = given.from ?? join(target, "trained");
  for (const one of [folder, FOLDER]) mkdirSync(one, { recursive: true });
  for (const [room, { variant, set, steps, ...parts }] of await own("trained")) {
    const [save, events] = ["safetensors", "events"].map((end) => join(folder, `${room}.${end}`));
    const knobs = Object.entries(set).flatMap(([name, value]) => ["--set", `${name}=${value}`]);
    const train = ["train", room, "--variant", variant, ...knobs, "--steps", String(steps), "--device", "cpu"];
    if (!given.from)
      await step(`${room} trained`, () => sh(hothouse, [...train, "--json", "--save", save, "--events", events]).then(() => {}));
    await step(`${room} packed`, async () => {
      const bytes = reduced(readFileSync(save), lastLine(events), parts);
      await verify(hothouse, bytes, folder);
      const small = gzipSync(bytes, { level: 9 });
      if (small.length >= MOST_BYTES) throw new Trouble(`the packed file has ${small.length} bytes`, "train a smaller network");
      const file = join(FOLDER, `${room}.safetensors.gz`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, small);
      return `${small.length} bytes`;
    });
  }
});
