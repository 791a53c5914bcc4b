import { expect, test } from 'vitest';
import type { Client } from '../../client/interfaces.js';
import type { KindRef } from '../../object/kind.js';
import { memoryLogger, silentLogger, VirtualClock } from '../../runtime/index.js';
import { setKey, setMarks } from './set-identity.js';
import { UsedKinds } from './used-kinds.js';

const resource = (kind: string, verbs = ['list', 'delete', 'create']) => ({
  ...{ group: '', version: 'v1', kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase(), verbs },
  ...{ scope: 'Namespaced' as const, shortNames: [], categories: [], subresources: [] },
});

/** A server with these objects: kind → ids of the sets that they are in. */
function fakeClient(objects: Record<string, readonly string[] | Error>): { client: Client; asked: string[] } {
  const asked: string[] = [];
  const resources = [
    ...Object.keys(objects).map((kind) => resource(kind)),
    resource('Event'),
    resource('Review', ['create']),
  ];
  const client = {
    mapper: {
      resources: async () => ({
        groups: [{ name: '', versions: [{ version: 'v1', resources }] }],
        failures: new Map(),
      }),
    },
    async *each({ kind }: KindRef) {
      asked.push(kind);
      const found = objects[kind];
      if (found instanceof Error) throw found;
      for (const id of found ?? []) yield { metadata: { annotations: { [setMarks.id]: id } } };
    },
  };
  return { client: client as unknown as Client, asked };
}

const key = (id: string) => setKey({ [setMarks.id]: id });
const kindsOf = (used: UsedKinds, id: string) => used.of(key(id)).map(({ kind }) => kind);
const lookup = { everyMs: 1000, concurrency: 2 };

test('one scan covers all sets, and is repeated after a while; deleted sets are forgotten', async () => {
  const clock = new VirtualClock();
  const used = new UsedKinds(clock, silentLogger);
  const objects: Record<string, string[]> = { ConfigMap: ['one', 'two'], Secret: ['one'] };
  const { client, asked } = fakeClient(objects);
  await Promise.all([used.lookUp(client, lookup), used.lookUp(client, lookup)]);
  expect(asked).toEqual(['ConfigMap', 'Secret']);
  expect([kindsOf(used, 'one'), kindsOf(used, 'two')]).toEqual([['ConfigMap', 'Secret'], ['ConfigMap']]);
  objects.ConfigMap = ['three'];
  await used.lookUp(client, lookup);
  expect(asked).toHaveLength(2);
  await clock.advance(1000);
  await used.lookUp(client, lookup);
  expect([kindsOf(used, 'two'), kindsOf(used, 'three')]).toEqual([[], ['ConfigMap']]);
});

test('a kind that cannot be asked does not hide the others, loses nothing, and is asked again soon', async () => {
  const clock = new VirtualClock();
  const log = memoryLogger();
  const used = new UsedKinds(clock, log);
  const objects: Record<string, string[] | Error> = { ConfigMap: ['one'], Widget: ['one'] };
  const { client, asked } = fakeClient(objects);
  const hourly = { ...lookup, everyMs: 3_600_000 };
  await used.lookUp(client, hourly);
  objects.Widget = new Error('conversion webhook failed');
  await clock.advance(3_600_000);
  const unlisted: string[] = [];
  await used.lookUp(client, { ...hourly, onUnlisted: (what, error) => unlisted.push(`${what}: ${error}`) });
  expect(kindsOf(used, 'one')).toEqual(['ConfigMap', 'Widget']);
  expect(unlisted).toEqual([expect.stringMatching(/^widgets.*: Error: conversion webhook failed$/)]);
  expect(log.records.map(({ level }) => level)).toEqual(['warn']);
  asked.length = 0;
  await used.lookUp(client, hourly);
  expect(asked).toEqual([]);
  await clock.advance(60_000);
  await used.lookUp(client, hourly);
  expect(asked).toEqual(['ConfigMap', 'Widget']);
});

test('a scan that fails as a whole does not count: the next one starts over', async () => {
  const used = new UsedKinds(new VirtualClock(), silentLogger);
  const { client } = fakeClient({ ConfigMap: ['one'] });
  const stop = AbortSignal.abort('given up');
  const broken = { ...client, mapper: { resources: () => Promise.reject(stop.reason) } } as unknown as Client;
  const [first, second] = [used.lookUp(broken, lookup), used.lookUp(client, lookup)];
  await expect(first).rejects.toBe('given up');
  await second;
  expect(kindsOf(used, 'one')).toEqual(['ConfigMap']);
});
