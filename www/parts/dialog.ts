// A modal dialog. The browser's `dialog` element traps the focus, closes on Escape and restores the focus.

import { button, h, icon, id, type Child } from "./dom";
import { untilClosed } from "./life";

export class Dialog {
  readonly element: HTMLDialogElement;

  constructor(title: string, ...children: Child[]) {
    const titleId = id("dialog");
    this.element = h("dialog", { "aria-labelledby": titleId }, [
      h("div.dialog-head", [
        h("h2", { id: titleId }, title),
        h("button.quiet", { "aria-label": "Close", onclick: () => this.close() }, icon("close")),
      ]),
      ...children,
    ]);
    // A click on the backdrop closes the dialog. Only for such a click, the event's target is the dialog itself.
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element) this.close();
    });
    document.body.append(this.element);
    untilClosed(() => this.element.remove());
  }

  open(): void {
    if (!this.element.open) this.element.showModal();
  }

  close(): void {
    this.element.close();
  }
}

/** Creates a command or link with a copy button. The button shows whether the text was copied. */
export function copyField(label: string, text: string): HTMLElement {
  const code = h("code", { tabindex: 0, role: "textbox", "aria-readonly": "true", "aria-label": label });
  // Puts each word into its own element, so that a line breaks between words and not after the hyphens of a flag.
  code.append(...text.split(" ").flatMap((word, k) => [k > 0 ? " " : "", h("span", word)]));
  const button = h("button", "Copy");
  const status = h("span.unseen", { role: "status" });
  button.addEventListener("click", async () => {
    const done = await copy(text);
    button.textContent = done ? "Copied" : "Select and copy";
    status.textContent = done ? `${label} copied` : "The browser denied access to the clipboard. The text is selected; copy it by hand.";
    if (!done) getSelection()?.selectAllChildren(code);
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  return h("div.copy", code, button, status);
}

/**
 * Creates a button that copies the result of `text`. The button then shows `done`, or `refused` if the browser denies access to the
 * clipboard.
 */
export function copyButton(words: string, text: () => string | Promise<string>, done: string, refused: string): HTMLButtonElement {
  const press = async (): Promise<void> => {
    copied.textContent = (await copy(await text())) ? done : refused;
    setTimeout(() => (copied.textContent = words), 2000);
  };
  const copied = button(words, press, { class: "small" });
  return copied;
}

/** Copies text to the clipboard. Returns false if the browser denies access. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
