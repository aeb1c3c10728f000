// Lines and areas on a canvas. Points are given as alternating x and y.

/** Sets the colour and width of lines. */
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

/** Adds a separate segment to the path. */
export function segment(c: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
}

/** Strokes several pieces as one path. */
export function strokes(c: CanvasRenderingContext2D, pieces: number, draw: (k: number) => void): void {
  c.beginPath();
  for (let k = 0; k < pieces; k++) draw(k);
  c.stroke();
}
