// The bar above the editor: the choice of the open file, and commands on files.

import { Dialog } from "../../../parts/dialog";
import { button, form, h, id, labelled, line, markInvalid, write, type Child } from "../../../parts/dom";
import { chooser, download } from "../../../parts/files";
import { ago } from "../../../parts/format";
import type { Notices } from "../../../parts/notices";
import { FileError, type OwnFile } from "./files";
import { readPython } from "./imported";
import type { Shelf } from "./shelf";
import type { Template } from "./templates";

/** Loads the templates, which are in a file of their own. */
const templates = async (): Promise<Template[]> => (await import("./templates")).TEMPLATES;
/** Converts the names between backticks of a sentence to code. */
const coded = (sentence: string): Child[] => sentence.split("`").map((part, k) => (k % 2 ? h("code", part) : part));

/** File that a first visit opens. */
const FIRST = "catch.py";
export const first = async (): Promise<Template> => {
  const all = await templates();
  return all.find(({ name }) => name === FIRST) ?? all[0]!;
};

export class FileBar {
  private readonly choice = h("select", { id: id("file") });
  private readonly status = h("p.small", { role: "status" });
  private readonly kinds = h("ul.own-templates");
  private readonly fresh = new Dialog("New file", h("p", "Each file is a complete environment."), this.kinds);
  private readonly name = line("name", { maxlength: 80 });
  private readonly error = h("p.error", { role: "alert", id: id("name-error") });
  private readonly naming = new Dialog("Rename file", this.nameForm());
  readonly element: HTMLElement;

  constructor(
    private readonly shelf: Shelf,
    private readonly notices: Notices,
  ) {
    const small = { class: "small" };
    this.choice.addEventListener("change", () => {
      const file = shelf.files.find((one) => one.id === this.choice.value);
      if (file) shelf.open(file);
    });
    this.element = h("div.own-bar.row", [
      labelled("File", this.choice),
      button("New", () => this.offer(), small),
      chooser("Open", (file) => void this.take(file), ".py"),
      button("Download", () => this.download(), small),
      button("Rename", () => this.askName(), small),
      button("Duplicate", () => shelf.duplicate(), small),
      button("Delete", () => this.remove(), small),
      this.status,
    ]);
    this.element.querySelector("span > button")!.classList.add("small");
  }

  /** Shows the names and times of the files, and whether they are saved. */
  show(): void {
    const { files, current, saved } = this.shelf;
    const option = ({ id, name, editedMs }: OwnFile): HTMLElement =>
      h("option", { value: id, selected: id === current?.id }, `${name}, ${ago(editedMs)}`);
    this.choice.replaceChildren(...files.map(option));
    write(this.status, saved ? "Saved in this browser" : "Not saved yet");
  }

  fail({ message, nextStep, storage }: FileError): void {
    const action = storage ? { label: "Download", run: () => this.download() } : undefined;
    this.notices.show("warning", message, nextStep, action);
  }

  /** Creates a file from a file that the visitor has opened or dropped. */
  async take(file: File): Promise<void> {
    try {
      await this.shelf.create(file.name, await readPython(file));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.fail(error);
    }
  }

  private download(): void {
    const { current } = this.shelf;
    if (current) download(current.name, current.text);
  }

  /** Opens the list of templates. */
  private async offer(): Promise<void> {
    const create = ({ name, text }: Template): void => {
      this.fresh.close();
      void this.shelf.create(name, text);
    };
    const entry = (template: Template): HTMLElement =>
      h(
        "li",
        button([h("strong", template.name), h("span", template.title), h("span.small", coded(template.change))], () => create(template)),
      );
    this.kinds.replaceChildren(...(await templates()).map(entry));
    this.fresh.open();
  }

  private nameForm(): HTMLElement {
    this.name.setAttribute("aria-describedby", this.error.id);
    return form("stack", () => this.rename(), [
      labelled("Name", this.name),
      this.error,
      h("p.row", h("button.strong", { type: "submit" }, "Rename")),
    ]);
  }

  private askName(): void {
    this.showError("");
    this.name.value = this.shelf.current?.name ?? "";
    this.naming.open();
    this.name.focus();
    this.name.setSelectionRange(0, this.name.value.lastIndexOf("."));
  }

  private async rename(): Promise<void> {
    try {
      await this.shelf.rename(this.name.value);
      this.naming.close();
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.showError(`${error.message} ${error.nextStep}`);
      this.name.focus();
    }
  }

  private showError(words: string): void {
    write(this.error, words);
    markInvalid(this.name, words !== "");
  }

  private async remove(): Promise<void> {
    const name = this.shelf.current?.name;
    const restore = await this.shelf.remove(first);
    if (restore) this.notices.show("info", `${name} is deleted`, "", { label: "Undo", run: () => void restore() });
  }
}
