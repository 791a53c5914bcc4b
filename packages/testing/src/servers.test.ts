import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { createClient } from 'riata';
import { ConfigMap, CustomResourceDefinition, Namespace } from 'riata/kinds';
import { isConnectionRefused, staticCredentials } from 'riata/rest';
import { silentLogger } from 'riata/runtime';
import { afterEach, expect, test, vi } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget, widgets } from './widget.fixture.js';

afterEach(() => vi.unstubAllEnvs());

test('over HTTPS, in real time, as the variable says', async () => {
  vi.stubEnv('RIATA_TEST_SERVER', 'https');
  await using env = await TestEnvironment.start({ kinds: [Widget] });
  expect([env.isVirtual, env.config.server]).toEqual([false, expect.stringMatching(/^https:/)]);
  await env.run(widgets);
  await env.client.create(widget('w', 3));
  await env.settle({ horizon: '100ms' });
  expect(await env.client.get(ConfigMap, inDefault('w'))).toMatchObject({ data: { size: '3' } });
  await env.expectConverged({ horizon: '100ms' });
  expect(env.requests.lines({ verb: 'write' })).toEqual(['patch ConfigMap default/w', 'patch Widget default/w/status']);
  await env.faults.restart();
  await env.client.create(widget('after'));
  await env.settle();
  expect(await env.eventually(() => env.client.get(ConfigMap, inDefault('after')))).toBeDefined();
  await env.reset();
  expect((await env.client.list(Widget)).items).toEqual([]);
});

test('on a cluster of others: only what was made is removed', async () => {
  await using cluster = await ApiServer.start({ log: silentLogger });
  const { url, ca = '' } = await cluster.listen();
  const theirs = createClient({ server: url, credentials: staticCredentials({ token: cluster.token, ca }) });
  await theirs.create(ConfigMap({ metadata: inDefault('theirs'), data: { a: '1' } }));
  const folder = await mkdtemp(join(tmpdir(), 'riata-testing-'));
  try {
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, adminKubeconfig({ url, ca, token: cluster.token }));
    const env = await TestEnvironment.start({ kinds: [Widget], server: kubeconfig });
    expect(env.server).toBe(undefined);
    await env.run(widgets);
    const namespace = await env.namespace();
    await env.client.create(Widget({ metadata: { namespace, name: 'w', finalizers: ['example.com/x'] }, spec: {} }));
    await env.settle({ horizon: '100ms' });
    await env.client.apply(ConfigMap({ metadata: inDefault('theirs'), data: { b: '2' } }), { fieldManager: 'test' });
    await theirs.create(ConfigMap({ metadata: inDefault('theirs-too') }));
    await expect(env.faults.compact()).rejects.toThrow('to compact the server, it needs to be an embedded one');
    await env.reset();
    await cluster.idle();
    const names = async () =>
      (await theirs.list(ConfigMap, { namespace: 'default' })).items.map(({ metadata }) => metadata.name);
    expect(await names()).toEqual(expect.arrayContaining(['theirs', 'theirs-too']));
    expect(await theirs.find(Namespace, { name: namespace })).toBe(undefined);
    expect((await theirs.list(Widget)).items).toEqual([]);
    await env.stop();
    expect((await theirs.list(CustomResourceDefinition)).items).toEqual([]);
  } finally {
    await theirs.close();
    await rm(folder, { recursive: true });
  }
});

test('on a server that the test has started: what it can have done to it is done', async () => {
  await using cluster = await ApiServer.start({ log: silentLogger });
  const { url, ca } = await cluster.listen();
  const done: string[] = [];
  const server = {
    config: { server: url, credentials: staticCredentials({ token: cluster.token, ca }) },
    async suspend(options: { readonly graceful: boolean }) {
      done.push(`suspend ${options.graceful}`);
      await cluster.suspend(options);
    },
    async resume() {
      done.push('resume');
      await cluster.resume();
    },
    isThrownAway: true,
  };
  const env = await TestEnvironment.start({ kinds: [Widget], server });
  await env.client.create(widget('a'));
  await env.faults.suspend({ graceful: true });
  await expect(env.client.list(Widget)).rejects.toSatisfy(isConnectionRefused);
  await env.faults.resume();
  await env.faults.restart();
  await env.eventually(() => env.client.list(Widget));
  expect(done).toEqual(['suspend true', 'resume', 'suspend false', 'resume']);
  await expect(env.faults.compact()).rejects.toThrow('to compact the server, it needs to be an embedded one');
  await env.stop();
  // It goes with all that is on it.
  await using theirs = createClient(cluster.config, { runtime: { log: silentLogger } });
  expect((await theirs.list(Widget)).items.map(({ metadata }) => metadata.name)).toEqual(['a']);
});
