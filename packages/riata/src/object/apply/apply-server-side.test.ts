import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../json.js';
import type { ManagedFieldsEntry } from '../meta.js';
import { type ApplyRequest, applyServerSide } from './apply-server-side.js';
import { conflictStatus } from './conflict-status.js';
import { excludeFields } from './fields/field-filter.js';
import { formatPath } from './fields/path-element.js';
import { trackUpdate } from './track-update.js';
import { mergeTypeFromSchema } from './typed/merge-type-from-schema.js';
import { toFieldSet } from './typed/to-field-set.js';
import { configSpec, widget, widgetType } from './widget.fixture.js';

const kind = { apiVersion: 'x.dev/v1', kind: 'Widget', type: widgetType };
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Without a spec, nothing of it is applied. */
const config = (spec: JsonObject | undefined): JsonObject => {
  const { spec: _, ...rest } = widget({});
  return spec === undefined ? rest : widget(spec);
};

/** A server with one object. */
class Store {
  live: JsonObject | undefined;
  #now = 0;

  apply(manager: string, spec: JsonObject | undefined, over: Partial<ApplyRequest> = {}): readonly string[] {
    const result = this.tryApply(manager, spec, over);
    if (result.conflicts) return (conflictStatus(result.conflicts).message ?? '').split('\n');
    this.#keep(result.object, result.managedFields);
    return [];
  }

  tryApply(manager: string, spec: JsonObject | undefined, over: Partial<ApplyRequest> = {}) {
    this.#now += 1000;
    return applyServerSide({ ...kind, live: this.live, config: config(spec), manager, now: this.#now, ...over });
  }

  update(manager: string, spec: JsonObject, metadata: JsonObject = {}): void {
    this.#now += 1000;
    const object = widget(spec, metadata);
    this.#keep(object, trackUpdate({ ...kind, live: this.live, object, manager, now: this.#now }));
  }

  #keep(object: JsonObject, managedFields: readonly ManagedFieldsEntry[] | undefined): void {
    const metadata = { ...(object.metadata as JsonObject), uid: 'u', managedFields: managedFields as never };
    this.live = { ...object, metadata };
  }

  get spec() {
    return this.live?.spec;
  }

  get entries(): readonly ManagedFieldsEntry[] {
    return (this.live?.metadata as { managedFields?: ManagedFieldsEntry[] } | undefined)?.managedFields ?? [];
  }

  /** What a manager owns of the spec, as JSON. */
  owned(manager: string): string | undefined {
    const fields = this.entries.find((entry) => entry.manager === manager)?.fieldsV1 as JsonObject | undefined;
    return fields && JSON.stringify(fields['f:spec']);
  }
}

describe('ownership', () => {
  test('the first apply creates, and owns what it names; names and versions are never owned', () => {
    const store = new Store();
    store.apply('ann', { replicas: 1, labels: { a: 'x' } });
    expect(store.entries).toEqual([
      {
        manager: 'ann',
        operation: 'Apply',
        apiVersion: 'x.dev/v1',
        time: '1970-01-01T00:00:01Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:labels': { 'f:a': {} }, 'f:replicas': {} } },
      },
    ]);
  });

  test('a different value is a conflict, the same value is shared', () => {
    const store = new Store();
    store.apply('ann', { replicas: 1 });
    expect(store.apply('bob', { replicas: 2 })).toEqual([
      'Apply failed with 1 conflict: conflict with "ann": .spec.replicas',
    ]);
    expect(store.apply('bob', { replicas: 1 })).toEqual([]);
    expect([store.owned('ann'), store.owned('bob')]).toEqual(['{"f:replicas":{}}', '{"f:replicas":{}}']);
    // Nothing changed, so the time is unknown.
    expect(store.entries.find(({ manager }) => manager === 'bob')?.time).toBeUndefined();
    expect(store.apply('cid', { replicas: 3 })).toEqual([
      'Apply failed with 2 conflicts: conflicts with "ann":',
      '- .spec.replicas',
      'conflicts with "bob":',
      '- .spec.replicas',
    ]);
  });

  test('force takes the field from all others', () => {
    const store = new Store();
    store.apply('ann', { replicas: 1, paused: true });
    store.apply('bob', { replicas: 1 });
    expect(store.apply('cid', { replicas: 3 }, { force: true })).toEqual([]);
    expect(store.spec).toEqual({ replicas: 3, paused: true });
    expect(store.entries.map(({ manager }) => manager)).toEqual(['ann', 'cid']);
    expect(store.owned('ann')).toBe('{"f:paused":{}}');
  });

  test('an update takes fields without asking, and conflicts name it with its version', () => {
    const store = new Store();
    store.apply('ann', { replicas: 1, paused: true });
    store.update('una', { replicas: 2, paused: true });
    expect(store.owned('ann')).toBe('{"f:paused":{}}');
    expect(store.owned('una')).toBe('{"f:replicas":{}}');
    expect(store.apply('ann', { replicas: 1, paused: true })).toEqual([
      'Apply failed with 1 conflict: conflict with "una" using x.dev/v1: .spec.replicas',
    ]);
  });

  test('giving a field up leaves it to those who share it', () => {
    const store = new Store();
    store.apply('ann', { replicas: 1, paused: true });
    store.apply('bob', { replicas: 1 });
    store.apply('ann', { paused: true });
    expect(store.spec).toEqual({ replicas: 1, paused: true });
    store.apply('bob', undefined);
    expect(store.spec).toEqual({ paused: true });
    expect(store.owned('bob')).toBeUndefined();
  });

  test('fields without another owner are removed when they are no longer applied: leaves, keys, items and emptied parents', () => {
    const store = new Store();
    store.apply('ann', {
      list: ['a'],
      set: ['a', 'b'],
      labels: { a: 'x' },
      ports: [{ port: 1, name: 'a', tags: ['t'] }, { port: 2 }],
      free: { a: { b: 1 } },
    });
    store.apply('bob', { set: ['c'], ports: [{ port: 1, tags: ['u'] }] });
    store.apply('ann', { set: ['b'] });
    expect(store.spec).toEqual({ set: ['b', 'c'], ports: [{ port: 1, tags: ['u'] }] });
    store.apply('bob', undefined);
    store.apply('ann', undefined);
    expect(store.spec).toBeUndefined();
    expect(store.entries).toEqual([]);
  });

  test('fields without an owner stay, but go with a parent of which no part has an owner any more', () => {
    const store = new Store();
    store.apply('ann', { set: ['a'], labels: { a: 'x' }, ports: [{ port: 1 }] });
    store.apply('bob', { paused: true, ports: [{ port: 2 }] });
    const ports = [{ port: 1, name: 'x' }, { port: 2 }, { port: 3 }];
    store.live = {
      ...store.live,
      spec: { replicas: 1, paused: true, set: ['a', 'b'], labels: { a: 'x', b: 'y' }, ports },
    };
    store.apply('ann', undefined);
    expect(store.spec).toEqual({ replicas: 1, paused: true, ports: [{ port: 2 }, { port: 3 }] });
  });

  test('what is applied empty and was full before is null', () => {
    const store = new Store();
    store.apply('ann', { labels: { a: 'x' } });
    store.apply('ann', { labels: {} });
    expect(store.spec).toEqual({ labels: null });
  });

  test('an atomic list is owned as one', () => {
    const store = new Store();
    store.apply('ann', { list: ['a'], selector: { a: 'x' } });
    expect(store.apply('bob', { list: ['a', 'b'], selector: { a: 'x', b: 'y' } })).toHaveLength(3);
    store.apply('bob', { list: ['b'] }, { force: true });
    expect(store.spec).toEqual({ list: ['b'], selector: { a: 'x' } });
  });
});

test('the same again changes nothing', () => {
  fc.assert(
    fc.property(configSpec, configSpec, (a, b) => {
      const store = new Store();
      store.apply('ann', a);
      store.apply('bob', b, { force: true });
      const { live } = store;
      expect(store.apply('bob', b)).toEqual([]);
      expect(store.live).toEqual(live);
    }),
  );
});

test('who applies alone gets exactly what is applied', () => {
  fc.assert(
    fc.property(configSpec, configSpec, (a, b) => {
      const [one, two] = [new Store(), new Store()];
      one.apply('ann', a);
      one.apply('ann', b);
      two.apply('ann', b);
      expect(one.owned('ann')).toBe(two.owned('ann'));
      expect(fieldsOf(one.spec)).toEqual(fieldsOf(two.spec));
    }),
  );
});

/** In no order, and an empty list, an empty map and null the same. */
function fieldsOf(spec: Json | undefined): string[] {
  const set = toFieldSet({ spec: spec ?? null }, widgetType);
  return [...set.paths()].map(formatPath).filter((path) => path !== '.spec');
}

describe('objects without tracked ownership', () => {
  const untracked = { ...widget({ replicas: 1, paused: true }), metadata: { name: 'w', uid: 'u' } };

  test('what is there belongs to before-first-apply', () => {
    const store = new Store();
    store.live = untracked;
    expect(store.apply('ann', { replicas: 2 })).toEqual([
      'Apply failed with 1 conflict: conflict with "before-first-apply" using x.dev/v1: .spec.replicas',
    ]);
    store.apply('ann', { replicas: 2 }, { force: true });
    expect(store.entries.map(({ manager, operation }) => [manager, operation])).toEqual([
      ['ann', 'Apply'],
      ['before-first-apply', 'Update'],
    ]);
    expect(store.owned('before-first-apply')).toBe('{".":{},"f:paused":{}}');
  });

  test('kubectl takes over unchanged fields of its client-side apply', () => {
    const store = new Store();
    const annotations = { [lastApplied]: JSON.stringify(widget({ replicas: 1, paused: false })) };
    store.live = { ...untracked, metadata: { name: 'w', uid: 'u', annotations } };
    expect(store.apply('ann', { replicas: 2 })).toHaveLength(1);
    expect(store.apply('kubectl', { replicas: 2, paused: false })).toEqual([
      'Apply failed with 1 conflict: conflict with "before-first-apply" using x.dev/v1: .spec.paused',
    ]);
    expect(store.apply('kubectl', { replicas: 2 })).toEqual([]);
    expect(store.spec).toEqual({ replicas: 2, paused: true });
    const kept = (store.live.metadata as { annotations: Record<string, string> }).annotations[lastApplied];
    expect(kept).toBe('{"apiVersion":"x.dev/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"replicas":2}}\n');
  });

  test('an annotation that is no configuration, or too large, is no help', () => {
    for (const text of ['{', '[]', '{"apiVersion":"x.dev/v2","kind":"Widget"}', '']) {
      const store = new Store();
      store.live = { ...untracked, metadata: { name: 'w', uid: 'u', annotations: { [lastApplied]: text } } };
      expect(store.apply('kubectl', { replicas: 2 })).toHaveLength(1);
    }
    const store = new Store();
    store.live = { ...untracked, metadata: { name: 'w', uid: 'u', annotations: { [lastApplied]: '{}' } } };
    const { object } = store.tryApply('kubectl', { replicas: 1, labels: { a: 'x'.repeat(300_000) } });
    expect(object).toMatchObject({ metadata: { annotations: {} } });
    expect(JSON.stringify(object)).not.toContain(lastApplied);
  });
});

describe('fields that a write does not reach', () => {
  test('are merged but not owned', () => {
    const store = new Store();
    const config = { ...widget({ replicas: 1 }), status: { phase: 'x' } };
    store.apply('ann', {}, { config, resetFields: excludeFields(['status']) });
    expect(store.entries[0]?.fieldsV1).toEqual({ 'f:spec': { 'f:replicas': {} } });
  });

  test('the status is a field set of its own', () => {
    const store = new Store();
    store.apply('ann', { replicas: 1 }, { resetFields: excludeFields(['status']) });
    const status = { subresource: 'status', resetFields: excludeFields(['spec'], ['metadata']) };
    store.apply('ann', {}, { ...status, config: { ...widget({ replicas: 2 }), status: { phase: 'x' } } });
    expect(store.entries.map(({ subresource, fieldsV1 }) => [subresource, Object.keys(fieldsV1 ?? {})])).toEqual([
      [undefined, ['f:spec']],
      ['status', ['f:status']],
    ]);
  });
});

describe('versions', () => {
  const v2 = { ...kind, apiVersion: 'x.dev/v2' };
  const inV2 = (live: JsonObject | undefined) => live && { ...live, apiVersion: 'x.dev/v2' };

  test('an applier keeps one entry, in the version it applied last', () => {
    const store = new Store();
    store.apply('ann', { replicas: 1, labels: { a: 'x', b: 'y' } });
    const config = { ...widget({ labels: { a: 'x' } }), apiVersion: 'x.dev/v2' };
    store.apply('ann', {}, { ...v2, live: inV2(store.live) as JsonObject, config });
    expect(store.spec).toEqual({ labels: { a: 'x' } });
    expect(store.entries.map(({ apiVersion }) => apiVersion)).toEqual(['x.dev/v2']);
  });

  test('fields are found under their names of another version', () => {
    const { properties } = { properties: { count: { type: 'integer' } } };
    const type = mergeTypeFromSchema({
      type: 'object',
      properties: { spec: { type: 'object', properties } },
      additionalProperties: true,
    });
    const rename = (object: JsonObject): JsonObject => {
      const { replicas } = object.spec as JsonObject;
      return {
        ...object,
        apiVersion: 'x.dev/v2',
        spec: replicas === undefined ? {} : { count: replicas },
      } as JsonObject;
    };
    const store = new Store();
    store.apply('ann', { replicas: 1 });
    const entry = {
      ...store.entries[0],
      manager: 'bob',
      apiVersion: 'x.dev/v2',
      fieldsV1: { 'f:spec': { 'f:count': {} } },
    };
    store.live = {
      ...store.live,
      metadata: { ...(store.live?.metadata as JsonObject), managedFields: [entry] as never },
    };
    const versions = (apiVersion: string) => (apiVersion === 'x.dev/v2' ? { type, convert: rename } : undefined);
    expect(store.apply('ann', { replicas: 2 }, { versions })).toEqual([
      'Apply failed with 1 conflict: conflict with "bob": .spec.count',
    ]);
    expect(store.apply('ann', { replicas: 2 }, { versions: () => undefined })).toEqual([]);
    expect(store.entries.map(({ manager }) => manager)).toEqual(['ann']);
  });
});

describe('an invalid configuration', () => {
  const refused = (config: JsonObject, live?: JsonObject) => {
    try {
      new Store().tryApply('ann', {}, { config, live });
    } catch (error) {
      return error;
    }
    return undefined;
  };
  test.each<[JsonObject, number, string]>([
    [{ ...widget({}), kind: 'Other' }, 400, 'invalid object type: x.dev/v1, Kind=Other'],
    [{ ...widget({}), apiVersion: 'a/b/c' }, 400, 'invalid object type: /, Kind=Widget'],
    [widget({}, { managedFields: [] }), 400, 'metadata.managedFields must be nil'],
    [
      widget({ x: 1 }),
      500,
      'failed to create typed patch object (/w; x.dev/v1, Kind=Widget): .spec.x: field not declared in schema',
    ],
    [
      widget({ set: ['a', 'a'] }, { namespace: 'n' }),
      500,
      'failed to create typed patch object (n/w; x.dev/v1, Kind=Widget): .spec.set: duplicate entries for key [="a"]',
    ],
  ])('%j', (config, code, message) => {
    expect(refused(config)).toMatchObject({ name: 'ApplyError', code, message });
  });

  test('entries that cannot be read', () => {
    const live = widget({}, { managedFields: [{ operation: 'x' }] });
    expect(refused(widget({}), live)).toMatchObject({
      code: 500,
      message: 'failed to decode managed fields: operation must be `Apply` or `Update`',
    });
  });

  test('a live object that is not of its type', () => {
    const live = widget(
      { x: 1 },
      { managedFields: [{ operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' }] },
    );
    const error = refused(widget({}), live) as { status(): unknown };
    expect(error.status()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'failed to create typed live object (/w; x.dev/v1, Kind=Widget): .spec.x: field not declared in schema',
      code: 500,
    });
  });
});

test('hostile names are data', () => {
  const store = new Store();
  store.apply('ann', { labels: JSON.parse('{"__proto__":"x","constructor":"y"}') });
  store.apply('bob', { labels: JSON.parse('{"__proto__":"x","toString":"z"}') });
  expect(JSON.stringify(store.spec)).toBe('{"labels":{"__proto__":"x","constructor":"y","toString":"z"}}');
  store.apply('ann', undefined);
  expect(JSON.stringify(store.spec)).toBe('{"labels":{"__proto__":"x","toString":"z"}}');
  expect({}).not.toHaveProperty('x');
});

test('what is nested without end is refused, not walked', () => {
  let deep: Json = 1;
  let fields: JsonObject = {};
  for (let i = 0; i < 9_000; i++) {
    deep = { a: deep };
    fields = { 'f:a': fields };
  }
  const store = new Store();
  expect(() => store.apply('ann', { free: deep })).toThrow(expect.objectContaining({ name: 'ApplyError', code: 400 }));
  store.update('una', { free: deep });
  expect(store.entries).toEqual([]);
  const entry = { manager: 'm', operation: 'Update', apiVersion: 'x.dev/v1', fieldsType: 'FieldsV1', fieldsV1: fields };
  store.update('una', { replicas: 1 }, { managedFields: [entry] });
  expect(store.entries).toEqual([]);
  let enough: Json = 1;
  for (let i = 0; i < 900; i++) enough = { a: enough };
  const other = new Store();
  other.apply('ann', { free: enough });
  other.apply('ann', { free: { b: 1 } });
  expect(other.spec).toEqual({ free: { b: 1 } });
});
