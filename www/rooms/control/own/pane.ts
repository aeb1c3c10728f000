// The pane with the visitor's own environments: their files, the editor and the picture. Import this module dynamically, because it
// contains the editor.

import { h, write } from "../../../parts/dom";
import type { Notices } from "../../../parts/notices";
import type { Preview } from "../protocol";
import { FileBar } from "./bar";
import { mount, type Editor, type Problem } from "./editor";
import { Picture } from "./picture";
import { Shelf, type Named } from "./shelf";
import "./style.css";

export interface Actions {
  /** Finds the problems of a text. */
  check(text: string): Promise<Problem[]>;
  /** Starts training in the environment of a text. */
  start(text: string, name: string): void;
  /** Called when the text changes, and when another file opens. */
  edited?(): void;
  /** Starts the tour; undefined if there is no tour. */
  tour?: () => void;
}

export class OwnPane {
  readonly picture = new Picture();
  readonly editor: Editor;
  readonly element: HTMLElement;
  private readonly about = h("p.small", { role: "status" });
  /** The preview of the text. */
  readonly sight = h("div.own-sight", this.picture.element, this.about);
  private readonly bar: FileBar;
  private readonly shelf: Shelf;

  constructor(notices: Notices, { check, start, edited, tour }: Actions) {
    this.shelf = new Shelf({
      opened: ({ text }) => {
        this.editor.set(text);
        writing.inert = false;
        edited?.();
      },
      changed: () => this.bar.show(),
      failed: (error, file) => this.bar.fail(error, file),
    });
    const train = (): void => {
      const { current } = this.shelf;
      if (!current) return;
      void this.shelf.save();
      start(this.editor.text, current.name);
    };
    this.bar = new FileBar(this.shelf, notices, { train, tour });
    // The editor is inert until the first file is open. Text typed before that would be lost, because the file replaces it.
    const writing = h("div.own-writing");
    writing.inert = true;
    this.editor = mount(writing, {
      label: "Text of the environment",
      text: "",
      read: (text) => {
        this.shelf.write(text);
        edited?.();
      },
      check,
      start: train,
      save: () => void this.shelf.save(),
    });
    writing.append(this.bar.status);
    this.element = h("div.own", this.bar.element, h("div.own-desk", writing, this.sight));
  }

  /** Opens the file `wanted`. Without `wanted`, opens the file that was open last, or a template on a first visit. */
  begin(wanted?: Named): Promise<void> {
    return this.bar.begin(wanted);
  }

  /** True unless the last preview had no picture. */
  get hasPicture(): boolean {
    return !this.picture.element.hidden;
  }

  show(preview: Preview): void {
    const { size, shapes } = preview;
    this.picture.element.hidden = !size;
    if (size) this.picture.show({ size, shapes });
    write(this.about, aboutPreview(preview));
  }

  /** Creates a file from a file that the visitor has dropped on the page. */
  take(file: File): Promise<void> {
    return this.bar.take(file);
  }
}

function aboutPreview({ current, size, fault }: Preview): string {
  if (!current && size) return "The text has an error. The picture shows the last version without an error, with random actions.";
  if (!current) return "The text has an error, so these pictures show the text in which the agent trains.";
  if (fault !== null) return `The rules failed: ${fault}.`;
  if (!size) return "The file has no method draw, so these pictures show the text in which the agent trains.";
  return "This is the text in the editor, with random actions. The agent learns it when you press Train.";
}
