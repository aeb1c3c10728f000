// Functions for files: download, file chooser, and files that the visitor drops on the page.

import { h } from "./dom";
import { pageLife, untilClosed } from "./life";

export function download(name: string, data: Uint8Array | string): void {
  const url = URL.createObjectURL(new Blob([data as Uint8Array<ArrayBuffer> | string], { type: "application/octet-stream" }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Creates a button that opens a file chooser for files with the ending `accept`. */
export function chooser(label: string, taken: (file: File) => void, accept = ".safetensors"): HTMLElement {
  const input = h("input", { type: "file", accept, hidden: true, "aria-label": label });
  const button = h("button", { onclick: () => input.click() }, label);
  input.addEventListener("change", () => {
    const file = input.files?.[0];
    input.value = "";
    if (file) taken(file);
  });
  return h("span", button, input);
}

/** Calls `taken` with a file that is dropped anywhere on the page. Does not read the file. */
export function dropping(words: string, taken: (file: File) => void): void {
  const veil = h("div.veil", { hidden: true, "aria-hidden": "true" }, h("p", words));
  document.body.append(veil);
  const carriesFile = (event: DragEvent): boolean => event.dataTransfer?.types.includes("Files") ?? false;
  const over = (event: DragEvent): void => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    veil.hidden = false;
  };
  const leave = (event: DragEvent): void => {
    if (event.relatedTarget === null) veil.hidden = true;
  };
  const drop = (event: DragEvent): void => {
    if (!carriesFile(event)) return;
    event.preventDefault();
    veil.hidden = true;
    const file = event.dataTransfer?.files[0];
    if (file) taken(file);
  };
  const signal = pageLife();
  document.addEventListener("dragover", over, { signal });
  document.addEventListener("dragleave", leave, { signal });
  document.addEventListener("drop", drop, { signal });
  untilClosed(() => veil.remove());
}
