import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  encodeQuery,
  escapePath,
  joinPath,
  parseRequestUri,
  pathSegmentProblem,
  pathTemplate,
} from './request-path.js';

describe('joinPath', () => {
  test.each([
    [['a', 'b'], 'a/b'],
    [['/', 'a', '', 'b/'], '/a/b'],
    [['/a/', '/b'], '/a/b'],
    [['/a', '../..', 'b'], '/b'],
    [['a', '../../b'], '../b'],
    [['a/./b//c'], 'a/b/c'],
    [['', ''], ''],
    [['/'], '/'],
    [['a', '..'], '.'],
  ])('%j is %s', (pieces, expected) => {
    expect(joinPath(...pieces)).toBe(expected);
  });
});

describe('path segments', () => {
  test.each([
    ['.', "may not be '.'"],
    ['..', "may not be '..'"],
    ['a/b', "may not contain '/'"],
    ['a%2fb', "may not contain '%'"],
    ['/%', "may not contain '/', may not contain '%'"],
    ['...', undefined],
    ['system:node', undefined],
    ['', undefined],
  ])('%j: %s', (name, expected) => {
    expect(pathSegmentProblem(name)).toBe(expected);
  });

  test('that pass can never change the number of segments of a path', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
        fc.pre(pathSegmentProblem(name) === undefined);
        const path = escapePath(joinPath('/api/v1/namespaces', name, 'pods'));
        const parsed = new URL(`https://server${path}`);
        expect(parsed.pathname.split('/')).toHaveLength(6);
        expect(parsed.search + parsed.hash).toBe('');
      }),
    );
  });
});

test.each([
  ['/a b', '/a%20b'],
  ['/system:node@x', '/system:node@x'],
  ['/{name}', '/%7Bname%7D'],
  ['/é?#', '/%C3%A9%3F%23'],
  ["/(!*')", '/%28%21%2A%27%29'],
  ['/$&+,;=', '/$&+,;='],
  ['/\uD800x', '/%EF%BF%BDx'],
])('escapePath %s is %s', (path, expected) => {
  expect(escapePath(path)).toBe(expected);
});

test('a query is sorted by name, keeps the order of values, and encodes as Go does', () => {
  const params = new Map([
    ['watch', ['true']],
    ['labelSelector', ['app in (a, b),!c']],
    ['dryRun', ['2', '1']],
    ['Z~*', ['']],
  ]);
  expect(encodeQuery(params)).toBe('Z~%2A=&dryRun=2&dryRun=1&labelSelector=app+in+%28a%2C+b%29%2C%21c&watch=true');
});

test('what is encoded can be read back', () => {
  const word = fc.string({ unit: 'grapheme', minLength: 1 });
  fc.assert(
    fc.property(fc.dictionary(word, fc.array(word, { minLength: 1 })), (dictionary) => {
      const params = new Map(Object.entries(dictionary));
      const { params: again } = parseRequestUri(`/x?${encodeQuery(params)}`);
      expect(Object.fromEntries(again)).toEqual(Object.fromEntries(params));
    }),
  );
});

test.each([
  ['/test?foo=b&a=b&c=1&c=2', '/test', { foo: ['b'], a: ['b'], c: ['1', '2'] }],
  ['https://host:1/x%20y#f', '/x y', {}],
  ['/x?&a&b=c+d%26', '/x', { a: [''], b: ['c d&'] }],
])('parseRequestUri %s', (uri, path, params) => {
  const parsed = parseRequestUri(uri);
  expect(parsed.path).toBe(path);
  expect(Object.fromEntries(parsed.params)).toEqual(params);
});

describe('pathTemplate', () => {
  const base = '/some/base/url/path';
  test.each([
    ['/api/v1/namespaces/ns/r1/nm', '/api/v1/namespaces/{namespace}/r1/{name}'],
    ['/apis/g1/v1/namespaces/ns/r1/name1', '/apis/g1/v1/namespaces/{namespace}/r1/{name}'],
    ['/api/v1/namespaces/ns/r1', '/api/v1/namespaces/{namespace}/r1'],
    ['/api/v1/r1/name1', '/api/v1/r1/{name}'],
    ['/apis/g1/v1/r1/name1', '/apis/g1/v1/r1/{name}'],
    ['/apis/g/v/namespaces/n/r/x/finalize', '/apis/g/v/namespaces/{namespace}/r/{name}/finalize'],
    ['/apis/g/v/namespaces/n/r/status', '/apis/g/v/namespaces/{namespace}/r/status'],
    ['/apis/g/v/namespaces/n/finalize', '/apis/g/v/namespaces/{name}/finalize'],
    ['/apis/g/v/namespaces/n', '/apis/g/v/namespaces/{name}'],
    ['/apis/g/v/pods', '/apis/g/v/pods'],
    ['/version', '/version'],
  ])('%s is %s', (path, expected) => {
    expect(pathTemplate(path)).toBe(expected);
    expect(pathTemplate(base + path, base)).toBe(base + expected);
  });

  test('a path outside the API is not taken apart', () => {
    expect(pathTemplate('/pre1/v1/namespaces/ns')).toBe('/{prefix}');
  });
});
