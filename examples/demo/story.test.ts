import { Sandbox } from '@riata/sandbox';
import { Manager, silentLogger } from 'riata';
import { Controllers, installCrds } from 'riata/patterns';
import { expect, test } from 'vitest';
import { App } from '../app-platform/app.js';
import { runApps } from '../app-platform/main.js';
import { Foo, foos } from '../sample-controller/main.js';
import { namespace } from './place.js';
import { playStory } from './story.js';

test('the story completes', async () => {
  await using sandbox = await Sandbox.start({ nodes: 2 });
  const { client, config } = sandbox;
  const runtime = { log: silentLogger };
  const stop = new AbortController();
  await installCrds(client, [App.crd(), Foo.crd()], stop);
  await using manager = await Manager.create({ config, runtime });
  manager.add(foos);
  await using controllers = await Controllers.fromConfig(config, { runtime });
  runApps(controllers, stop);
  const running = [manager.run(stop), controllers.run(stop)];
  const chapters: string[] = [];
  await playStory(client, { begin: (chapter) => chapters.push(chapter), pauseMs: 0, signal: stop.signal });
  expect(chapters).toHaveLength(6);
  // The status may still be on its way down and up again after the deletion of a Pod.
  const replicas = async () => (await client.list(App)).items.map(({ status }) => status?.replicas);
  await expect.poll(replicas, { timeout: 100_000 }).toEqual([2]);
  expect((await client.list(Foo)).items).toEqual([]);
  // The reconciles that the demo shows.
  const written = controllers.factory.explain.flatMap(({ writes }) =>
    writes.map(({ verb, object }) => `${verb} ${object}`),
  );
  const parts = ['ConfigMap', 'Service', 'Deployment'].map((kind) => `patch ${kind} ${namespace}/shop`);
  expect(written).toEqual(expect.arrayContaining([...parts, `patch App ${namespace}/shop/status`]));
  stop.abort();
  await Promise.all(running);
});
