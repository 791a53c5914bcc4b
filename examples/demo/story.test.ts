import { followUrl } from '@riata/cli/view';
import { Sandbox } from '@riata/sandbox';
import { installCrds } from 'riata/patterns';
import { resolveRuntime, silentLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { App } from '../app-platform/app.js';
import { Foo } from '../sample-controller/main.js';
import { startOperator } from './operator.js';
import { namespace } from './place.js';
import { playStory } from './story.js';

test('the story completes', async () => {
  await using sandbox = await Sandbox.start({ nodes: 2 });
  const { client, config } = sandbox;
  const stop = new AbortController();
  await installCrds(client, [App.crd(), Foo.crd()], stop);
  await using operator = await startOperator(config);
  const chapters: string[] = [];
  await playStory(client, { begin: (chapter) => chapters.push(chapter), pauseMs: 0, signal: stop.signal });
  expect(chapters).toHaveLength(6);
  // The status may still be on its way down and up again after the deletion of a Pod.
  const replicas = async () => (await client.list(App)).items.map(({ status }) => status?.replicas);
  await expect.poll(replicas, { timeout: 100_000 }).toEqual([2]);
  expect((await client.list(Foo)).items).toEqual([]);
  // By the stream that the view of the demo follows.
  const runtime = resolveRuntime({ log: silentLogger });
  await using followed = await followUrl(operator.url, { runtime, signal: stop.signal });
  const names = followed.replicas.flatMap(({ state }) => state?.controllers.map(({ id }) => id) ?? []);
  expect(names).toEqual(expect.arrayContaining(['foo', 'apps.v1.app-platform.riata.dev']));
  // The reconciles that the demo shows.
  const written = operator.explain().flatMap(({ writes }) => writes.map(({ verb, object }) => `${verb} ${object}`));
  const parts = ['ConfigMap', 'Service', 'Deployment'].map((kind) => `patch ${kind} ${namespace}/shop`);
  expect(written).toEqual(expect.arrayContaining([...parts, `patch App ${namespace}/shop/status`]));
});
