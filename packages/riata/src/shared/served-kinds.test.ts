import { expect, test } from 'vitest';
import { createClient } from '../client/create-client.js';
import type { ApiResource } from '../client/discovery/discovery.js';
import { ConfigMap } from '../kinds/index.js';
import { answeringTransport } from '../rest/transport/answering-transport.fixture.js';
import { servedKinds } from './served-kinds.js';
import { SharedClientFactory } from './shared-client-factory.js';

const clients = new SharedClientFactory(createClient({ server: 'http://a' }, { transport: answeringTransport([]) }));

function resource(group: string, version: string, plural: string, verbs = ['list', 'watch']): ApiResource {
  const names = { kind: plural.replace(/s$/, ''), plural, singular: '', shortNames: [], categories: [] };
  return { group, version, ...names, scope: 'Namespaced', verbs, subresources: [] };
}

function group(name: string, versions: Record<string, string[]>) {
  const entries = Object.entries(versions);
  return {
    name,
    versions: entries.map(([version, plurals]) => ({
      version,
      resources: plurals.map((plural) => resource(name, version, plural)),
    })),
  };
}

const names = (kinds: ReturnType<typeof servedKinds>) => [...kinds].map(([name, { version }]) => `${name} ${version}`);

test('each resource once, in the version that the server prefers; only what can be watched', () => {
  const groups = [group('a.io', { v2: ['cats'], v1: ['cats', 'dogs'] })];
  const served = servedKinds({ groups, failures: new Map() }, new Map(), clients);
  expect(names(served)).toEqual(['cats.a.io v2', 'dogs.a.io v1']);
  const reviews = {
    name: 'b.io',
    versions: [{ version: 'v1', resources: [resource('b.io', 'v1', 'reviews', ['create'])] }],
  };
  expect(names(servedKinds({ groups: [reviews], failures: new Map() }, new Map(), clients))).toEqual([]);
});

test('kinds stay the same values; those of a group that cannot be asked stay', () => {
  const groups = [group('a.io', { v1: ['cats'] }), group('b.io', { v1: ['dogs'] })];
  const before = servedKinds({ groups, failures: new Map() }, new Map(), clients);
  const failures = new Map([['b.io/v1', new Error('down')]]);
  const after = servedKinds({ groups: groups.slice(0, 1), failures }, before, clients);
  expect([...after.values()].every((kind) => [...before.values()].includes(kind))).toBe(true);
  expect(names(after).sort()).toEqual(['cats.a.io v1', 'dogs.b.io v1']);
  expect(names(servedKinds({ groups: [], failures: new Map() }, after, clients))).toEqual([]);
});

test('kinds of the scheme are taken from there', () => {
  const resources = [{ ...resource('', 'v1', 'configmaps'), kind: 'ConfigMap' }];
  const core = { name: '', versions: [{ version: 'v1', resources }] };
  expect(servedKinds({ groups: [core], failures: new Map() }, new Map(), clients).get('configmaps.')).toBe(ConfigMap);
});
