import type { TestEnvironment } from '@riata/testing';
import { edit, isLossyObjectError, lossOf } from 'riata/object';
import { isInvalid, isUnsupportedMediaType } from 'riata/rest';
import { beforeAll, expect, test } from 'vitest';
import { installKind, type WidgetKind } from './custom-kind.js';
import { describeServers, rejection } from './servers.js';

describeServers('custom resources', (server) => {
  let Widget: WidgetKind;
  /** Installing a kind takes seconds: all tests share one that takes any field. */
  beforeAll(async () => {
    Widget = await installKind(server());
    server().keep();
  });

  test('unknown fields and their order survive reading and writing', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const spec = { z: 1, a: { y: [{ q: true, b: null }], c: '' }, m: 'ä€"' };
    await client.create(Widget({ metadata: { namespace, name: 'a' }, spec }));
    const read = await client.get(Widget, { namespace, name: 'a' });
    expect(read.spec).toEqual(spec);
    const [listed] = (await client.list(Widget, { namespace })).items;
    expect(JSON.stringify(listed)).toBe(JSON.stringify(read));
    const raw = new TextDecoder().decode(await bytesOf(server(), Widget, namespace));
    expect(raw.trim()).toBe(JSON.stringify(read));
    const updated = await client.update(
      edit(read, (draft) => {
        draft.spec = { ...draft.spec, m: 'n' };
      }),
    );
    expect(Object.keys(updated.spec!)).toEqual(Object.keys(read.spec!));
    expect(updated.spec).toEqual({ ...spec, m: 'n' });
  });

  test('integers past 2^53: known, refused in an update, untouched by patch and apply', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const key = { namespace, name: 'big' };
    const big = '9007199254740993';
    const body = `{"apiVersion":"${Widget.apiVersion}","kind":"Widget","metadata":{"name":"big"},"spec":{"id":${big}}}`;
    const posted = await client.rest
      .post()
      .absPath('apis', Widget.group, 'v1', 'namespaces', namespace, 'widgets')
      .setHeader('content-type', 'application/json')
      .body(new TextEncoder().encode(body))
      .do();
    expect(posted.statusCode).toBe(201);

    const read = await client.get(Widget, key);
    const loss = { reasons: [{ reason: 'unsafe-integer', paths: ['spec.id'] }] };
    expect(lossOf(read)).toEqual(loss);
    const [listed] = (await client.list(Widget, { namespace })).items;
    expect(lossOf(listed!)).toEqual(loss);
    const changed = edit(read, (draft) => {
      draft.metadata.labels = { a: 'b' };
    });
    const refusal = await rejection(client.update(changed));
    expect(refusal).toSatisfy(isLossyObjectError);
    expect(refusal.message).toContain('spec.id');

    const patched = await client.patch(Widget, key, { type: 'merge', body: { spec: { more: 1 } } });
    expect(lossOf(patched)).toEqual(loss);
    await client.patch(Widget, key, { type: 'json', body: [{ op: 'add', path: '/spec/other', value: 2 }] });
    await client.applyFields(Widget, { metadata: key, spec: { applied: 3 } }, { fieldManager: 'me' });
    const raw = new TextDecoder().decode(await bytesOf(server(), Widget, namespace, 'big'));
    expect(raw).toContain(`"id":${big}`);
    expect(raw).toContain('"more":1');
    expect(raw).toContain('"other":2');
    expect(raw).toContain('"applied":3');

    await using watch = await client.watch(Widget, { namespace });
    for await (const event of watch) {
      expect(event).toMatchObject({ type: 'ADDED' });
      expect(lossOf(event.object)).toEqual(loss);
      break;
    }
  });

  test('a bigint in what is written reaches the server whole', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const id = 2n ** 62n;
    const made = await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: { id } }));
    expect(lossOf(made)).toBeDefined();
    expect(new TextDecoder().decode(await bytesOf(server(), Widget, namespace))).toContain(`"id":${id}`);
  });

  test('a strategic merge patch is refused clearly', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { metadata } = await client.create(Widget({ metadata: { namespace, name: 'a' } }));
    const error = await rejection(client.patch(Widget, metadata, { type: 'strategic', body: { spec: { a: 1 } } }));
    expect(error).toSatisfy(isUnsupportedMediaType);
    expect(error.message).toMatch(/unknown format.*application\/merge-patch\+json.*415 UnsupportedMediaType/);
  });

  test('an object of a kind that no scheme knows is placed by discovery', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const object = {
      apiVersion: Widget.apiVersion,
      kind: 'Widget',
      metadata: { namespace, name: 'a' },
      spec: { a: 1 },
    };
    const made = await client.create(object);
    const changed = await client.update({ ...made, spec: { a: 2 } });
    expect((await client.get(Widget, changed.metadata)).spec).toEqual({ a: 2 });
  });

  test('a schema: defaults, pruning, validation with causes', async () => {
    const { client } = server();
    const Widget = await installKind(server(), {
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              properties: {
                size: { type: 'integer', minimum: 1, default: 3 },
                color: { type: 'string', enum: ['red', 'blue'] },
              },
            },
          },
        },
      },
    });
    const namespace = await server().namespace();
    const made = await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: { color: 'red', other: 1 } }));
    expect(made.spec).toEqual({ size: 3, color: 'red' });
    const bad = await rejection(
      client.create(Widget({ metadata: { namespace, name: 'b' }, spec: { size: 0, color: 'green' } })),
    );
    expect(bad).toSatisfy(isInvalid);
    expect(bad).toMatchObject({
      causes: expect.arrayContaining([
        expect.objectContaining({ field: 'spec.size', reason: 'FieldValueInvalid' }),
        expect.objectContaining({ field: 'spec.color', reason: 'FieldValueNotSupported' }),
      ]),
    });
  });

  test('a rule in CEL', async () => {
    const { client } = server();
    const rules = [{ rule: "self.size < 10 || self.color == 'red'", message: 'big is red' }];
    const properties = { size: { type: 'integer' }, color: { type: 'string' } };
    const spec = { type: 'object', properties, 'x-kubernetes-validations': rules };
    const Widget = await installKind(server(), {
      schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
    });
    const namespace = await server().namespace();
    const bad = client.create(Widget({ metadata: { namespace, name: 'c' }, spec: { size: 11, color: 'blue' } }));
    await expect(bad).rejects.toThrow('big is red');
  });
});

function bytesOf(
  { client }: TestEnvironment,
  { group }: WidgetKind,
  namespace: string,
  name = 'a',
): Promise<Uint8Array> {
  return client.rest.get().absPath('apis', group, 'v1', 'namespaces', namespace, 'widgets', name).doRaw();
}
