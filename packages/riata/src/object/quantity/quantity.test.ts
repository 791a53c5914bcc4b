import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseQuantity, Quantity } from './quantity.js';
import type { QuantityFormat } from './quantity-parser.js';

const max = 2n ** 63n - 1n;

describe('reading and printing, as servers do', () => {
  test.each([
    ['0', '0'],
    ['00', '0'],
    ['0Ki', '0'],
    ['1', '1'],
    ['1000m', '1'],
    ['0.5', '500m'],
    ['1.5', '1500m'],
    ['1080000000n', '1080m'],
    ['1000u', '1m'],
    ['0.001T', '1G'],
    ['1000M', '1G'],
    ['1000', '1k'],
    ['1024', '1024'],
    ['1500', '1500'],
    ['50k', '50k'],
    ['.0001k', '100m'],
    ['12E', '12E'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['307200Ki', '300Mi'],
    ['1025Ki', '1025Ki'],
    ['0.5Mi', '512Ki'],
    ['100.035Ki', '102435840m'],
    ['.001Ki', '1024m'],
    ['.000000000001Ki', '2n'],
    ['1e3', '1e3'],
    ['1.2e3', '1200'],
    ['1.3E+6', '1300e3'],
    ['.001e12', '1e9'],
    ['0.001e0', '1e-3'],
    ['1000e-12', '1e-9'],
    ['1e14', '100e12'],
    ['3.001n', '4n'],
    ['1.1E-9', '2e-9'],
    ['0.0000000001', '1n'],
    ['0.00000012345', '124n'],
    ['-1.5', '-1500m'],
    ['-0.9n', '-1n'],
    ['9Ei', '9223372036854775807'],
    ['8Ei', '9223372036854775807'],
    ['-9Ei', '-9223372036854775807'],
    ['9223372036854775807Ki', '9223372036854775807'],
    ['18446744073709551616', '18446744073709551616'],
    // Go's v0.36 loses the power of ten past E; later versions write an exponent.
    ['1000E', '1e21'],
    ['-5000000E', '-5e24'],
  ])('%s is %s', (text, expected) => {
    expect(parseQuantity(text).canonical()).toBe(expected);
    expect(parseQuantity(text).toString()).toBe(expected);
  });

  test.each([
    ['+1', '1'],
    ['01', '1'],
    ['1.500', '1500m'],
    ['1E3', '1e3'],
    ['1e0', '1'],
    ['1.', '1'],
    ['1.G', '1G'],
    ['100.035k', '100035'],
    ['+3Ki', '3Ki'],
  ])('%s is stored as it is written, though %s is canonical', (text, canonical) => {
    expect(parseQuantity(text).toString()).toBe(text);
    expect(JSON.stringify({ q: parseQuantity(text) })).toBe(`{"q":"${text}"}`);
    expect(parseQuantity(text).canonical()).toBe(canonical);
    expect(parseQuantity(text).add(0).toString()).toBe(canonical);
  });

  test.each(['-', '+', '.', '-.', 'Ki', 'm', 'e3'])('%s has no digits and is zero', (text) => {
    expect(parseQuantity(text).isZero()).toBe(true);
    expect(parseQuantity(text).toString()).toBe('0');
  });

  test.each([
    ['5n', 'DecimalSI'],
    ['1Ki', 'BinarySI'],
    ['0Mi', 'BinarySI'],
    ['1E3', 'DecimalExponent'],
    ['1E', 'DecimalSI'],
    ['0.0001Ki', 'DecimalSI'],
    ['0.001Ki', 'BinarySI'],
  ] as [string, QuantityFormat][])('%s has the format %s', (text, format) => {
    expect(parseQuantity(text).format).toBe(format);
  });

  test.each([
    '',
    ' ',
    ' 1',
    '1 ',
    '1.1.M',
    '1+1.0M',
    '0.1mi',
    '0.1am',
    'aoeu',
    '.5i',
    '1i',
    '-3.01e-',
    '1e',
    '1KI',
    '1K',
    '1kk',
    'Pi',
    '.Ei',
    'e-11',
    '--1',
    '1_000',
    '٣',
    'Infinity',
    'NaN',
    '1e99999999999',
    '__proto__',
  ])('%j is refused', (text) => {
    expect(() => parseQuantity(text)).toThrow(SyntaxError);
    expect(() => parseQuantity(text)).toThrow(`quantity ${JSON.stringify(text)}`);
  });

  test('a long text is cut in the message', () => {
    expect(() => parseQuantity('x'.repeat(10_000))).toThrow(/^.{0,300}$/);
  });

  test('numbers are read as they print', () => {
    expect(parseQuantity(0.5).toString()).toBe('500m');
    expect(parseQuantity(1e21).equals('1000E')).toBe(true);
    expect(() => parseQuantity(Number.NaN)).toThrow(SyntaxError);
    expect(() => parseQuantity(null as never)).toThrow('expected a quantity as a string or number, got null');
  });
});

describe('made from numbers', () => {
  test.each([
    [1, 'DecimalSI', -3, '1m'],
    [1000, 'DecimalSI', -3, '1'],
    [1024, 'BinarySI', -3, '1024m'],
    [1024, 'BinarySI', 0, '1Ki'],
    [1048576, 'BinarySI', -3, '1048576m'],
    [1023, 'BinarySI', 0, '1023'],
    [1025, 'BinarySI', 0, '1025'],
    [1_000_000, 'DecimalExponent', 0, '1e6'],
    [1000, 'DecimalSI', -9, '1u'],
    [2n ** 70n, 'BinarySI', 0, '1024Ei'],
    [-(2n ** 63n), 'BinarySI', 0, '-8Ei'],
    [1, 'DecimalSI', -12, '1e-12'],
  ] as [number | bigint, QuantityFormat, number, string][])('%s %s e%s is %s', (value, format, scale, expected) => {
    expect(Quantity.of(value, format, scale).toString()).toBe(expected);
  });

  test('the format can be changed', () => {
    expect(parseQuantity('1Gi').withFormat('DecimalSI').toString()).toBe('1073741824');
    expect(parseQuantity('1M').withFormat('BinarySI').toString()).toBe('1000000');
    expect(parseQuantity('1024k').withFormat('BinarySI').toString()).toBe('1000Ki');
  });
});

describe('arithmetic', () => {
  test.each([
    ['1', '1', '2'],
    ['100m', '0', '100m'],
    ['0', '1Gi', '1Gi'],
    ['1Gi', '1M', '1074741824'],
    ['1.5Gi', '512Mi', '2Gi'],
    ['500m', '500m', '1'],
    ['9223372036854775807', '1', '9223372036854775808'],
  ])('%s + %s = %s', (a, b, sum) => {
    expect(parseQuantity(a).add(b).toString()).toBe(sum);
    expect(parseQuantity(sum).sub(b).equals(a)).toBe(true);
  });

  test('zero takes the format of the other, for differences too', () => {
    expect(parseQuantity('0').sub('1Gi').toString()).toBe('-1Gi');
    expect(parseQuantity('0').sub('100m').toString()).toBe('-100m');
  });

  test('nothing is changed in place', () => {
    const one = parseQuantity('1');
    expect([one.add(1), one.neg(), one.mul(3), one.roundUp(3)].map(String)).toEqual(['2', '-1', '3', '1k']);
    expect(one.toString()).toBe('1');
    expect(Object.isFrozen(one)).toBe(true);
  });

  test.each([
    ['0', '0', 0],
    ['100m', '50m', 1],
    ['10000T', '100Gi', 1],
    ['1000m', '1', 0],
    ['1Ki', '1024', 0],
    ['-1', '1', -1],
    ['-2', '-1', -1],
    ['0', '1n', -1],
    ['1e1000000000', '1e999999999', 1],
    ['-1e1000000000', '1', -1],
    ['99', '1e2', -1],
    ['1e-2000000000', '1n', 0],
  ])('%s against %s: %s', (a, b, expected) => {
    expect(parseQuantity(a).compare(b)).toBe(expected);
    expect(parseQuantity(b).compare(a) + expected).toBe(0);
    expect(parseQuantity(a).equals(b)).toBe(expected === 0);
  });

  test.each([
    ['9.01', -3, '9010m'],
    ['9.01', -1, '9100m'],
    ['9.01', 0, '10'],
    ['9.01', 1, '10'],
    ['9.01', 2, '100'],
    ['-9.01', 0, '-10'],
    ['-9.01', 2, '-100'],
  ])('%s rounds up at 10^%s to %s', (text, scale, expected) => {
    expect(parseQuantity(text).roundUp(scale).toString()).toBe(expected);
  });

  test('whole and scaled values are rounded away from zero, and never overflow', () => {
    expect(parseQuantity('1.1').value()).toBe(2n);
    expect(parseQuantity('-1.1').value()).toBe(-2n);
    expect(parseQuantity('1n').milliValue()).toBe(1n);
    expect(parseQuantity('1.5').milliValue()).toBe(1500n);
    expect(parseQuantity('9Ei').milliValue()).toBe(max * 1000n);
    expect(parseQuantity('1k').scaledValue(2)).toBe(10n);
    expect(parseQuantity('0').scaledValue(5)).toBe(0n);
  });

  test('the nearest number', () => {
    expect(parseQuantity('1500m').toNumber()).toBe(1.5);
    expect(parseQuantity('0.1').toNumber()).toBe(0.1);
    expect(parseQuantity('1e400').toNumber()).toBe(Number.POSITIVE_INFINITY);
  });

  test('an absurd exponent is an error, not an endless computation', () => {
    expect(() => parseQuantity('1e1000000000').add('1')).toThrow(RangeError);
    expect(() => parseQuantity('1e1000000000').value()).toThrow(RangeError);
    expect(parseQuantity('1e1000000000').canonical()).toBe('10e999999999');
  });
});

describe('against exact fractions', () => {
  const suffixes = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18, e2: 2, 'E-4': -4 };
  const binary = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n };
  /** A quantity's text, and its amount in 10^-30. */
  const decimal = fc
    .tuple(
      fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }),
      fc.nat({ max: 6 }),
      fc.constantFrom(...Object.keys(suffixes)),
    )
    .map(([digits, places, suffix]) => {
      const exponent = suffixes[suffix as keyof typeof suffixes];
      return { text: point(digits, places) + suffix, amount: digits * 10n ** BigInt(30 + exponent - places) };
    });
  const binaryOrDecimal = fc.oneof(
    decimal,
    fc
      .tuple(fc.bigInt({ min: -100_000n, max: 100_000n }), fc.constantFrom(...Object.keys(binary)))
      .map(([n, suffix]) => ({
        text: n + suffix,
        amount: n * 2n ** binary[suffix as keyof typeof binary] * 10n ** 30n,
      })),
  );
  const nano = 10n ** 21n;
  const atNano = (amount: bigint) => roundAway(amount, nano) * nano;

  test('reading, comparing, adding', () => {
    fc.assert(
      fc.property(binaryOrDecimal, binaryOrDecimal, (a, b) => {
        const [x, y] = [parseQuantity(a.text), parseQuantity(b.text)];
        const [m, n] = [atNano(a.amount), atNano(b.amount)];
        expect(x.scaledValue(-9)).toBe(m / nano);
        expect(x.milliValue()).toBe(roundAway(m, 10n ** 27n));
        expect(x.value()).toBe(roundAway(m, 10n ** 30n));
        expect(x.compare(y)).toBe(m < n ? -1 : m > n ? 1 : 0);
        expect(x.add(y).scaledValue(-9)).toBe((m + n) / nano);
        expect(x.sub(y).scaledValue(-9)).toBe((m - n) / nano);
        expect(x.sign()).toBe(m < 0n ? -1 : m > 0n ? 1 : 0);
      }),
    );
  });

  test('printing loses nothing and is settled after one step', () => {
    fc.assert(
      fc.property(binaryOrDecimal, ({ text }) => {
        const quantity = parseQuantity(text);
        const canonical = quantity.canonical();
        expect(parseQuantity(canonical).equals(quantity)).toBe(true);
        expect(parseQuantity(canonical).toString()).toBe(canonical);
        expect(parseQuantity(quantity.toString()).toString()).toBe(quantity.toString());
        expect(canonical).toMatch(/^-?\d+([numkMGTPE]|[KMGTPE]i|e-?\d+)?$/);
      }),
    );
  });

  function point(digits: bigint, places: number): string {
    if (places === 0) return String(digits);
    const text = String(digits < 0n ? -digits : digits).padStart(places + 1, '0');
    return `${digits < 0n ? '-' : ''}${text.slice(0, -places)}.${text.slice(-places)}`;
  }

  function roundAway(amount: bigint, unit: bigint): bigint {
    const cut = amount / unit;
    return amount % unit === 0n ? cut : amount < 0n ? cut - 1n : cut + 1n;
  }
});
