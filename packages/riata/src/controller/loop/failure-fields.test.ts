import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ApiError } from '../../rest/errors/api-error.js';
import { failureFields } from './failure-fields.js';

const thrownBy = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('it did not throw');
};

/** An error whose stack has these places, innermost first. */
function errorAt(places: readonly string[], options?: ErrorOptions): Error {
  const error = new Error('it went wrong', options);
  error.stack = ['Error: it went wrong', ...places.map((place) => `    at ${place}`)].join('\n');
  return error;
}

const ours = fileURLToPath(new URL('../../client/kube-client.ts', import.meta.url));

describe('where', () => {
  test.each([
    ['the first place of all', ['cook (/app/kitchen.ts:3:1)', '/app/main.ts:9:1'], 'cook (/app/kitchen.ts:3:1)'],
    ['a URL', ['async cook (file:///app/kitchen.ts:3:1)'], 'cook (/app/kitchen.ts:3:1)'],
    ['a line without a function', ['file:///app/main.ts:9:1'], '/app/main.ts:9:1'],
    ['not in this library', [`KubeClient.get (file://${ours}:1:2)`, 'async /app/main.ts:9:1'], '/app/main.ts:9:1'],
    ['not in Node', ['Array.map (<anonymous>)', 'x (node:fs:1:2)', 'cook (/app/a.ts:1:1)'], 'cook (/app/a.ts:1:1)'],
    ['in this library, if nowhere else', [`KubeClient.get (${ours}:1:2)`], `KubeClient.get (${ours}:1:2)`],
    ['nowhere', [], undefined],
  ])('%s', (_, places, expected) => {
    expect(failureFields(errorAt(places)).at).toBe(expected);
  });

  test('an answer of the server: only where other code made the request', () => {
    const answer = new ApiError({ code: 404, reason: 'NotFound', message: 'no' });
    answer.stack = `ApiError: no\n    at KubeClient.get (${ours}:1:2)`;
    expect(failureFields(answer)).toEqual({ error: answer });
    answer.stack += '\n    at async cook (/app/kitchen.ts:3:1)';
    expect(failureFields(answer).at).toBe('cook (/app/kitchen.ts:3:1)');
  });

  test('where its cause was thrown, or the first of many', () => {
    const cause = errorAt(['cook (/app/kitchen.ts:3:1)']);
    expect(failureFields(errorAt([`x (${ours}:1:2)`], { cause })).at).toBe('cook (/app/kitchen.ts:3:1)');
    const many = new AggregateError([cause, errorAt(['eat (/app/table.ts:3:1)'])]);
    many.stack = '';
    expect(failureFields(errorAt([], { cause: many })).at).toBe('cook (/app/kitchen.ts:3:1)');
  });

  test('causes that go round in a circle', () => {
    const error = errorAt([]);
    error.cause = error;
    expect(failureFields(error)).toEqual({ error });
  });
});

test.each([undefined, null])('%s has nothing to say for itself', (thrown) => {
  expect(failureFields(thrown)).toEqual({
    error: `${thrown} was thrown; throw an Error, which has a message and a stack`,
  });
});

test.each(['no', 7, { code: 7 }])('%o is reported as it is', (thrown) => {
  expect(failureFields(thrown)).toEqual({ error: thrown });
});

test.each<[string, (object: { a: { b?: number }; list: number[] }) => unknown]>([
  ['set', (object) => Object.assign(object.a, { b: 2 })],
  ['added', (object) => Object.assign(object.a, { c: 2 })],
  ['deleted', (object) => delete object.a.b],
  ['pushed', (object) => object.list.push(1)],
  ['sorted', (object) => object.list.sort()],
])('a frozen object that is %s: how to change it', (_, change) => {
  const object = Object.freeze({ a: Object.freeze({ b: 1 }), list: Object.freeze([2, 1]) });
  expect(failureFields(thrownBy(() => change(object as never))).hint).toContain('change a copy, with edit(object');
  expect(failureFields(new TypeError('x is not a function')).hint).toBeUndefined();
});
