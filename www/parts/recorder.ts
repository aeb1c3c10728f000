// Records a canvas as a video until the caller stops the recording.

const FRAMES_PER_S = 30;
/** Bits per second of a recording. */
const BITS = 6e6;
/** Video formats in order of preference, with the extensions of their files. */
const KINDS: [type: string, ending: string][] = [
  ["video/webm;codecs=vp9", "webm"],
  ["video/webm;codecs=vp8", "webm"],
  ["video/webm", "webm"],
  ["video/mp4", "mp4"],
];

export type Video = { data: Uint8Array; ending: string; seconds: number };

/** Returns the first video format that this browser can record. */
function kind(): [type: string, ending: string] | undefined {
  const records = typeof MediaRecorder === "function" && "captureStream" in HTMLCanvasElement.prototype;
  return records ? KINDS.find(([type]) => MediaRecorder.isTypeSupported(type)) : undefined;
}

export const canRecord = (): boolean => kind() !== undefined;

export class Recorder {
  private readonly recorder: MediaRecorder;
  private readonly ending: string;
  private readonly beganMs = performance.now();
  private endedMs: number | undefined;
  private readonly pieces: Blob[] = [];
  /** Resolves with the video when the recording has ended. */
  readonly video: Promise<Video>;

  /** Starts to record `canvas`. */
  constructor(canvas: HTMLCanvasElement) {
    const [mimeType, ending] = kind()!;
    this.ending = ending;
    this.recorder = new MediaRecorder(canvas.captureStream(FRAMES_PER_S), { mimeType, videoBitsPerSecond: BITS });
    this.recorder.addEventListener("dataavailable", ({ data }) => this.pieces.push(data));
    this.video = new Promise((resolve, reject) => {
      this.recorder.addEventListener("stop", () => this.made().then(resolve, reject));
      this.recorder.addEventListener("error", () => reject(new Error("the browser stopped recording")));
    });
    this.recorder.start();
  }

  get running(): boolean {
    return this.recorder.state !== "inactive";
  }

  get seconds(): number {
    return ((this.endedMs ?? performance.now()) - this.beganMs) / 1000;
  }

  stop(): void {
    if (!this.running) return;
    this.endedMs = performance.now();
    this.recorder.stop();
    for (const track of this.recorder.stream.getTracks()) track.stop();
  }

  private async made(): Promise<Video> {
    const { ending, seconds } = this;
    const data = new Uint8Array(await new Blob(this.pieces).arrayBuffer());
    if (data.length === 0) throw new Error("the recording is empty");
    return { data, ending, seconds };
  }
}
