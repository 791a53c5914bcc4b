import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeObject } from '../meta.js';
import { Site } from './sites.fixture.js';

const { v1 } = Site.versions;
const metadata = {
  ...{ namespace: 'shop', name: 'cart', uid: '1', resourceVersion: '5', creationTimestamp: '2026-01-01T00:00:00Z' },
};
const word = fc.constantFrom('a', 'b', 'c', 'a:b', '');
const few = { maxLength: 4 } as const;

const v2Specs = fc.record(
  {
    image: fc.record({ name: word, tag: word, digest: word }, { requiredKeys: ['name'] }),
    replicas: fc.nat(3),
    ports: fc.uniqueArray(
      fc.record({ name: word, port: fc.nat(3), protocol: word }, { requiredKeys: ['name', 'port'] }),
      {
        ...few,
        selector: ({ name }) => name,
      },
    ),
    hosts: fc.array(fc.record({ host: word, weight: fc.nat(3), zone: word }, { requiredKeys: ['host'] }), few),
    zones: fc.array(word, few),
    limits: fc.record({ cpu: word }),
  },
  { requiredKeys: ['image', 'replicas'] },
);
const v1Specs = fc.record(
  {
    image: word,
    replicas: fc.nat(3),
    ports: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.nat(3), { noNullPrototype: true }),
    hosts: fc.array(fc.record({ host: word, weight: fc.nat(3) }, { requiredKeys: ['host'] }), few),
    notes: word,
  },
  { requiredKeys: ['image', 'replicas'] },
);
const v2Status = fc.option(
  fc.record({ ready: fc.nat(3), urls: fc.array(word, few), observedGeneration: fc.nat(3) }, { requiredKeys: [] }),
  {
    nil: undefined,
  },
);

const object = (version: string, spec: unknown, status?: unknown) =>
  ({ apiVersion: `example.com/${version}`, kind: 'Site', metadata, spec, ...(status ? { status } : {}) }) as KubeObject;

test('there and back is the same object, from either version', () => {
  fc.assert(
    fc.property(v2Specs, v2Status, v1Specs, (newer, status, older) => {
      const stored = object('v2', newer, status);
      expect(Site.convert(Site.convert(stored, v1), Site)).toEqual(stored);
      const old = object('v1', older);
      expect(Site.convert(Site.convert(old, Site), v1)).toEqual(old);
    }),
    { numRuns: 500 },
  );
});

test('a client of the old version reads what it has written, whatever was stored before', () => {
  fc.assert(
    fc.property(v2Specs, v1Specs, (newer, written) => {
      const read = Site.convert(object('v2', newer), v1);
      const changed = { ...read, spec: written } as unknown as KubeObject;
      const stored = Site.convert(changed, Site);
      expect(Site.convert(stored, v1).spec).toEqual(written);
      // And so does another one, after a client of the new version has read and written it.
      expect(Site.convert(Site.convert(Site.convert(stored, v1), Site), v1).spec).toEqual(written);
    }),
    { numRuns: 500 },
  );
});

test('what a client of the old version writes is what the new one shows, with only fields of before beside it', () => {
  fc.assert(
    fc.property(v2Specs, v1Specs, (newer, written) => {
      const read = Site.convert(object('v2', newer), v1);
      const fresh = Site.convert(object('v1', written), Site).spec;
      const stored = Site.convert({ ...read, spec: written } as unknown as KubeObject, Site).spec;
      expect(stored.replicas).toBe(fresh.replicas);
      const text = ({ name, tag }: typeof stored.image) => (tag === undefined ? name : `${name}:${tag}`);
      expect(text(stored.image)).toBe(text(fresh.image));
      expect((stored.ports ?? []).map(({ name, port }) => [name, port])).toEqual(
        (fresh.ports ?? []).map(({ name, port }) => [name, port]),
      );
      expect((stored.hosts ?? []).map(({ host, weight }) => [host, weight])).toEqual(
        (fresh.hosts ?? []).map(({ host, weight }) => [host, weight]),
      );
      expect(stored.zones).toEqual(newer.zones);
      expect(stored.limits).toEqual(newer.limits);
    }),
    { numRuns: 500 },
  );
});
