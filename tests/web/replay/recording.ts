// The form of a recorded run, and the part of the page that records it.

import type { FromWorker, ToWorker } from "../../../www/run/worker";
import { encode } from "./coding";

export interface Recording {
  opened: FromWorker;
  messages: FromWorker[];
  /** Number of messages up to the last test. */
  ready: number;
  answers: Record<string, unknown>;
}

/** Returns the key of a question. With `kindOnly`, all questions of one kind have the same key. */
export function keyOf(message: ToWorker, kindOnly = false): string {
  const { id: _, ...rest } = message as ToWorker & { id?: number };
  if (rest.kind === "question") return kindOnly ? `question ${rest.question.ask}` : `question ${encode(rest.question)}`;
  return kindOnly ? rest.kind : encode(rest);
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

/** Questions that tests ask and the page does not ask by itself, by room. */
const ALSO: Record<string, (ask: (question: { ask: string; [name: string]: unknown }) => Promise<any>) => Promise<void>> = {
  async logic(ask) {
    const { best: member } = await ask({ ask: "population" });
    for (const format of ["svg", "json", "verilog", "rust"]) await ask({ ask: "export", member, format });
    await ask({ ask: "big_advance", ms: 5 });
  },
  // The page asked about the text when the run began, and the text may have been in preparation. The latest sample is complete once the
  // stage has read its end.
  async words(ask) {
    await ask({ ask: "about" });
    document.querySelector<HTMLElement>(".tabs > [role=tab]")!.click();
    const client = hothouse!;
    let end: string | undefined;
    client.ask = async (question: any): Promise<any> => {
      const answer = await ask(question);
      if (question.ask === "read") end = question.text;
      return answer;
    };
    for (;;) {
      const { prompt, text } = (await ask({ ask: "samples" })).at(-1);
      if (end && `${prompt}${text}`.endsWith(end)) return;
      await pause();
    }
  },
};

/** Runs in the page before its scripts: records every message of the page's worker in the global `recorded`. */
export function record(): void {
  const recorded: Recording = { opened: undefined as unknown as FromWorker, messages: [], ready: 0, answers: {} };
  const questions = new Map<number, ToWorker>();
  const keep = (message: FromWorker): void => {
    if (message.kind === "opened") {
      // Shared memory cannot be recorded. Without it, the page reads the progress from the messages.
      recorded.opened = { ...message, monitor: { ...message.monitor, memory: null } };
    } else if (message.kind === "answer") {
      const question = questions.get(message.id);
      if (!question) return;
      recorded.answers[keyOf(question)] = message.value;
      recorded.answers[keyOf(question, true)] = message.value;
    } else if (message.kind === "events" || message.kind === "knobs") {
      recorded.messages.push(message);
      if (message.kind === "events" && message.events.some(({ kind }) => kind === "test")) recorded.ready = recorded.messages.length;
    }
  };
  const Plain = Worker;
  globalThis.Worker = class extends Plain {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      this.addEventListener("message", ({ data }) => keep(data as FromWorker));
    }
    override postMessage(message: ToWorker, transfer?: Transferable[]): void {
      if ("id" in message) questions.set(message.id, message);
      super.postMessage(message, transfer ?? []);
    }
  } as typeof Worker;
  /** Asks further questions, and returns the recording as a text. */
  const finished = async (): Promise<string> => {
    await hothouse!.tensors();
    await ALSO[hothouse!.room.id]?.(hothouse!.ask.bind(hothouse));
    return encode(recorded);
  };
  Object.assign(globalThis, { recorded: finished, recordedTests: () => recorded.ready });
}
