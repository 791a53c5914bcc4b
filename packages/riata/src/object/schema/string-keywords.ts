import type { JsonObject } from '../json.js';
import type { Problems } from './schema-error.js';
import type { StructuralDraft } from './structural-schema.js';

// The formats that an API server checks; it drops hyphens before it compares, and ignores (with a warning) unknown
// ones.
const stringFormats: ReadonlySet<string> = new Set(
  (
    'bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13 creditcard ssn ' +
    'hexcolor rgbcolor byte password date duration datetime k8sshortname k8slongname'
  ).split(' '),
);
const numberFormats: Readonly<Record<string, readonly string[]>> = {
  integer: ['int32', 'int64'],
  number: ['float', 'double'],
};

/** The format if an API server knows it for this type. */
export function knownFormat(type: string, format: unknown): string | undefined {
  if (typeof format !== 'string') return undefined;
  if (type === 'string') return stringFormats.has(format.replaceAll('-', '')) ? format : undefined;
  return numberFormats[type]?.includes(format) ? format : undefined;
}

/**
 * Why Go's regular expressions (RE2), which an API server uses, would refuse a JavaScript one; undefined if they would
 * not. Finds what people and schema libraries write, not every difference there is.
 */
export function re2Problem(pattern: string): string | undefined {
  let inClass = false;
  let groups = 0;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at];
    if (char === '\\') {
      const problem = escapeProblem(pattern.slice(at + 1), inClass);
      if (problem !== undefined) return problem;
      at += 1;
    } else if (inClass) inClass = char !== ']';
    else if (char === '[') {
      // To RE2 the bracket behind it is the first of those that the class holds.
      if (/^\[\^?\]/.test(pattern.slice(at, at + 3))) return 'a class of no characters, [] or [^]';
      inClass = true;
    } else if (char === '(') {
      if (/^\(\?(?:=|!|<=|<!)/.test(pattern.slice(at, at + 4))) return 'a look-ahead or look-behind';
      groups += 1;
    } else if (char === ')') {
      groups -= 1;
      if (groups < 0) return 'a ")" without a "("';
    }
  }
  if (inClass || groups > 0) return `${inClass ? 'a "["' : 'a "("'} without its end`;
  const repeat = /\{(\d+)(?:,(\d*))?\}/g;
  for (const [, from, to] of pattern.matchAll(repeat)) {
    if (Number(from) > 1000 || Number(to ?? 0) > 1000) return 'a repetition of more than 1000 times';
  }
  return undefined;
}

/** `rest` is what follows the backslash. */
function escapeProblem(rest: string, inClass: boolean): string | undefined {
  const [next = ''] = rest;
  if (next === '') return 'a backslash at its end';
  if (/[1-9]/.test(next)) return `the back reference \\${next}`;
  if (next === 'k') return 'a named back reference';
  if (/^[pP]\{[^}]*=/.test(rest)) return 'a property with a value, \\p{…=…}';
  if (inClass && /[bB]/.test(next)) return `the escape \\${next} in a class`;
  return /[A-Za-z]/.test(next) && !'dDwWsSbBnrtfvxpP'.includes(next) ? `the escape \\${next}` : undefined;
}

/** JavaScript's `\uXXXX` and `\u{X}` in RE2's spelling. Escaped backslashes are stepped over. */
export function toRe2(pattern: string): string {
  return pattern.replace(/\\(?:u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|.)/gs, (whole, braced, four) => {
    const code = braced ?? four;
    return code === undefined ? whole : `\\x{${code}}`;
  });
}

/** A pattern that matches exactly these strings. */
export function patternOf(literals: readonly string[]): string {
  return `^(${literals.map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})$`;
}

/** Writes format, pattern and lengths of a string schema. */
export function addStringKeywords(source: JsonObject, to: StructuralDraft, path: string, problems: Problems): void {
  let format = knownFormat('string', source.format);
  const pattern = typeof source.pattern === 'string' ? toRe2(source.pattern) : undefined;
  // JSON Schema's durations are ISO 8601 (P1D), an API server's are Go's (24h): with the pattern of the one, the other
  // would let nothing through.
  if (format === 'duration' && pattern !== undefined && /^\^?\(?(?:\?:)?P/.test(pattern)) format = undefined;
  if (format !== undefined) to.format = format;
  for (const name of ['minLength', 'maxLength'] as const) {
    const value = source[name];
    if (typeof value === 'number') to[name] = value;
  }
  if (pattern === undefined) return;
  const wrong = re2Problem(pattern);
  if (wrong === undefined) to.pattern = pattern;
  // The format checks the same thing in the server's own way.
  else if (format === undefined) {
    problems.add(
      path,
      `the pattern uses ${wrong}, which the server's regular expressions (RE2) do not support; ` +
        `rewrite it, or set another pattern: extend: { ${JSON.stringify(path)}: { pattern: … } }`,
    );
  }
}
