import { expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';

const send = async (server: ApiServer, method: string, path: string, token: string, body?: object): Promise<string> => {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': type }) };
  const response = await fetch(`${await urlOf(server)}${path}`, {
    method,
    headers,
    body: body && JSON.stringify(body),
  });
  return `${response.status} ${await response.text()}`;
};

const urls = new WeakMap<ApiServer, Promise<string>>();
const urlOf = (server: ApiServer) => {
  const known = urls.get(server) ?? server.listen({ tls: false }).then(({ url }) => url);
  urls.set(server, known);
  return known;
};

const linesOf = (text: string, name: string) => text.split('\n').filter((line) => line.startsWith(name));

test('requests are counted by verb, resource and code, but not those that were refused at the door', async () => {
  await using server = await ApiServer.start();
  const { token } = server;
  const maps = '/api/v1/namespaces/default/configmaps';
  await send(server, 'POST', maps, token, { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' } });
  await send(server, 'GET', `${maps}/a`, token);
  await send(server, 'GET', `${maps}/b`, token);
  await send(server, 'GET', '/api/v1/configmaps', token);
  await send(server, 'GET', `${maps}/a`, 'wrong');
  await send(server, 'GET', '/api/v1/nopes', token);
  await send(server, 'GET', '/livez', token);
  const text = await send(server, 'GET', '/metrics', token);
  const rest = 'dry_run="",group="",resource="configmaps"';
  expect(linesOf(text, 'apiserver_request_total')).toEqual([
    'apiserver_request_total{code="200",component="",dry_run="",group="",resource="",scope="",subresource="/livez",verb="GET",version=""} 1',
    `apiserver_request_total{code="200",component="apiserver",${rest},scope="cluster",subresource="",verb="LIST",version="v1"} 1`,
    `apiserver_request_total{code="200",component="apiserver",${rest},scope="resource",subresource="",verb="GET",version="v1"} 1`,
    `apiserver_request_total{code="201",component="apiserver",${rest},scope="resource",subresource="",verb="POST",version="v1"} 1`,
    `apiserver_request_total{code="404",component="apiserver",${rest},scope="resource",subresource="",verb="GET",version="v1"} 1`,
  ]);
  expect(linesOf(text, 'apiserver_request_duration_seconds_count')).toHaveLength(4);
  expect(linesOf(text, 'apiserver_response_sizes_count')).toHaveLength(3);
  // The one that reads.
  expect(text).toContain('apiserver_current_inflight_requests{request_kind="readOnly"} 1\n');
});

test('counts stored objects on read', async () => {
  await using server = await ApiServer.start();
  const before = await send(server, 'GET', '/metrics', server.token);
  const count = (text: string) => linesOf(text, 'apiserver_storage_objects{resource="secrets"}')[0];
  expect(count(before)).toBe('apiserver_storage_objects{resource="secrets"} 0');
  const secret = { kind: 'Secret', apiVersion: 'v1', metadata: { name: 'a' } };
  await send(server, 'POST', '/api/v1/namespaces/default/secrets', server.token, secret);
  const after = await send(server, 'GET', '/metrics', server.token);
  expect(count(after)).toBe('apiserver_storage_objects{resource="secrets"} 1');
  expect(after).toContain('apiserver_resource_objects{group="",resource="secrets"} 1\n');
  expect(after).toContain('apiserver_resource_objects{group="apps",resource="deployments"} 0\n');
});

test('a watch counts as long as it lasts, and its events one by one', async () => {
  await using server = await ApiServer.start();
  const { token } = server;
  const stop = new AbortController();
  const url = `${await urlOf(server)}/api/v1/namespaces?watch=1`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: stop.signal });
  await response.body?.getReader().read();
  const gauge = 'apiserver_longrunning_requests{component="apiserver",group="",resource="namespaces",scope="cluster"';
  const running = async () => linesOf(await send(server, 'GET', '/metrics', token), gauge)[0]?.split(' ')[1];
  expect(await running()).toBe('1');
  const text = await send(server, 'GET', '/metrics', token);
  expect(text).toContain('apiserver_watch_events_total{group="",resource="namespaces",version="v1"} 4\n');
  stop.abort();
  await expect.poll(running).toBe('0');
});

test('reading takes a right of its own, and a DELETE lets counters begin again', async () => {
  await using server = await ApiServer.start({ tokens: { plain: { user: 'plain' } } });
  expect(await send(server, 'GET', '/metrics', 'plain')).toContain('User \\"plain\\" cannot get path \\"/metrics\\"');
  await send(server, 'GET', '/api/v1/nodes', server.token);
  expect(await send(server, 'DELETE', '/metrics', server.token)).toBe('200 metrics reset\n');
  expect(await send(server, 'GET', '/metrics', server.token)).not.toContain('apiserver_request_total');
  await send(server, 'GET', '/api/v1/nodes', server.token);
  expect(linesOf(await send(server, 'GET', '/metrics', server.token), 'apiserver_request_total')).toHaveLength(1);
});
