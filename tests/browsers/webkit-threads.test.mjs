// Tests one room in WebKitGTK with threads. An option of WebKitGTK's JavaScript engine enables shared memory.
import { engines } from "../../scripts/setup.mjs";
import { webkit } from "../../scripts/webdriver.mjs";
import { engine } from "./rooms.mjs";

const { webkit: found } = await engines();
const open = () => webkit(found, { JSC_useSharedArrayBuffer: "1" });
engine("WebKit with shared memory", { ...found, open, module: "threads-simd128", rooms: ["control"] });
