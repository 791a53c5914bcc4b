import { ApiServer } from '@riata/apiserver';
import { control, createClient, Manager, silentLogger } from 'riata';
import { ConfigMap } from 'riata/kinds';
import { expect, test } from 'vitest';
import { WatchedBrowser } from './browser.fixture.js';
import { until } from './until.fixture.js';

/** An operator whose dashboard is on this port. */
async function start(server: ApiServer, name: string, port: number) {
  const manager = await Manager.create({
    config: server.config,
    dashboard: { port },
    runtime: { log: silentLogger },
  });
  manager.add(control(ConfigMap, { name }).reconcile(() => {}));
  const stop = new AbortController();
  const running = manager.run(stop);
  const url = await until(async () => manager.urls.dashboard);
  return {
    url,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await manager[Symbol.asyncDispose]();
    },
  };
}

test('an operator that restarts: the page says that it is lost, and goes on by itself, with the new state', async () => {
  await using server = await ApiServer.start({ log: silentLogger });
  await using client = createClient(server.config, { runtime: { log: silentLogger } });
  await using chrome = await WatchedBrowser.start();
  const before = await start(server, 'before', 0);
  const page = await chrome.open(before.url, '');
  await page.getByRole('link', { name: 'before', exact: true }).waitFor();
  await before[Symbol.asyncDispose]();
  await page.getByRole('status').filter({ hasText: 'lost' }).waitFor();
  // What was known stays.
  expect(await page.getByRole('link', { name: 'before', exact: true }).count()).toBe(1);
  await using after = await start(server, 'after', Number(new URL(before.url).port));
  expect(after.url).toBe(before.url);
  await page.getByRole('status').filter({ hasText: 'live' }).waitFor();
  await page.getByRole('link', { name: 'after', exact: true }).waitFor();
  expect(await page.getByRole('link', { name: 'before', exact: true }).count()).toBe(0);
  await page.getByRole('link', { name: 'after', exact: true }).click();
  await client.create(ConfigMap({ metadata: { namespace: 'default', name: 'fresh' }, data: {} }));
  await page.getByRole('link', { name: 'default/fresh' }).first().waitFor();
  const problems = chrome.problems.filter((problem) => !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED/.test(problem));
  expect(problems).toEqual([]);
});
