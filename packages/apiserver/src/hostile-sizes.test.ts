import { Buffer } from 'node:buffer';
import { memoryLogger } from 'riata/runtime';
import { expect, test, vi } from 'vitest';

// Other files of this worker may have loaded the modules already, without the spy.
vi.resetModules();
vi.doMock('./cel/language/parse-expression.js', { spy: true });
const { ApiServer } = await import('./api-server.js');
const { parseExpression } = await import('./cel/language/parse-expression.js');

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const widgets = '/apis/example.com/v1/namespaces/default/widgets';

async function start() {
  const log = memoryLogger();
  const server = await ApiServer.start({ log, token: 't' });
  const send = (method: string, path: string, body: object, type = 'application/json') =>
    new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
      const parts: Uint8Array[] = [];
      let status = 0;
      const headers = { authorization: 'Bearer t', 'content-type': type };
      server.transport.dispatch(
        { method, path, headers, body: JSON.stringify(body) },
        {
          onHeaders: (code) => {
            status = code;
          },
          onData: (chunk) => parts.push(chunk),
          onEnd: () => resolve({ status, text: Buffer.concat(parts).toString() }),
          onError: reject,
        },
      );
    });
  const post = (path: string, body: object) => send('POST', path, body);
  const merge = (path: string, body: object) => send('PATCH', path, body, 'application/merge-patch+json');
  return { log, post, merge, [Symbol.asyncDispose]: () => server.stop() };
}

/** A definition of Widgets whose `spec.s` has these rules. */
function definition(maxLength: number, rules: readonly string[]) {
  const s = { type: 'string', maxLength, 'x-kubernetes-validations': rules.map((rule) => ({ rule })) };
  const schema = { type: 'object', properties: { spec: { type: 'object', properties: { s } } } };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: 'widgets.example.com' },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' } },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

const widget = (s: string) => ({
  ...{ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' } },
  spec: { s },
});

test('200,000 invalid labels are refused, and the answer names some of them', async () => {
  await using at = await start();
  const labels = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`-${i.toString(36)}`, '']));
  const body = { metadata: { name: 'x', labels } };
  const { status, text } = await at.post('/api/v1/namespaces/default/configmaps', body);
  const { message, details } = JSON.parse(text) as { message: string; details: { causes: unknown[] } };
  const { length } = details.causes;
  expect([status, length > 1_000, message.endsWith(`, and ${200_000 - length} more]`)]).toEqual([422, true, true]);
  expect(text.length).toBeLessThan(2_000_000);
  expect(at.log.records.filter(({ level }) => level === 'error')).toEqual([]);
});

test('a rule that makes a text without end costs too much', async () => {
  await using at = await start();
  const rule = 'self.replace("", self).replace("", self) != "x"';
  expect((await at.post(definitions, definition(1000, [rule]))).status).toBe(201);
  expect((await at.post(widgets, widget('x'.repeat(50)))).status).toBe(201);
  const { status, text } = await at.post(widgets, widget('x'.repeat(1000)));
  expect(status).toBe(422);
  expect(text).toContain('operation cancelled: actual cost limit exceeded');
  expect(at.log.records.filter(({ level }) => level === 'error')).toEqual([]);
});

test('a rule of more than 100,000 characters is not read', async () => {
  await using at = await start();
  const { status, text } = await at.post(definitions, definition(10, [`self != "${'a'.repeat(100_001)}"`]));
  expect(status).toBe(422);
  expect(text).toContain('ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100011, limit 100000');
});

test('a rule is compiled once when its definition is written, and again only when its schema changes', async () => {
  await using at = await start();
  const [rule, other] = ['self != "a"', 'self != "b"'];
  const { spec, ...rest } = definition(10, [rule]);
  const [v1] = spec.versions;
  const [odd] = definition(10, [other]).spec.versions;
  const versions = [v1, { ...v1, name: 'v2', storage: false }, { ...odd, name: 'v3', storage: false }];
  const times = (source: string) => vi.mocked(parseExpression).mock.calls.filter(([text]) => text === source).length;
  expect((await at.post(definitions, { ...rest, spec: { ...spec, versions } })).status).toBe(201);
  // The server has also written its conditions by now.
  expect([times(rule), times(other)]).toEqual([1, 1]);
  const path = `${definitions}/widgets.example.com`;
  expect((await at.merge(path, { metadata: { labels: { a: 'b' } } })).status).toBe(200);
  expect([times(rule), times(other)]).toEqual([1, 1]);
  const [changed] = definition(11, [rule]).spec.versions;
  expect((await at.merge(path, { spec: { versions: [changed, ...versions.slice(1)] } })).status).toBe(200);
  expect([times(rule), times(other)]).toEqual([2, 1]);
  const [broken] = definition(11, ['self !=']).spec.versions;
  expect((await at.merge(path, { spec: { versions: [broken, ...versions.slice(1)] } })).status).toBe(422);
  expect((await at.merge(path, { spec: { versions: [broken, ...versions.slice(1)] } })).status).toBe(422);
});
