import { Buffer } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import { readJson } from './read-json.js';

const read = (text: string) => readJson(Buffer.from(text));

describe('readJson', () => {
  test('an integer that would become another one is refused, with its path', () => {
    expect(() => read('{"spec":{"id":9007199254740993}}')).toThrow('spec.id: this server does not keep integers past');
    expect(() => read('{"spec":{"list":[1,1e400]}}')).toThrow('spec.list[1]');
  });

  test('digits in a text, and large numbers that stay what they are, pass', () => {
    expect(read('{"a":"9007199254740993","b":9007199254740991}')).toEqual({ a: '9007199254740993', b: 2 ** 53 - 1 });
  });
});
