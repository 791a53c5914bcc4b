import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { memoryLogger, systemClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from './api-server.js';
import type { TransportRequest } from './http/in-process/transport.js';

/** Sends a request to a server in this process. */
function send(
  server: ApiServer,
  request: TransportRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let status = 0;
    server.transport.dispatch(request, {
      onHeaders: (code) => {
        status = code;
      },
      onData: (chunk) => parts.push(chunk),
      onEnd: () => resolve({ status, text: Buffer.concat(parts).toString() }),
      onError: reject,
    });
  });
}

const key = fc.oneof(
  fc.constantFrom('metadata', 'spec', 'status', 'data', 'name', 'namespace', 'labels', 'finalizers', 'ownerReferences'),
  fc.constantFrom(
    'uid',
    'resourceVersion',
    'generateName',
    'managedFields',
    'kind',
    'apiVersion',
    '__proto__',
    'items',
  ),
  fc.constantFrom(
    'constructor',
    'toString',
    'op',
    'path',
    'value',
    '$patch',
    '$setElementOrder/x',
    'selector',
    'template',
  ),
  fc.string(),
);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, '', 'x', 'a/b/c', '2026-01-01T00:00:00Z', '1Gi'),
    fc.string(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5 }),
  ),
}));
const place = fc.constantFrom(
  ...[
    '/api/v1/namespaces/default/configmaps',
    '/api/v1/namespaces/default/pods',
    '/api/v1/namespaces',
    '/api/v1/nodes',
  ],
  ...['/apis/apps/v1/namespaces/default/deployments', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'],
  ...[
    '/api/v1/namespaces/default/secrets',
    '/api/v1/namespaces/default/serviceaccounts',
    '/apis/batch/v1/namespaces/default/jobs',
    '/api/v1/namespaces/default/events',
  ],
);
const below = fc.constantFrom(
  '',
  '/x',
  '/x/status',
  '/x/scale',
  '/x/binding',
  '/x/eviction',
  '/x/token',
  '/default/finalize',
);
const query = fc.constantFrom(
  ...['', '?dryRun=All', '?fieldManager=f&force=1', '?fieldManager=f', '?limit=1', '?fieldValidation=Strict'],
  ...['?labelSelector=a', '?fieldSelector=metadata.name%3Dx', '?resourceVersion=1', '?propagationPolicy=Foreground'],
);
const type = fc.constantFrom(
  ...['application/json', 'application/yaml', 'application/merge-patch+json', 'application/json-patch+json'],
  ...['application/strategic-merge-patch+json', 'application/apply-patch+yaml'],
);
const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE');
const named = value.map((body) =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? { metadata: { name: 'x' }, ...body } : body,
);

test('whatever is written is taken or refused, and never by a fault of the server', async () => {
  const log = memoryLogger();
  await using server = await ApiServer.start({ log, clock: systemClock, token: 't' });
  const request = fc.record({ method, place, below, query, type, body: fc.oneof(value, named) });
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: 1, maxLength: 6 }), async (requests) => {
      for (const asked of requests) {
        const reply = await send(server, {
          method: asked.method,
          path: `${asked.place}${asked.below}${asked.query}`,
          headers: { authorization: 'Bearer t', 'content-type': asked.type },
          body: JSON.stringify(asked.body),
        });
        expect(reply.status, reply.text).toBeGreaterThanOrEqual(200);
        // What is not meant to be thrown is logged.
        expect(log.records.filter(({ level }) => level === 'error')).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
  expect(Object.keys(Object.prototype)).toEqual([]);
});
