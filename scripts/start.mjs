// `npm start`: builds the page from a fresh clone, serves it, and opens it in a browser.
import { spawn } from "node:child_process";
import { main, options, Trouble } from "./sh.mjs";
import { build } from "./build.mjs";
import { serve } from "./serve.mjs";
import { FIRST } from "./wasm.mjs";

const PORT = 4173;

/** Returns the options of a command that serves a page. */
export const serving = (port) => ({
  port: `<number>: where to serve, ${port} if left out`,
  "no-open": "do not open a browser",
});

/** Returns the port of the command line, by default `port`. */
export function chosenPort(given, port) {
  const asked = Number(given.port ?? port);
  if (!Number.isInteger(asked) || asked < 0 || asked > 65535)
    throw new Trouble(`${given.port} is not a port`, "choose a port from 1024 to 65535");
  return asked;
}

/** Serves a folder, prints its address and opens it in a browser. `settings` are those of `serve`. */
export async function present(title, folder, given, settings) {
  const server = await serve(folder, settings);
  if (server.moved) console.log(`\nPort ${settings.port} is in use, so this is the next free one (or choose one with --port).`);
  console.log(`\n${title}: ${server.url}\nPress Ctrl-C to stop.`);
  if (!given["no-open"]) openBrowser(server.url);
}

await main(import.meta.url, async () => {
  const given = options({
    ...serving(PORT),
    host: "<names>: names beside localhost by which browsers may ask for the page, with commas between; or HOTHOUSE_HOSTS",
  });
  const hosts = (given.host ?? process.env.HOTHOUSE_HOSTS ?? "").split(",").filter(Boolean);
  const port = chosenPort(given, PORT);
  // Before the page opens, builds the module that most browsers load. Other modules are built on request.
  const { dist, module } = await build({ only: [FIRST] });
  const missing = async (path) => {
    try {
      await module(path);
    } catch (error) {
      console.error(error instanceof Trouble ? `${error.message}\nNext: ${error.next}` : error);
    }
  };
  await present("Hothouse", dist, given, { port, missing, hosts });
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
