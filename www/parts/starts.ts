// What begins another run: a reset, another variant, other data, a value of a sweep, a file, and going back to a run that was left.

import type { Client } from "../run/client";
import type { Config, Value, Variant } from "../run/protocol";
import { textOf } from "../run/notice";
import { loadVisit, type Left } from "../run/store";
import { Address, linked } from "./address";
import { exactText } from "./format";
import type { History } from "./history";
import { keptRun } from "./kept";
import type { Wanted } from "./knobs";
import { pageLife } from "./life";
import { calm } from "./loop";
import { Pace } from "./pace";
import type { Surroundings, View } from "./room";
import { NEW_RUN, Succession } from "./succession";
import { VARIANT } from "./sweep-form";
import { Switcher } from "./switcher";

export interface Shows {
  present(): History | undefined;
  /** Settings of a new run, as the knobs have them. */
  wanted(): Wanted;
  label(knob: string): string;
}

const goUp = (): void => scrollTo({ top: 0, behavior: calm() ? "auto" : "smooth" });

export class Starts {
  readonly address: Address;
  readonly pace: Pace;
  readonly succession: Succession;
  readonly switcher: Switcher;
  private readonly life = pageLife();

  constructor(
    private readonly client: Client,
    private readonly around: Surroundings,
    private readonly view: View,
    private readonly shows: Shows,
  ) {
    this.address = new Address(client);
    this.pace = new Pace(client, () => view.realTime?.() ?? 1);
    this.succession = new Succession(client, this.pace, () => this.address.follow());
    this.switcher = new Switcher(client.room, {
      nameOf: (variant) => this.nameOf(variant),
      linkTo: (variant) => this.linkTo(variant),
      goTo: (variant, push) => this.goTo(variant, push),
    });
  }

  nameOf(variant: Variant): string {
    return this.view.nameOf?.(variant) ?? variant.name;
  }

  /** A run of this room goes on, with what a person does beside it. */
  goBack(bytes: Uint8Array): void {
    void this.succession.replace({ kind: "restore", bytes, follow: true });
  }

  reset(): void {
    const present = this.shows.present();
    if (!present) return;
    const { knobs, seed } = this.shows.wanted();
    void this.succession.replace({ kind: "reset", config: { ...fresh(present.config), knobs, seed } }, { ends: NEW_RUN });
    this.around.announcer.say("A new run begins.");
  }

  async learnFrom(source: File | string | undefined, knobs: Record<string, Value>): Promise<void> {
    const present = this.shows.present();
    if (!present) return;
    const { data: _, ...kept } = fresh(present.config);
    const wanted = this.shows.wanted();
    const config: Config = { ...kept, seed: wanted.seed, knobs: { ...wanted.knobs, ...knobs } };
    // A run that waits for its data has settings of its own.
    const changed = present.marks.length > 0 || !!present.config.changes?.length;
    const own =
      changed || Object.entries(config.knobs).some(([name, value]) => present.settings[name] !== value) || config.seed !== kept.seed;
    const does = (): void | Promise<void> =>
      source === undefined ? this.client.command({ kind: "reset", config }) : this.client.bring(source, own ? config : null);
    await this.succession.replaceBy(does, { start: true, ends: { words: "A run on other data began.", follow: true } });
    goUp();
  }

  useValue(knob: string, value: Value): void {
    const present = this.shows.present();
    if (!present) return;
    this.client.endSweep();
    const variant = knob === VARIANT && this.client.room.variants.find(({ id }) => id === value);
    if (variant) return this.switcher.switchTo(variant);
    const { knobs } = this.shows.wanted();
    const config = { ...fresh(present.config), knobs: { ...knobs, [knob]: value } };
    void this.succession.replace({ kind: "reset", config }, { start: true, ends: NEW_RUN });
    this.around.announcer.say(`A new run begins with ${this.shows.label(knob)} ${exactText(value)}.`);
    goUp();
  }

  beginWith(config: Config): void {
    const present = this.shows.present();
    if (!present) return;
    this.client.endSweep();
    const { variant } = present.config;
    if (config.variant !== variant) this.address.push(this.linkTo(config.variant));
    const ends = config.variant === variant ? NEW_RUN : undefined;
    void this.succession.replace({ kind: "reset", config: fresh(config) }, { start: true, ends });
    this.around.announcer.say("A new run begins.");
    goUp();
  }

  /** A saved run goes on here, or in its own room where it is of another. */
  async load(file: File): Promise<void> {
    this.around.announcer.say(`Loading ${file.name}`);
    const ends = { words: `${file.name} goes on.`, follow: false };
    try {
      const { bytes, room } = await this.client.read(file);
      if (room === this.client.room.id) await this.succession.replace({ kind: "restore", bytes }, { ends });
      else this.around.open({ room, checkpoint: bytes });
    } catch (error) {
      if (!this.life.aborted) this.around.notices.show("error", textOf(error), "");
    }
  }

  async begin(variant: Variant, knobs: Record<string, Value>, push = true): Promise<void> {
    const present = this.shows.present();
    if (!present) return;
    // The address tells what one looks at, so that it can be kept, reloaded and gone back from.
    const set = Object.entries(knobs).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
    if (push) this.address.push(this.linkTo(variant.id) + set.join(""));
    const { version, room, seed, data } = present.config;
    const config: Config = { version, room, seed, variant: variant.id, knobs, ...(data && { data }) };
    const ends = variant.id === present.config.variant ? NEW_RUN : undefined;
    const done = this.succession.replace({ kind: "reset", config }, { start: true, ends });
    this.around.announcer.say(`${this.nameOf(variant)}: a new run begins.`, "variant");
    await done;
  }

  /** A link that names another variant of this room and nothing else, or a run that was left; false where it is for others to open. */
  follow(link: string): boolean {
    const { room } = this.client;
    const asked = linked(link, this.client);
    const variant = room.variants.find(({ id }) => id === asked?.variant);
    if (!variant || !this.shows.present()) return false;
    const left = keptRun(room.id, variant.id)?.address === link;
    if (!asked?.plain && !left && link !== this.address.current) return false;
    this.address.went(link);
    this.switcher.switchTo(variant, false);
    return true;
  }

  private linkTo(variant: string): string {
    const { version = 2 } = this.shows.present()?.config ?? {};
    return `#/${this.client.room.id}?variant=${variant}&v=${version}`;
  }

  /** Another variant: its run goes on where this visit left one. */
  private async goTo(variant: Variant, push: boolean): Promise<void> {
    const { client } = this;
    const present = this.shows.present();
    if (!present || this.life.aborted) return;
    if (variant.id === present.config.variant) return this.address.follow();
    const left = keptRun(client.room.id, variant.id) ?? (await this.stored(variant));
    if (!left) await this.begin(variant, {}, push);
    else {
      if (push) this.address.push(left.address);
      const done = this.succession.replace({ kind: "restore", bytes: left.bytes, follow: true }, { start: true });
      this.around.announcer.say(`${this.nameOf(variant)}: its run goes on.`, "variant");
      await done;
    }
    // What began is told before what is asked after it is answered.
    await client.shared();
  }

  private async stored(variant: Variant): Promise<Left | undefined> {
    const runs = await loadVisit(this.client.room.id).catch(() => []);
    return runs.find((run) => run.variant === variant.id) as Left | undefined;
  }
}

/** The settings of a new run, which makes no changes by itself. */
function fresh({ changes: _, ...config }: Config): Config {
  return config;
}
