// Every room in WebKitGTK as it comes, on one thread: it shares no memory between workers. With the option of its JavaScript
// engine that Safari sets on an isolated page it does, and then it has threads.
import { engines } from "../../scripts/setup.mjs";
import { webkit } from "../../scripts/webdriver.mjs";
import { engine } from "./rooms.mjs";

const { webkit: found } = await engines();
engine("WebKit", { ...found, open: () => webkit(found), module: "simd128" });
