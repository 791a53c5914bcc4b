import { expect, test } from 'vitest';
import { RecentCache } from './recent-cache.js';

test('creates a value once, and keeps values that are read', () => {
  const made: number[] = [];
  const cache = new RecentCache<number, string>(10, (text) => text.length);
  const get = (key: number) =>
    cache.get(key, () => {
      made.push(key);
      return 'x';
    });
  for (let key = 0; key < 100; key++) {
    get(key);
    get(0);
  }
  expect(made).toEqual(Array.from({ length: 100 }, (_, key) => key));
});

test('drops unread values when the limit is reached', () => {
  let made = 0;
  const cache = new RecentCache<number, string>(10, (text) => text.length);
  for (let round = 0; round < 2; round++) {
    for (let key = 0; key < 50; key++) {
      cache.get(key, () => {
        made += 1;
        return 'xx';
      });
    }
  }
  expect(made).toBe(100);
});
