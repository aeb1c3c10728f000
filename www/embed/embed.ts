// The compact page of a room, in a frame of another page: the picture, the curve, three knobs and the transport bar. Its only link opens
// the run in Hothouse. It stores nothing.

import type { Client } from "../run/client";
import type { Began, Event as RunEvent, Mark, Value, Variant } from "../run/protocol";
import type { Announcer } from "../parts/announce";
import { RunCurves } from "../parts/curves";
import { deviceText } from "../parts/device";
import { h, write } from "../parts/dom";
import { exactText } from "../parts/format";
import { Knobs } from "../parts/knobs";
import { closePage, untilClosed } from "../parts/life";
import type { Notices } from "../parts/notices";
import { Pace } from "../parts/pace";
import { Readout } from "../parts/readout";
import type { RoomExtension, RoomPage, View } from "../parts/room";
import { Shown } from "../parts/shown";
import { effect, paced, untracked } from "../parts/signal";
import { Reports } from "./reports";

/** Minimum time between two redraws of the curve. */
const DRAW_MS = 100;

type Around = { notices: Notices; announcer: Announcer };

export class Embed extends Shown<Around> implements RoomPage {
  readonly element: HTMLElement;
  readonly trained = undefined;
  readonly framed = true;
  readonly isFirstVisit = false;
  private readonly view: View;
  private readonly pace: Pace;
  protected readonly knobs: Knobs;
  protected readonly curves: RunCurves;
  protected readonly readout: Readout;
  private readonly reports: Reports;
  private readonly link = h("a.away", { href: "./", target: "_blank", rel: "noopener" }, "Open in Hothouse");
  private readonly note = h("p.small.note", { role: "status" });

  constructor(client: Client, around: Around, extension: RoomExtension = {}) {
    super(client, around);
    const { room } = client;
    this.view = extension.view?.(this) ?? {};
    const { view, unit } = this;
    this.pace = new Pace(client, () => view.realTime?.() ?? 1);
    this.knobs = new Knobs(
      { change: (name, value) => this.change(name, value), reset: () => this.reset() },
      room.iteration_word,
      extension.knobs,
    );
    this.knobs.suit(client.knobs);
    this.curves = new RunCurves(room, extension.curves ?? {}, (knob) => this.labelOf(knob));
    this.readout = this.reading(unit);
    this.reports = new Reports(client, (href) => (this.link.href = href));
    this.readout.suit(client.variant);
    this.element = h("main", { id: "main" }, ...this.contents());
    client.onEvent((event) => this.take(event));
    untilClosed(effect(() => this.drawCurve(), paced(DRAW_MS)));
  }

  private reading(unit: string): Readout {
    const { client, view, pace } = this;
    const actions = {
      run: (running: boolean) => this.run(running),
      step: () => client.command({ kind: "step" }),
      reset: () => this.reset(),
      speed: view.realTime && ((index: number) => pace.choose(index)),
    };
    return new Readout(client, view, this.state, unit, actions, {
      progress: () => this.progress,
      sweeping: () => false,
      overtaken: () => "",
      written: () => this.showLearningRate(),
      polled: (testing) => this.curves.main?.note(testing ? "Testing…" : ""),
    });
  }

  private contents(): HTMLElement[] {
    const { readout, view, curves, knobs } = this;
    return [
      h("header", readout.headline, readout.status, this.link),
      h("div.live-panel", { hidden: !view.stage }, view.stage),
      h("section.returns.card", { "aria-label": "Results" }, curves.main?.element, knobs.first, curves.mainTable.element),
      readout.transport.element,
      this.note,
    ];
  }

  close(): void {
    closePage();
    this.element.remove();
    this.client.close();
  }

  // ---- commands of the visitor and of the outer page

  run(running: boolean): void {
    this.client.command({ kind: running ? "start" : "pause" });
  }

  change(name: string, value: Value): void {
    this.client.command({ kind: "set_knob", name, value });
  }

  private reset(): void {
    const { present } = this;
    if (!present) return;
    const { changes: _, ...config } = present.config;
    this.client.command({ kind: "reset", config: { ...config, ...this.knobs.wanted() } });
  }

  // ---- interface for the room's views

  async begin(variant: Variant, knobs: Record<string, Value>): Promise<void> {
    const { present } = this;
    if (present) this.client.command({ kind: "reset", config: { ...present.config, changes: [], variant: variant.id, knobs } });
  }

  async learnFrom(source: File | string | undefined): Promise<void> {
    if (source !== undefined) await this.client.provideData(source);
  }

  // The frame always shows the picture, and it has no editor and no tours.
  showStage(): void {}
  setSpeed(): void {}
  chooseOwn(): void {}
  beginTour(): void {}

  // ---- events of the run

  private take(event: RunEvent): void {
    const { notices } = this.around;
    if (event.kind === "began") this.began(event);
    else this.state.take(event);
    if (event.kind === "mark") this.marked(event);
    else if (event.kind === "standing") this.showStanding(event);
    else if (event.kind === "solved") this.curves.main?.celebrate();
    else if (event.kind === "notice") notices.show(event.level, event.text, event.next_step);
    else if (event.kind === "room" && !this.view.take) notices.show("info", event.text, "");
    else if (event.kind === "device") this.writeNote();
    this.view.take?.(event);
    this.reports.take(event, this.present);
  }

  private began(event: Began): void {
    const { client, curves, view } = this;
    const another = this.present?.config.variant !== event.config.variant;
    const present = this.state.begin(event);
    if (another) this.knobs.suit(client.knobs);
    this.knobs.begin(present.settings, event.config.seed);
    view.began?.(event, another);
    this.pace.keep();
    curves.suit(client.variant, view.charts?.() ?? {});
    this.readout.suit(client.variant);
    this.writeNote();
  }

  private marked(mark: Mark): void {
    this.knobs.applied(mark.knob, mark.to);
    this.announcer.say(`${this.labelOf(mark.knob)} is now ${exactText(mark.to)}.`, mark.knob);
  }

  private drawCurve(): void {
    const { present } = this;
    if (present?.revision.value) untracked(() => this.curves.show(present, undefined));
  }

  /** States why training uses a single thread, if the frame is not isolated. */
  private writeNote(): void {
    const { device } = this.client;
    const on = device?.on_gpu ? deviceText(device) : "Training on one thread.";
    write(this.note, crossOriginIsolated ? "" : `${on} Threads need a page that is cross-origin isolated.`);
  }
}
