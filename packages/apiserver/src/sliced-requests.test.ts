import { Buffer } from 'node:buffer';
import { type Scheduler, silentLogger, VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from './api-server.js';

/** A virtual clock on which every look at it takes a millisecond, so that work is interrupted by what it does. */
function busyClock(): Scheduler & { readonly turns: number } {
  const base = new VirtualClock();
  let [looks, turns] = [0, 0];
  return {
    now: () => base.now(),
    monotonic: () => base.monotonic() + ++looks,
    after: (ms, fn, options) => base.after(ms, fn, options),
    sleep: (ms, options) => base.sleep(ms, options),
    yield: () => {
      turns += 1;
      return base.yield();
    },
    get turns() {
      return turns;
    },
  };
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const widgets = '/apis/example.com/v1/namespaces/default/widgets';
const configMaps = '/api/v1/namespaces/default/configmaps';

async function start() {
  const clock = busyClock();
  const server = await ApiServer.start({ clock, log: silentLogger, token: 't' });
  /** Requests in the order in which they were answered. */
  const answered: string[] = [];
  const send = (method: string, path: string, body?: object) =>
    new Promise<{ readonly status: number; readonly body: string }>((resolve, reject) => {
      const parts: Uint8Array[] = [];
      let status = 0;
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const headers = { authorization: 'Bearer t', 'content-type': type };
      server.transport.dispatch(
        { method, path, headers, ...(body && { body: JSON.stringify(body) }) },
        {
          onHeaders: (code) => {
            status = code;
          },
          onData: (chunk) => parts.push(chunk),
          onEnd: () => {
            answered.push(`${method} ${path}`);
            resolve({ status, body: Buffer.concat(parts).toString() });
          },
          onError: reject,
        },
      );
    });
  return { clock, answered, send, [Symbol.asyncDispose]: () => server.stop() };
}

/** Widgets whose `spec.s` has so many rules. */
function definition(rules: number) {
  const validations = Array.from({ length: rules }, (_, i) => ({ rule: `self != "${i}"` }));
  const s = { type: 'string', maxLength: 10, 'x-kubernetes-validations': validations };
  const text = { type: 'string', maxLength: 10 };
  const spec = { type: 'object', properties: { s, t: text, u: text } };
  return {
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: 'widgets.example.com' },
    spec: {
      ...{ group: 'example.com', scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' } },
      versions: [
        {
          ...{ name: 'v1', served: true, storage: true },
          schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
        },
      ],
    },
  };
}

const widget = (name: string, spec: object = {}) => ({
  ...{ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } },
  spec: { s: 'x', ...spec },
});

test('others are served while a definition with many rules is checked', async () => {
  await using at = await start();
  await at.send('POST', configMaps, { metadata: { name: 'first' } });
  at.answered.length = 0;
  const { turns } = at.clock;
  const slow = at.send('POST', definitions, definition(100));
  await at.send('GET', `${configMaps}/first`);
  expect((await slow).status).toBe(201);
  expect(at.answered).toEqual([`GET ${configMaps}/first`, `POST ${definitions}`]);
  expect(at.clock.turns - turns).toBeGreaterThan(50);
});

test('others are served while the rules of an object are compiled and evaluated', async () => {
  await using at = await start();
  await at.send('POST', definitions, definition(100));
  for (const name of ['compiles', 'evaluates']) {
    at.answered.length = 0;
    const { turns } = at.clock;
    const slow = at.send('POST', widgets, widget(name));
    await at.send('GET', widgets);
    expect((await slow).status).toBe(201);
    expect(at.answered).toEqual([`GET ${widgets}`, `POST ${widgets}`]);
    expect(at.clock.turns - turns).toBeGreaterThan(10);
  }
});

test('others are served while many labels are read and checked', async () => {
  await using at = await start();
  await at.send('POST', configMaps, { metadata: { name: 'first' } });
  at.answered.length = 0;
  const { turns } = at.clock;
  const labels = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`-${i}`, '']));
  const slow = at.send('POST', configMaps, { metadata: { name: 'x', labels } });
  await at.send('GET', `${configMaps}/first`);
  expect((await slow).status).toBe(422);
  expect(at.answered).toEqual([`GET ${configMaps}/first`, `POST ${configMaps}`]);
  expect(at.clock.turns - turns).toBeGreaterThan(20);
});

test('long maps and lists are stored as they are, and wrong fields in them are refused as ever', async () => {
  await using at = await start();
  const data = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`k${(i * 7919) % 3_000}`, `v${i}`]));
  const { status, body } = await at.send('POST', configMaps, { metadata: { name: 'long' }, data });
  expect(status).toBe(201);
  const stored = (JSON.parse(body) as { data: object }).data;
  expect(stored).toEqual(data);
  expect(Object.keys(stored)).toEqual(Object.keys(data).sort());
  const odd = await at.send('POST', configMaps, {
    metadata: { name: 'odd' },
    data: { ...data, k1: 1 },
    immutable: 'x',
  });
  expect([odd.status, JSON.parse(odd.body).message]).toEqual([
    400,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
  ]);
  const env = Array.from({ length: 2_000 }, (_, i) => ({ name: `E${i}`, value: String(i) }));
  const pod = (more: object) => ({
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i', env: [...env, more] }] },
  });
  const path = '/api/v1/namespaces/default/pods';
  const unknown = await at.send('POST', `${path}?fieldValidation=Strict`, pod({ name: 'X', valu: '' }));
  expect(unknown.body).toContain('unknown field \\"spec.containers[0].env[2000].valu\\"');
  const made = await at.send('POST', path, pod({ name: 'X', value: '' }));
  expect((JSON.parse(made.body) as ReturnType<typeof pod>).spec.containers[0]?.env).toEqual([...env, { name: 'X' }]);
});

test('two patches whose rules take long both apply', async () => {
  await using at = await start();
  await at.send('POST', definitions, definition(50));
  await at.send('POST', widgets, widget('w'));
  const patch = (spec: object) => at.send('PATCH', `${widgets}/w`, { spec });
  const answers = await Promise.all([patch({ t: '1' }), patch({ u: '2' })]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  const { body } = await at.send('GET', `${widgets}/w`);
  expect((JSON.parse(body) as { spec: object }).spec).toEqual({ s: 'x', t: '1', u: '2' });
});

test('an object whose definition goes while it is checked is refused', async () => {
  await using at = await start();
  await at.send('POST', definitions, definition(200));
  const slow = at.send('POST', widgets, widget('w'));
  await at.send('DELETE', `${definitions}/widgets.example.com`);
  const { status } = await slow;
  expect([403, 404]).toContain(status);
  await at.send('POST', definitions, definition(0));
  const { body } = await at.send('GET', widgets);
  expect((JSON.parse(body) as { items: unknown[] }).items).toEqual([]);
});
