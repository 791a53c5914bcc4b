import { Buffer } from 'node:buffer';
import { memoryLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from './api-server.js';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const widgets = '/apis/example.com/v1/namespaces/default/widgets';

async function start() {
  const log = memoryLogger();
  const server = await ApiServer.start({ log, token: 't' });
  const post = (path: string, body: object) =>
    new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
      const parts: Uint8Array[] = [];
      let status = 0;
      const headers = { authorization: 'Bearer t', 'content-type': 'application/json' };
      server.transport.dispatch(
        { method: 'POST', path, headers, body: JSON.stringify(body) },
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
  return { log, post, [Symbol.asyncDispose]: () => server.stop() };
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

test('200,000 labels that are wrong are refused, and not all are told', async () => {
  await using at = await start();
  const labels = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`-${i.toString(36)}`, '']));
  const body = { metadata: { name: 'x', labels } };
  const { status, text } = await at.post('/api/v1/namespaces/default/configmaps', body);
  const { message, details } = JSON.parse(text) as { message: string; details: { causes: unknown[] } };
  expect([status, details.causes.length, message.endsWith(', and 190000 more]')]).toEqual([422, 10_000, true]);
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
