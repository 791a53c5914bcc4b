import { expect, test } from 'vitest';
import { namedOwner, setIdentity, setMarks, statedIdentity } from './set-identity.js';

const owner = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'shop', name: 'cart', uid: 'u' } };

test('the hash is that of wrangler: SHA-1 of id, group, version and kind, name and namespace', () => {
  // printf 'childrenapps/v1, Kind=Deploymentcartshop' | sha1sum
  expect(setIdentity({ setId: 'children', owner })).toMatchObject({
    labels: { [setMarks.hash]: '5cdd0c984661be765e2bb66b5d8716b0cb83bde6' },
    annotations: {
      'objectset.rio.cattle.io/id': 'children',
      'objectset.rio.cattle.io/owner-gvk': 'apps/v1, Kind=Deployment',
      'objectset.rio.cattle.io/owner-name': 'cart',
      'objectset.rio.cattle.io/owner-namespace': 'shop',
    },
    text: '"children" of Deployment shop/cart',
  });
});

test('an id alone, or an owner alone, is enough; neither is refused', () => {
  const [id, whose] = [setIdentity({ setId: 'a' }), setIdentity({ owner })];
  expect(id.annotations).toEqual({ 'objectset.rio.cattle.io/id': 'a' });
  expect(id.selector).toBe(`objectset.rio.cattle.io/hash=${id.hash}`);
  expect(whose.hash).not.toBe(id.hash);
  expect(() => setIdentity({})).toThrow('a set requires setId, owner or both');
});

test('the owner is read back from the annotations, of the core group too', () => {
  const { annotations, labels } = setIdentity({ setId: 'children', owner });
  const gvk = { group: 'apps', version: 'v1', kind: 'Deployment' };
  expect(namedOwner({ metadata: { annotations, labels } })).toEqual({
    gvk,
    namespace: 'shop',
    name: 'cart',
    setId: 'children',
  });
  const core = setIdentity({ owner: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', uid: 'u' } } });
  expect(namedOwner({ metadata: core })).toEqual({
    ...{ gvk: { group: '', version: 'v1', kind: 'Namespace' }, name: 'n', setId: '' },
  });
  expect(namedOwner({ metadata: setIdentity({ setId: 'children' }) })).toBeUndefined();
  expect(namedOwner({})).toBeUndefined();
});

test('an object whose label and annotations disagree, or that lacks one of them, states no set', () => {
  const { annotations, labels } = setIdentity({ setId: 'children', owner });
  expect(statedIdentity({ metadata: { annotations, labels } })).toEqual(setIdentity({ setId: 'children', owner }));
  const others = { ...annotations, [setMarks.ownerName]: 'other' };
  for (const metadata of [{ annotations }, { labels }, { labels, annotations: others }]) {
    expect([statedIdentity({ metadata }), namedOwner({ metadata })]).toEqual([undefined, undefined]);
  }
});

test('sets with the same hash have different keys and texts', () => {
  const of = (namespace: string, name: string) =>
    setIdentity({ owner: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name, uid: 'u' } } });
  const [one, two] = [of('prodx', 'web'), of('dx', 'webpro')];
  expect(one.hash).toBe(two.hash);
  expect(one.key).not.toBe(two.key);
  expect([one.text, two.text]).toEqual(['ConfigMap prodx/web', 'ConfigMap dx/webpro']);
});
