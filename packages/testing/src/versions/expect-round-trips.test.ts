import * as fc from 'fast-check';
import { defineKind, type StructuralSchema, withVersion } from 'riata/object';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { expectRoundTrips } from './expect-round-trips.js';
import { schemaProblems } from './schema-problems.js';
import { schemaValues } from './schema-values.js';

const text = { type: 'string' } as const;
const object = <P extends object, R extends readonly string[] = []>(properties: P, required?: R) =>
  ({ type: 'object', properties, required: (required ?? []) as R }) as const;

const base = defineKind({
  ...{ group: 'example.com', version: 'v2', kind: 'Site' },
  spec: z.object({ name: z.string(), tag: z.string().optional(), size: z.int().min(0).default(1) }),
  status: z.object({ ready: z.boolean() }),
});
const imageSpec = z.object({ image: z.string() });

const Site = withVersion(base, 'v1', {
  spec: z.object({ image: z.string(), size: z.int().min(0).default(1) }),
  up: ({ spec: { image, size } }) => {
    const at = image.indexOf(':');
    return { spec: at < 0 ? { name: image, size } : { name: image.slice(0, at), tag: image.slice(at + 1), size } };
  },
  down: ({ spec: { name, tag, size } }) => ({ spec: { image: tag === undefined ? name : `${name}:${tag}`, size } }),
});

async function failure(run: Promise<void>): Promise<string> {
  return run.then(
    () => 'nothing',
    (error: Error) => error.message,
  );
}

describe('conversions that lose nothing', () => {
  test('pass, with the annotation', async () => {
    await expectRoundTrips(Site, { runs: 300 });
  });
  test('pass without it, if they really do', async () => {
    const Same = withVersion(base, 'v1', {
      spec: z.object({ title: z.string(), tag: z.string().optional(), size: z.int().min(0).default(1) }),
      up: ({ spec: { title, ...rest } }) => ({ spec: { name: title, ...rest } }),
      down: ({ spec: { name, ...rest } }) => ({ spec: { title: name, ...rest } }),
    });
    await expectRoundTrips(Same, { runs: 300, annotation: false });
  });
});

describe('failures', () => {
  test('show the smallest object, its versions, and the fields', async () => {
    const Lossy = withVersion(base, 'v1', {
      ...{ spec: z.object({ name: z.string() }), keeps: 'nothing' },
      up: ({ spec }) => ({ spec }),
      down: ({ spec: { name } }) => ({ spec: { name } }),
    });
    const message = await failure(expectRoundTrips(Lossy, { runs: 500, seed: 7 }));
    expect(message).toContain('expectRoundTrips: Site from v2 to v1 and back (seed 7, smallest of ');
    expect(message).toMatch(
      /these fields differ after the way back:\n {2}spec\.(tag: "" became nothing|size: 0 became 1)\n/,
    );
    expect(message).toMatch(/\nv2: \{"apiVersion":"example\.com\/v2".*\nv1: \{.*\nv2 again: \{/);
    expect(await failure(expectRoundTrips(Lossy, { runs: 500, seed: 7 }))).toBe(message);
  });
  test('of functions that need the annotation, if that is not allowed', async () => {
    const message = await failure(expectRoundTrips(Site, { runs: 1000, seed: 1, annotation: false }));
    expect(message).toContain('these fields are kept by the annotation alone:');
  });
  test('of functions that throw', async () => {
    const Throwing = withVersion(base, 'v1', {
      spec: imageSpec,
      up: ({ spec: { image } }) => {
        if (image.includes('/')) throw new Error('no slash');
        return { spec: { name: image } };
      },
      down: ({ spec: { name } }) => ({ spec: { image: name } }),
    });
    const message = await failure(expectRoundTrips(Throwing, { runs: 500, seed: 1 }));
    expect(message).toMatch(/up threw Error: no slash at expect-round-trips\.test\.ts:\d+\n/);
    const where = (site: object) => !JSON.stringify(site).includes('/a');
    await expect(expectRoundTrips(Throwing, { runs: 100, seed: 1, where })).rejects.toThrow();
    await expectRoundTrips(Throwing, {
      runs: 100,
      seed: 1,
      where: (site) => !JSON.stringify((site as never as { spec: object }).spec).includes('/'),
    });
  });
  test('of functions whose result the other schema does not allow', async () => {
    const Invalid = withVersion(base, 'v1', {
      spec: imageSpec,
      up: ({ spec: { image } }) => ({ spec: { name: image, size: -1, ...({ extra: 1 } as object) } }),
      down: ({ spec: { name } }) => ({ spec: { image: name } }),
    });
    const message = await failure(expectRoundTrips(Invalid, { runs: 10, seed: 1 }));
    expect(message).toContain('v2 would not be valid after the way back:');
    expect(message).toContain('spec.extra: is not a field of the schema');
  });
  test('of functions that give another result each time', async () => {
    let calls = 0;
    const Counting = withVersion(base, 'v1', {
      spec: imageSpec,
      up: ({ spec: { image } }) => ({ spec: { name: image } }),
      down: () => ({ spec: { image: `${calls++}` } }),
    });
    expect(await failure(expectRoundTrips(Counting, { runs: 10 }))).toContain(
      'these fields are not the same each time:',
    );
  });
  test('of wrong arguments', async () => {
    expect(await failure(expectRoundTrips(base))).toContain(
      'Site has one version; add others with withVersion(Site, …)',
    );
    expect(await failure(expectRoundTrips(Site, { run: 5 } as never))).toContain('did you mean "runs"?');
    expect(await failure(expectRoundTrips(Site, { runs: 0 }))).toContain('runs must be an integer ≥ 1, got 0');
    expect(await failure(expectRoundTrips(Site, { where: () => false }))).toContain('generated objects fit the schema');
  });
});

describe('values of a schema', () => {
  const schemas: Record<string, StructuralSchema> = {
    limits: { type: 'integer', minimum: 3, maximum: 9, exclusiveMinimum: true, multipleOf: 2 },
    int32: { type: 'integer', format: 'int32' },
    number: { type: 'number', minimum: 0, exclusiveMinimum: true },
    pattern: { type: 'string', pattern: '^[a-z]([-a-z0-9]*[a-z0-9])?$' },
    lengths: { type: 'string', minLength: 3, maxLength: 5 },
    enums: { type: 'string', enum: ['a', 'b'], nullable: true },
    intOrString: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
    map: { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 1, maxProperties: 2 },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: text, minItems: 1 },
    keyed: {
      ...{ type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
      items: object({ name: text, port: { type: 'integer' } }, ['name']) as StructuralSchema,
    },
    variants: {
      ...{ type: 'object', properties: { a: text, b: text } },
      oneOf: [
        { required: ['a'], not: { required: ['b'] } },
        { required: ['b'], not: { required: ['a'] } },
      ],
    },
    preserved: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    anything: { 'x-kubernetes-preserve-unknown-fields': true, nullable: true },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    formats: object(
      Object.fromEntries(
        ['date-time', 'date', 'uuid', 'email', 'ipv4', 'ipv6', 'uri', 'hostname', 'byte', 'duration', 'unheard-of'].map(
          (format) => [format, { type: 'string', format }],
        ),
      ),
    ) as StructuralSchema,
  };
  test.each(Object.keys(schemas))('%s: all or many of them are valid', (name) => {
    const schema = schemas[name] as StructuralSchema;
    const values = fc.sample(schemaValues(fc, schema), { numRuns: 200, seed: 1 });
    const valid = values.filter((value) => schemaProblems(schema, value).length === 0);
    expect(valid.length).toBeGreaterThan(name === 'variants' ? 20 : 199);
    expect(new Set(valid.map((value) => JSON.stringify(value))).size).toBeGreaterThan(name === 'embedded' ? 0 : 1);
  });
  test('leave defaults out, or not', () => {
    const schema = object({ a: { type: 'string', default: 'x' } }, ['a']) as StructuralSchema;
    const values = fc.sample(schemaValues(fc, schema), { numRuns: 50, seed: 1 }) as object[];
    expect(new Set(values.map((value) => 'a' in value))).toEqual(new Set([true, false]));
  });
});
