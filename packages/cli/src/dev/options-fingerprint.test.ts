import type { ManagerOptions } from 'riata';
import { ConfigMap, Secret } from 'riata/kinds';
import { defaultRuntime } from 'riata/runtime';
import { expect, test } from 'vitest';
import { optionsFingerprint } from './options-fingerprint.js';

/** Options as a build makes them: everything is new. */
const options = (changes: object = {}) =>
  ({
    gracefulTimeout: '5s',
    uncached: [Secret],
    cache: { kinds: [{ kind: Secret, transform: (secret: object) => ({ ...secret, data: {} }) }] },
    controllers: { concurrency: 2, limits: new Map([['a', 1]]) },
    ...changes,
  }) as unknown as ManagerOptions;

class Provider {
  readonly region: string;

  constructor(region: string) {
    this.region = region;
  }
}

test.each([
  ['another build', {}],
  ['the order of keys', { controllers: { limits: new Map([['a', 1]]), concurrency: 2 } }],
  ['what is undefined', { metrics: undefined }],
  ['what riata dev replaces', { runtime: defaultRuntime(), config: { server: 'https://a' } }],
])('%s changes nothing', (_, changes) => {
  expect(optionsFingerprint(options(changes))).toBe(optionsFingerprint(options()));
});

test.each([
  ['a value', { gracefulTimeout: '6s' }],
  ['another kind', { uncached: [ConfigMap] }],
  ['the text of a function', { cache: { kinds: [{ kind: Secret, transform: (secret: object) => secret }] } }],
  ['an entry of a map', { controllers: { concurrency: 2, limits: new Map([['a', 2]]) } }],
  ['infinity', { controllers: { concurrency: Number.POSITIVE_INFINITY } }],
  ['an instance', { clusterProvider: new Provider('east') }],
])('%s is a change', (_, changes) => {
  expect(optionsFingerprint(options(changes))).not.toBe(optionsFingerprint(options()));
});

test('instances by their fields, and cycles', () => {
  const provided = (region: string) => optionsFingerprint(options({ clusterProvider: new Provider(region) }));
  expect(provided('east')).toBe(provided('east'));
  expect(provided('east')).not.toBe(provided('west'));
  const cycle: { self?: object } = {};
  cycle.self = cycle;
  expect(optionsFingerprint(options({ events: cycle }))).toContain('events:{self:#');
  // The same value twice is no cycle that hides a difference behind it.
  const shared = { a: 1 };
  expect(optionsFingerprint(options({ health: shared, metrics: shared }))).not.toBe(
    optionsFingerprint(options({ health: shared, metrics: { a: 2 } })),
  );
});
