import {
  binarySuffixes,
  decimalSuffixes,
  parseQuantityText,
  type QuantityFormat,
  roundUpTo,
} from './quantity-parser.js';

/** A quantity, or what it can be read from: `'1500m'`, or a number as objects may carry it. */
export type QuantityLike = Quantity | string | number;

const maxShift = 100_000;

/**
 * An exact amount of something (`resource.Quantity`), e.g. of memory or processor time. Immutable, never a float.
 *
 * ```ts
 * parseQuantity('1.5Gi').add('512Mi').toString(); // '2Gi'
 * ```
 *
 * Objects carry quantities as text: make one to compute, and write its `toString()` back. Reading rounds up to whole
 * billionths, and caps `Ki`…`Ei` amounts at 2^63-1, as servers do.
 */
export class Quantity {
  /** How it prints: the family of the suffix that it was read with. */
  readonly format: QuantityFormat;
  /** The amount is `#unscaled × 10^#scale`. */
  readonly #unscaled: bigint;
  readonly #scale: number;
  readonly #text: string | undefined;

  private constructor(unscaled: bigint, scale: number, format: QuantityFormat, text?: string) {
    this.#unscaled = unscaled;
    this.#scale = unscaled === 0n ? 0 : scale;
    this.format = format;
    this.#text = text;
    Object.freeze(this);
  }

  /**
   * Reads a quantity (`resource.ParseQuantity`, `resource.MustParse`): digits, perhaps a sign and a fraction, and a
   * suffix `n u m k M G T P E`, `Ki Mi Gi Ti Pi Ei` or an exponent `e3`, `E-3`. Throws a `SyntaxError` for any other
   * text, blanks included.
   */
  static parse(value: QuantityLike): Quantity {
    if (value instanceof Quantity) return value;
    if (typeof value !== 'string' && typeof value !== 'number') {
      throw new TypeError(`expected a quantity as a string or number, got ${value === null ? 'null' : typeof value}`);
    }
    const { unscaled, scale, format, text } = parseQuantityText(String(value));
    return new Quantity(unscaled, scale, format, text);
  }

  /** `value × 10^scale` (`resource.NewQuantity`, `NewMilliQuantity` with scale -3, `NewScaledQuantity`). */
  static of(value: bigint | number, format: QuantityFormat = 'DecimalSI', scale = 0): Quantity {
    return new Quantity(BigInt(value), scale, format);
  }

  /** The sum (`Quantity.Add`). Keeps this one's format, unless this is zero. */
  add(other: QuantityLike): Quantity {
    return this.#plus(Quantity.parse(other), 1n);
  }

  /** The difference (`Quantity.Sub`). Keeps this one's format, unless this is zero. */
  sub(other: QuantityLike): Quantity {
    return this.#plus(Quantity.parse(other), -1n);
  }

  /** This many times the amount (`Quantity.Mul`): exact, whatever the size. */
  mul(factor: bigint | number): Quantity {
    return new Quantity(this.#unscaled * BigInt(factor), this.#scale, this.format);
  }

  /** The amount with the other sign (`Quantity.Neg`). */
  neg(): Quantity {
    return new Quantity(-this.#unscaled, this.#scale, this.format);
  }

  /** Negative, zero or positive as this is less than, equal to or more than `other` (`Quantity.Cmp`). For `sort`. */
  compare(other: QuantityLike): number {
    const that = Quantity.parse(other);
    if (this.sign() !== that.sign()) return this.sign() < that.sign() ? -1 : 1;
    if (this.#scale === that.#scale) return Math.sign(Number(this.#unscaled - that.#unscaled));
    // Sizes that differ in their number of digits need no common scale, which for 1e1000000000 would be a long number.
    const digits = this.#digits() - that.#digits();
    if (digits !== 0) return Math.sign(digits) * this.sign();
    const [a, b] = aligned(this.#unscaled, this.#scale, that.#unscaled, that.#scale);
    return a < b ? -1 : a > b ? 1 : 0;
  }

  /** True when the amounts are equal, however they are written (`Quantity.Equal`): `1000m` and `1` are. */
  equals(other: QuantityLike): boolean {
    return this.compare(other) === 0;
  }

  /** -1, 0 or 1 (`Quantity.Sign`). */
  sign(): -1 | 0 | 1 {
    return this.#unscaled > 0n ? 1 : this.#unscaled < 0n ? -1 : 0;
  }

  isZero(): boolean {
    return this.#unscaled === 0n;
  }

  /** Rounded away from zero to whole multiples of `10^scale` (`Quantity.RoundUp`). */
  roundUp(scale: number): Quantity {
    const rounded = roundUpTo(this.#unscaled, this.#scale, scale);
    return rounded.exact ? this : new Quantity(rounded.unscaled, rounded.scale, this.format);
  }

  /** The whole number, rounded away from zero (`Quantity.Value`). A bigint: it never overflows. */
  value(): bigint {
    return this.scaledValue(0);
  }

  /** How many thousandths, rounded away from zero (`Quantity.MilliValue`): `1500n` for 1.5 processors. */
  milliValue(): bigint {
    return this.scaledValue(-3);
  }

  /** How many times `10^scale`, rounded away from zero (`Quantity.ScaledValue`). */
  scaledValue(scale: number): bigint {
    const rounded = roundUpTo(this.#unscaled, this.#scale, scale);
    return rounded.unscaled * powerOfTen(rounded.scale - (rounded.unscaled === 0n ? 0 : scale));
  }

  /** The nearest number (`Quantity.AsFloat64Slow`); `Infinity` past what a number can hold. */
  toNumber(): number {
    return Number(`${this.#unscaled}e${this.#scale}`);
  }

  /** The same amount in another format. */
  withFormat(format: QuantityFormat): Quantity {
    return new Quantity(this.#unscaled, this.#scale, format);
  }

  /**
   * The text that a server stores (`Quantity.String`): the canonical form, except that a server keeps some texts that
   * are nearly canonical, such as `+1` or `1.500`, as they were written. To compare, use {@link equals}.
   */
  toString(): string {
    return this.#text ?? this.canonical();
  }

  /**
   * The one canonical text: no fraction, the largest suffix that loses nothing, so `0.5` is `500m` and `1.5Gi` is
   * `1536Mi`. A `BinarySI` amount that is below 1024 or has a fraction prints with a decimal suffix.
   */
  canonical(): string {
    if (this.isZero()) return '0';
    if (this.format === 'BinarySI' && (this.compare(1024) >= 0 || this.compare(-1024) <= 0)) {
      const whole = roundUpTo(this.#unscaled, this.#scale, 0);
      if (whole.exact) return formatBinary(whole.unscaled * powerOfTen(whole.scale));
    }
    return formatDecimal(this.#unscaled, this.#scale, this.format);
  }

  toJSON(): string {
    return this.toString();
  }

  #plus(that: Quantity, sign: bigint): Quantity {
    const format = this.isZero() ? that.format : this.format;
    if (that.isZero()) return new Quantity(this.#unscaled, this.#scale, format);
    if (this.isZero()) return new Quantity(sign * that.#unscaled, that.#scale, format);
    const [a, b, scale] = aligned(this.#unscaled, this.#scale, that.#unscaled, that.#scale);
    return new Quantity(a + sign * b, scale, format);
  }

  /** Digits before the decimal point; zero or less for amounts below one. */
  #digits(): number {
    return (this.#unscaled < 0n ? -this.#unscaled : this.#unscaled).toString().length + this.#scale;
  }
}

/** Reads a quantity: {@link Quantity.parse}. */
export function parseQuantity(value: QuantityLike): Quantity {
  return Quantity.parse(value);
}

function aligned(a: bigint, aScale: number, b: bigint, bScale: number): [a: bigint, b: bigint, scale: number] {
  const scale = Math.min(aScale, bScale);
  return [a * powerOfTen(aScale - scale), b * powerOfTen(bScale - scale), scale];
}

function powerOfTen(exponent: number): bigint {
  if (exponent > maxShift) throw new RangeError(`quantity: 10^${exponent} is too large to compute with`);
  return 10n ** BigInt(exponent);
}

function formatDecimal(unscaled: bigint, scale: number, format: QuantityFormat): string {
  const text = unscaled.toString();
  const zeros = text.length - text.replace(/0+$/, '').length;
  const expected = Math.floor((scale + zeros) / 3) * 3;
  const mantissa =
    expected >= scale ? text.slice(0, text.length - (expected - scale)) : text + '0'.repeat(scale - expected);
  const suffix =
    format === 'DecimalExponent' ? undefined : [...decimalSuffixes].find(([, exponent]) => exponent === expected)?.[0];
  // SI has nothing past E: an exponent keeps the amount.
  return mantissa + (suffix ?? (expected === 0 ? '' : `e${expected}`));
}

function formatBinary(amount: bigint): string {
  let text = amount.toString();
  for (const [suffix, exponent] of binarySuffixes) {
    const unit = 2n ** BigInt(exponent);
    if (amount % unit !== 0n) break;
    text = amount / unit + suffix;
  }
  return text;
}
