// All figures follow one rule: a figure is the median of sustained rounds, with its quartiles. `math::rounds` implements the rule in Rust,
// `hothouse.bench` in Python, and this file for the benches among the scripts.

/**
 * Returns the lower quartile, the median and the upper quartile, by linear interpolation between sorted samples. A run without an end has
 * the sample `Infinity`.
 */
export function quartiles(samples) {
  if (!samples.length) throw new RangeError("no samples: a figure needs at least one round");
  const sorted = [...samples].sort((a, b) => a - b);
  return [0.25, 0.5, 0.75].map((share) => {
    const place = share * (sorted.length - 1);
    const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
    // Equal neighbours need no interpolation, and `Infinity - Infinity` would be NaN.
    return low === high ? low : low + (high - low) * (place % 1);
  });
}

/** Returns the row of a quantity that was measured in several rounds or for several seeds. */
export function measured(name, samples, unit) {
  const [lower, value, upper] = quartiles(samples);
  return { name, value, lower, upper, rounds: samples.length, unit };
}

/** Returns the row of a single number: a count or another exact result. */
export const counted = (name, value, unit) => ({ name, value, unit });
