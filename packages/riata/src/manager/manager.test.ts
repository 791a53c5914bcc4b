import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Lease } from '../kinds/index.js';
import { silentLogger } from '../runtime/log/logger.js';
import { memoryMetrics } from '../runtime/metrics.js';
import { Manager } from './manager.js';
import type { ManagerOptions } from './manager-options.js';

/** Nothing is asked of a server without controllers. */
const config = { server: 'http://127.0.0.1:1' };
const make = (options: ManagerOptions) => new Manager({ config, runtime: { log: silentLogger }, ...options });

test('metrics are served however the manager was made', async () => {
  const metrics = { host: '127.0.0.1', port: 0 };
  for (const manager of [
    make({ metrics }),
    await Manager.create({ config, metrics, runtime: { log: silentLogger } }),
  ]) {
    await using _ = manager;
    const stop = new AbortController();
    const ended = manager.run({ signal: stop.signal });
    await manager.elected;
    await expect.poll(() => manager.urls.metrics, { timeout: 30_000 }).toBeDefined();
    const answer = await fetch(`${manager.urls.metrics}/metrics`);
    expect(await answer.text()).toContain('riata_event_loop_lag_seconds');
    stop.abort();
    expect(await ended).toMatchObject({ reason: 'stopped' });
  }
});

test('who counts with metrics of their own is not given others', () => {
  const metrics = memoryMetrics();
  expect(make({ metrics: { port: 0 }, runtime: { metrics } }).runtime.metrics).toBe(metrics);
});

test('options that make no sense are refused when they are given, not on stop', () => {
  expect(() => make({ gracefulTimeout: '5' as never })).toThrow('Manager: gracefulTimeout: expected a number');
});

test('pages for debugging are refused where any client could read them', () => {
  for (const open of [
    { debug: true },
    { profiling: true },
    { debug: true, host: '0.0.0.0' },
    { debug: true, host: '::' },
  ]) {
    expect(() => make({ metrics: { port: 0, ...open } })).toThrow(
      /^Manager: metrics\.(debug|profiling) would serve \/debug/,
    );
  }
  expect(() => make({ metrics: { port: 0, debug: true, profiling: true, host: '127.evil.example' } })).toThrow(
    'Manager: metrics.debug and metrics.profiling would serve /debug/* to anyone who can reach "127.evil.example"; ' +
      'set metrics.protected, or metrics.host to "127.0.0.1" and use kubectl port-forward',
  );
  for (const closed of [
    { protected: true, debug: true, profiling: true },
    ...['127.0.0.1', '127.0.0.2', '::1', 'localhost'].map((host) => ({ debug: true, host })),
    {},
  ]) {
    expect(make({ metrics: { port: 0, ...closed } })).toBeInstanceOf(Manager);
  }
});

test('a manager that has stopped leaves no connection open, and its client still works', async () => {
  let lease: { metadata: { resourceVersion: string } } | undefined;
  const connections = new Set<Socket>();
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method !== 'GET')
      lease = { ...JSON.parse(body), metadata: { ...JSON.parse(body).metadata, resourceVersion: '1' } };
    const missing = { kind: 'Status', status: 'Failure', code: 404, reason: 'NotFound', details: { name: 'a' } };
    response.writeHead(lease === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(lease ?? missing));
  });
  // Only the client ends a connection.
  server.keepAliveTimeout = 0;
  server.on(
    'connection',
    (socket) => connections.add(socket).size && socket.on('close', () => connections.delete(socket)),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await using manager = make({
    config: { server: `http://127.0.0.1:${port}` },
    leaderElection: { namespace: 'shop', name: 'a' },
  });
  const stop = new AbortController();
  const running = manager.run({ signal: stop.signal });
  await manager.elected;
  expect(connections.size).toBeGreaterThan(0);
  stop.abort();
  await running;
  await expect.poll(() => connections.size, { timeout: 10_000 }).toBe(0);
  expect((await manager.apiReader.get(Lease, { namespace: 'shop', name: 'a' })).metadata.resourceVersion).toBe('1');
  server.closeAllConnections();
  server.close();
});
