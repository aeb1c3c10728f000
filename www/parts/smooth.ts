// An exponential moving average along an axis. Its weights fall with the distance and not with the number of rows, so that a
// curve of few rows and the same one of many come out alike.

export function smooth(at: readonly number[], values: readonly (number | null)[], length: number): (number | null)[] {
  let mean: number | undefined;
  let before = 0;
  return values.map((value, row) => {
    if (value == null) return null;
    const here = at[row]!;
    const kept = mean === undefined ? 0 : Math.exp(-Math.max(0, here - before) / length);
    mean = kept * (mean ?? 0) + (1 - kept) * value;
    before = here;
    return mean;
  });
}
