import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { unsafeNumbers } from 'riata/object';
import { describe, expect, test } from 'vitest';
import { maxDepth } from './go-json-error.js';
import { readJson, TextError } from './read-json.js';
import { readYaml } from './read-yaml.js';
import { writeJson } from './write-json.js';

const json = (text: string) => readJson(Buffer.from(text));
const yaml = (text: string) => readYaml(Buffer.from(text));

describe('JSON', () => {
  // What Go says about each of these, as kube-apiserver v1.36.3 passes it on.
  test.each([
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"a":"', 'unexpected end of JSON input'],
    ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
    ['{"a":}', "invalid character '}' looking for beginning of value"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{"a":01}', "invalid character '1' after object key:value pair"],
    ['{"a":1.}', "invalid character '}' after decimal point in numeric literal"],
    ['{"a":1e}', "invalid character '}' in exponent of numeric literal"],
    ['{"a":-}', "invalid character '}' in numeric literal"],
    ['{"a":"\n"}', "invalid character '\\n' in string literal"],
    ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
    ['{"a":"\\u12g4"}', "invalid character 'g' in \\u hexadecimal character escape"],
    ['nul', "invalid character ' ' in literal null (expecting 'l')"],
    ['-', "invalid character ' ' in numeric literal"],
    ['1.', "invalid character ' ' after decimal point in numeric literal"],
    ['{"a":[1 2]}', "invalid character '2' after array element"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
    ['{"a":"\u0001"}', "invalid character '\\x01' in string literal"],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
    ['{"a":1}}', "invalid character '}' after top-level value"],
    ['{} {}', "invalid character '{' after top-level value"],
  ])('%j is refused in the words of Go', (text, message) => {
    expect(() => json(text)).toThrow(new TextError(message));
  });

  test('that is nested too deep is refused, and brackets in strings do not nest', () => {
    expect(() => json('['.repeat(maxDepth + 1))).toThrow(new TextError("invalid character '[' exceeded max depth"));
    expect(() => json('{"a":'.repeat(200_000))).toThrow(new TextError("invalid character '{' exceeded max depth"));
    const text = JSON.stringify({ a: '[{\\"'.repeat(2_000) });
    expect(json(text)).toEqual(JSON.parse(text));
  });

  test('has no half characters', () => {
    expect(json('{"\\ud800":["\\udc00x","\\ud83d\\ude00"]}')).toEqual({ '\ufffd': ['\ufffdx', '\u{1f600}'] });
    expect(readJson(Buffer.from([0x22, 0xff, 0x22]))).toBe('\ufffd');
  });

  test('is read as JSON.parse does, and refused where it refuses', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(unsafeNumbers(text).length === 0);
        expect(json(text)).toEqual(JSON.parse(text));
      }),
    );
    const broken = fc.json().chain((text) => fc.tuple(fc.constant(text), fc.nat(text.length), fc.string()));
    fc.assert(
      fc.property(broken, ([text, at, more]) => {
        const changed = text.slice(0, at) + more + text.slice(at + 1);
        const read = () => json(changed);
        if (!isJson(changed)) expect(read).toThrow(TextError);
        else if (unsafeNumbers(changed).length === 0 && !mayOverflow(changed)) expect(read).not.toThrow();
      }),
    );
  });
});

/** Whether a number may be too large for a double, which is refused, though not by JSON.parse. */
function mayOverflow(text: string): boolean {
  return /\d[eE]\+?\d{3,}/.test(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('YAML', () => {
  test('is read as Kubernetes reads it', async () => {
    const text = 'a: yes\nb: 2001-12-14\nc: "1"\nd: 0x10\n5: x\ne: !!binary aGk=\nf:\n- ~\n';
    expect(await yaml(text)).toEqual({ a: true, b: '2001-12-14', c: '1', d: 16, 5: 'x', e: 'hi', f: [null] });
    expect(await yaml('')).toBeNull();
    expect(await yaml('a: 1\n---\na: 2\n')).toEqual({ a: 1 });
    expect(await yaml('a: 1\na: 2\n')).toEqual({ a: 2 });
    expect(await yaml('{"a": {"b": [1]}}')).toEqual({ a: { b: [1] } });
    expect(await yaml('{a: b}')).toEqual({ a: 'b' });
  });

  test.each([
    ['1:30', '1:30'],
    ['0o17', 15],
    ['-0X1F', -31],
    ['!!float 5', 5],
    ['1_000', 1000],
    ['"\\u00e9"', 'é'],
    ["'\\ud800'", '\\ud800'],
  ])('%s is what it is for Go', async (text, value) => expect(await yaml(text)).toEqual(value));

  test.each([
    ['.inf', 'json: unsupported value: +Inf'],
    ['~: v', 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "v"'],
    ['? [a]\n: v', 'yaml: invalid map key: []interface {}{"a"}'],
    ['%YAML 1.2\n---\na: b', 'yaml: found incompatible YAML document'],
    ['a: *b', "yaml: unknown anchor 'b' referenced"],
    ['a: "\\ud800"', 'yaml: line 1: found invalid Unicode character escape code'],
    ['a: "\u0007"', 'yaml: control characters are not allowed'],
    ['!!binary a', 'yaml: !!binary value contains invalid base64 data'],
  ])('%j is refused in the words of Go', (text, message) => expect(yaml(text)).rejects.toThrow(message));

  test.each(['a: b: c', '[', '"', '? [', '\t- x'])('%j is refused', async (text) => {
    await expect(yaml(text)).rejects.toThrow(TextError);
  });

  test('that unfolds without end, or is nested too deep, is refused', async () => {
    const lines = ['a0: &a0 [x,x]', ...Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i},*a${i}]`)];
    await expect(yaml(lines.join('\n'))).rejects.toThrow(TextError);
    await expect(yaml('['.repeat(5_000) + ']'.repeat(5_000))).rejects.toThrow(TextError);
  });
});

test('what holds bigints, or is nested deep, is written as JSON.stringify would', () => {
  const deep = `${'{"a":[null,'.repeat(490)}{"b":[],"c":{}}${']}'.repeat(490)}`;
  expect(writeJson(json(deep))).toBe(deep);
  fc.assert(
    fc.property(fc.json(), fc.nat(3), (text, indent) => {
      const value = JSON.parse(text) as unknown;
      const written = writeJson({ value, big: 1n }, indent);
      expect(written).toBe(JSON.stringify({ value, big: 1 }, undefined, indent));
    }),
    { numRuns: 50 },
  );
});

describe('integers', () => {
  const read = (text: string) => readJson(Buffer.from(text));

  test('that no number can be are refused', () => {
    expect(() => read('{"spec":{"list":[1,1e400]}}')).toThrow('cannot unmarshal number 1e400');
  });

  test('in a text, or large and safe, pass', () => {
    expect(read('{"a":"9007199254740993","b":9007199254740991}')).toEqual({ a: '9007199254740993', b: 2 ** 53 - 1 });
  });
});

test.each([
  ['JSON', readJson, '{"a":9007199254740993}'],
  ['JSON', readJson, '{"a":9007199254740993,"b":[1,"9007199254740993",{"9007199254740993":-0.5}]}'],
  ['JSON', readJson, '{"a":[-9223372036854775808,9223372036854775807]}'],
  ['JSON as YAML', readYaml, '{"a":9007199254740993}'],
  ['YAML', readYaml, 'a: 9007199254740993'],
  ['YAML', readYaml, 'a:\n- 0x20000000000001\n'],
])('an integer past 2^53 in %s is kept to the last digit', async (_what, read, text) => {
  const value = await read(Buffer.from(text));
  const written = text.startsWith('a:\n')
    ? '{"a":[9007199254740993]}'
    : text.replace('a: 9007199254740993', '{"a":9007199254740993}');
  expect(writeJson(value)).toBe(written);
  expect(json(writeJson(value, 2))).toEqual(value);
});

test('no text is taken for a number', () => {
  const odd = '{"\\u00001":"\\u00002","a":["\\u00003","\\u0000\\u00004"],"b":9007199254740993,"c":"\\"\\u00005"}';
  expect(json(odd)).toEqual({
    '\u00001': '\u00002',
    a: ['\u00003', '\u0000\u00004'],
    b: 9007199254740993n,
    c: '"\u00005',
  });
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(json(`{"x":9007199254740993,"y":${text}}`)).toEqual({ x: 9007199254740993n, y: json(text) });
    }),
    { numRuns: 50 },
  );
});

test('whole numbers of YAML are numbers, and keys that are numbers are texts', async () => {
  expect(await readYaml(Buffer.from('a: 9007199254740991\n1: -2\nb: 1.5\n'))).toEqual({
    a: 2 ** 53 - 1,
    1: -2,
    b: 1.5,
  });
});

test('an integer beyond 64 bits is a double, as it is for Go', async () => {
  expect(json('{"a":92233720368547758079}')).toEqual({ a: Number('92233720368547758079') });
  expect(await yaml('a: 92233720368547758079')).toEqual({ a: Number('92233720368547758079') });
  expect(() => json('{"a":"9007199254740993","b":1e400}')).toThrow(TextError);
});
