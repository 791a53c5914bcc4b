import { createClient } from 'riata';
import { CustomResourceDefinition, Namespace } from 'riata/kinds';
import type { JsonObject, KubeObject } from 'riata/object';
import { type MemoryLogger, memoryLogger, seededRandom, VirtualClock } from 'riata/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiServer } from '../../api-server.js';

const hookUrl = 'https://hooks.default.svc/convert';

interface Review {
  readonly apiVersion: string;
  readonly kind: string;
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: JsonObject[] };
}

let clock: VirtualClock;
let log: MemoryLogger;
let server: ApiServer;
/** The names of the objects in each review that the webhook got. */
let sent: string[][];
let broken: boolean;

/** v1 has `spec.size`, v2 has `spec.big`. */
function convert({ spec, ...rest }: JsonObject, apiVersion: string): JsonObject {
  const { size, big, ...others } = (spec ?? {}) as JsonObject;
  const changed = apiVersion.endsWith('v2') ? { big: size ?? '' } : { size: big ?? '' };
  return { ...rest, apiVersion, spec: { ...others, ...changed } };
}

async function answer(request: Request): Promise<Response> {
  const { apiVersion, kind, request: asked } = (await request.json()) as Review;
  sent.push(asked.objects.map(({ metadata }) => String((metadata as JsonObject).name)));
  if (broken) return new Response('out of order', { status: 500 });
  const convertedObjects = asked.objects.map((one) => convert(one, asked.desiredAPIVersion));
  return Response.json({
    apiVersion,
    kind,
    response: { uid: asked.uid, result: { status: 'Success' }, convertedObjects },
  });
}

function definition(storage: string) {
  const text = { type: 'string' };
  const version = (name: string, field: string) => ({
    ...{ name, served: true, storage: name === storage, selectableFields: [{ jsonPath: `.spec.${field}` }] },
    schema: {
      openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { [field]: text } } } },
    },
  });
  return CustomResourceDefinition({
    metadata: { name: 'things.example.com' },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'things', kind: 'Thing' } },
      versions: [version('v1', 'size'), version('v2', 'big')],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { service: { namespace: 'default', name: 'hooks', path: '/convert' } },
        },
      },
    },
  });
}

const thing = (version: string, name: string, spec: object, more: object = {}): KubeObject =>
  ({ apiVersion: `example.com/${version}`, kind: 'Thing', metadata: { name, ...more }, spec }) as unknown as KubeObject;

beforeEach(async () => {
  [clock, log, sent, broken] = [new VirtualClock(), memoryLogger(), [], false];
  server = await ApiServer.start({ clock, log, random: seededRandom('conversion') });
  server.handle(hookUrl, answer);
  await using client = createClient(server.config);
  await client.create(definition('v1'));
});

afterEach(async () => {
  await server.stop();
  expect(log.records.filter(({ level }) => level === 'error')).toEqual([]);
});

/** A raw request, for details that typed clients hide. */
async function ask(method: string, path: string, body?: unknown, type = 'application/json') {
  const done = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    let [status, text] = [0, ''];
    server.transport.dispatch(
      {
        method,
        path: path.startsWith('/') ? path : `/apis/example.com/${path}`,
        headers: { authorization: `Bearer ${server.token}`, 'content-type': type },
        ...(body === undefined ? {} : { body: Buffer.from(JSON.stringify(body)) }),
      },
      {
        onHeaders: (code) => {
          status = code;
        },
        onData: (piece) => {
          text += Buffer.from(piece).toString();
        },
        onEnd: () => resolve({ status, text }),
        onError: reject,
      },
    );
  });
  return { status: done.status, body: JSON.parse(done.text) };
}

const at = (version: string, rest = '') => `${version}/namespaces/default/things${rest}`;

test('a list is converted with one review, and only once for all lists', async () => {
  for (const name of ['a', 'b', 'c']) await ask('POST', at('v1'), thing('v1', name, { size: name }));
  expect(sent).toEqual([]);
  const specs = async () => (await ask('GET', at('v2'))).body.items.map(({ spec }: JsonObject) => spec);
  expect(await specs()).toEqual([{ big: 'a' }, { big: 'b' }, { big: 'c' }]);
  expect(await specs()).toEqual([{ big: 'a' }, { big: 'b' }, { big: 'c' }]);
  await ask('PATCH', at('v1', '/b'), { spec: { size: 'bb' } }, 'application/merge-patch+json');
  expect((await ask('GET', at('v2', '?fieldSelector=spec.big%3Dbb'))).body.items).toHaveLength(1);
  expect(sent).toEqual([['a', 'b', 'c'], ['b']]);
});

test('an object is converted on each read, and to and from storage on a write', async () => {
  await ask('POST', at('v1'), thing('v1', 'a', { size: 'x' }));
  await ask('GET', at('v2', '/a'));
  await ask('GET', at('v2', '/a'));
  expect(sent).toEqual([['a'], ['a']]);
  sent = [];
  const made = await ask('POST', at('v2'), thing('v2', 'b', { big: 'y' }));
  expect([made.status, made.body.spec, sent]).toEqual([201, { big: 'y' }, [['b'], ['b']]]);
});

test('a watch delivers converted objects in order, the initial ones with one review', async () => {
  await ask('POST', at('v1'), thing('v1', 'a', { size: '1' }));
  await ask('POST', at('v1'), thing('v1', 'b', { size: '2' }));
  const received: string[] = [];
  let ended = false;
  let rest = '';
  server.transport.dispatch(
    {
      method: 'GET',
      path: `/apis/example.com/${at('v2', '?watch=true')}`,
      headers: { authorization: `Bearer ${server.token}` },
    },
    {
      onHeaders: () => {},
      onData: (piece) => {
        rest += Buffer.from(piece).toString();
        const lines = rest.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const {
            type,
            object: { metadata, spec },
          } = JSON.parse(line);
          received.push(`${type} ${metadata.name} ${JSON.stringify(spec)}`);
        }
      },
      onEnd: () => {
        ended = true;
      },
      onError: () => {},
    },
  );
  const until = async (count: number) => {
    while (received.length < count) await clock.settle();
  };
  await until(2);
  await ask('PATCH', at('v1', '/a'), { spec: { size: '3' } }, 'application/merge-patch+json');
  await ask('DELETE', at('v1', '/b'));
  await ask('POST', at('v2'), thing('v2', 'c', { big: '4' }));
  await until(5);
  expect(received).toEqual([
    'ADDED a {"big":"1"}',
    'ADDED b {"big":"2"}',
    'MODIFIED a {"big":"3"}',
    'DELETED b {"big":"2"}',
    'ADDED c {"big":"4"}',
  ]);
  expect(sent[0]).toEqual(['a', 'b']);
  broken = true;
  await ask('PATCH', at('v1', '/a'), { spec: { size: '5' } }, 'application/merge-patch+json');
  while (!ended) await clock.settle();
  expect(log.records).toMatchObject([{ level: 'warn', message: 'watch ended, conversion failed' }]);
});

test('a failing webhook is reported, and objects that it cannot convert are neither changed nor deleted', async () => {
  await ask('POST', at('v1'), thing('v1', 'a', { size: 'x' }));
  broken = true;
  const message =
    'conversion webhook for example.com/v1, Kind=Thing failed: an error on the server ("out of order") has prevented ' +
    'the request from succeeding';
  const answers = [
    await ask('GET', at('v2')),
    await ask('GET', at('v2', '/a')),
    await ask('PATCH', at('v2', '/a'), { spec: { big: 'y' } }, 'application/merge-patch+json'),
    await ask('DELETE', at('v2', '/a')),
    await ask('DELETE', at('v2')),
  ];
  expect(answers.map(({ status, body }) => [status, body.message])).toEqual(answers.map(() => [500, message]));
  expect((await ask('GET', at('v1', '/a'))).body.spec).toEqual({ size: 'x' });
});

test('garbage collection and deletion of namespaces and definitions need no webhook', async () => {
  await using client = createClient(server.config);
  await client.create(Namespace({ metadata: { name: 'other' } }));
  const owner = await ask('POST', at('v1'), thing('v1', 'owner', { size: 'x' }));
  const { uid } = owner.body.metadata;
  const ownerReferences = [
    { apiVersion: 'example.com/v2', kind: 'Thing', name: 'owner', uid, blockOwnerDeletion: true },
  ];
  await ask('POST', at('v1'), thing('v1', 'owned', { size: 'x' }, { ownerReferences }));
  await ask('POST', 'v1/namespaces/other/things', thing('v1', 'a', { size: 'x' }));
  await client.apply(definition('v2'), { fieldManager: 'me', force: true });
  broken = true;
  sent = [];
  await ask('DELETE', at('v1', '/owner'), { propagationPolicy: 'Foreground' }).then(({ status }) =>
    expect(status).toBe(500),
  );
  broken = false;
  await ask('DELETE', at('v1', '/owner'), { propagationPolicy: 'Foreground' }).then(({ status }) =>
    expect(status).toBe(200),
  );
  broken = true;
  await client.delete(Namespace, { name: 'other' });
  await server.idle();
  expect((await ask('GET', 'v1/things')).body.items).toEqual([]);
  expect((await ask('GET', '/api/v1/namespaces/other')).status).toBe(404);
});

test('writes after a change of the storage version use the new one', async () => {
  await ask('POST', at('v1'), thing('v1', 'a', { size: 'x' }));
  await using client = createClient(server.config);
  const changed = await client.apply(definition('v2'), { fieldManager: 'me', force: true });
  expect(changed.status?.storedVersions).toEqual(['v1', 'v2']);
  sent = [];
  expect((await ask('GET', at('v1', '/a'))).body.spec).toEqual({ size: 'x' });
  expect(sent).toEqual([]);
  // A no-op patch writes the object in the new version.
  const before = (await ask('GET', at('v1', '/a'))).body.metadata.resourceVersion;
  const after = (await ask('PATCH', at('v1', '/a'), {}, 'application/merge-patch+json')).body.metadata.resourceVersion;
  expect(after).not.toBe(before);
  sent = [];
  expect((await ask('GET', at('v2', '/a'))).body.spec).toEqual({ big: 'x' });
  expect(sent).toEqual([]);
});
