// The page of samples: every component of the design system in every state. `npm run samples` serves it, and a test compares each section
// with its picture in tests/samples.

import { h, type Child } from "../parts/dom";
import { startTheme, themeButton } from "../parts/theme";
import * as components from "./components";
import * as elements from "./elements";
import { forceStates } from "./states";
import "../design.css";
import "../style.css";
import "./style.css";

const tour = components.tour();

/** Functions that create the content of the sections, by heading. */
const SECTIONS: Record<string, () => Child> = {
  Type: elements.type,
  Colours: elements.colours,
  Buttons: elements.buttons,
  Fields: elements.fields,
  Choices: elements.choices,
  Chips: components.chips,
  Tabs: components.tabs,
  Cards: elements.cards,
  Tables: components.tables,
  Toasts: components.toasts,
  Dialog: components.dialogs,
  Palette: components.palettes,
  Equation: components.equations,
  Tour: () => tour.content,
  Knobs: components.knobRows,
  Results: components.results,
  Transport: components.transport,
  Progress: elements.progress,
};

/** Shows the samples when style sheets and typefaces are loaded, because charts measure and draw text. */
async function begin(): Promise<void> {
  if (document.readyState !== "complete") await new Promise((loaded) => addEventListener("load", loaded, { once: true }));
  await Promise.all(["14px Geologica", "16px 'STIX Two Math'"].map((font) => document.fonts.load(font)));
  startTheme();
  forceStates();
  document.querySelector("#tools")!.append(themeButton());
  document
    .querySelector("#samples")!
    .append(
      ...Object.entries(SECTIONS).map(([heading, content]) =>
        h("section.sample", { id: heading.toLowerCase() }, h("h2", heading), content()),
      ),
    );
  tour.begin();
  scrollTo(0, 0);
}

void begin();
