// Tests every room in WebKitGTK with default settings. By default, WebKitGTK's workers cannot share memory, so rooms run on one thread.
// (Safari enables shared memory on isolated pages and has threads.)
import { engines } from "../../scripts/setup.mjs";
import { webkit } from "../../scripts/webdriver.mjs";
import { engine } from "./rooms.mjs";

const { webkit: found } = await engines();
engine("WebKit", { ...found, open: () => webkit(found), module: "simd128" });
