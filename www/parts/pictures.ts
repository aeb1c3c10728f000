// A section of a tab that saves a picture of the stage, and records the stage as a video. Both actions first open the tab with the stage.

import type { Announcer } from "./announce";
import { button, h, write } from "./dom";
import { download } from "./files";
import { count } from "./format";
import { pngBytes } from "./frame";
import { untilClosed } from "./life";
import type { Notices } from "./notices";
import { canRecord, Recorder, type Video } from "./recorder";
import { blank, canvasFor, drawStage, innerSize, type Staged } from "./stage-picture";
import { textOf } from "../run/notice";
import "./pictures.css";

/** Maximum duration of a recording. */
const MOST_S = 60;
/** Minimum wait after the stage appears, and maximum wait until its canvases are drawn. */
const [SETTLE_MS, PATIENCE_MS] = [500, 2000];

export interface PicturedPage extends Staged {
  /** Name of the files, without an ending. */
  fileName(): string;
  /** Shows the stage. The returned function shows the previous tab and section again. */
  showStage(): () => void;
  /** Returns a value that identifies the current run. */
  run(): unknown;
}

const frame = (): Promise<number> => new Promise(requestAnimationFrame);

export class Pictures {
  readonly element: HTMLElement;
  private readonly save = button("Save picture", () => this.picture());
  private readonly record = button("Record video", () => this.begin());
  private readonly time = h("span.number", { role: "timer" });
  private readonly stop = button("Stop and save", () => this.recorder?.stop(), { class: "strong" });
  private readonly bar = h("div.recording.row", { role: "group", "aria-label": "Recording", hidden: true }, this.time, this.stop);
  private recorder: Recorder | undefined;

  constructor(
    private readonly page: PicturedPage,
    private readonly around: { notices: Notices; announcer: Announcer },
  ) {
    this.element = h("div.saving", [
      h("p", "A picture or a video shows the stage, with the room, the seed, the progress and the score. It contains no controls."),
      h("div.row", this.save, canRecord() && this.record),
      h(
        "p.small",
        canRecord()
          ? `A video lasts at most ${MOST_S} seconds. It ends if you open another tab, or if the run changes.`
          : "This browser cannot record a video. Save pictures, or write a replay with hothouse.replay in Python.",
      ),
    ]);
    page.stage.closest("main")!.append(this.bar);
    untilClosed(() => this.bar.remove());
  }

  private async picture(): Promise<void> {
    const back = await this.staged();
    try {
      const pixels = Math.max(2, devicePixelRatio);
      const size = innerSize(this.page);
      const canvas = canvasFor(size, pixels);
      drawStage(canvas, this.page, size, pixels);
      download(`${this.page.fileName()}.png`, await pngBytes(canvas));
      this.around.announcer.say(`Picture saved, ${count(canvas.width)} by ${count(canvas.height)} pixels.`);
    } catch (error) {
      this.around.notices.show("error", `The picture could not be saved: ${textOf(error)}`, "Save it again.");
    }
    back();
    if (this.element.checkVisibility()) this.save.focus();
  }

  /** Shows the stage and waits until it is drawn. The returned function shows the previous tab and section again. */
  private async staged(): Promise<() => void> {
    const leastMs = this.page.stage.checkVisibility() ? 0 : SETTLE_MS;
    const back = this.page.showStage();
    const beganMs = performance.now();
    const passedMs = (): number => performance.now() - beganMs;
    do await frame();
    while (passedMs() < leastMs || (blank(this.page) && passedMs() < PATIENCE_MS));
    return back;
  }

  // ---- video

  private async begin(): Promise<void> {
    const { page, around } = this;
    this.record.disabled = true;
    try {
      const back = await this.staged();
      const size = innerSize(page);
      const canvas = canvasFor(size, 1);
      const draw = (): void => drawStage(canvas, page, size, 1);
      draw();
      const name = page.fileName();
      this.recorder = new Recorder(canvas);
      around.announcer.say(`Recording. It ends after ${MOST_S} seconds.`, "recording");
      const [video, reason] = await Promise.all([this.recorder.video, this.draw(this.recorder, draw)]);
      this.saved(name, video, reason);
      if (!reason) back();
    } catch (error) {
      around.notices.show("error", `The video could not be recorded: ${textOf(error)}`, "Record it again.");
    }
    this.recorder?.stop();
    this.record.disabled = false;
    if (this.element.checkVisibility()) this.record.focus();
  }

  /** Draws until the recording ends. Returns the reason for the end, or an empty text if the visitor ended it. */
  private async draw(recorder: Recorder, draw: () => void): Promise<string> {
    const { page, bar, time } = this;
    const run = page.run();
    let reason = "";
    const end = (why: string): void => {
      reason = why;
      recorder.stop();
    };
    const hide = (): void => end("The page was hidden.");
    document.addEventListener("visibilitychange", hide, { once: true });
    bar.hidden = false;
    this.stop.focus({ preventScroll: true });
    while (recorder.running) {
      if (page.run() !== run) end("The run has changed.");
      else if (!page.stage.checkVisibility()) end("The stage is no longer shown.");
      else if (recorder.seconds >= MOST_S) end(`A video lasts at most ${MOST_S} seconds.`);
      else draw();
      write(time, `Recording: ${Math.floor(recorder.seconds)} of ${MOST_S} s`);
      await frame();
    }
    document.removeEventListener("visibilitychange", hide);
    bar.hidden = true;
    return reason;
  }

  private saved(name: string, { data, ending, seconds }: Video, reason: string): void {
    const file = `${name}.${ending}`;
    download(file, data);
    this.around.notices.show("info", `The video has ${Math.round(seconds)} seconds and is in ${file}.`, reason);
  }
}
