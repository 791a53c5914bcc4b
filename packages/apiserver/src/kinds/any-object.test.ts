import '../resource/kind-parts.fixture.js';
import fc from 'fast-check';
import type { JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { builtInResources } from '../resource/built-in/built-in-resource.js';
import type { Resource } from '../resource/resource.js';
import { builtInSchema } from '../schema/built-in/built-in-schema.js';
import type { SchemaNode } from '../schema/built-in/schema-node.js';
import { formatFieldError } from '../status/field-error.js';
import { Refusal } from '../status/refusal.js';
import { atOnce } from '../steps.js';
import { anyValue } from './any-value.fixture.js';

const schemaOf = ({ group, version, kind }: Resource) => builtInSchema({ group, version, kind }) as SchemaNode;
const numRuns = Number(process.env.RIATA_RUNS ?? 15);
const ruled = builtInResources().filter(({ rules, verbs }) => rules.check !== undefined && verbs.includes('create'));

test.each(ruled.map((resource) => [`${resource.apiVersion} ${resource.kind}`, resource] as const))(
  'any %s is filled in once and judged',
  (_, resource) => {
    const { apiVersion, kind, schema, rules } = resource;
    const objects = () => [];
    const pass = (sent: JsonObject, before: JsonObject | undefined, subresource: string) => {
      const { object } = atOnce(
        schema.read({ apiVersion, kind, metadata: { name: 'x', uid: 'u', namespace: 'n' }, ...sent }),
      );
      const filled = rules.defaults?.(object) ?? object;
      expect(rules.defaults?.(filled) ?? filled).toEqual(filled);
      try {
        const context = { now: '2026-01-01T00:00:00Z', subresource, dryRun: false, warn: () => {}, objects };
        const made = rules.prepare?.(filled, before, context) ?? filled;
        for (const error of rules.check?.(made, before, subresource) ?? []) {
          expect(formatFieldError(error)).not.toMatch(/undefined|\[object|NaN/);
        }
        expect(rules.warnings?.(made, before) ?? []).toBeInstanceOf(Array);
        return made;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return filled;
      }
    };
    const any = anyValue(schemaOf(resource), 9, { without: ['managedFields'] }) as fc.Arbitrary<JsonObject>;
    const subresources = fc.constantFrom('', ...resource.subresources.map(({ name }) => name));
    fc.assert(
      fc.property(any, any, subresources, ({ metadata: _m, ...first }, { metadata: _n, ...second }, subresource) => {
        pass(second, pass(first, undefined, ''), subresource);
      }),
      { numRuns },
    );
  },
);
