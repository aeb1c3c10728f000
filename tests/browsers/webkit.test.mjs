// Every room in WebKitGTK with its default settings, on one thread, because its workers cannot share memory. Safari sets the option
// that enables shared memory on isolated pages, and has threads.
import { engines } from "../../scripts/setup.mjs";
import { webkit } from "../../scripts/webdriver.mjs";
import { engine } from "./rooms.mjs";

const { webkit: found } = await engines();
engine("WebKit", { ...found, open: () => webkit(found), module: "simd128" });
