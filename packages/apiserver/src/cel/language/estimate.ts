/** A range of sizes or costs. Counts are 64 bits wide upstream: larger ones saturate. */
export interface Estimate {
  readonly min: number;
  readonly max: number;
}

/** As large as it gets. */
export const most = 2 ** 64;

/** Nothing is known. */
export const unknown: Estimate = { min: 0, max: most };

export function fixed(size: number): Estimate {
  return { min: size, max: size };
}

export function add(a: Estimate, b: Estimate): Estimate {
  return { min: Math.min(most, a.min + b.min), max: Math.min(most, a.max + b.max) };
}

export function multiply(a: Estimate, b: Estimate): Estimate {
  return { min: Math.min(most, a.min * b.min), max: Math.min(most, a.max * b.max) };
}

/** Multiplies by a factor, rounded up. */
export function scale(a: Estimate, factor: number): Estimate {
  return { min: Math.min(most, Math.ceil(a.min * factor)), max: Math.min(most, Math.ceil(a.max * factor)) };
}

/** The range that covers both. */
export function union(a: Estimate, b: Estimate): Estimate {
  return { min: Math.min(a.min, b.min), max: Math.max(a.max, b.max) };
}
