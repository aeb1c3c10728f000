// Tests of the pages that scripts/documents.mjs renders from the documents. They need no build.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as docs from "../../scripts/docs.mjs";
import { rendered, writeDocuments } from "../../scripts/documents.mjs";
import { filesUnder, root } from "../../scripts/sh.mjs";

const dist = mkdtempSync(join(tmpdir(), "hothouse-documents-"));
after(() => rmSync(dist, { recursive: true, force: true }));
writeDocuments(dist);

const documents = docs.documents(await docs.files()).filter((path) => /^docs\/(?!lessons\/)/.test(path));
const pageOf = (path) => path.replace(".md", ".html");
const pages = new Map(documents.map((path) => [pageOf(path), readFileSync(join(dist, pageOf(path)), "utf8")]));

const all = (text, pattern) => [...text.matchAll(pattern)].map(([, found]) => found);
const idsIn = (html) => all(html, /\bid="([^"]*)"/g);
const contentOf = (html) => html.match(/<main>(.*)<\/main>/s)[1];
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'", "&amp;": "&" };
const wordsIn = (text) => text.match(/[\p{L}\p{N}]+/gu);

/** Returns the words of a page, without tags and comments. */
const wordsOfPage = (html) =>
  wordsIn(
    contentOf(html)
      .replace(/<!--.*?-->|<[^>]*>/gs, " ")
      .replace(/&\S+?;/g, (entity) => ENTITIES[entity]),
  );

/** Returns the words of a document, without the targets of links, the tags of fences, the numbers of lists and comments. */
const wordsOfDocument = (text) =>
  wordsIn(
    text
      .replace(/<!--.*?-->/gs, "")
      .replace(/\]\([^)\s]*\)/g, "]")
      .replace(/^\s*```.*$/gm, "")
      .replace(/^\s*\d+\. /gm, ""),
  );

test("every document becomes a page", () => {
  const written = filesUnder(dist).map((path) => path.slice(dist.length + 1).replaceAll("\\", "/"));
  assert.deepEqual(written.sort(), [...pages.keys(), "docs/style.css"].sort());
  for (const [path, html] of pages) {
    assert.match(html, /^<!doctype html>\n<html lang="en">/, path);
    assert.match(html, /<title>[^<]+<\/title>/, path);
    assert.doesNotMatch(html, /<script|<style|\sstyle=|\son\w+=/, path);
  }
});

test("links of the pages lead to files and headings", () => {
  for (const [path, html] of pages)
    for (const link of all(html, /<[^>]*\s(?:href|src)="([^"]*)"/g)) {
      const { origin, pathname, hash } = new URL(link, `http://page.test/${path}`);
      if (origin !== "http://page.test") continue;
      const file = pathname.slice(1);
      assert.ok(file === "" || [dist, join(root, "www/public")].some((folder) => existsSync(join(folder, file))), `${path}: ${link}`);
      if (hash) assert.ok(idsIn(pages.get(file)).includes(hash.slice(1)), `${path}: ${link}`);
    }
});

test("headings of the pages have the anchors of GitHub", () => {
  for (const path of documents) {
    const html = pages.get(pageOf(path));
    assert.deepEqual(idsIn(html), docs.anchors(docs.read(path)), path);
    assert.doesNotMatch(html, /<h\d>/, path);
  }
});

test("pages contain all words and tables of their documents", () => {
  for (const path of documents) {
    const [text, html] = [docs.read(path), pages.get(pageOf(path))];
    assert.deepEqual(wordsOfPage(html), wordsOfDocument(text), path);
    assert.equal(html.split("<table>").length, text.split(/^\|[ :|-]+\|$/m).length, path);
  }
});

test("a link to a document leads to its page, and a link to another file becomes text", () => {
  const links =
    "[one](b.md), [two](rooms/r.md#top), [three](#a-b--c), [`four`](../README.md), [five](lessons/l.md), [six](https://x.test/y.md)";
  const html = rendered("docs/a.md", `# A \`<b>\` & c\n${links}\n`, ["docs/a.md", "docs/b.md", "docs/rooms/r.md"]);
  assert.match(html, /<title>A &lt;b> &amp; c<\/title>/);
  assert.equal(
    contentOf(html).trim().split("\n")[1],
    '<p><a href="b.html">one</a>, <a href="rooms/r.html#top">two</a>, <a href="#a-b--c">three</a>, <code>four</code>, five, ' +
      '<a href="https://x.test/y.md">six</a></p>',
  );
  assert.match(rendered("docs/rooms/r.md", "# R\n[one](../b.md)\n", ["docs/b.md"]), /<a href="..\/b.html">one<\/a>/);
});
