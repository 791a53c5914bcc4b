import { Buffer } from 'node:buffer';
import type { JsonObject, KubeObject } from 'riata/object';
import { describe, expect, test } from 'vitest';
import { ApiServer } from '../../api-server.js';
import { VersionSchemas } from './version-schemas.js';

const group = 'example.com';
const text = { type: 'string' };

function version(name: string, properties: object, storage: boolean) {
  const spec = { type: 'object', properties };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const selectable = name === 'v1' ? { selectableFields: [{ jsonPath: '.spec.a' }] } : {};
  return { name, served: true, storage, schema, ...selectable };
}

function schemas(v1: object, v2: object): VersionSchemas {
  const spec = { group, versions: [version('v1', v1, true), version('v2', v2, false)] };
  return new VersionSchemas(spec as unknown as JsonObject, `${group}/v1`);
}

const stored = (spec: object, apiVersion = `${group}/v1`) =>
  ({ apiVersion, kind: 'Widget', metadata: { name: 'w' }, spec }) as unknown as KubeObject;

describe('a stored object in a version', () => {
  test('is the same object if the schema changes nothing', () => {
    const object = stored({ a: 'x' });
    const both = schemas({ a: text }, { a: text });
    expect(both.reader(`${group}/v1`)(object)).toBe(object);
    expect(both.reader(`${group}/v2`)(object)).toBe(object);
  });

  test('has the defaults of its stored version', () => {
    const both = schemas({ a: { ...text, default: 'one' } }, { a: text, b: { ...text, default: 'two' } });
    const show = (apiVersion: string, from: string) =>
      both.reader(`${group}/${apiVersion}`)(stored({}, `${group}/${from}`));
    expect(show('v1', 'v1')).toMatchObject({ spec: { a: 'one' } });
    expect(show('v2', 'v1')).toHaveProperty('spec', { a: 'one' });
    expect(show('v2', 'v2')).toHaveProperty('spec', { b: 'two' });
    expect(show('v1', 'v2')).toHaveProperty('spec', {});
  });

  test('lacks fields that either version does not have', () => {
    const both = schemas({ a: text, one: text }, { a: text, two: text });
    const object = stored({ a: 'x', one: '1', two: '2', more: { gone: true } });
    expect(both.reader(`${group}/v1`)(object)).toHaveProperty('spec', { a: 'x', one: '1' });
    expect(both.reader(`${group}/v2`)(object)).toHaveProperty('spec', { a: 'x' });
  });

  test('is computed once', () => {
    const read = schemas({ a: { ...text, default: 'one' } }, {}).reader(`${group}/v1`);
    const object = stored({});
    expect(read(object)).toBe(read(object));
  });
});

test('stores only fields of the storage version', () => {
  const both = schemas({ a: text, b: { ...text, default: 'later' } }, { a: text, two: text });
  const sent = { apiVersion: `${group}/v2`, kind: 'Widget', metadata: { name: 'w' }, spec: { a: 'x', two: '2' } };
  expect(both.writer(`${group}/v2`)(sent)).toHaveProperty('spec', { a: 'x' });
  expect(both.writer(`${group}/v1`)(sent)).toBe(sent);
});

describe('a definition that changes while objects exist', () => {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const widgets = `/apis/${group}/v1/namespaces/default/widgets`;
  const definition = (v1: object, v2: object, storage = 'v1') => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `widgets.${group}` },
    spec: {
      ...{ group, scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' } },
      versions: [version('v1', v1, storage === 'v1'), version('v2', v2, storage === 'v2')],
    },
  });

  async function play() {
    const server = await ApiServer.start();
    const { url } = await server.listen({ tls: false });
    const ask = async (method: string, path: string, body?: unknown) => {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const headers = { authorization: `Bearer ${server.token}`, 'content-type': type };
      const answer = await fetch(url + path, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
      });
      // For a watch, take the first event.
      const reader = answer.body?.getReader();
      let said = '';
      for (let end = false; !end; ) {
        const { value, done } = (await reader?.read()) ?? { done: true };
        said += Buffer.from(value ?? []).toString();
        end = done || (path.includes('watch=') && said.endsWith('\n'));
      }
      await reader?.cancel();
      if (answer.status >= 400) throw new Error(`${method} ${path}: ${said}`);
      // biome-ignore lint/suspicious/noExplicitAny: the test reads arbitrary fields
      return { status: answer.status, warning: answer.headers.get('warning'), body: JSON.parse(said) as any };
    };
    return { ask, [Symbol.asyncDispose]: () => server.stop() };
  }

  test('get, list, watch and selectors show a default that was added later', async () => {
    await using served = await play();
    const { ask } = served;
    const watch = `${widgets}?watch=1`;
    await ask('POST', definitions, definition({ a: text }, { a: text, two: text }));
    await ask('POST', widgets, stored({}));
    expect((await ask('GET', watch)).body).toMatchObject({ type: 'ADDED', object: { spec: {} } });
    const changed = definition({ a: { ...text, default: 'new' } }, { a: text, two: text });
    expect((await ask('PATCH', `${definitions}/widgets.${group}`, { spec: changed.spec })).status).toBe(200);
    expect((await ask('GET', `${widgets}/w`)).body.spec).toEqual({ a: 'new' });
    expect((await ask('GET', widgets)).body.items).toMatchObject([{ spec: { a: 'new' } }]);
    expect((await ask('GET', `${widgets}?fieldSelector=spec.a%3Dnew`)).body.items).toHaveLength(1);
    expect((await ask('GET', watch)).body).toMatchObject({ type: 'ADDED', object: { spec: { a: 'new' } } });
  });

  test('a no-op write stores the new defaults, once', async () => {
    await using served = await play();
    const { ask } = served;
    await ask('POST', definitions, definition({ a: text }, { a: text, two: text }));
    const { body: first } = await ask('POST', widgets, stored({}));
    await ask('PATCH', `${definitions}/widgets.${group}`, {
      spec: definition({ a: { ...text, default: 'new' } }, { a: text, two: text }).spec,
    });
    const { body: second } = await ask('PATCH', `${widgets}/w`, {});
    const { body: third } = await ask('PATCH', `${widgets}/w`, {});
    expect(second.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion);
    expect(second.metadata.generation).toBe(1);
    expect(third.metadata.resourceVersion).toBe(second.metadata.resourceVersion);
  });

  test('a patch through a version that lacks a stored field does not warn about it', async () => {
    await using served = await play();
    const { ask } = served;
    await ask('POST', definitions, definition({ a: text, only: text }, { a: text }));
    await ask('POST', widgets, stored({ only: 'v1' }));
    const path = `${widgets.replace('/v1/', '/v2/')}/w`;
    expect((await ask('GET', path)).body.spec).toEqual({});
    const { status, warning } = await ask('PATCH', `${path}?fieldValidation=Strict`, {
      metadata: { labels: { l: 'x' } },
    });
    expect({ status, warning }).toEqual({ status: 200, warning: null });
  });
});
