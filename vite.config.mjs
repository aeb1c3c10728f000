// Bundles index.html and www/ into dist/. `scripts/build.mjs` also bundles embed.html with this configuration. The wasm modules are not
// bundled, because their threads load them by name. `scripts/build.mjs` copies them and passes their names in HOTHOUSE_MODULES.
import { defineConfig } from "vite";

/**
 * Lets Chromium compile the functions of a file while it loads, and not in the first tasks of the page. Other browsers ignore the comment.
 * Chromium reads only the first line of a file.
 */
const compileHints = {
  name: "compile-hints",
  generateBundle: {
    order: "post",
    handler(_, files) {
      for (const file of Object.values(files)) if (file.type === "chunk") file.code = `//# allFunctionsCalledOnLoad\n${file.code}`;
    },
  },
};

export default defineConfig(({ mode }) => ({
  base: "./",
  publicDir: "www/public",
  logLevel: mode === "production" ? "warn" : "info",
  define: { __MODULES__: process.env.HOTHOUSE_MODULES ?? "{}" },
  worker: { format: "es" },
  build: { target: "es2022", assetsInlineLimit: 0, modulePreload: { polyfill: false } },
  plugins: [compileHints],
}));
