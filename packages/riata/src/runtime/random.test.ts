import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom, systemRandom } from './random.js';

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe.each([
  ['systemRandom', systemRandom],
  ['seededRandom', seededRandom('shape')],
])('%s', (_, random) => {
  test('next stays within [0, 1)', () => {
    for (let draw = 0; draw < 2000; draw += 1) {
      const value = random.next();
      expect(value >= 0 && value < 1).toBe(true);
    }
  });

  test('int includes both ends and nothing else', () => {
    const seen = new Set(Array.from({ length: 500 }, () => random.int(-2, 2)));
    expect([...seen].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2]);
    expect(random.int(7, 7)).toBe(7);
  });

  test.each([
    [2, 1],
    [0.5, 2],
    [0, Number.NaN],
  ])('int refuses %s to %s', (min, max) => {
    expect(() => random.int(min, max)).toThrow(`with min ≤ max, got ${min} and ${max}`);
  });

  test('uuids are version 4 and differ', () => {
    const ids = Array.from({ length: 200 }, () => random.uuid());
    for (const id of ids) expect(id).toMatch(uuidShape);
    expect(new Set(ids).size).toBe(200);
  });

  test('jitter adds up to the factor, never takes away', () => {
    for (let draw = 0; draw < 500; draw += 1) {
      const span = random.jitter(100, 0.2);
      expect(span >= 100 && span < 120).toBe(true);
    }
    expect(random.jitter(100, 0)).toBe(100);
  });

  test('pick gives one of the items and refuses an empty list', () => {
    expect(['a', 'b']).toContain(random.pick(['a', 'b']));
    expect(() => random.pick([])).toThrow('items must not be empty');
  });

  test('shuffle keeps the items and leaves the input alone', () => {
    const items = Array.from({ length: 50 }, (_, index) => index);
    const shuffled = random.shuffle(items);
    expect(shuffled).not.toEqual(items);
    expect([...shuffled].sort((a, b) => a - b)).toEqual(items);
  });
});

describe('seededRandom', () => {
  const draws = (seed: number | string) => {
    const random = seededRandom(seed);
    return [random.next(), random.int(0, 1_000_000), random.uuid(), random.shuffle([1, 2, 3, 4, 5]), random.next()];
  };

  test('one seed, one sequence', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer(), fc.string()), (seed) => {
        expect(draws(seed)).toEqual(draws(seed));
      }),
    );
  });

  test('neighbouring seeds have nothing in common', () => {
    const firsts = new Set(Array.from({ length: 1000 }, (_, seed) => seededRandom(seed).next()));
    expect(firsts.size).toBe(1000);
    expect(draws(1)).not.toEqual(draws('1'));
  });

  test('the sequence of a seed stays the same from version to version', () => {
    const random = seededRandom(42);
    expect([random.int(0, 999), random.int(0, 999), random.int(0, 999), random.uuid()]).toMatchInlineSnapshot(`
      [
        622,
        69,
        228,
        "f444d4b0-bfae-4fa9-bf2b-993e2e0a4e8b",
      ]
    `);
  });

  test('draws are spread evenly', () => {
    const random = seededRandom(7);
    const buckets = new Array<number>(10).fill(0);
    for (let draw = 0; draw < 20_000; draw += 1) buckets[random.int(0, 9)]! += 1;
    for (const count of buckets) expect(Math.abs(count - 2000)).toBeLessThan(200);
  });
});
