// Where the lines of a logarithmic scale stand.

/**
 * Each digit of each power of ten between `low` and `high`; where that is one line at most, every `step`. uPlot's own need ends that are
 * powers of ten: from 0.0096 on, for one, they never come to an end.
 */
export function logarithmicTicks(low: number, high: number, step: number): number[] {
  if (!(low > 0 && high < Infinity)) return [];
  const seen = (tick: number): boolean => tick >= low && tick <= high;
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
    ticks.push(...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => Number(`${digit}e${power}`)).filter(seen));
  if (ticks.length > 1 || !(step > 0)) return ticks;
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.min(100, Math.floor(high / step) - first + 1) }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}
