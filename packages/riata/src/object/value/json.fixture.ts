import fc from 'fast-check';

/** Keys that have broken JavaScript programs before, beside ordinary ones. */
export const hostileKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'then',
  'length',
  '',
];

const key = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c', 'spec', 'items', '0', '1', 'a/b', 'm~n', '~1') },
  { weight: 1, arbitrary: fc.constantFrom(...hostileKeys) },
);

/** JSON objects from parsed text, so that `__proto__` is an own property as it is when it comes off the wire. */
function fromText<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return arbitrary.map((value) => JSON.parse(JSON.stringify(value)) as T);
}

/** Any JSON value with few, colliding and hostile keys. */
export function jsonValue(options: { nulls: boolean } = { nulls: true }): fc.Arbitrary<unknown> {
  const leaves: fc.Arbitrary<unknown>[] = [
    fc.constantFrom('', 'x', 'y'),
    fc.integer({ min: -2, max: 9 }),
    fc.boolean(),
  ];
  if (options.nulls) leaves.push(fc.constant(null));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: 'small' },
      fc.oneof(...leaves),
      fc.array(tie('value'), { maxLength: 4 }),
      object(tie('value')),
    ),
  }));
  return fromText(value);
}

/** A JSON object with {@link jsonValue}s. */
export function jsonObject(options: { nulls: boolean } = { nulls: true }): fc.Arbitrary<object> {
  return fromText(object(jsonValue(options)));
}

function object(value: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  // `fromEntries` defines own properties; a dictionary by assignment would set prototypes.
  return fc.array(fc.tuple(key, value), { maxLength: 5 }).map((entries) => Object.fromEntries(entries));
}

/** `levels` arrays and objects in each other. */
export function nested(levels: number): object {
  let value: object = { end: true };
  for (let i = 1; i < levels; i++) value = i % 2 === 0 ? { in: value } : [value];
  return value;
}

/** `{ "__proto__": inner }` as a parser makes it. */
export function withProto(inner: object): object {
  return JSON.parse(`{"__proto__":${JSON.stringify(inner)}}`) as object;
}
