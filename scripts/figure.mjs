// The rule of all figures: the median of sustained rounds, with its quartiles. `math::rounds` implements it in Rust and `hothouse.bench` in
// Python. All rows of the scripts' benches are created here.

/** Lower quartile, median and upper quartile, by linear interpolation between sorted samples. A run that did not end is `Infinity`. */
export function quartiles(samples) {
  if (!samples.length) throw new RangeError("no samples: a figure needs at least one round");
  const sorted = [...samples].sort((a, b) => a - b);
  return [0.25, 0.5, 0.75].map((share) => {
    const place = share * (sorted.length - 1);
    const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    // Equal ends need no interpolation, and Infinity - Infinity is NaN.
    return low === high ? low : low + (high - low) * (place % 1);
  });
}

/** A row for a quantity that was measured in several rounds or for several seeds. */
export function measured(name, samples, unit) {
  const [lower, value, upper] = quartiles(samples);
  return { name, value, lower, upper, rounds: samples.length, unit };
}

/** A row of a single number: a count or another exact result. */
export const counted = (name, value, unit) => ({ name, value, unit });
