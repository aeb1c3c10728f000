/** Name of the knob with which a sweep compares variants. No variant declares a knob of this name. */
export const VARIANT = "variant";
