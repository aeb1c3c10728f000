// Starts another run: after a reset, a change of variant, new user data, a choice of a sweep's value, the opening of a file, or the return
// to an earlier run.

import type { Client } from "../run/client";
import type { Config, Value, Variant } from "../run/protocol";
import { datasetOf } from "../run/dataset";
import { textOf } from "../run/notice";
import { loadVisit, type SavedRun } from "../run/store";
import { Address, linked } from "./address";
import { exactText } from "./format";
import type { History } from "./history";
import { keptRun } from "./kept";
import type { Wanted } from "./knobs";
import { pageLife } from "./life";
import { Pace } from "./pace";
import type { PageContext, View } from "./room";
import { NEW_RUN, Succession } from "./succession";
import { VARIANT } from "./sweep-knob";
import { Switcher } from "./switcher";

export interface StartSources {
  present(): History | undefined;
  /** Returns the settings of the next run, as the knobs show them. */
  wanted(): Wanted;
  label(knob: string): string;
  /** Shows the picture of the room. */
  showStage(): void;
}

export class Starts {
  readonly address: Address;
  readonly pace: Pace;
  readonly succession: Succession;
  readonly switcher: Switcher;
  private readonly life = pageLife();

  constructor(
    private readonly client: Client,
    private readonly around: PageContext,
    private readonly view: View,
    private readonly sources: StartSources,
  ) {
    this.address = new Address(client);
    this.pace = new Pace(client, () => view.realTime?.() ?? 1);
    this.succession = new Succession(client, this.pace, () => this.address.follow());
    this.switcher = new Switcher(client.room, {
      variants: () => this.variants,
      nameOf: (variant) => this.nameOf(variant),
      linkTo: (variant) => this.linkTo(variant),
      goTo: (variant, push) => this.goTo(variant, push),
    });
  }

  /** Variants that the visitor can choose. */
  get variants(): Variant[] {
    const { room, variant } = this.client;
    const own = this.view.ownVariant?.variant;
    if (!own) return room.variants;
    return [...room.variants, variant.id === own.id ? variant : own];
  }

  nameOf(variant: Variant): string {
    return this.view.nameOf?.(variant) ?? variant.name;
  }

  /** Restores a run of this room, for example an earlier state of the current run. Games and other interactions continue. */
  goBack(bytes: Uint8Array): void {
    void this.succession.replace({ kind: "restore", bytes, follow: true });
  }

  reset(): void {
    const present = this.sources.present();
    if (!present) return;
    const { knobs, seed } = this.sources.wanted();
    void this.succession.replace({ kind: "reset", config: { ...fresh(present.config), knobs, seed } }, { ends: NEW_RUN });
    this.around.announcer.say("New run.");
  }

  async learnFrom(source: File | string | undefined, knobs: Record<string, Value>): Promise<void> {
    const present = this.sources.present();
    if (!present) return;
    const { data: _, ...kept } = fresh(present.config);
    const wanted = this.sources.wanted();
    const variant = this.client.room.data_variant ?? kept.variant;
    // The knobs' values are kept only for the same variant, because another variant has other defaults.
    const given = variant === kept.variant ? wanted.knobs : {};
    const config: Config = { ...kept, variant, seed: wanted.seed, knobs: { ...given, ...knobs } };
    // If no setting was changed, passes the data to the run that waits for it. The settings of the waiting run then apply.
    const changed = present.marks.length > 0 || !!present.config.changes?.length;
    const own =
      changed ||
      variant !== kept.variant ||
      Object.entries(config.knobs).some(([name, value]) => present.settings[name] !== value) ||
      config.seed !== kept.seed;
    const begin = (): void | Promise<void> =>
      source === undefined ? this.client.command({ kind: "reset", config }) : this.client.provideData(source, own ? config : null);
    await this.succession.replaceBy(begin, { start: true, ends: { words: "A run on other data began.", follow: true } });
    this.sources.showStage();
  }

  useValue(knob: string, value: Value): void {
    const present = this.sources.present();
    if (!present) return;
    this.client.endSweep();
    const variant = knob === VARIANT && this.client.room.variants.find(({ id }) => id === value);
    if (variant) return this.switcher.switchTo(variant);
    const { knobs } = this.sources.wanted();
    const config = { ...fresh(present.config), knobs: { ...knobs, [knob]: value } };
    void this.succession.replace({ kind: "reset", config }, { start: true, ends: NEW_RUN });
    this.around.announcer.say(`New run with ${this.sources.label(knob)} ${exactText(value)}.`);
    this.sources.showStage();
  }

  beginWith(config: Config): void {
    const present = this.sources.present();
    if (!present) return;
    this.client.endSweep();
    const { variant } = present.config;
    if (config.variant !== variant) this.address.push(this.linkTo(config.variant));
    const ends = config.variant === variant ? NEW_RUN : undefined;
    void this.succession.replace({ kind: "reset", config }, { start: true, ends });
    this.around.announcer.say("New run.");
  }

  /** Continues the run in a file. If the run belongs to another room, opens that room. */
  async load(file: File): Promise<void> {
    this.around.announcer.say(`Loading ${file.name}`);
    const ends = { words: `${file.name} was loaded.`, follow: false };
    try {
      const { bytes, room, variant } = await this.client.read(file);
      if (room === this.client.room.id && this.client.has(variant)) await this.succession.replace({ kind: "restore", bytes }, { ends });
      else this.around.open({ room, variant, checkpoint: bytes });
    } catch (error) {
      if (!this.life.aborted) this.around.notices.show("error", textOf(error), "");
    }
  }

  async begin(variant: Variant, knobs: Record<string, Value>, push = true): Promise<void> {
    const present = this.sources.present();
    if (!present) return;
    // The address contains the variant, so that bookmarks, reloads and the back button work.
    const set = Object.entries(knobs).map(([name, value]) => `&${name}=${encodeURIComponent(value)}`);
    if (push) this.address.push(this.linkTo(variant.id) + set.join(""));
    const { version, room, seed, data } = present.config;
    const keeps = data && [variant.id, null].includes(this.client.room.data_variant);
    const config: Config = { version, room, seed, variant: variant.id, knobs, ...(keeps && { data }) };
    const ends = variant.id === present.config.variant ? NEW_RUN : undefined;
    const done = this.succession.replace({ kind: "reset", config }, { start: true, ends });
    this.around.announcer.say(`${this.nameOf(variant)}: new run.`, "variant");
    await done;
  }

  /**
   * Switches to the variant in a link, if the link has no other settings, is the address of a kept run, or is the current address.
   * Otherwise returns false, because the link needs a new page.
   */
  follow(link: string): boolean {
    const { room } = this.client;
    const target = linked(link, this.client);
    const variant = this.variants.find(({ id }) => id === target?.variant);
    if (!variant || !this.sources.present()) return false;
    const kept = keptRun(room.id, variant.id)?.address === link;
    if (!target?.plain && !kept && link !== this.address.current) return false;
    this.address.went(link);
    this.switcher.switchTo(variant, false);
    return true;
  }

  private linkTo(variant: string): string {
    const { version = 2 } = this.sources.present()?.config ?? {};
    return `#/${this.client.room.id}?variant=${variant}&v=${version}`;
  }

  /** Switches to a variant. Continues the variant's run of this visit if there is one; otherwise starts a new run. */
  private async goTo(variant: Variant, push: boolean): Promise<void> {
    const { client } = this;
    const present = this.sources.present();
    if (!present || this.life.aborted) return;
    if (variant.id === this.view.ownVariant?.variant.id) this.sources.showStage();
    if (variant.id === present.config.variant) return this.address.follow();
    const kept = keptRun(client.room.id, variant.id) ?? (await this.stored(variant));
    if (!client.has(variant.id)) return this.openOwn(variant, kept);
    if (!kept && variant.id === client.room.data_variant && this.view.ownVariant)
      await this.learnFrom(await this.view.ownVariant.data(), {});
    else if (!kept) await this.begin(variant, {}, push);
    else {
      if (push) this.address.push(kept.address);
      const done = this.succession.replace({ kind: "restore", bytes: kept.bytes, follow: true }, { start: true });
      this.around.announcer.say(`${this.nameOf(variant)}: run continued.`, "variant");
      await done;
    }
    // The worker answers in order, so this answer arrives after the new run's `began` event.
    await client.shared();
  }

  /** Opens the wasm module of a variant that the current module does not contain. Continues the variant's kept run if there is one. */
  private async openOwn({ id }: Variant, kept: SavedRun | undefined): Promise<void> {
    const { room } = this.client;
    if (kept) return this.around.open({ room: room.id, variant: id, checkpoint: kept.bytes });
    const { version = 2 } = this.sources.present()?.config ?? {};
    const data = await datasetOf(await this.view.ownVariant!.data());
    this.around.open({ room: room.id, config: { version, room: room.id, variant: id, seed: 1, knobs: {}, data } });
  }

  private async stored(variant: Variant): Promise<SavedRun | undefined> {
    const runs = await loadVisit(this.client.room.id).catch(() => []);
    return runs.find((run) => run.variant === variant.id) as SavedRun | undefined;
  }
}

/** Returns a config without its live changes, for a new run. */
export function fresh({ changes: _, ...config }: Config): Config {
  return config;
}
