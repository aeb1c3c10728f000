// Tests every room in Firefox.
import { engines } from "../../scripts/setup.mjs";
import { firefox } from "../../scripts/webdriver.mjs";
import { engine } from "./rooms.mjs";

const { firefox: found } = await engines();
engine("Firefox", { ...found, open: () => firefox(found), module: "threads-relaxed" });
