// Ticks of a logarithmic scale.

/** Maximum ratio of the limits at which the multiples of powers of ten are ticks. */
const MOST_DIVIDED = 1000;

/**
 * Returns the positions of ticks between `low` and `high`. The ticks are the powers of ten and, in a short range, their multiples
 * by 2 to 9. If fewer than two such positions are in the range, the ticks are multiples of `step`.
 *
 * This function replaces uPlot's own ticks, which require limits that are powers of ten. With a lower limit such as 0.0096, uPlot's loop
 * never ends.
 */
export function logarithmicTicks(low: number, high: number, step: number): number[] {
  if (!(low > 0 && high < Infinity)) return [];
  const inRange = (tick: number): boolean => tick >= low && tick <= high;
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
    ticks.push(
      ...(high / low > MOST_DIVIDED ? [1] : [1, 2, 3, 4, 5, 6, 7, 8, 9]).map((digit) => Number(`${digit}e${power}`)).filter(inRange),
    );
  if (ticks.length > 1 || !(step > 0)) return ticks;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.min(100, Math.floor(high / step) - first + 1) }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}
