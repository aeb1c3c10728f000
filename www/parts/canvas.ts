// Lines and areas on a canvas, through points that are given as x and y in turn.

/** What lines are drawn with from here on. */
export function pen(c: CanvasRenderingContext2D, colour: string, width: number): void {
  c.strokeStyle = colour;
  c.lineWidth = width;
}

function through(c: CanvasRenderingContext2D, at: number[]): void {
  c.beginPath();
  for (let k = 0; k < at.length; k += 2) c.lineTo(at[k]!, at[k + 1]!);
}

export function stroke(c: CanvasRenderingContext2D, ...at: number[]): void {
  through(c, at);
  c.stroke();
}

export function fill(c: CanvasRenderingContext2D, ...at: number[]): void {
  through(c, at);
  c.fill();
}

/** A part of a path of its own. */
export function segment(c: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
}

/** As many pieces, as one path. */
export function strokes(c: CanvasRenderingContext2D, pieces: number, draw: (k: number) => void): void {
  c.beginPath();
  for (let k = 0; k < pieces; k++) draw(k);
  c.stroke();
}
