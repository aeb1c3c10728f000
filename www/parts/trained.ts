// The trained agent of a room. Its small checkpoint is loaded after the first picture. The agent answers questions beside the visitor's run
// and never trains. If the checkpoint is missing or does not fit the run, the room works without a trained agent.

import type { Client } from "../run/client";
import { dropInteractions, interactionsKey, keepInteractions, loadInteractions } from "../run/interactions";
import type { Config, Digest, Progress, Row, Shared, Value } from "../run/protocol";
import type { Announcer } from "./announce";
import { copyField } from "./dialog";
import { h } from "./dom";
import { count, seconds } from "./format";
import type { History } from "./history";
import { pageLife } from "./life";

/** Maximum wait for idle time before the checkpoint is loaded. */
const IDLE_MS = 3000;

/** Declaration of a room's trained agent. Its checkpoint is the file `trained/ROOM.safetensors.gz`. */
export interface TrainedWords {
  /** Variant of the run that trained the checkpoint. */
  variant: string;
  /**
   * Names of the knobs that define the task. The agent is used only if these knobs have the same values in the visitor's run and in the
   * checkpoint.
   */
  task?: string[];
  /** Test column in which both agents are compared. */
  column: string;
  /** Formats a value of the column, such as `93% solved`. */
  level(value: number): string;
}

/** The trained agent as the room's views use it. */
export interface TrainedAgent {
  /**
   * Is `here` while the agent is loaded and answers questions, `expected` while it is not loaded but may still arrive during this run, and
   * `none` in all other cases.
   */
  readonly state: "none" | "expected" | "here";
  /** True if a test of the visitor's agent exceeded the trained agent's level. */
  readonly overtaken: boolean;
  /**
   * Interactions that this tab had with the agent before a reload: `continued` if they were restored, `lost` if they could not be restored,
   * or `none`.
   */
  readonly earlier: "none" | "continued" | "lost";
  /** Stores the agent's interactions, such as a match, so that a reload continues them. */
  keep(): void;
  /** Drops the stored interactions. */
  release(): void;
}

export interface TrainedSources {
  announcer: Announcer;
  present(): History | undefined;
  /** Called when a run begins, and when the trained agent is loaded, dropped or overtaken. */
  changed(): void;
}

/** Metadata of a checkpoint. The program that packs the checkpoint adds the digest. */
type Metadata = {
  config: Config;
  knobs: Record<string, Value>;
  progress: Progress;
  tests: Row[];
  names: { tests: string[] };
  digest?: Digest;
};
type Checkpoint = { bytes: Uint8Array; metadata: Metadata; level: number };

/** Returns the function that creates a room's trained agent. Pages of rooms without such an agent do not load this module. */
export const trainedAgent =
  (words: TrainedWords) =>
  (client: Client, sources: TrainedSources): Trained =>
    new Trained(client, words, sources);

export class Trained implements TrainedAgent {
  /** Text about the agent's training. Contains the command that repeats the training, and the digest of the weights. */
  readonly element = h("div.commands");
  private checkpoint: Checkpoint | undefined;
  private asked = false;
  /** True if the worker has loaded the agent or is loading it. */
  private wanted = false;
  private here = false;
  /** Number of requests to load or drop the agent. An answer to an older request is ignored. */
  private requests = 0;
  private wasOvertaken = false;
  earlier: TrainedAgent["earlier"] = "none";
  /** `now` is true while interactions are being stored. `again` is true if the interactions have changed during this storing. */
  private readonly keeping = { now: false, again: false };
  private readonly life = pageLife();

  constructor(
    private readonly client: Client,
    private readonly words: TrainedWords,
    private readonly sources: TrainedSources,
  ) {}

  get state(): TrainedAgent["state"] {
    if (this.here) return "here";
    return this.sources.present()?.config.variant === this.words.variant ? "expected" : "none";
  }

  get overtaken(): boolean {
    return this.overtaking() !== undefined;
  }

  /** Returns the test column and the agent's level in this column, for the chart. Returns undefined if the agent is not loaded. */
  level(): { column: string; value: number; label: string } | undefined {
    const { checkpoint, words } = this;
    if (!this.here || !checkpoint) return undefined;
    const { level } = checkpoint;
    return { column: words.column, value: level, label: "trained agent" };
  }

  /** Returns a sentence for the status if the visitor's agent has overtaken the trained agent; otherwise returns an empty string. */
  sentence(): string {
    const test = this.overtaking();
    return test ? `Your agent overtook the trained agent after ${seconds(test.progress.train_s)}.` : "";
  }

  /**
   * Called when a run begins. If the run has the checkpoint's variant, the first such call loads the checkpoint when the browser is idle.
   */
  begin(): void {
    this.wasOvertaken = this.overtaken;
    this.sources.changed();
    if (this.checkpoint) return this.suit();
    if (this.asked || this.state === "none") return;
    this.asked = true;
    const { connection } = navigator as { connection?: { saveData?: boolean } };
    if (!connection?.saveData) requestAnimationFrame(() => whenIdle(() => void this.fetch()));
  }

  /** Called after a test of the visitor's agent. */
  tested(): void {
    if (this.wasOvertaken || !this.overtaken) return;
    this.wasOvertaken = true;
    this.sources.announcer.say(this.sentence(), "trained");
    this.sources.changed();
  }

  private overtaking(): Row | undefined {
    const { checkpoint, words } = this;
    const present = this.here && this.sources.present();
    if (!present || !checkpoint) return undefined;
    return present.tests.find((row) => (present.test(words.column, row) ?? -Infinity) > checkpoint.level);
  }

  private async fetch(): Promise<void> {
    try {
      const response = await fetch(new URL(`trained/${this.client.room.id}.safetensors.gz`, document.baseURI), { signal: this.life });
      if (!response.ok) return;
      const bytes = await unpacked(response);
      const metadata = metadataOf(bytes);
      const column = metadata.names.tests.indexOf(this.words.column);
      const level = metadata.tests.at(-1)?.values[column];
      if (level == null || this.life.aborted) return;
      this.checkpoint = { bytes, metadata, level };
      this.suit();
    } catch {
      // without the file, the room works without a trained agent
    }
  }

  /** Loads the agent into the worker if the checkpoint fits the visitor's run. If it does not fit, drops the agent. */
  private suit(): void {
    const { checkpoint, client } = this;
    const fits = this.fits();
    if (!checkpoint || fits === this.wanted) return;
    this.wanted = fits;
    const request = ++this.requests;
    if (!fits) {
      client.dropTrained();
      return this.arrived(false);
    }
    this.load(checkpoint).then(
      ({ command }) => {
        if (request !== this.requests || this.life.aborted) return;
        this.describe(checkpoint, command);
        this.arrived(true);
      },
      () => {}, // this program cannot read the checkpoint
    );
  }

  /**
   * Loads the agent with the interactions that this tab stored. If none are stored or they cannot be loaded, loads the agent without
   * interactions.
   */
  private async load({ bytes, metadata }: Checkpoint): Promise<Shared> {
    const { client } = this;
    const { id } = client.room;
    if (interactionsKey(id) !== null) {
      try {
        const kept = await loadInteractions(id, digestOf(metadata));
        if (kept) {
          const shared = await client.loadTrained(kept);
          this.earlier = "continued";
          return shared;
        }
      } catch {
        // an unreadable save counts as lost
      }
      this.earlier = "lost";
    }
    return client.loadTrained(bytes);
  }

  keep(): void {
    const { keeping, checkpoint, client } = this;
    if (!this.here || !checkpoint) return;
    keeping.again = keeping.now;
    if (keeping.now) return;
    keeping.now = true;
    client
      .saveTrained()
      .then((bytes) => keepInteractions(client.room.id, bytes, digestOf(checkpoint.metadata)))
      .catch(() => {}) // without storage, a reload begins anew
      .finally(() => {
        keeping.now = false;
        if (keeping.again) this.keep();
      });
  }

  release(): void {
    this.keeping.again = false;
    dropInteractions(this.client.room.id).catch(() => {});
  }

  private arrived(here: boolean): void {
    this.here = here;
    this.wasOvertaken = this.overtaken;
    this.sources.changed();
  }

  private fits(): boolean {
    const present = this.sources.present();
    const { config, knobs } = this.checkpoint?.metadata ?? {};
    if (!present || !config || !knobs || config.variant !== present.config.variant) return false;
    return (this.words.task ?? []).every((name) => present.settings[name] === knobs[name]);
  }

  private describe({ metadata, level }: Checkpoint, command: string): void {
    const { progress, digest } = metadata;
    const iterations = `${count(progress.iteration)} ${this.client.room.iteration_word}s`;
    this.element.replaceChildren(
      h("p", [
        `This agent has trained for ${duration(progress.train_s)}: ${this.words.level(level)} in its last test. It was trained with ` +
          "this program and is part of the page. Here it answers questions and does not train.",
      ]),
      copyField("Command", `${command} --steps ${progress.counts[0] ?? 0}`),
      ...(digest
        ? [h("p.small", `The command gives the digest ${digest.weights} after ${iterations} (arithmetic: ${digest.arithmetic}).`)]
        : []),
    );
  }
}

const digestOf = ({ digest }: Metadata): string => digest?.weights ?? "";

const duration = (s: number): string => (s < 90 ? seconds(s) : `${Math.round(s / 60)} minutes`);

/** Calls `run` when the browser is idle. In Safari, which has no `requestIdleCallback`, calls `run` after a fixed delay. */
function whenIdle(run: () => void): void {
  if ("requestIdleCallback" in globalThis) requestIdleCallback(run, { timeout: IDLE_MS });
  else setTimeout(run, IDLE_MS / 10);
}

/**
 * Returns the decompressed content of a gzip file. If the server has already decompressed the file, returns the content unchanged. That
 * content is recognized because it begins with the header's length, a multiple of 8, and the first byte of gzip is odd.
 */
async function unpacked(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Returns the metadata from the header of a checkpoint. The worker checks the rest of the file. */
function metadataOf(bytes: Uint8Array<ArrayBuffer>): Metadata {
  const length = Number(new DataView(bytes.buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + length))) as { __metadata__: { hothouse: string } };
  return JSON.parse(header.__metadata__.hothouse) as Metadata;
}
