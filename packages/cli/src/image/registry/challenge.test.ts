import { expect, test } from 'vitest';
import { parseChallenges } from './challenge.js';

test.each([
  [
    'Bearer realm="https://auth.example.com/token",service="registry",scope="repository:a/b:pull,push"',
    [
      {
        scheme: 'bearer',
        parameters: { realm: 'https://auth.example.com/token', service: 'registry', scope: 'repository:a/b:pull,push' },
      },
    ],
  ],
  ['Basic realm=registry', [{ scheme: 'basic', parameters: { realm: 'registry' } }]],
  [
    'Basic realm="a \\"b\\"", Bearer Realm = "c" , error="d"',
    [
      { scheme: 'basic', parameters: { realm: 'a "b"' } },
      { scheme: 'bearer', parameters: { realm: 'c', error: 'd' } },
    ],
  ],
  [
    'Negotiate, Basic realm="x"',
    [
      { scheme: 'negotiate', parameters: {} },
      { scheme: 'basic', parameters: { realm: 'x' } },
    ],
  ],
  ['', []],
  ['realm="x"', []],
  ['Bearer realm="unclosed', [{ scheme: 'bearer', parameters: {} }]],
])('%s', (header, expected) => {
  expect(parseChallenges(header)).toEqual(expected);
});
