import { eventually } from '@riata/testing';
import { createClient } from 'riata/client';
import { CustomResourceDefinition, Namespace } from 'riata/kinds';
import type { KubeObject } from 'riata/object';
import { keyOf, makeKind, type NamespacedMeta, type WriteOf } from 'riata/object';
import { seededRandom, silentLogger, systemClock } from 'riata/runtime';
import { type HandlerRegistration, SharedControllerFactory } from 'riata/shared';
import { expect, test } from 'vitest';
import { startEmbeddedServer } from './embedded-server.js';
import { heldMemory, median } from './holdings.js';

const seconds = Number(process.env.SHARED_SECONDS ?? 600);
const seed = Number(process.env.SEED ?? 1);
const namespace = 'churn';
const handlersPerKind = 5;
const namesPerKind = 30;
const allowedGrowthMb = 8;

interface Thing extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec?: { readonly step: number };
}

const kinds = Array.from({ length: 12 }, (_, nth) => {
  const names = { kind: `Thing${nth}`, plural: `thing${nth}s`, singular: `thing${nth}` };
  return makeKind<Thing, WriteOf<Thing>, 'Namespaced'>({
    ...{ group: 'soak.riata.dev', version: 'v1', scope: 'Namespaced' },
    ...names,
  });
});

/** What a handler took without failing, by key: the version, or that the object is gone. */
interface Player {
  readonly registration: HandlerRegistration;
  readonly taken: Map<string, string>;
}

test(`60 handlers on 12 kinds under churn for ${seconds} s: no key is lost, memory is flat`, async () => {
  await using server = await startEmbeddedServer();
  const runtime = { log: silentLogger };
  await using client = createClient(server.config, { runtime });
  await client.create(Namespace({ metadata: { name: namespace } }));
  for (const { group, plural, singular, kind } of kinds) {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } as const;
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    const spec = { group, scope: 'Namespaced', names: { plural, singular, kind }, versions } as const;
    await client.create(CustomResourceDefinition({ metadata: { name: `${plural}.${group}` }, spec }));
  }
  await eventually(() => Promise.all(kinds.map((kind) => client.list(kind))), { what: 'kinds are served' });

  const stop = new AbortController();
  await using factory = await SharedControllerFactory.fromConfig(server.config, { runtime });
  const counts = { calls: 0, failures: 0, writes: 0, registrations: 0 };
  const random = seededRandom(seed);
  const players = new Map(kinds.map((kind) => [kind, [] as Player[]]));
  const register = (kind: (typeof kinds)[number]) => {
    const taken = new Map<string, string>();
    counts.registrations += 1;
    const name = `handler ${counts.registrations}`;
    const registration = factory.forKind(kind).registerHandler(name, async (key, object) => {
      counts.calls += 1;
      if (random.next() < 0.2) await systemClock.sleep(random.int(0, 5));
      if (random.next() < 0.05) {
        counts.failures += 1;
        throw new Error('by chance');
      }
      taken.set(key, object?.metadata.resourceVersion ?? 'gone');
    });
    players.get(kind)?.push({ registration, taken });
  };
  for (const kind of kinds) for (let nth = 0; nth < handlersPerKind; nth += 1) register(kind);
  await factory.start({ workers: 3, signal: stop.signal });

  const until = systemClock.monotonic() + seconds * 1000;
  const isChurning = () => systemClock.monotonic() < until;
  const samples: number[] = [];
  const write = async (kind: (typeof kinds)[number], nth: number) => {
    const odds = seededRandom(seed * 1000 + nth);
    for (let step = 0; isChurning(); step += 1) {
      const key = { namespace, name: `t-${odds.int(0, namesPerKind - 1)}` };
      const current = await client.find(kind, key);
      if (current === undefined) await client.create(kind({ metadata: key, spec: { step } }));
      else if (odds.next() < 0.2) await client.delete(kind, key);
      else await client.update({ ...current, spec: { step } });
      counts.writes += 1;
      await systemClock.sleep(odds.int(0, 100));
    }
  };
  const comeAndGo = async () => {
    while (isChurning()) {
      const kind = kinds[random.int(0, kinds.length - 1)];
      if (kind === undefined) continue;
      const [leaving] = players.get(kind)?.splice(random.int(0, handlersPerKind - 1), 1) ?? [];
      await leaving?.registration.remove();
      register(kind);
      await systemClock.sleep(50);
    }
  };
  const sample = async () => {
    while (isChurning()) {
      await systemClock.sleep((seconds * 1000) / 40);
      samples.push(heldMemory());
    }
  };
  await Promise.all([...kinds.map(write), comeAndGo(), sample()]);

  for (const [kind, each] of players) {
    const { items } = await client.list(kind, { namespace });
    const stored = new Map(items.map((item) => [keyOf(item), item.metadata.resourceVersion]));
    for (const { registration, taken } of each) {
      const knowsAll = () => {
        const knows = [...stored].every(([key, version]) => taken.get(key) === version);
        return knows && [...taken].every(([key, version]) => (stored.get(key) ?? 'gone') === version);
      };
      await eventually(knowsAll, { what: `${registration.name} knows all of ${kind.kind}` });
    }
  }
  expect(factory.controllers.map(({ handlers }) => handlers.length)).toEqual(kinds.map(() => handlersPerKind));
  stop.abort();

  const warm = samples.slice(Math.ceil(samples.length / 4));
  const third = Math.floor(warm.length / 3);
  const [early, late] = [median(warm.slice(0, third)), median(warm.slice(-third))];
  process.stdout.write(
    `soak: shared handlers, ${seconds} s: ${JSON.stringify(counts)}; medians of the first and the last third: ` +
      `${early.toFixed(1)} → ${late.toFixed(1)} MB\n`,
  );
  expect(late - early).toBeLessThan(allowedGrowthMb);
});
