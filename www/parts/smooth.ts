// Exponential moving average of a curve. Weights depend on distances along the axis, so the number of rows does not affect the result.

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
