// The words room's view: samples, predictions and attention in a text, generation from a prompt, training on the visitor's own text, and
// numbers about the model.

import type { Began, Event as RunEvent } from "../../run/protocol";
import { h } from "../../parts/dom";
import { figure, seconds, words } from "../../parts/format";
import type { History } from "../../parts/history";
import type { Band, Explanation, RoomPage, View } from "../../parts/room";
import type { Shortcut } from "../../parts/shortcuts";
import type { WordsClient } from "./client";
import { ModelPane } from "./model";
import { OwnPane } from "./own";
import type { AboutView, RoomEvent } from "./protocol";
import { ReadingPane } from "./reading";
import { SamplesPane } from "./samples";
import { Turns } from "../shared/asking";
import * as text from "./text";
import { WritingPane } from "./writing";

export class WordsView implements View {
  readonly bands: Band[];
  readonly drops = {
    words: "Drop a text to train on, or a saved run to continue",
    take: (file: File): void => void this.own.take(file),
  };
  readonly keys: Shortcut[];
  readonly otherKeys = [{ shown: "← →", does: "on generated text: move between tokens; home and end go to the first and the last" }];
  private readonly samples: SamplesPane;
  private readonly reading: ReadingPane;
  private readonly writing: WritingPane;
  private readonly own: OwnPane;
  private readonly model = new ModelPane();
  private preparing = false;
  private readonly runs = new Turns();

  constructor(private readonly page: RoomPage<WordsClient>) {
    const { client } = page;
    this.samples = new SamplesPane(page);
    this.reading = new ReadingPane(client);
    this.writing = new WritingPane(client, page.announcer, (written) => {
      this.reading.put(written);
      this.reading.focus();
    });
    this.own = new OwnPane(client.room.data?.help ?? "", (source, knobs) => page.learnFrom(source, knobs));
    this.bands = [
      { name: "writing-band", heading: "Generate text", element: this.writing.element, place: "before knobs" },
      { name: "own-band", heading: "Your own text", element: this.own.element, place: "before knobs" },
      { name: "model-band", heading: "The model", element: this.model.element, place: "before knobs" },
    ];
    this.keys = [{ key: "c", shown: "c", does: "go to the inspected text", run: () => this.reading.focus() }];
  }

  first(curves: HTMLElement): HTMLElement {
    return h("div.workbench", this.samples.element, curves, this.reading.element);
  }

  headline(): string {
    return text.title;
  }

  explanations(): Explanation[] {
    return text.explanations;
  }

  status(present: History): string {
    const { progress } = this.page;
    if (this.preparing) return "Preparing the text.";
    const after = `After ${seconds(progress.train_s)} of training (${words(progress.counts[0] ?? 0)} ${this.page.unit})`;
    const [loss, floor] = [present.test("val_loss"), present.test("floor")];
    if (loss === undefined) return `${after}: no test yet.`;
    const best = floor === undefined ? "" : ` (best possible: ${figure(Math.exp(floor))})`;
    return `${after}: as uncertain as a guess among ${figure(Math.exp(loss))} tokens${best}. Validation loss ${figure(loss)}.`;
  }

  spoken(present: History): string {
    const { newest } = this.samples;
    return `${this.status(present)}${newest ? ` Newest sample: ${newest.prompt}${newest.text}` : ""}`;
  }

  refresh(): void {
    const { present } = this.page;
    this.model.refresh(present?.latest("tokens_per_s"), present?.test("floor"));
  }

  began({ knobs }: Began): void {
    const stale = this.runs.take();
    this.preparing = false;
    this.samples.begin([]);
    this.samples.prepare(undefined);
    for (const part of [this.reading, this.writing, this.model]) part.begin();
    const { client } = this.page;
    this.own.setKnobs(client.knobs, knobs);
    void client
      .ask({ ask: "about" })
      .then(async (about) => {
        if (stale()) return;
        if (about.preparing) this.take({ kind: "room", event: { kind: "preparing", ...about.preparing } satisfies RoomEvent, text: "" });
        else this.ready(about);
        // A restored run contains earlier samples.
        const samples = await client.ask({ ask: "samples" });
        if (stale()) return;
        this.samples.begin(samples);
        if (samples[0]) this.writing.suggest(samples[0].prompt);
      })
      .catch(() => {}); // the run has ended
  }

  take(event: RunEvent): void {
    if (event.kind !== "room") return;
    const received = event.event as RoomEvent;
    if (received.kind === "ready") return this.ready(received);
    if (received.kind === "preparing") {
      this.preparing = true;
      return this.samples.prepare(received);
    }
    this.samples.take(received);
    this.writing.suggest(received.prompt);
  }

  private ready(about: AboutView): void {
    this.preparing = false;
    this.samples.prepare(undefined);
    this.reading.ready(about);
    this.model.ready(about);
    this.own.setOwnText(about.corpus?.own ?? false);
    if (about.model) this.writing.ready(about.model);
  }
}
