// Functions that format numbers. The caller adds the unit, unless the example of a function contains one.

/** Replaces hyphens with minus signs. */
export const minus = (text: string): string => text.replaceAll("-", "−");

export const capital = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

/** Returns the unit of a column, or its label in lower case if the column has no unit. */
export const plural = ({ unit, label }: { unit: string; label: string }): string => unit || label.toLowerCase();

const trim = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/** Formats a number rounded to a whole number: `312,416`. */
export const count = (n: number): string => Math.round(n).toLocaleString("en");

/** Formats a number with `least` significant digits. If the integer part has more digits, shows all of them. */
const digits = (n: number, least: number): string => {
  const text = n.toPrecision(least);
  return text.includes("e") ? count(n) : trim(text);
};

/** Formats a number briefly for axes and readouts: `950`, `312k`, `1.24M`. */
export function short(n: number): string {
  const size = Math.abs(n);
  if (size >= 999.5e9) return `${digits(n / 1e12, 3)}T`;
  if (size >= 999.5e6) return `${digits(n / 1e9, 3)}G`;
  if (size >= 999.5e3) return `${digits(n / 1e6, 3)}M`;
  if (size >= 1000) return `${digits(n / 1e3, 3)}k`;
  return trim(n.toFixed(0));
}

/** Formats a number for sentences: `312 thousand`, `1.2 million`, `320 million`. */
export function words(n: number): string {
  if (n >= 999.5e9) return `${digits(n / 1e12, 2)} trillion`;
  if (n >= 999.5e6) return `${digits(n / 1e9, 2)} billion`;
  if (n >= 999.5e3) return `${digits(n / 1e6, 2)} million`;
  if (n >= 1000) return `${digits(n / 1e3, 2)} thousand`;
  return count(n);
}

/**
 * Formats a number with three significant digits. Numbers below 0.001 have two significant digits, and numbers from 1000 on are rounded to
 * whole numbers: `0.003`, `−12.4`, `3e−5`, `1,234`.
 */
export function figure(n: number): string {
  if (!Number.isFinite(n)) return "none";
  if (n === 0) return "0";
  const size = Math.abs(n);
  if (size < 1e-3) return minus(n.toExponential(1).replace(".0e", "e"));
  if (size >= 1000) return minus(count(n));
  return minus(trim(n.toPrecision(3)));
}

/** Formats a share as a percentage: `91.8%`. Values between 99% and 100% are rounded down. */
export function percent(share: number): string {
  const all = 100 * share;
  return `${all > 99 && all < 100 ? trim((Math.floor(100 * all + 1e-9) / 100).toFixed(2)) : figure(all)}%`;
}

/** Formats a changing value with two significant digits including zeros: `0.0030`. Numbers from 100 on are rounded to whole numbers. */
export const two = (n: number): string => (n === 0 ? "0" : Math.abs(n) >= 99.5 ? count(n) : n.toPrecision(2));

/** Formats the full value of a knob, as a visitor would type the value: `4194304`, or `1e9` if that is much shorter. */
export function exact(n: number): string {
  const full = String(Number.isInteger(n) ? n : Number(n.toPrecision(6)));
  const power = Number(full).toExponential().replace("e+", "e");
  return power.length + 6 <= full.length ? power : full;
}

/** Formats a knob's value, with numbers rounded. */
export const valueText = (value: number | string): string => (typeof value === "number" ? figure(value) : value || "nothing");
/** Formats a knob's value, with numbers in full. */
export const exactText = (value: number | string): string => (typeof value === "number" ? exact(value) : value || "nothing");

/** Formats a duration: `0.8 s`, `42 s`, `3 min 12 s`. */
export function seconds(s: number): string {
  if (s < 9.95) return `${s.toFixed(1)}\u00a0s`;
  if (s < 59.5) return `${Math.round(s)}\u00a0s`;
  const whole = Math.round(s);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Formats a size: `412 kB`, `1.1 MB`. */
export const bytes = (n: number): string => (n >= 1e6 ? `${(n / 1e6).toFixed(1)} MB` : `${Math.round(n / 1e3)} kB`);

/** Formats the time since `ms`, a time in milliseconds: `a moment ago`, `12 minutes ago`. */
export function ago(ms: number): string {
  const minutes = Math.round((Date.now() - ms) / 60_000);
  if (minutes < 2) return "a moment ago";
  if (minutes < 90) return `${minutes} minutes ago`;
  if (minutes < 36 * 60) return `${Math.round(minutes / 60)} hours ago`;
  return `${Math.round(minutes / 1440)} days ago`;
}
