// The page's start: header, theme, and one room around one experiment. When the experiment crashes, the page says
// what happened and offers the way back.

import { connect, type Crash, type Lab, type Options } from "./run/client";
import { Announcer } from "./parts/announce";
import { Badge, summary } from "./parts/badge";
import { copy } from "./parts/dialog";
import { h } from "./parts/dom";
import { Notices } from "./parts/notices";
import { startTheme, themeButton } from "./parts/theme";
import { rememberedDevice } from "./parts/device";
import { ControlRoom } from "./rooms/control/view";
import "./style.css";

const notices = new Notices();
const announcer = new Announcer();
const tools = document.querySelector<HTMLElement>("#tools")!;
const place = document.querySelector<HTMLElement>("#room")!;
const keys = h("button", { type: "button", class: "quiet", "aria-label": "Keyboard shortcuts", title: "Keys (?)" }, "?");

let lab: Lab | undefined;
let room: ControlRoom | undefined;
let badge: Badge | undefined;

startTheme();
tools.append(themeButton(), keys);
place.before(notices.element);
document.body.append(announcer.element);
keys.addEventListener("click", () => room?.help());
document.querySelector("#skip")?.addEventListener("click", (event) => {
  // The address belongs to links that carry a run.
  event.preventDefault();
  document.querySelector<HTMLElement>("#main")?.focus();
});
addEventListener("hashchange", () => {
  // Where only the environment changes, as by the way back, the room takes it up and keeps what it has.
  if (!room?.follow(location.hash)) void open({ link: location.hash });
});
void open({ link: location.hash });

function leave(): void {
  lab?.close();
  room?.close();
  badge?.close();
  badge?.button.remove();
  lab = room = badge = undefined;
  keys.hidden = true;
}

async function open(options: Options): Promise<void> {
  leave();
  notices.clear();
  place.replaceChildren(h("p", { class: "starting" }, "Starting."));
  let opened: Lab;
  try {
    opened = await connect({ device: rememberedDevice(), ...options });
  } catch (error) {
    showCrash("Training could not start", { text: error instanceof Error ? error.message : String(error), autosave: null }, undefined);
    return;
  }
  lab = opened;
  room = new ControlRoom(opened, { notices, announcer });
  badge = new Badge(opened.backend, opened.device);
  opened.onEvent(({ kind }) => (kind === "device" || kind === "began") && badge?.show(opened.device));
  tools.prepend(badge.button);
  keys.hidden = false;
  place.replaceChildren(room.element);
  opened.onCrash((crash) => {
    if (lab !== opened) return;
    leave();
    showCrash("Training stopped with an error", crash, opened);
  });
}

/** In place of the room: what happened, and the steps one can take. */
function showCrash(title: string, crash: Crash, from: Lab | undefined): void {
  notices.clear();
  const report = [
    title,
    crash.text,
    from ? `Hothouse ${from.backend.version}, ${summary(from.backend, from.device)}, module ${from.backend.module}` : "",
    from?.device?.why ?? "",
    ...(from?.backend.why ?? []),
    navigator.userAgent,
    location.href,
  ]
    .filter(Boolean)
    .join("\n");
  const copied = h("button", { type: "button" }, "Copy report");
  copied.addEventListener("click", async () => {
    copied.textContent = (await copy(report)) ? "Report copied" : "Select the text and copy it";
  });
  const { autosave } = crash;
  const again = autosave
    ? h("button", { type: "button", class: "strong", onclick: () => void open({ checkpoint: autosave }) }, "Go on from the last autosave")
    : h("button", { type: "button", class: "strong", onclick: () => void open({ link: location.hash }) }, "Try again");
  place.replaceChildren(
    h(
      "main",
      { id: "main", tabindex: -1, class: "crash" },
      h("h1", {}, title),
      h(
        "div",
        { role: "alert" },
        h(
          "p",
          {},
          autosave
            ? "Nothing before the last autosave is lost. Go on from it, or begin anew; the report helps whoever looks for the cause."
            : "Try again, or begin anew; the report helps whoever looks for the cause.",
        ),
      ),
      h("div", { class: "row" }, again, h("button", { type: "button", onclick: () => startAnew() }, "Begin anew"), copied),
      h("pre", { tabindex: 0, role: "region", "aria-label": "Report" }, report),
    ),
  );
  again.focus();
}

function startAnew(): void {
  history.replaceState(null, "", location.pathname + location.search);
  void open({});
}

