import { expect, test } from 'vitest';
import { MadeAlong } from './made-along.js';

test('objects are known by what they were decoded along, in order and out of it, once', () => {
  const made = new MadeAlong();
  const objects = Array.from({ length: 5 }, (_, at) => ({ at }));
  const others = objects.map(({ at }) => ({ other: at }));
  for (const [at, object] of objects.entries()) made.note(object, others[at] as object, at % 2 === 1);
  for (const at of [0, 1, 4, 2, 3]) {
    expect(made.along(objects[at] as object)).toBe(others[at]);
    expect(made.isEqual).toBe(at % 2 === 1);
  }
  for (const object of objects) expect(made.along(object)).toBeUndefined();
  expect(made.along({})).toBeUndefined();
});

test('of those that nobody asks for, the last ones are remembered', () => {
  const made = new MadeAlong();
  const objects = Array.from({ length: 1000 }, (_, at) => ({ at }));
  for (const object of objects) made.note(object, object, false);
  expect(objects.map((object) => made.along(object)).filter(Boolean)).toEqual(objects.slice(-64));
});
