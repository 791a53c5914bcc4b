import { describe, expect, test } from 'vitest';
import { goText } from './go-text.js';
import { evaluateJsonPath, JsonPathError, parseJsonPath } from './json-path.js';

const object = {
  spec: {
    ports: [
      { name: 'a', port: 80 },
      { name: 'b', port: 443 },
    ],
    'a.b': 1,
    none: null,
  },
  status: { conditions: [{ type: 'Ready', status: 'True' }, { type: 'Old' }] },
};
const find = (path: string) => evaluateJsonPath(parseJsonPath(path), object);

describe('a path', () => {
  test.each([
    ['.spec.ports[0].port', [80]],
    ['$.spec.ports[-1].name', ['b']],
    ['.spec.ports[*].name', ['a', 'b']],
    ['.spec.ports[0:1].name', ['a']],
    ['.spec.ports[::2].name', ['a']],
    ['.spec.ports[0,1].port', [80, 443]],
    [".spec['a.b']", [1]],
    ['.spec.a\\.b', [1]],
    ['..port', [80, 443]],
    ['.status.conditions[?(@.type=="Ready")].status', ['True']],
    ['.status.conditions[?(@.status)].type', ['Ready']],
    ['.spec.ports[?(@.port>=443)].name', ['b']],
    ['.spec.ports[?(@.port!=80)].name', ['b']],
    ['.spec.none', [null]],
    ['.spec.none.deeper', []],
    ['.nope.deeper', []],
  ])('%s', (path, found) => {
    expect(find(path)).toEqual(found);
  });

  test.each(['.a[', '.a[x]', '.a[]', 'a', '.a b'])('%s cannot be read', (path) => {
    expect(() => parseJsonPath(path)).toThrow(JsonPathError);
  });

  test.each(['.spec.ports[7]', '.spec[0]', '.spec.ports[?(@.port=="x")]'])('%s does not fit', (path) => {
    expect(() => find(path)).toThrow(JsonPathError);
  });
});

test('values are printed as Go prints them', () => {
  expect(goText({ b: '<x>', a: [1, { d: 1, c: null }] })).toBe('{"a":[1,{"c":null,"d":1}],"b":"\\u003cx\\u003e"}');
  expect([0.00001, 1e-7, 1e21, 1.5, 0, true, null].map(goText)).toEqual([
    '1e-05',
    '1e-07',
    '1e+21',
    '1.5',
    '0',
    'true',
    '<no value>',
  ]);
});
