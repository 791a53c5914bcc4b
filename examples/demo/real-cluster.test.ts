import { ApiServer } from '@riata/apiserver';
import { createClient, type RestConfig, silentLogger } from 'riata';
import { CustomResourceDefinition, Namespace } from 'riata/kinds';
import { installCrds } from 'riata/patterns';
import { expect, test } from 'vitest';
import { App } from '../app-platform/app.js';
import { Foo } from '../sample-controller/main.js';
import { namespace } from './place.js';
import { realCluster } from './real-cluster.js';

// Namespaces have to be emptied by somebody: an embedded server, whatever the other tests run on.
const start = () => ApiServer.start({ log: silentLogger });
const names = ['apps.app-platform.riata.dev', 'foos.samplecontroller.riata.dev'];

/** What the user was told, and the cluster if they agreed. */
async function open(config: RestConfig, answer: boolean) {
  const said: string[] = [];
  const agrees = async (what: string) => {
    said.push(what);
    return answer;
  };
  const place = await realCluster([App, Foo], { config, agrees, print: (line) => said.push(line) });
  return { said, place };
}

async function thereIs(config: RestConfig): Promise<string[]> {
  await using client = createClient(config);
  const crds = (await client.list(CustomResourceDefinition)).items;
  const homes = (await client.list(Namespace)).items.filter(({ metadata }) => metadata.name === namespace);
  return [...crds, ...homes].map(({ metadata }) => metadata.name).sort();
}

test('nothing is done unless the user agrees', async () => {
  await using server = await start();
  const { said, place } = await open(server.config, false);
  expect(place).toBe(undefined);
  expect(said).toEqual([expect.stringContaining(names.join(' and ')), 'Nothing was done.']);
  expect(await thereIs(server.config)).toEqual([]);
});

test('what was not there before is removed in the end', async () => {
  await using server = await start();
  await using client = createClient(server.config);
  await installCrds(client, [Foo]);
  const { said, place } = await open(server.config, true);
  expect(await thereIs(server.config)).toEqual([...names, namespace]);
  await place?.cleanUp();
  await place?.[Symbol.asyncDispose]();
  expect(said.at(-1)).toBe(`Removing the namespace ${namespace}, ${names[0]}…`);
  expect(await thereIs(server.config)).toEqual([names[1]]);
});

test('what an earlier run has left is removed first; what is not of the demo never is', async () => {
  await using server = await start();
  const killed = await open(server.config, true);
  await killed.place?.[Symbol.asyncDispose]();
  const next = await open(server.config, true);
  expect(next.said[1]).toMatch(/an earlier run has left/);
  await next.place?.cleanUp();
  await next.place?.[Symbol.asyncDispose]();

  await using client = createClient(server.config);
  await client.create(Namespace({ metadata: { name: namespace } }));
  await expect(open(server.config, true)).rejects.toThrow(/it is not the demo's/);
  expect(await thereIs(server.config)).toContain(namespace);
});
