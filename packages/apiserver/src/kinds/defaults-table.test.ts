import type { JsonObject } from 'riata/object';
import { describe, expect, test } from 'vitest';
import { compileDefaults, computed, prefixed } from './defaults-table.js';

const fill = compileDefaults({
  'spec.replicas': 1,
  'spec.strategy.type': 'RollingUpdate',
  'spec.strategy.rollingUpdate': ({ type }) => (type === 'RollingUpdate' ? {} : undefined),
  'spec.strategy.rollingUpdate.maxSurge': '25%',
  ...prefixed('spec.template', { 'containers[].policy': 'Always', 'limits{}.unit': (_, root) => root.kind ?? null }),
  'spec.names': computed((now, { first }) => (Array.isArray(now) && first ? [...now, first] : now)),
});

describe('defaults', () => {
  test('are filled in where something is absent or null, in order', () => {
    const object = {
      kind: 'K',
      spec: { strategy: {}, template: { containers: [{ name: 'a', policy: null }], limits: { cpu: {} } } },
    };
    expect(fill(object)).toEqual({
      kind: 'K',
      spec: {
        replicas: 1,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%' } },
        template: { containers: [{ name: 'a', policy: 'Always' }], limits: { cpu: { unit: 'K' } } },
      },
    });
  });

  test('leave alone what is set, what they would have to make a place for, and their argument', () => {
    const object = Object.freeze({
      spec: Object.freeze({ replicas: 0, strategy: Object.freeze({ type: 'Recreate' }) }),
    });
    expect(fill(object)).toBe(object);
    expect(fill({})).toEqual({});
  });

  test('may be computed from what is there', () => {
    const object: JsonObject = { spec: { replicas: 1, names: ['a'], first: 'b' } };
    expect(fill(object)).toEqual({ spec: { replicas: 1, names: ['a', 'b'], first: 'b' } });
  });
});
