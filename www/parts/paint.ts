// Paints elements of the page on a canvas as they are on the screen: boxes, texts, canvases and SVG drawings. Controls are omitted. Each
// element is painted separately, because a browser may forbid the conversion of a whole document to an image.

import { paintSvg } from "./paint-svg";

const LEFT_OUT = "button, input, select, textarea, fieldset, details, .unseen";

/** Paints an element. The caller has set the canvas to the coordinates of the window. */
export function paint(c: CanvasRenderingContext2D, element: Element): void {
  const style = getComputedStyle(element);
  if (element.matches(LEFT_OUT) || style.display === "none" || style.visibility !== "visible") return;
  if (element instanceof SVGSVGElement) return paintSvg(c, element);
  const box = element.getBoundingClientRect();
  c.save();
  c.globalAlpha *= Number(style.opacity);
  paintBox(c, style, box);
  if (style.overflow !== "visible") clip(c, style, box);
  if (element instanceof HTMLCanvasElement) {
    if (element.width && element.height) c.drawImage(element, box.left, box.top, box.width, box.height);
  } else
    for (const child of element.childNodes) {
      if (child instanceof Text) paintText(c, child, style);
      else if (child instanceof Element) paint(c, child);
    }
  c.restore();
}

function outline(c: CanvasRenderingContext2D, style: CSSStyleDeclaration, { left, top, width, height }: DOMRect): void {
  c.beginPath();
  c.roundRect(left, top, width, height, parseFloat(style.borderTopLeftRadius) || 0);
}

function clip(c: CanvasRenderingContext2D, style: CSSStyleDeclaration, box: DOMRect): void {
  outline(c, style, box);
  c.clip();
}

/** Paints the background and the border of a box. */
function paintBox(c: CanvasRenderingContext2D, style: CSSStyleDeclaration, box: DOMRect): void {
  outline(c, style, box);
  c.fillStyle = style.backgroundColor;
  c.fill();
  const width = parseFloat(style.borderTopWidth);
  if (!width || style.borderTopStyle === "none" || style.borderBottomStyle === "none" || style.borderLeftStyle === "none") return;
  c.lineWidth = width;
  c.strokeStyle = style.borderTopColor;
  outline(c, style, new DOMRect(box.x + width / 2, box.y + width / 2, box.width - width, box.height - width));
  c.stroke();
}

/**
 * Paints a text word by word. A word that is broken over several lines is painted by character. If the style requires digits of equal
 * width, a word with digits is also painted by character, because canvases have no such digits.
 */
function paintText(c: CanvasRenderingContext2D, text: Text, style: CSSStyleDeclaration): void {
  if (!text.data.trim()) return;
  const { fontStyle, fontWeight, fontSize, fontFamily } = style;
  c.font = `${fontStyle} ${fontWeight} ${fontSize} ${fontFamily}`;
  c.fillStyle = style.color;
  Object.assign(c, { textAlign: "left", textBaseline: "alphabetic", letterSpacing: style.letterSpacing.replace("normal", "0px") });
  const { fontBoundingBoxAscent: above, fontBoundingBoxDescent: below } = c.measureText("x");
  const tabular = style.fontVariantNumeric.includes("tabular-nums");
  const range = document.createRange();
  const piece = (from: number, word: string): void => {
    range.setStart(text, from);
    range.setEnd(text, from + word.length);
    const [box, ...others] = range.getClientRects();
    if (!box) return;
    if (word.length > 1 && (others.length || (tabular && /\d/.test(word)))) {
      let at = from;
      for (const character of word) {
        piece(at, character);
        at += character.length;
      }
      return;
    }
    const left = tabular && word.length === 1 ? box.left + (box.width - c.measureText(word).width) / 2 : box.left;
    c.fillText(word, left, box.top + (box.height + above - below) / 2);
  };
  for (const { 0: word, index } of text.data.matchAll(/\S+/g)) piece(index, word);
}
