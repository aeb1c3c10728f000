// The one rule of every figure, as `math::rounds` has it for Rust and `hothouse.bench` for Python: the median of sustained rounds, with its
// quartiles. A row of a bench is made here and nowhere else.

/** Lower quartile, median and upper quartile, by linear interpolation between the sorted samples; what never ended is infinite. */
export function quartiles(samples) {
  if (!samples.length) throw new RangeError("a figure needs a round: there are no samples");
  const sorted = [...samples].sort((a, b) => a - b);
  return [0.25, 0.5, 0.75].map((share) => {
    const place = share * (sorted.length - 1);
    const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    // Equal ends first: the way from infinity to infinity is no number.
    return low === high ? low : low + (high - low) * (place % 1);
  });
}

/** A row of what was measured in rounds, or over seeds. */
export function measured(name, samples, unit) {
  const [lower, value, upper] = quartiles(samples);
  return { name, value, lower, upper, rounds: samples.length, unit };
}

/** A row of what is counted, and would be the same again. */
export const counted = (name, value, unit) => ({ name, value, unit });
