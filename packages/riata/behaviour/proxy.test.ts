import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { dryRun, impersonating, isForbidden, isNotFound } from 'riata';
import { isProxyError } from 'riata/client';
import { Endpoints, Node, Pod, Service } from 'riata/kinds';
import { isApiError } from 'riata/rest';
import { beforeAll, expect, test } from 'vitest';
import { rejection } from './servers.js';
import { describeStreams, patternBytes, patternSum } from './streams-play.js';

describeStreams('proxy', (cluster) => {
  /** The Pod, with its address. */
  const web = () => ({ ...cluster().pod, port: cluster().http.port });

  beforeAll(async () => {
    const { client, pod, http } = cluster();
    const status = { podIP: http.address, podIPs: [{ ip: http.address }] };
    await client.status.patch(Pod, pod, { type: 'merge', body: { status } });
    await client.create(
      Service({ metadata: pod, spec: { ports: [{ name: 'http', port: 80, targetPort: http.port }] } }),
    );
    const targetRef = { kind: 'Pod', ...pod };
    const subsets = [{ addresses: [{ ip: http.address, targetRef }], ports: [{ name: 'http', port: http.port }] }];
    await client.create(Endpoints({ metadata: pod, subsets }));
  });

  test('passes on method, path, query, headers and body', async () => {
    const { client } = cluster();
    const answer = (await client
      .proxy(web(), '/echo/a b/%2Bc/?x=1&x=2', {
        ...{ method: 'POST', body: 'hello', headers: { 'x-shop': 'toys' }, query: { y: ['ü', '3'] } },
      })
      .json()) as Record<string, unknown>;
    expect(answer).toMatchObject({ method: 'POST', body: 'hello', shop: 'toys', authorization: null });
    expect(answer.url).toBe('/echo/a%20b/+c/?x=1&x=2&y=%C3%BC&y=3');
  });

  test('reaches a Service by the name and the number of its port, and by the name of the API', async () => {
    const { client, pod } = cluster();
    const service = { kind: Service, ...pod };
    expect(await client.proxy({ ...service, port: 'http' }, '/hello').text()).toBe('hello');
    expect(await client.proxy({ ...service, port: 80 }, '/hello').text()).toBe('hello');
    expect(await client.proxy({ ...service, name: 'http:web:http' }, '/hello').text()).toBe('hello');
    const none = await rejection(client.proxy({ ...service, port: 81 }, '/hello').text());
    expect(isApiError(none) && [none.code, none.status.message]).toEqual([
      ...[503, 'no service port 81 found for service "web"'],
    ]);
  });

  test('reaches a Node', async () => {
    const { client, node } = cluster();
    expect(await client.proxy({ kind: Node, name: node }, '/healthz').text()).toBe('ok');
  });

  test('tells refusals of the target from those of the API server', async () => {
    const { client, pod, http } = cluster();
    await using answer = await client.proxy(web(), '/status/404');
    expect([answer.status, answer.ok, answer.headers['x-from']]).toEqual([404, false, 'target']);
    const refused = await rejection(client.proxy(web(), '/status/404').text());
    expect(isProxyError(refused) && [refused.status, refused.body]).toEqual([404, '{"error":"no such page"}']);
    expect(refused.message).toBe(
      `proxy to Pod web:${http.port}, GET /status/404: the target answered 404: {"error":"no such page"}`,
    );
    // Not sent again: the target may have done what it was asked for.
    expect((await client.proxy(web(), '/status/503')).status).toBe(503);
    expect(isNotFound(await rejection(client.proxy({ ...pod, name: 'none', port: 80 }, '/').text()))).toBe(true);
    const missing = await rejection(client.proxy({ ...pod, name: 'none' }, '/a?token=x').text());
    expect(missing.message).toContain(
      `GET /api/v1/namespaces/${pod.namespace}/pods/none/proxy/a: pods "none" not found`,
    );
    const nobody = impersonating(client, { user: 'nobody-special' });
    expect(isForbidden(await rejection(nobody.proxy(web(), '/hello').text()))).toBe(true);
    const closed = await rejection(client.proxy({ ...pod, port: 1 }, '/hello').text());
    expect(isApiError(closed) && [closed.code, closed.reason]).toEqual([503, 'ServiceUnavailable']);
    expect(closed.message).toContain('connection refused');
  });

  test('streams both bodies, whole', async () => {
    const { client } = cluster();
    const length = 5_000_000;
    async function* pieces() {
      for (let at = 0; at < length; at += 100_000) yield patternBytes(at, 100_000);
    }
    expect(await client.proxy(web(), '/sum', { method: 'PUT', body: pieces() }).text()).toBe(patternSum(length));
    await using answer = await client.proxy(web(), `/big/${length}`);
    const hash = createHash('sha256');
    for await (const bytes of answer) hash.update(bytes);
    expect(hash.digest('hex')).toBe(patternSum(length));
  });

  test('a target may refuse a body without reading it', async () => {
    const { client } = cluster();
    async function* pieces() {
      for (let at = 0; at < 5_000_000; at += 100_000) yield patternBytes(at, 100_000);
    }
    await using answer = await client.proxy(web(), '/status/413', { method: 'PUT', body: pieces() });
    expect([answer.status, answer.headers['x-from']]).toEqual([413, 'target']);
  });

  test('a target that answers while it reads is refused: API servers drop a part of the body then', async () => {
    const { client } = cluster();
    async function* endless() {
      while (true) yield patternBytes(0, 100_000);
    }
    const answer = client.proxy(web(), '/back', { method: 'PUT', body: endless() });
    await expect(answer).rejects.toThrow('the target answered before it had read the whole body');
  });

  test('an answer that breaks off, and a body that fails, are errors', async () => {
    const { client } = cluster();
    await expect(client.proxy(web(), '/cut').text()).rejects.toThrow();
    async function* broken() {
      yield Buffer.from('a');
      throw new Error('the disk is gone');
    }
    const failed = client.proxy(web(), '/back', { method: 'POST', body: broken() }).text();
    await expect(failed).rejects.toThrow('the disk is gone');
    const stop = new AbortController();
    const waiting = client.proxy(web(), '/wait', { signal: stop.signal }).text();
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });

  test('refuses what would lead elsewhere, before anything is sent', async () => {
    const { client, pod } = cluster();
    for (const path of ['/../x', '/a/%2e%2e/x', '/a%2f..%2fx', '/.', '/a\\..\\x']) {
      await expect(client.proxy(pod, path)).rejects.toThrow('must not have "." or ".."');
    }
    await expect(client.proxy(pod, 'x')).rejects.toThrow('must start with "/"');
    await expect(client.proxy(pod, '/%zz')).rejects.toThrow('begins no escape');
    await expect(client.proxy(pod, '/#a')).rejects.toThrow('fragment');
    await expect(client.proxy({ ...pod, port: 0 })).rejects.toThrow('port must be');
    await expect(client.proxy({ ...pod, name: 'a/b' })).rejects.toThrow("may not contain '/'");
    await expect(client.proxy(pod, '/', { method: 'CONNECT' })).rejects.toThrow('method must be one of');
    await expect(client.proxy(pod, '/', { headers: { Authorization: 'x' } })).rejects.toThrow('client.forward');
    await expect(dryRun(client).proxy(pod, '/', { method: 'POST' })).rejects.toThrow('dry runs');
  });
});
