import { describe, expect, test } from 'vitest';
import { describeError } from './describe-error.js';

describe('describeError', () => {
  test('names the error and each cause', () => {
    const error = new Error('a', { cause: new TypeError('b', { cause: 'c' }) });
    expect(describeError(error)).toBe('Error: a (caused by TypeError: b (caused by c))');
  });

  test('leaves out what was said already', () => {
    const refused = new Error('connect ECONNREFUSED', { cause: new Error('no route') });
    const reported = new Error('cannot list pods: connect ECONNREFUSED', { cause: refused });
    expect(describeError(reported)).toBe('Error: cannot list pods: connect ECONNREFUSED (caused by Error: no route)');
    expect(describeError(new Error('pods: a', { cause: new Error('a') }))).toBe('Error: pods: a');
    expect(describeError(new Error('pods: a', { cause: 'a' }))).toBe('Error: pods: a');
    const both = new AggregateError([new Error('a'), new Error('b')]);
    expect(describeError(new Error('one: a, two: b', { cause: both }))).toBe('Error: one: a, two: b');
    expect(describeError(new Error('one: a', { cause: both }))).toContain(
      'caused by AggregateError [Error: a; Error: b]',
    );
  });

  test('shows the parts of an AggregateError, but not all of many', () => {
    const parts = Array.from({ length: 6 }, (_, index) => new Error(`p${index}`));
    expect(describeError(new AggregateError(parts.slice(0, 2)))).toBe('AggregateError [Error: p0; Error: p1]');
    expect(describeError(new AggregateError(parts, 'all'))).toBe(
      'AggregateError: all [Error: p0; Error: p1; Error: p2; Error: p3; and 2 more]',
    );
  });

  test('ends on circles and very long chains', () => {
    const error = new Error('round');
    error.cause = error;
    expect(describeError(error)).toBe('Error: round (caused by Error (already named))');
    let chain = new Error('0');
    for (let depth = 1; depth < 100; depth += 1) chain = new Error(`${depth}`, { cause: chain });
    expect(describeError(chain)).toContain('(caused by …)');
  });

  test.each([
    ['text', 'text'],
    [undefined, 'undefined'],
    [7n, '7'],
    [{ message: 'm' }, 'm'],
    [{ name: 'N', message: 'm' }, 'N: m'],
    [{ code: 5 }, '{"code":5}'],
    [new Error(''), 'Error'],
  ])('takes whatever was thrown: %s', (thrown, text) => {
    expect(describeError(thrown)).toBe(text);
  });

  test('never throws itself', () => {
    const circle: Record<string, unknown> = {};
    circle.self = circle;
    const hostile = new Error('x');
    Object.defineProperty(hostile, 'message', {
      get() {
        throw new Error('no');
      },
    });
    expect([describeError(circle), describeError(hostile)]).toEqual(
      Array.from({ length: 2 }, () => 'an error that cannot be read'),
    );
  });
});
