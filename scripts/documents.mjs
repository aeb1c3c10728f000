// Renders the documents of docs/ as HTML files of the page, for readers without a clone. The page itself shows the lessons.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix, sep } from "node:path";
import { Lexer, Parser, Renderer, TextRenderer } from "marked";
import { anchors } from "./docs.mjs";
import { filesUnder, root } from "./sh.mjs";

/** Content security policy of a document, which has no script. */
const POLICY = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

/**
 * Style sheet of all documents, in a file of its own. A host may send the page's policy for all files of the folder, and this policy blocks
 * styles inside a document.
 */
const STYLE = `:root {
  color-scheme: light dark;
  --line: color-mix(in srgb, CanvasText 25%, Canvas);
  font: 1rem/1.5 system-ui, sans-serif;
  color: CanvasText;
  background: Canvas;
}
body {
  max-width: 80ch;
  margin: 0 auto;
  padding: 1rem;
  overflow-wrap: break-word;
}
header a {
  margin-right: 1rem;
}
h1,
h2,
h3,
h4 {
  margin: 1.5em 0 0.5em;
  line-height: 1.25;
}
code {
  font: 0.875em/1.5 ui-monospace, monospace;
}
pre,
.wide {
  overflow-x: auto;
}
pre {
  padding: 0.75rem;
  border: 1px solid var(--line);
}
table {
  border-collapse: collapse;
}
th,
td {
  padding: 0.25rem 1rem 0.25rem 0;
  border-bottom: 1px solid var(--line);
  vertical-align: top;
}
th:not([align]) {
  text-align: start;
}
:focus-visible {
  outline: 2px solid;
  outline-offset: 2px;
}
`;

/** Returns the paths of the documents below the repository's root. */
function documentPaths() {
  const paths = filesUnder(join(root, "docs")).map((path) => path.slice(root.length + 1).replaceAll(sep, "/"));
  return paths.filter((path) => path.endsWith(".md") && !path.startsWith("docs/lessons/"));
}

const pageOf = (path) => path.replace(/\.md$/, ".html");

/** HTML of one document: headings with GitHub's anchors, links between the pages, and tables and code that scroll on narrow screens. */
class Document extends Renderer {
  constructor(path, text, paths) {
    super();
    this.path = path;
    this.paths = paths;
    this.ids = anchors(text);
  }

  heading({ tokens, depth }) {
    return `<h${depth} id="${this.ids.shift()}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }

  link(token) {
    const href = this.target(token.href);
    return href ? super.link({ ...token, href }) : this.parser.parseInline(token.tokens);
  }

  /** Returns the address on the page of a link, or undefined for a file that is not on the page. */
  target(href) {
    if (/^([a-z][a-z0-9+.-]*:|#)/i.test(href)) return href;
    const [file, ...anchor] = href.split(/(?=#)/);
    return this.paths.includes(posix.join(posix.dirname(this.path), file)) ? pageOf(file) + anchor.join("") : undefined;
  }

  table(token) {
    return `<div class="wide" role="group" aria-label="Table" tabindex="0">\n${super.table(token)}</div>\n`;
  }

  /** Renders an empty cell of a table's header as an ordinary cell, because a header cell needs a text. */
  tablecell(token) {
    return super.tablecell({ ...token, header: token.header && token.text !== "" });
  }

  code(token) {
    return super.code(token).replace("<pre>", '<pre tabindex="0">');
  }
}

/** Returns the first heading of a document as HTML text. */
function titleOf(tokens) {
  const heading = tokens.find(({ type }) => type === "heading");
  const words = Parser.parseInline(heading.tokens, { renderer: new TextRenderer() });
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Renders the document at `path`. `paths` are the documents to which a link may lead. */
export function rendered(path, text, paths) {
  const tokens = Lexer.lex(text);
  const up = "../".repeat(path.split("/").length - 1);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${titleOf(tokens)}</title>
<link rel="icon" href="${up}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${up}docs/style.css">
</head>
<body>
<header><a href="${up}">Hothouse</a> <a href="${up}docs/README.html">Documents</a></header>
<main>
${Parser.parse(tokens, { renderer: new Document(path, text, paths) })}</main>
</body>
</html>
`;
}

/** Writes the pages of all documents and their style sheet into `dist`. */
export function writeDocuments(dist) {
  const write = (path, text) => {
    mkdirSync(dirname(join(dist, path)), { recursive: true });
    writeFileSync(join(dist, path), text);
  };
  const paths = documentPaths();
  for (const path of paths) write(pageOf(path), rendered(path, readFileSync(join(root, path), "utf8"), paths));
  write("docs/style.css", STYLE);
}
