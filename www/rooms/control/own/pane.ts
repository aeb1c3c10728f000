// The pane with the visitor's own environments: their files, the editor and the picture. Import this module dynamically, because it
// contains the editor.

import { h } from "../../../parts/dom";
import type { Notices } from "../../../parts/notices";
import { FileBar } from "./bar";
import { mount, type Editor, type Problem } from "./editor";
import { Picture } from "./picture";
import { Shelf } from "./shelf";
import "./style.css";

export interface Actions {
  /** Finds the problems of a text. */
  check(text: string): Promise<Problem[]>;
  /** Starts training in the environment of a text. */
  start(text: string, name: string): void;
  /** Starts the tour; undefined if there is no tour. */
  tour?: () => void;
}

export class OwnPane {
  readonly picture = new Picture();
  readonly editor: Editor;
  readonly element: HTMLElement;
  private readonly bar: FileBar;
  private readonly shelf: Shelf;

  constructor(notices: Notices, { check, start, tour }: Actions) {
    this.shelf = new Shelf({
      opened: ({ text }) => {
        this.editor.set(text);
        writing.inert = false;
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
      read: (text) => this.shelf.write(text),
      check,
      start: train,
      save: () => void this.shelf.save(),
    });
    this.element = h("div.own", this.bar.element, h("div.own-desk", writing, h("div.own-sight", this.picture.element)));
  }

  /** Opens the file that was open last, or a template on a first visit. */
  begin(): Promise<void> {
    return this.bar.begin();
  }

  /** Creates a file from a file that the visitor has dropped on the page. */
  take(file: File): Promise<void> {
    return this.bar.take(file);
  }
}
