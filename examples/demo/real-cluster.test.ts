import { ApiServer } from '@riata/apiserver';
import { createClient, type RestConfig, silentLogger } from 'riata';
import { CustomResourceDefinition, Namespace } from 'riata/kinds';
import { installCrds } from 'riata/patterns';
import { expect, test } from 'vitest';
import { App } from '../app-platform/app.js';
import { Foo } from '../sample-controller/main.js';
import { namespace } from './place.js';
import { realCluster } from './real-cluster.js';

// Always on the embedded server, which deletes the contents of namespaces.
const start = () => ApiServer.start({ log: silentLogger });
const names = ['apps.app-platform.riata.dev', 'foos.samplecontroller.riata.dev'];

/** The printed lines, and the cluster if the user agreed. */
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

test('nothing changes unless the user agrees', async () => {
  await using server = await start();
  const { said, place } = await open(server.config, false);
  expect(place).toBe(undefined);
  expect(said).toEqual([expect.stringContaining(names.join(' and ')), 'Nothing was changed.']);
  expect(await thereIs(server.config)).toEqual([]);
});

test('what did not exist before is removed afterwards', async () => {
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

test('leftovers of an earlier run are removed first; other namespaces never are', async () => {
  await using server = await start();
  const killed = await open(server.config, true);
  await killed.place?.[Symbol.asyncDispose]();
  const next = await open(server.config, true);
  expect(next.said[1]).toMatch(/of an earlier run/);
  await next.place?.cleanUp();
  await next.place?.[Symbol.asyncDispose]();

  await using client = createClient(server.config);
  await client.create(Namespace({ metadata: { name: namespace } }));
  await expect(open(server.config, true)).rejects.toThrow(/does not belong to the demo/);
  expect(await thereIs(server.config)).toContain(namespace);
});
