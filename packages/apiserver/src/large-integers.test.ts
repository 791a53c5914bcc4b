import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { ApiServer } from './api-server.js';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const things = '/apis/example.com/v1/namespaces/default/things';
const jobs = '/apis/batch/v1/namespaces/default/jobs';
const json = 'application/json';
const merge = 'application/merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const apply = 'application/apply-patch+yaml';
const large = '9007199254740993';

/** Sends a text and gives back the text of the answer: JavaScript's numbers would hide what is compared. */
function send(server: ApiServer, method: string, path: string, body?: string, type = json): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    const headers = { authorization: 'Bearer t', ...(body === undefined ? {} : { 'content-type': type }) };
    server.transport.dispatch(
      { method, path, headers, body },
      {
        onHeaders: () => {},
        onData: (chunk) => parts.push(Uint8Array.from(chunk)),
        onEnd: () => resolve(Buffer.concat(parts).toString()),
        onError: reject,
      },
    );
  });
}

const int64 = { type: 'integer', format: 'int64' };
const definition = {
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  id: { ...int64, minimum: 1 },
                  set: { type: 'array', items: int64, 'x-kubernetes-list-type': 'set' },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  text: { type: 'string' },
                },
              },
            },
          },
        },
      },
    ],
  },
};

async function start() {
  const server = await ApiServer.start({ token: 't' });
  await send(server, 'POST', definitions, JSON.stringify(definition));
  return server;
}

const thing = (spec: string) => `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"},"spec":${spec}}`;
const generationOf = (text: string) => (JSON.parse(text) as { metadata: { generation: number } }).metadata.generation;

test('integers of 64 bits come back to the last digit, whichever way they took', async () => {
  await using server = await start();
  const spec = `{"free":{"deep":[${large},-9223372036854775808]},"id":${large},"set":[${large},1]}`;
  expect(await send(server, 'POST', things, thing(spec))).toContain(`"spec":${spec}`);
  expect(await send(server, 'GET', `${things}/a`)).toContain(`"spec":${spec}`);
  expect(await send(server, 'GET', things)).toContain(`"spec":${spec}`);
  expect(await send(server, 'GET', `${things}/a?pretty=true`)).toContain(`"id": ${large},`);
  expect(await send(server, 'GET', `${things}?watch=1&timeoutSeconds=1`)).toContain(`"spec":${spec}`);
  const patched = await send(server, 'PATCH', `${things}/a`, '{"spec":{"text":"x"}}', merge);
  expect(patched).toContain(`"id":${large}`);
  const steps = `[{"op":"test","path":"/spec/id","value":${large}},{"op":"replace","path":"/spec/id","value":9007199254740995}]`;
  expect(await send(server, 'PATCH', `${things}/a`, steps, jsonPatch)).toContain('"id":9007199254740995');
  const applied = await send(
    server,
    'PATCH',
    `${things}/a?fieldManager=m&force=true`,
    thing(`{"set":[${large}]}`),
    apply,
  );
  expect(applied).toContain(`"v:${large}":{}`);
});

test('the largest and the smallest int64 are integers', async () => {
  await using server = await start();
  const set = '"set":[9223372036854775807,-9223372036854775808]';
  expect(await send(server, 'POST', things, thing(`{${set}}`))).toContain(set);
});

test('a change in the last digit is a change', async () => {
  await using server = await start();
  expect(generationOf(await send(server, 'POST', things, thing(`{"id":${large}}`)))).toBe(1);
  const patch = (id: string) => send(server, 'PATCH', `${things}/a`, `{"spec":{"id":${id}}}`, merge);
  expect(generationOf(await patch(large))).toBe(1);
  expect(generationOf(await patch('9007199254740992'))).toBe(2);
});

test('they are held to the schema, and to the type of a field', async () => {
  await using server = await start();
  expect(await send(server, 'POST', things, thing(`{"id":-${large}}`))).toContain(
    'should be greater than or equal to 1',
  );
  expect(await send(server, 'POST', things, thing(`{"text":${large}}`))).toContain(
    'must be of type string: \\"integer\\"',
  );
  const job = (spec: string) =>
    `{"metadata":{"name":"j"},"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}},${spec}}}`;
  expect(await send(server, 'POST', jobs, job(`"parallelism":${large}`))).toContain(
    `cannot unmarshal number ${large} into Go struct field JobSpec.spec.parallelism of type int32`,
  );
  expect(await send(server, 'POST', jobs, job(`"activeDeadlineSeconds":${large}`))).toContain(
    `"activeDeadlineSeconds":${large}`,
  );
});
