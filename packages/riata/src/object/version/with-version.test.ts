// biome-ignore-all lint/suspicious/noAssignInExpressions: drafts are changed in one line
import { describe, expect, test } from 'vitest';
import { defineKind } from '../define-kind.js';
import type { KindOf } from '../kind.js';
import type { KubeObject } from '../meta.js';
import { edit } from '../value/edit.js';
import { isFrozenDeep } from '../value/freeze.js';
import { isConversionError } from './conversion-error.js';
import { Site, SiteV2 } from './sites.fixture.js';
import { withVersion } from './with-version.js';

const { v1 } = Site.versions;
const metadata = {
  ...{ namespace: 'shop', name: 'cart', uid: '1', resourceVersion: '5', creationTimestamp: '2026-01-01T00:00:00Z' },
  labels: { a: 'b' },
  ownerReferences: [],
};
const kept = 'conversion.riata.dev/v2';

/** A v2 object with all that v1 can't say. */
function full(): KubeObject & { spec: Record<string, unknown> } {
  return {
    ...{ apiVersion: 'example.com/v2', kind: 'Site', metadata },
    spec: {
      image: { name: 'nginx', tag: '1', digest: 'sha256:0' },
      replicas: 2,
      ports: [
        { name: 'http', port: 80, protocol: 'TCP' },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
      hosts: [{ host: 'a', zone: 'x' }, { host: 'b', weight: 2, zone: 'y' }, { host: 'c' }],
      zones: ['x', 'y'],
      limits: { cpu: '1' },
    },
    status: { ready: 1, urls: ['u'], conditions: [{ type: 'Ready' }], observedGeneration: 3 },
  } as never;
}

// biome-ignore lint/suspicious/noExplicitAny: a draft of any shape
type Loose = Record<'spec' | 'status' | 'metadata', any>;

/** The object after a client of v1 has read, changed and written it. */
function changedInV1(change: (draft: Loose) => void, from: KubeObject = full()): KubeObject & Loose {
  const old = Site.convert(from, v1);
  return Site.convert(
    edit(old, (draft) => change(draft as Loose)),
    Site,
  ) as never;
}

describe('the definition', () => {
  test('has all versions, one of them stored, and no conversion that would lose anything silently', () => {
    const { spec } = Site.crd();
    expect(spec.versions.map(({ name, served, storage }) => ({ name, served, storage }))).toEqual([
      { name: 'v2', served: true, storage: true },
      { name: 'v1', served: true, storage: false },
    ]);
    expect(spec.versions[1]).toMatchObject({ deprecated: true, deprecationWarning: expect.stringContaining('use v2') });
    expect(spec.versions[1]?.schema.openAPIV3Schema).toBe(v1.schema);
    expect(spec.conversion).toEqual({
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { url: 'https://run-conversion-webhook.invalid/sites.example.com' },
      },
    });
    expect(SiteV2.crd().spec.conversion).toEqual({ strategy: 'None' });
    expect(isFrozenDeep(Site.crd())).toBe(true);
  });
  test('is that of each of its versions, and they are kinds', () => {
    expect(v1.crd()).toBe(Site.crd());
    expect(v1.gvr).toEqual({ group: 'example.com', version: 'v1', resource: 'sites' });
    expect(v1.subresources).toEqual(['status']);
    expect(v1({ metadata: { name: 'a' }, spec: { image: 'x' } })).toMatchObject({ apiVersion: 'example.com/v1' });
    expect(Site.named<KindOf<typeof Site>>()).toBe(Site);
  });
  test('keeps a webhook that the kind names itself', () => {
    const webhook = { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://convert.example.com/' } };
    const spec = { type: 'object' } as const;
    const conversion = { strategy: 'Webhook', webhook } as const;
    const kind = defineKind({ group: 'example.com', version: 'v2', kind: 'Foo', spec, conversion });
    const two = withVersion(kind, 'v1', { spec, up: ({ spec }) => ({ spec }), down: ({ spec }) => ({ spec }) });
    expect(two.crd().spec.conversion).toEqual(conversion);
  });
  test('refuses versions that a server would refuse, and misspelt options', () => {
    const good = { spec: { type: 'object' }, up: () => ({ spec: {} }), down: () => ({ spec: {} }) } as never;
    const more = (options: object) => ({ ...(good as object), ...options }) as never;
    expect(() => withVersion(SiteV2, 'v2', good)).toThrow(
      'withVersion: v2 of Site of example.com is invalid: version: duplicate version v2',
    );
    expect(() => withVersion(SiteV2, 'one', good)).toThrow('must be a version such as v1');
    expect(() => withVersion(v1, 'v3', good)).toThrow('Site of v1 is not stored; add versions to the kind of v2');
    expect(() => withVersion(SiteV2, 'v1', more({ keep: 'annotation' }))).toThrow(
      'unknown option "keep"; did you mean "keeps"?',
    );
    expect(() => withVersion(SiteV2, 'v1', more({ keeps: 'label' }))).toThrow(
      `must be 'annotation' or 'nothing', got "label"`,
    );
    expect(() => withVersion(SiteV2, 'v1', more({ up: undefined }))).toThrow('up: must be a function, got undefined');
    const bare = defineKind({ group: 'example.com', version: 'v2', kind: 'Foo', spec: { type: 'object' } });
    expect(() => withVersion(bare, 'v1', more({ status: { type: 'object' } }))).toThrow('Foo of v2 has no status');
  });
});

describe('a conversion', () => {
  test('changes the parts, and carries metadata, conditions and the rest along', () => {
    const old = Site.convert(full(), v1) as unknown as Loose & KubeObject;
    expect(old.apiVersion).toBe('example.com/v1');
    expect(old.spec).toEqual({
      image: 'nginx:1',
      replicas: 2,
      ports: { http: 80, dns: 53 },
      hosts: [{ host: 'a' }, { host: 'b', weight: 2 }, { host: 'c' }],
    });
    expect(old.status).toEqual({ ready: '1', conditions: [{ type: 'Ready' }], observedGeneration: 3 });
    const { annotations, ...rest } = old.metadata;
    expect(rest).toEqual(metadata);
    expect(Object.keys(annotations)).toEqual([kept]);
    expect(Site.convert(old, Site)).toEqual(full());
  });
  test('writes no annotation where nothing is lost', () => {
    const spec = { image: { name: 'nginx', tag: '1' }, replicas: 1 };
    const plain = { apiVersion: 'example.com/v2', kind: 'Site', metadata, spec } as KubeObject;
    expect(Site.convert(plain, v1).metadata.annotations).toBeUndefined();
    expect(Site.convert(Site.convert(plain, v1), Site)).toEqual(plain);
  });
  test('fills in defaults, which a server does not after a conversion', () => {
    const bare = { apiVersion: 'example.com/v1', kind: 'Site', metadata, spec: { image: 'nginx' } } as KubeObject;
    expect(Site.convert(bare, Site)).toMatchObject({ spec: { replicas: 1 } });
  });
  test('gives the object itself in its own version', () => {
    const site = full();
    expect(Site.convert(site, Site)).toBe(site);
  });
  test('keeps fields of the other version on the stored object, too', () => {
    const spec = { image: 'nginx', replicas: 1, notes: 'mine' };
    const old = { apiVersion: 'example.com/v1', kind: 'Site', metadata, spec } as KubeObject;
    const stored = Site.convert(old, Site);
    expect(stored.metadata.annotations).toHaveProperty(['conversion.riata.dev/v1']);
    expect(Site.convert(stored, v1)).toEqual(old);
    const changed = edit(stored, (draft) => void ((draft as unknown as Loose).spec.replicas = 5));
    expect(Site.convert(changed, v1)).toEqual({ ...old, spec: { ...spec, replicas: 5 } });
  });
  test('without keeps loses what the other version has no place for', () => {
    const spec = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } } as const;
    const down = { type: 'object', properties: { a: { type: 'string' } } } as const;
    const kind = defineKind({ group: 'example.com', version: 'v2', kind: 'Foo', spec });
    const Foo = withVersion(kind, 'v1', {
      ...{ spec: down, keeps: 'nothing' },
      up: ({ spec }) => ({ spec }),
      down: ({ spec: { a } }) => ({ spec: { a } }),
    });
    const foo = { apiVersion: 'example.com/v2', kind: 'Foo', metadata, spec: { a: '1', b: '2' } } as KubeObject;
    const back = Foo.convert(Foo.convert(foo, Foo.versions.v1), Foo);
    expect(back.spec).toEqual({ a: '1' });
    expect(back.metadata).toEqual(metadata);
  });
  test('may change labels and annotations', () => {
    const spec = { type: 'object' } as const;
    const kind = defineKind({ group: 'example.com', version: 'v2', kind: 'Foo', spec });
    const Foo = withVersion(kind, 'v1', {
      spec,
      up: ({ spec, metadata }) => ({ spec, metadata: { labels: { ...metadata.labels, up: 'yes' } } }),
      down: ({ spec }) => ({ spec }),
    });
    const foo = { apiVersion: 'example.com/v1', kind: 'Foo', metadata, spec: {} } as unknown as KubeObject;
    expect(Foo.convert(foo, Foo).metadata).toEqual({ ...metadata, labels: { a: 'b', up: 'yes' } });
  });
  test('between two old versions goes through the stored one', () => {
    const Three = withVersion(Site, 'v1beta1', {
      spec: { type: 'object', properties: { image: { type: 'string' } }, required: ['image'] } as const,
      up: ({ spec }) => ({ spec: { image: { name: spec.image } } }),
      down: ({ spec }) => ({ spec: { image: spec.image.name } }),
    });
    expect(Three.crd().spec.versions.map(({ name }) => name)).toEqual(['v2', 'v1', 'v1beta1']);
    const spec = { image: 'nginx:1', replicas: 3, notes: 'mine' };
    const old = { apiVersion: 'example.com/v1', kind: 'Site', metadata, spec } as KubeObject;
    const older = Three.convert(old, Three.versions.v1beta1);
    expect(older.spec).toEqual({ image: 'nginx' });
    expect(Three.convert(older, Three.versions.v1)).toEqual(old);
    expect(Three.versions.v1.crd()).toBe(Three.crd());
  });
});

describe('what a client of the old version changes wins, and the rest is restored', () => {
  test('a scalar', () => {
    const changed = changedInV1(({ spec }) => void (spec.image = 'nginx:2'));
    expect(changed.spec.image).toEqual({ name: 'nginx', tag: '2', digest: 'sha256:0' });
    expect(changed.spec.limits).toEqual({ cpu: '1' });
    expect(changed.metadata).toEqual(metadata);
  });
  test('a removed element of a keyed list', () => {
    const changed = changedInV1(({ spec }) => void delete spec.ports.http);
    expect(changed.spec.ports).toEqual([{ name: 'dns', port: 53, protocol: 'UDP' }]);
  });
  test('a new element of a keyed list, and a changed one', () => {
    const changed = changedInV1(({ spec }) => void (spec.ports = { first: 1, ...spec.ports, http: 8080 }));
    expect(changed.spec.ports).toEqual([
      { name: 'first', port: 1 },
      { name: 'http', port: 8080, protocol: 'TCP' },
      { name: 'dns', port: 53, protocol: 'UDP' },
    ]);
  });
  test('a removed list does not come back', () => {
    const changed = changedInV1(({ spec }) => void delete spec.ports);
    expect(changed.spec).not.toHaveProperty('ports');
    expect(changed.spec.zones).toEqual(['x', 'y']);
  });
  test('a list without keys: moved, removed, new and changed elements', () => {
    const [a, b, c] = [{ host: 'a', zone: 'x' }, { host: 'b', weight: 2, zone: 'y' }, { host: 'c' }];
    const hosts = (change: (list: { host: string; weight?: number }[]) => unknown) =>
      changedInV1(({ spec }) => void change(spec.hosts)).spec.hosts;
    expect(hosts((list) => list.reverse())).toEqual([c, b, a]);
    expect(hosts((list) => list.shift())).toEqual([b, c]);
    expect(hosts((list) => list.unshift({ host: 'n' }))).toEqual([{ host: 'n' }, a, b, c]);
    expect(hosts((list) => (list[1]!.weight = 9))).toEqual([a, { ...b, weight: 9 }, c]);
    // Nothing in common with what was there: another host.
    expect(hosts((list) => (list[0] = { host: 'z' }))).toEqual([{ host: 'z' }, b, c]);
  });
  test('an element that the old version does not show stays behind its predecessor', () => {
    const spec = (items: string) =>
      ({ type: 'object', properties: { list: { type: 'array', items: { type: items } } } }) as never;
    const kind = defineKind({ group: 'example.com', version: 'v2', kind: 'Foo', spec: spec('string') });
    const Foo = withVersion(kind, 'v1', {
      spec: spec('string'),
      up: ({ spec }) => ({ spec }) as never,
      down: ({ spec }) =>
        ({ spec: { list: (spec as { list: string[] }).list.filter((one) => !one.startsWith('-')) } }) as never,
    });
    const foo = { apiVersion: 'example.com/v2', kind: 'Foo', metadata, spec: { list: ['-0', 'a', '-1', 'b', '-2'] } };
    const after = (change: (list: string[]) => unknown) => {
      const old = Foo.convert(foo as unknown as KubeObject, Foo.versions.v1);
      const changed = edit(old, (draft) => void change((draft as unknown as Loose).spec.list));
      return (Foo.convert(changed, Foo) as unknown as Loose).spec.list;
    };
    expect(after((list) => list.push('c'))).toEqual(['-0', 'a', '-1', 'b', '-2', 'c']);
    expect(after((list) => list.shift())).toEqual(['-0', '-1', 'b', '-2']);
  });
  test('a dropped annotation drops what it kept', () => {
    const changed = changedInV1(({ metadata }) => void delete metadata.annotations);
    expect(changed.spec.zones).toBeUndefined();
  });
  test('an annotation that is malformed or does not fit the schema counts for nothing', () => {
    const plain = changedInV1(({ metadata }) => void delete metadata.annotations);
    for (const text of [
      ...['', '{', '[1]', '{}', '[{"at":"spec"}]', '[{"at":["metadata","name"],"is":"x"}]'],
      ...['[{"at":["spec","zones"],"is":"x"}]', '[{"at":["spec","nothing"],"is":"x"}]'],
      ...['[{"at":["spec","image"],"was":{"name":"nginx","tag":"1"},"is":null}]'],
      ...['[{"at":["spec","__proto__","x"],"is":"y"}]', '[{"at":[],"is":{}}]'],
    ]) {
      expect(changedInV1(({ metadata }) => void (metadata.annotations[kept] = text))).toEqual(plain);
    }
  });
});

describe('what fails', () => {
  const message = (run: () => unknown) => {
    try {
      run();
    } catch (error) {
      return isConversionError(error) ? error.message : error;
    }
    return 'nothing';
  };
  const spec = { type: 'object' } as const;
  const kind = defineKind({ group: 'example.com', version: 'v2', kind: 'Foo', spec });
  const foo = { apiVersion: 'example.com/v1', kind: 'Foo', metadata, spec: {} } as unknown as KubeObject;
  const withUp = (up: () => unknown) =>
    withVersion(kind, 'v1', { spec, up: up as never, down: ({ spec }) => ({ spec }) });
  test('names the object, the versions, and the line of the function that threw', () => {
    const Foo = withUp(() => {
      // As in a program that uses this package.
      throw Object.assign(new Error('no image'), { stack: 'Error: no image\n    at up (/app/src/site.ts:12:5)' });
    });
    expect(message(() => Foo.convert(foo, Foo))).toBe(
      'Foo shop/cart: cannot convert from example.com/v1 to example.com/v2: up threw Error: no image at site.ts:12',
    );
  });
  test('a function that returns something else', () => {
    const start = 'Foo shop/cart: cannot convert from example.com/v1 to example.com/v2: up of v1';
    const [Nothing, Later] = [withUp(() => undefined), withUp(async () => ({ spec: {} }))];
    expect(message(() => Nothing.convert(foo, Nothing))).toBe(`${start} must return an object with a spec`);
    expect(message(() => Later.convert(foo, Later))).toBe(`${start} must return its result, not a promise`);
  });
  test('unknown versions and other kinds', () => {
    const other = { ...full(), apiVersion: 'example.com/v7' };
    expect(message(() => Site.convert(other, Site))).toBe(
      'Site shop/cart: cannot convert from example.com/v7 to example.com/v2: unknown version example.com/v7; ' +
        'known versions are example.com/v2, example.com/v1',
    );
    expect(message(() => Site.convert(foo, Site))).toContain('expected kind Site');
  });
  test('a function that changes its object', () => {
    const Foo = withVersion(kind, 'v1', {
      spec,
      up: (object) => ({ spec: Object.assign(object.spec, { a: 1 }) }),
      down: ({ spec }) => ({ spec }),
    });
    expect(message(() => Foo.convert(foo, Foo))).toContain('up threw TypeError: Cannot add property a');
  });
});
