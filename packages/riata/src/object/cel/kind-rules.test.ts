import { checkDefinition } from '@riata/apiserver/policies';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { concat } from './cel-functions.js';
import { rule } from './kind-rules.js';

const names = { group: 'rules.example.com', version: 'v1', kind: 'Pool' } as const;
const spec = z.object({
  min: z.int().default(0),
  max: z.int(),
  zone: z.string().max(20).optional(),
  names: z.array(z.string().max(20)).max(10).optional(),
});

describe('rules of a kind', () => {
  test('are on the spec, the status or the whole object', () => {
    const Pool = defineKind({
      ...names,
      spec,
      status: z.object({ used: z.int() }),
      rules: [
        {
          require: ({ self }) => self.min.lte(self.max),
          message: 'min must not exceed max',
          fieldPath: '.min',
          reason: 'FieldValueForbidden',
        },
        { require: ({ self, oldSelf }) => self.zone.equals(oldSelf.zone), message: 'zone is immutable' },
        {
          require: ({ self, oldSelf }) => self.max.lt(5).or(oldSelf.max.gte(5)),
          optionalOldSelf: true,
          messageExpression: ({ self }) => concat('max is ', self.max.toText()),
        },
        { require: ({ self }) => self.names.all((name) => name.startsWith('x')) },
        { at: 'status', require: ({ self }) => self.used.orElse(0).gte(0) },
        {
          at: '.',
          require: ({ self }) => self.metadata.name.size().lte(20).and(self.status.used.orElse(0).lte(self.spec.max)),
        },
      ],
    });
    const { schema } = Pool;
    expect(schema.properties?.spec?.['x-kubernetes-validations']).toEqual([
      {
        rule: 'self.min <= self.max',
        message: 'min must not exceed max',
        fieldPath: '.min',
        reason: 'FieldValueForbidden',
      },
      {
        rule: 'has(self.zone) == has(oldSelf.zone) && (!has(self.zone) || self.zone == oldSelf.zone)',
        message: 'zone is immutable',
      },
      {
        rule: 'self.max < 5 || oldSelf.hasValue() && has(oldSelf.value().max) && oldSelf.value().max >= 5',
        messageExpression: '"max is " + string(self.max)',
        optionalOldSelf: true,
      },
      { rule: '!has(self.names) || self.names.all(name, name.startsWith("x"))' },
    ]);
    expect(schema.properties?.status?.['x-kubernetes-validations']).toEqual([
      { rule: '(has(self.used) ? self.used : 0) >= 0' },
    ]);
    expect(schema['x-kubernetes-validations']).toEqual([
      {
        rule: '(has(self.metadata.name) ? self.metadata.name.size() : 0) <= 20 && (has(self.status) && has(self.status.used) ? self.status.used : 0) <= self.spec.max',
      },
    ]);
    // The server cannot estimate the length of string(self.max).
    const problems = checkDefinition(Pool.crd()).filter(({ path }) => path.endsWith('.rule'));
    expect(problems).toEqual([]);
  });

  test('are what a refinement of the schema library requires', () => {
    const refined = spec.refine(({ min, max }) => min <= max);
    expect(() => defineKind({ ...names, spec: refined })).toThrow(/refine/);
    expect(() =>
      defineKind({ ...names, spec: refined, rules: [{ require: ({ self }) => self.min.lte(self.max) }] }),
    ).not.toThrow();
  });

  test('stand beside those in CEL', () => {
    const Pool = defineKind({
      ...names,
      spec,
      extend: {
        spec: { 'x-kubernetes-validations': [{ rule: 'self.max < 100' }] },
        'spec.zone': {
          'x-kubernetes-validations': [rule<string>(({ self, oldSelf }) => self.equals(oldSelf), { message: 'no' })],
        },
      },
      rules: [{ require: ({ self }) => self.max.gt(0) }],
    });
    expect(Pool.schema.properties?.spec?.['x-kubernetes-validations']).toEqual([
      { rule: 'self.max < 100' },
      { rule: 'self.max > 0' },
    ]);
    expect(Pool.schema.properties?.spec?.properties?.zone?.['x-kubernetes-validations']).toEqual([
      { rule: 'self == oldSelf', message: 'no' },
    ]);
  });

  test('that cannot be compiled are reported with the others', () => {
    expect(() =>
      defineKind({
        ...names,
        spec,
        rules: [
          { require: ({ self }) => self.max.gt(0) },
          { require: ({ self }) => ((self.max as unknown as number) > 0) as never },
          // @ts-expect-error a plain boolean
          { require: ({ self }) => (self.zone as unknown as string) === 'a' },
        ],
      }),
    ).toThrow(
      /rules\[1\]: the rule: self\.max is used with a JavaScript operator[\s\S]*rules\[2\]: the rule: the function returned a plain boolean/,
    );
  });

  test('that cost too much are found before they are installed', () => {
    const Pool = defineKind({
      ...names,
      spec: z.object({ names: z.array(z.string()) }),
      rules: [{ require: ({ self }) => self.names.all((a) => self.names.exists((b) => a.contains(b))) }],
    });
    expect(checkDefinition(Pool.crd())[0]).toMatchObject({
      path: 'spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule',
      message: expect.stringContaining('estimated rule cost exceeds budget by factor of more than 100x'),
    });
  });
});

test('wrong fields do not compile', () => {
  const make = () =>
    defineKind({
      ...names,
      spec,
      rules: [
        // @ts-expect-error there is no such field
        { require: ({ self }) => self.mix.lte(self.max) },
        // @ts-expect-error zone may be absent
        { require: ({ self }) => self.max.plus(self.zone.size().toText()).gt(1) },
      ],
    });
  expect(make).toThrow(/self\.mix: the schema has no such field; self has min, max, zone, names/);
});
