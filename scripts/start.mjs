// `npm start`: builds the page from a fresh clone, serves it, and opens it in a browser.
import { spawn } from "node:child_process";
import { main, options, Trouble } from "./sh.mjs";
import { build } from "./build.mjs";
import { serve } from "./serve.mjs";
import { FIRST } from "./wasm.mjs";

const PORT = 4173;

await main(import.meta.url, async () => {
  const given = options({
    port: `<number>: where to serve, ${PORT} if left out`,
    host: "<names>: names beside localhost by which browsers may ask for the page, with commas between; or HOTHOUSE_HOSTS",
    "no-open": "do not open a browser",
  });
  const hosts = (given.host ?? process.env.HOTHOUSE_HOSTS ?? "").split(",").filter(Boolean);
  const asked = Number(given.port ?? PORT);
  if (!Number.isInteger(asked) || asked < 0 || asked > 65535)
    throw new Trouble(`${given.port} is not a port`, "choose a port from 1024 to 65535");
  // Most browsers load this module, so it is built before the page opens. Other modules are built on request.
  const { dist, module } = await build({ only: [FIRST] });
  const missing = async (path) => {
    try {
      await module(path);
    } catch (error) {
      console.error(error instanceof Trouble ? `${error.message}\nNext: ${error.next}` : error);
    }
  };
  const server = await serve(dist, { port: asked, missing, hosts });
  if (server.moved) console.log(`\nPort ${asked} is in use, so this is the next free one (or choose: npm start -- --port <number>).`);
  console.log(`\nHothouse: ${server.url}\nPress Ctrl-C to stop.`);
  if (!given["no-open"]) openBrowser(server.url);
});

/** Opens the page on a desktop. On other machines the printed address is enough. */
function openBrowser(url) {
  const [command, ...args] =
    process.platform === "darwin" ? ["open", url] : process.platform === "win32" ? ["cmd", "/c", "start", url] : ["xdg-open", url];
  if (process.platform === "linux" && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return;
  spawn(command, args, { stdio: "ignore", detached: true })
    .on("error", () => {})
    .unref();
}
