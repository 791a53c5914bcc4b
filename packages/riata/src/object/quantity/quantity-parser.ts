/** How a quantity is written (`resource.Format`): `12M`, `12Mi` or `12e6`. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** A number as it was written: `unscaled × 10^scale`, and whether the text itself is kept as its print. */
export interface ParsedQuantity {
  readonly unscaled: bigint;
  readonly scale: number;
  readonly format: QuantityFormat;
  readonly text: string | undefined;
}

/** Powers of ten by suffix, and powers of two. */
export const decimalSuffixes: ReadonlyMap<string, number> = new Map(
  ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'].map((suffix, i) => [suffix, i * 3 - 9]),
);
export const binarySuffixes: ReadonlyMap<string, number> = new Map(
  ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].map((suffix, i) => [suffix, (i + 1) * 10]),
);

// The server requires no digit where the suffix is small: it reads "-" and "Ki" as zero, so this does too.
const form = /^([+-]?)(\d*)(?:\.(\d*))?([eEinumkKMGTP]+[-+]?\d*|[-+]\d*)?$/;
const exponentForm = /^[eE]([-+]?\d+)$/;

export const nano = -9;
const maxInt32 = 2 ** 31 - 1;
const maxBinary = 2n ** 63n - 1n;

/** Reads a quantity as the server does; {@link Quantity} says what that means. */
export function parseQuantityText(text: string): ParsedQuantity {
  const match = form.exec(text);
  if (!match || text === '') throw refuse(text, 'is not a number with a suffix');
  const [, sign, integer = '', fraction = '', suffix = ''] = match;
  const whole = integer.replace(/^0+/, '') || '0';
  const { base, exponent, format } = readSuffix(text, suffix);
  const plain = isPlain(format, whole, fraction, exponent);
  if (!plain && integer + fraction === '') throw refuse(text, 'has no digits');
  const magnitude = BigInt(whole + fraction) * (base === 2 ? 2n ** BigInt(exponent) : 1n);
  const scale = (base === 2 ? 0 : exponent) - fraction.length;
  const rounded = roundUpTo(magnitude, scale, nano);
  const signed = (amount: bigint) => (sign === '-' ? -amount : amount);
  if (format === 'BinarySI') {
    const one = 10n ** BigInt(-rounded.scale);
    if (rounded.unscaled > maxBinary * one) return { unscaled: signed(maxBinary), scale: 0, format, text: undefined };
    if (rounded.unscaled > 0n && rounded.unscaled < one) {
      return { unscaled: signed(rounded.unscaled), scale: rounded.scale, format: 'DecimalSI', text: undefined };
    }
  }
  const kept = text === '0' || (plain && looksCanonical(format, whole, fraction, exponent));
  return { unscaled: signed(rounded.unscaled), scale: rounded.scale, format, text: kept ? text : undefined };
}

function readSuffix(text: string, suffix: string): { base: 2 | 10; exponent: number; format: QuantityFormat } {
  const decimal = decimalSuffixes.get(suffix);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' };
  const binary = binarySuffixes.get(suffix);
  if (binary !== undefined) return { base: 2, exponent: binary, format: 'BinarySI' };
  const match = exponentForm.exec(suffix);
  const exponent = match ? Number(match[1]) : Number.NaN;
  if (Math.abs(exponent) <= maxInt32) return { base: 10, exponent, format: 'DecimalExponent' };
  throw refuse(text, match ? 'has too large an exponent' : `has the unknown suffix "${suffix}"`);
}

/** Whether the server reads it as a 64-bit integer: not too many digits, nothing below a billionth. */
function isPlain(format: QuantityFormat, whole: string, fraction: string, exponent: number): boolean {
  if (format !== 'BinarySI') return whole.length + fraction.length <= 18 && exponent - fraction.length >= nano;
  return fraction === '' && whole.length + Math.trunc((exponent * 3) / 10) <= 14;
}

/**
 * The server prints a quantity as it was written when a quick look finds it canonical. The look is not thorough: it
 * lets `+1`, `1.500` and `1E3` through. Stored objects carry these texts, so they are kept here under the same rule.
 */
function looksCanonical(format: QuantityFormat, whole: string, fraction: string, exponent: number): boolean {
  if (format === 'BinarySI') return (BigInt(whole) & 7n) !== 0n;
  const digits = whole + fraction;
  return (exponent - fraction.length) % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
}

/** Rounds away from zero so that nothing finer than `10^scale` is left. */
export function roundUpTo(
  unscaled: bigint,
  scale: number,
  to: number,
): { readonly unscaled: bigint; readonly scale: number; readonly exact: boolean } {
  if (scale >= to || unscaled === 0n) return { unscaled, scale: unscaled === 0n ? 0 : scale, exact: true };
  const magnitude = unscaled < 0n ? -unscaled : unscaled;
  const drop = to - scale;
  // Far below the last digit there is no need to write the divisor out: any amount rounds up to one.
  const divisor = drop > magnitude.toString().length ? undefined : 10n ** BigInt(drop);
  const quotient = divisor === undefined ? 0n : magnitude / divisor;
  const exact = divisor !== undefined && magnitude % divisor === 0n;
  const rounded = exact ? quotient : quotient + 1n;
  return { unscaled: unscaled < 0n ? -rounded : rounded, scale: to, exact };
}

function refuse(text: string, why: string): SyntaxError {
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
  return new SyntaxError(
    `quantity ${shown} ${why}: expected a number and one of n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent as in 1e3`,
  );
}
