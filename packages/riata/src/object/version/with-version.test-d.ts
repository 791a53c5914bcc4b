import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import type { KindOf, NamespacedMeta } from '../kind.js';
import { withVersion } from './with-version.js';

const base = defineKind({
  ...{ group: 'x.dev', version: 'v3', kind: 'Site' },
  spec: z.object({ image: z.object({ name: z.string(), tag: z.string() }), replicas: z.int().default(1) }),
  status: z.object({ ready: z.int() }),
});
interface Base extends KindOf<typeof base> {}
const SiteV3 = base.named<Base>();

const v1Spec = z.object({ image: z.string(), replicas: z.int().default(1) });
const image = (text: string) => ({ name: text, tag: 'latest' });

const WithV1 = withVersion(SiteV3, 'v1', {
  spec: v1Spec,
  up: ({ apiVersion, metadata, spec, status }) => {
    expectTypeOf(apiVersion).toEqualTypeOf<'x.dev/v1'>();
    expectTypeOf(metadata).toEqualTypeOf<NamespacedMeta>();
    expectTypeOf(spec.image).toEqualTypeOf<string>();
    expectTypeOf(spec.replicas).toEqualTypeOf<number>();
    expectTypeOf(status?.ready).toEqualTypeOf<number | undefined>();
    return { spec: { ...spec, image: image(spec.image) } };
  },
  down: (site) => {
    expectTypeOf(site).toEqualTypeOf<Base>();
    // The default may be left out.
    return { spec: { image: site.spec.image.name } };
  },
});

const Site = withVersion(WithV1, 'v2', {
  spec: v1Spec,
  status: z.object({ count: z.int() }),
  up: ({ spec, status }) => ({
    spec: { ...spec, image: image(spec.image) },
    status: status && { ready: status.count ?? 0 },
  }),
  down: ({ spec, status }) => ({
    spec: { ...spec, image: spec.image.name },
    status: { count: status?.ready ?? 0 },
  }),
});

describe('the kinds of versions', () => {
  test('are there by name, typed by their schemas', () => {
    type V1 = KindOf<typeof Site.versions.v1>;
    type V2 = KindOf<typeof Site.versions.v2>;
    expectTypeOf<V1['spec']['image']>().toEqualTypeOf<string>();
    expectTypeOf<V1['apiVersion']>().toEqualTypeOf<'x.dev/v1'>();
    expectTypeOf<NonNullable<V1['status']>['ready']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<NonNullable<V2['status']>['count']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<KindOf<typeof Site>>().toEqualTypeOf<Base>();
    Site.versions.v1({ metadata: { namespace: 'a', name: 'b' }, spec: { image: 'x' } });
    // @ts-expect-error the image is a string in this version
    Site.versions.v1({ metadata: { namespace: 'a', name: 'b' }, spec: { image: { name: 'x', tag: 'y' } } });
    // @ts-expect-error no such version
    Site.versions.v4;
    // @ts-expect-error a kind without versions has none
    SiteV3.versions.v1;
  });
  test('stay when the kind is named', () => {
    const named = Site.named<Base>();
    expectTypeOf<KindOf<typeof named.versions.v1>['spec']['image']>().toEqualTypeOf<string>();
  });
  test('are what convert gives', () => {
    const convert = (site: Base) => Site.convert(site, Site.versions.v2).status?.count;
    expectTypeOf(convert).returns.toEqualTypeOf<number | undefined>();
  });
});

describe('what does not compile', () => {
  const down = ({ spec }: Base) => ({ spec: { image: spec.image.name } });
  const up = ({ spec }: { readonly spec: { readonly image: string } }) => ({ spec: { image: image(spec.image) } });
  test('an up that gives another type, or forgets a field', () => {
    withVersion(SiteV3, 'v1', {
      spec: v1Spec,
      // @ts-expect-error the image is an object in the storage version
      up: ({ spec }) => ({ spec: { ...spec, image: spec.image } }),
      down,
    });
    withVersion(SiteV3, 'v1', {
      spec: v1Spec,
      // @ts-expect-error the image is missing
      up: ({ spec: { replicas } }) => ({ spec: { replicas } }),
      down,
    });
    // @ts-expect-error there is no way up
    withVersion(SiteV3, 'v1', { spec: v1Spec, down });
  });
  test('a down that gives another type, or reads what is not there', () => {
    withVersion(SiteV3, 'v1', {
      spec: v1Spec,
      up,
      // @ts-expect-error the image is a string in this version
      down: ({ spec }) => ({ spec }),
    });
    withVersion(SiteV3, 'v1', {
      spec: v1Spec,
      up,
      // @ts-expect-error no such field
      down: ({ spec }) => ({ spec: { image: spec.imag } }),
    });
  });
  test('a status of its own that is forgotten', () => {
    withVersion(SiteV3, 'v1', {
      spec: v1Spec,
      status: z.object({ count: z.int() }),
      // @ts-expect-error there is a status to convert
      up: ({ spec }) => ({ spec: { image: image(spec.image) } }),
      down: ({ spec }) => ({ spec: { image: spec.image.name }, status: undefined }),
    });
  });
  test('conversions that change objects in place', () => {
    withVersion(SiteV3, 'v1', {
      spec: v1Spec,
      up,
      down: (site) => {
        // @ts-expect-error read-only
        site.spec.replicas = 3;
        return { spec: { image: site.spec.image.name } };
      },
    });
  });
});
