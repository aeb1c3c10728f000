// The words room's view. The stage shows samples, a prompt and predictions. The tabs contain the surprise and attention in a text, numbers
// about the model, and training on the visitor's own text.

import type { Began, Event as RunEvent } from "../../run/protocol";
import type { History } from "../../parts/history";
import type { Explanation, RoomPage, View } from "../../parts/room";
import type { Section } from "../../parts/places";
import type { Shortcut } from "../../parts/shortcuts";
import { reveal } from "../../parts/tabs";
import type { WordsClient } from "./client";
import { ModelPane } from "./model";
import { OwnPane } from "./own";
import type { AboutView, RoomEvent } from "./protocol";
import { ReadingPane } from "./reading";
import { SECTIONS } from "./sections";
import { TextStage } from "./stage";
import { Turns } from "../../parts/requests";
import * as text from "./text";

/** Id of the variant that trains on the visitor's own text. */
const OWN = "text";

export class WordsView implements View {
  readonly stage: HTMLElement;
  readonly pictured = ".sheet, .expected";
  readonly sections: Section[];
  readonly drops = {
    words: "Drop a text to train on, or a saved run to continue",
    take: (file: File): void => void this.own.take(file),
  };
  readonly keys: Shortcut[];
  readonly otherKeys = [{ shown: "← →", does: "on the text: move between tokens; home and end go to the first and the last" }];
  private readonly texts: TextStage;
  private readonly reading: ReadingPane;
  private readonly own: OwnPane;
  private readonly model = new ModelPane();
  private preparing = false;
  /** True if the run trains on the visitor's text; undefined until this is known. */
  private isOwn: boolean | undefined;
  /** True if the form for the visitor's text asks for the text of a link. */
  private requested = false;
  private readonly runs = new Turns();

  constructor(private readonly page: RoomPage<WordsClient>) {
    const { client } = page;
    this.reading = new ReadingPane(client);
    this.texts = new TextStage(
      page,
      (text) => {
        this.reading.put(text);
        this.inspect();
      },
      () => this.own.open(),
    );
    this.own = new OwnPane(client.room.data?.help ?? "", (source, knobs) => page.learnFrom(source, knobs));
    this.stage = this.texts.element;
    this.sections = [
      { ...SECTIONS.reading, element: this.reading.element },
      { ...SECTIONS.model, element: this.model.element },
      { ...SECTIONS.own, element: this.own.element },
    ];
    this.keys = [{ key: "c", shown: "c", does: "go to the inspected text", run: () => this.inspect() }];
  }

  /** If the page's link trains on a text that is not here, asks for the text. Opens the form at the first request only. */
  private requestText(): void {
    const { isFallback, refusal } = this.page.client;
    this.own.request(isFallback ? (refusal?.text ?? "") : "");
    if (isFallback && !this.requested) this.own.open();
    this.requested = isFallback;
  }

  private inspect(): void {
    reveal(this.reading.element);
    this.reading.focus();
  }

  headline(): string {
    return text.title;
  }

  async explanations(): Promise<Explanation[]> {
    return (await import("./explanations")).explanations;
  }

  status(present: History): string {
    if (this.preparing) return "Preparing the text.";
    const [loss, floor] = [present.test("val_loss"), present.test("floor")];
    const result = loss === undefined ? "No test yet." : text.result(loss, present.latest("loss"), floor);
    const wants = this.page.client.variant.id === OWN && this.isOwn === false;
    return wants ? `${result} This run reads generated stories. Press “Your own text” to paste or open a text.` : result;
  }

  spoken(present: History): string {
    const { newest } = this.texts;
    return `${this.status(present)}${newest ? ` Latest sample: ${newest.prompt}${newest.text}` : ""}`;
  }

  refresh(): void {
    const { present } = this.page;
    this.model.refresh(present?.latest("tokens_per_s"), present?.test("floor"));
  }

  began({ knobs }: Began): void {
    const stale = this.runs.take();
    this.preparing = false;
    this.isOwn = undefined;
    for (const part of [this.texts, this.reading, this.model]) part.begin();
    const { client } = this.page;
    this.own.setKnobs(client.knobs, knobs);
    this.requestText();
    void client
      .ask({ ask: "samples" })
      .then(async (samples) => {
        if (stale()) return;
        // A restored run contains earlier samples.
        this.texts.restore(samples);
        const about = await client.ask({ ask: "about" });
        if (stale()) return;
        if (about.preparing) this.take({ kind: "room", event: { kind: "preparing", ...about.preparing } satisfies RoomEvent, text: "" });
        else this.ready(about);
      })
      .catch(() => {}); // the run has ended
  }

  take(event: RunEvent): void {
    if (event.kind !== "room") return;
    const received = event.event as RoomEvent;
    if (received.kind === "ready") return this.ready(received);
    if (received.kind === "preparing") {
      this.preparing = true;
      return this.texts.prepare(received);
    }
    this.texts.take(received);
  }

  private ready(about: AboutView): void {
    this.preparing = false;
    for (const part of [this.texts, this.reading, this.model]) part.ready(about);
    this.isOwn = about.corpus?.own ?? false;
    this.own.setOwnText(this.isOwn);
  }
}
