import { expect, test } from 'vitest';
import { optionNames, refuseUnknownOptions } from './option-names.js';

interface Options {
  readonly concurrency?: number;
  readonly timeout?: string;
  readonly maxRetries?: number;
}

const known = optionNames<Options>({ concurrency: true, timeout: true, maxRetries: true });
const check = (given: object | undefined) => () => refuseUnknownOptions('controller "web"', given, known);

test('known options pass, whatever their values, and so do none', () => {
  expect(check({ concurrency: 1, timeout: undefined })).not.toThrow();
  expect(check({})).not.toThrow();
  expect(check(undefined)).not.toThrow();
});

test.each([
  ['concurency', 'concurrency'],
  ['Concurrency', 'concurrency'],
  ['concurrencies', 'concurrency'],
  ['timeuot', 'timeout'],
  ['timeoutMs', 'timeout'],
  ['maxRetry', 'maxRetries'],
])('%s is refused with the nearest name', (name, nearest) => {
  const message = `controller "web": unknown option "${name}"; did you mean "${nearest}"?`;
  expect(check({ [name]: 1 })).toThrow(new TypeError(message));
});

test('a name that is like no other is refused with all names', () => {
  const message = 'controller "web": unknown option "workers"; known options are concurrency, maxRetries, timeout';
  expect(check({ workers: 1 })).toThrow(new TypeError(message));
});

test('an undefined value is refused as well; inherited names are not looked at', () => {
  expect(check({ concurency: undefined })).toThrow('unknown option "concurency"');
  expect(check(new AbortController())).not.toThrow();
});

test('a name too many or too few does not compile', () => {
  // @ts-expect-error: maxRetries is missing
  optionNames<Options>({ concurrency: true, timeout: true });
  // @ts-expect-error: there is no such option
  optionNames<Options>({ concurrency: true, timeout: true, maxRetries: true, workers: true });
});
