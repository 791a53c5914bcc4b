import { Buffer } from 'node:buffer';
import type { Arbitrary } from 'fast-check';
import type { StructuralSchema } from 'riata/object';

/** The module, which is loaded on first use. */
export type FastCheck = typeof import('fast-check');

/** Strings of a schema: by format, pattern and length. Other formats get any string. */
export function stringValues(fc: FastCheck, schema: StructuralSchema): Arbitrary<string> {
  const { format, pattern, minLength = 0, maxLength } = schema;
  const byFormat = format === undefined ? undefined : formatValues(fc, format);
  const fits = (text: string) => {
    const length = [...text].length;
    return length >= minLength && length <= (maxLength ?? Number.POSITIVE_INFINITY);
  };
  if (byFormat !== undefined) return byFormat;
  const matching = pattern === undefined ? undefined : patternValues(fc, pattern);
  // A length that a pattern hardly ever has would be searched for without end.
  if (matching !== undefined) return minLength > 3 ? matching : matching.filter(fits);
  const most = Math.min(maxLength ?? minLength + 12, minLength + 12);
  const words = ['', 'a', 'a:b', 'a/b', 'a=b', '0', 'true', '-', ' ', 'é', '__proto__'].filter(fits);
  const any = fc.string({ minLength, maxLength: most });
  const sign = fc.string({ minLength, maxLength: most, unit: 'grapheme' }).filter(fits);
  return words.length === 0 ? fc.oneof(any, sign) : fc.oneof(any, sign, fc.constantFrom(...words));
}

/** Patterns of Go that are no regular expressions here, or that values cannot be made of, give nothing. */
function patternValues(fc: FastCheck, pattern: string): Arbitrary<string> | undefined {
  try {
    const expression = new RegExp(pattern, 'u');
    const values = fc.stringMatching(expression, { size: '-1' });
    fc.sample(values, 1);
    return values;
  } catch {
    return undefined;
  }
}

function formatValues(fc: FastCheck, format: string): Arbitrary<string> | undefined {
  const dates = fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
  switch (format) {
    case 'date-time':
      return dates.map((date) => date.toISOString().replace(/\.\d+Z$/, 'Z'));
    case 'date':
      return dates.map((date) => date.toISOString().slice(0, 10));
    case 'uuid':
      return fc.uuid();
    case 'email':
      return fc.emailAddress();
    case 'ipv4':
      return fc.ipV4();
    case 'ipv6':
      return fc.ipV6();
    case 'uri':
      return fc.webUrl();
    case 'hostname':
      return fc.domain();
    case 'byte':
      return fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes).toString('base64'));
    case 'duration':
      return fc.integer({ min: 0, max: 100_000 }).map((seconds) => `${seconds}s`);
    default:
      return undefined;
  }
}
