// Paints a drawing in SVG on a canvas, with the styles that its elements have on the page.

const NOT_DRAWN = "defs, title, desc, marker";

/** Paints a drawing. The caller has set the canvas to the coordinates of the window. */
export function paintSvg(c: CanvasRenderingContext2D, drawing: SVGSVGElement): void {
  for (const child of drawing.children) paintPart(c, child as SVGElement);
}

function paintPart(c: CanvasRenderingContext2D, part: SVGElement): void {
  const style = getComputedStyle(part);
  if (part.matches(NOT_DRAWN) || style.display === "none" || style.visibility !== "visible") return;
  c.save();
  c.globalAlpha *= Number(style.opacity);
  if (part instanceof SVGGeometryElement || part instanceof SVGTextElement) paintShape(c, part, style);
  else for (const child of part.children) paintPart(c, child as SVGElement);
  c.restore();
}

function paintShape(c: CanvasRenderingContext2D, part: SVGGraphicsElement, style: CSSStyleDeclaration): void {
  const matrix = part.getScreenCTM();
  if (!matrix) return;
  c.transform(matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f);
  if (part instanceof SVGTextElement) return paintText(c, part, style);
  if (!(part instanceof SVGGeometryElement)) return;
  const path = pathOf(part);
  if (style.fill !== "none") {
    c.fillStyle = style.fill;
    c.fill(path);
  }
  if (style.stroke === "none") return;
  const scale = style.vectorEffect === "non-scaling-stroke" ? Math.sqrt(Math.abs(matrix.a * matrix.d - matrix.b * matrix.c)) : 1;
  c.strokeStyle = style.stroke;
  c.lineWidth = parseFloat(style.strokeWidth) / scale;
  c.lineCap = style.strokeLinecap as CanvasLineCap;
  c.lineJoin = style.strokeLinejoin as CanvasLineJoin;
  c.setLineDash(style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(",").map(parseFloat));
  c.stroke(path);
  c.setLineDash([]);
  const head = document.querySelector<SVGMarkerElement>(/url\("(#.+)"\)/.exec(style.markerEnd)?.[1] ?? "none");
  if (head) paintHead(c, part, head);
}

function pathOf(part: SVGGeometryElement): Path2D {
  const number = (name: string): number => Number(part.getAttribute(name) ?? 0);
  if (part instanceof SVGPathElement) return new Path2D(part.getAttribute("d") ?? "");
  const path = new Path2D();
  if (part instanceof SVGCircleElement) path.arc(number("cx"), number("cy"), number("r"), 0, 2 * Math.PI);
  else if (part instanceof SVGRectElement) path.roundRect(number("x"), number("y"), number("width"), number("height"), number("rx"));
  else if (part instanceof SVGLineElement) {
    path.moveTo(number("x1"), number("y1"));
    path.lineTo(number("x2"), number("y2"));
  }
  return path;
}

/** Paints an arrow head at the end of a line, in the colour of the line. */
function paintHead(c: CanvasRenderingContext2D, line: SVGGeometryElement, head: SVGMarkerElement): void {
  const length = line.getTotalLength();
  const [before, end] = [line.getPointAtLength(length - 0.5), line.getPointAtLength(length)];
  const scale = (c.lineWidth * head.markerWidth.baseVal.value) / head.viewBox.baseVal.width;
  c.translate(end.x, end.y);
  c.rotate(Math.atan2(end.y - before.y, end.x - before.x));
  c.scale(scale, scale);
  c.translate(-head.refX.baseVal.value, -head.refY.baseVal.value);
  c.fillStyle = c.strokeStyle;
  for (const part of head.querySelectorAll("path")) c.fill(pathOf(part));
}

function paintText(c: CanvasRenderingContext2D, text: SVGTextElement, style: CSSStyleDeclaration): void {
  if (!text.textContent) return;
  c.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  c.fillStyle = style.fill;
  Object.assign(c, { textAlign: "left", textBaseline: "alphabetic", letterSpacing: "0px" });
  const { x, y } = text.getStartPositionOfChar(0);
  c.fillText(text.textContent, x, y);
}
