import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { memoryLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { toyServer } from './toy-server.fixture.js';

const segment = fc.oneof(
  fc.constantFrom('api', 'apis', 'v1', 'apps', 'namespaces', 'configmaps', 'deployments', 'pods', 'watch', 'proxy'),
  fc.constantFrom('foos', 'example.com', 'x', 'status', 'scale', '..', '', '%2e%2e', '%', '%zz', '%ff', '__proto__'),
  fc.string(),
);
const parameter = fc.tuple(
  fc.constantFrom(
    ...['watch', 'limit', 'continue', 'resourceVersion', 'resourceVersionMatch', 'timeoutSeconds', 'timeout'],
    ...['sendInitialEvents', 'labelSelector', 'fieldSelector', 'dryRun', 'fieldManager', 'fieldValidation', 'force'],
    ...['pretty', 'gracePeriodSeconds', 'propagationPolicy', '__proto__', ''],
  ),
  fc.oneof(
    fc.constantFrom('true', '1', '0', '', 'All', 'Exact', 'a=b', '%', '%00', '99999999999999999999'),
    fc.string(),
  ),
);
const path = fc
  .tuple(fc.array(segment, { maxLength: 8 }), fc.array(parameter, { maxLength: 4 }))
  .map(([parts, query]) => `/${parts.join('/')}?${query.map((pair) => pair.join('=')).join('&')}`);
const media = fc.oneof(
  fc.constantFrom('application/json', 'application/yaml', '*/*', 'application/apply-patch+yaml', 'text/html'),
  fc.constantFrom('application/merge-patch+json', 'application/json-patch+json', 'application/json;as=Table;v=v1;g='),
  fc.string(),
);
const headers = fc.record({ accept: media, 'content-type': media, 'user-agent': fc.string() }, { requiredKeys: [] });
const body = fc.oneof(
  fc.json().map((text) => Buffer.from(text)),
  fc.string().map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 200 }),
  fc
    .constantFrom('['.repeat(5_000), '{"a":'.repeat(5_000), '{"__proto__":{"a":1}}', '&a [*a]')
    .map((s) => Buffer.from(s)),
);
const method = fc.oneof(fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'), fc.string());

test('whatever is asked is answered, and never by a fault of the server', async () => {
  const log = memoryLogger();
  const { ask } = toyServer({ log });
  const request = fc.record({ method, path, headers, body });
  await fc.assert(
    fc.asyncProperty(request, async (asked) => {
      const reply = await ask(asked);
      expect(reply).toMatchObject({ started: true, ended: true, aborted: false });
      expect(reply.status === 500 ? reply.text : '').toMatch(/^$|RequestInfo|resourceVersion: Invalid value/);
      expect(log.records).toEqual([]);
    }),
    { numRuns: 1_500 },
  );
  expect(({} as Record<string, unknown>).a).toBeUndefined();
});
