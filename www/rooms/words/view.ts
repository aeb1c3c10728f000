// What the room of words shows beside what every room has: what the model writes as it learns, what it makes of a text, its attention
// heads, a prompt to go on with, a text of one's own, and what the model is.

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
    words: "Drop a text to learn from, or a saved run to go on from",
    take: (file: File): void => void this.own.take(file),
  };
  readonly keys: Shortcut[];
  readonly otherKeys = [{ shown: "← →", does: "on what it wrote: from token to token; home and end go to the first and the last" }];
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
      { name: "writing-band", heading: "Write with it", element: this.writing.element, place: "before knobs" },
      { name: "own-band", heading: "A text of your own", element: this.own.element, place: "before knobs" },
      { name: "model-band", heading: "The model", element: this.model.element, place: "before knobs" },
    ];
    this.keys = [{ key: "c", shown: "c", does: "go to the text that it reads", run: () => this.reading.focus() }];
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
    if (this.preparing) return "It prepares the text before it begins to learn.";
    const after = `after ${seconds(progress.train_s)} of training, ${words(progress.counts[0] ?? 0)} ${this.page.unit}`;
    const [loss, above] = [present.test("val_loss"), present.test("above")];
    if (loss === undefined) return `A transformer with random weights begins to learn the next token, ${after}.`;
    const floor = above === undefined ? "" : `, ${figure(100 * above)}% above the entropy floor`;
    return `Validation loss ${figure(loss)} nats a token (perplexity ${figure(Math.exp(loss))})${floor}, ${after}.`;
  }

  spoken(present: History): string {
    const { newest } = this.samples;
    return `${this.status(present)}${newest ? ` It writes: ${newest.prompt}${newest.text}` : ""}`;
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
    this.own.suit(client.knobs, knobs);
    void client
      .ask({ ask: "about" })
      .then(async (about) => {
        if (stale()) return;
        if (about.preparing) this.take({ kind: "room", event: { kind: "preparing", ...about.preparing } satisfies RoomEvent, text: "" });
        else this.ready(about);
        // A run that was saved brings its samples along.
        const samples = await client.ask({ ask: "samples" });
        if (stale()) return;
        this.samples.begin(samples);
        if (samples[0]) this.writing.suggest(samples[0].prompt);
      })
      .catch(() => {}); // the run has ended
  }

  take(event: RunEvent): void {
    if (event.kind !== "room") return;
    const told = event.event as RoomEvent;
    if (told.kind === "ready") return this.ready(told);
    if (told.kind === "preparing") {
      this.preparing = true;
      return this.samples.prepare(told);
    }
    this.samples.take(told);
    this.writing.suggest(told.prompt);
  }

  private ready(about: AboutView): void {
    this.preparing = false;
    this.samples.prepare(undefined);
    this.reading.ready(about);
    this.model.ready(about);
    this.own.learns(about.corpus?.own ?? false);
    if (about.model) this.writing.ready(about.model);
  }
}
