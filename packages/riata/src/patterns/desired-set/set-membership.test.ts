import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ManagedFieldsEntry } from '../../object/meta.js';
import { appliedText } from './applied-annotation.js';
import { type SetIdentity, setIdentity, setMarks } from './set-identity.js';
import { isMarkedBy, isMember, ownSet } from './set-membership.js';

const owner = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace: 'shop', name: 'cart', uid: 'u' } };
const identity = setIdentity({ setId: 'children', owner });
const own = ownSet(identity, {});

/** Fields of an entry that say that its manager has the label. */
const labelled = { 'f:metadata': { 'f:labels': { [`f:${setMarks.hash}`]: {} } } };
const applied: ManagedFieldsEntry = { manager: 'riata-apply', operation: 'Apply', fieldsV1: labelled };

function object(marks: Partial<Pick<SetIdentity, 'labels' | 'annotations'>>, managers?: readonly ManagedFieldsEntry[]) {
  const metadata = { name: 'a', namespace: 'shop', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
  return { metadata: { ...metadata, ...marks, ...(managers && { managedFields: managers }) } };
}

describe('isMember', () => {
  test('is true of what the field manager of the set has applied, and unknown without managedFields', () => {
    const { labels, annotations } = identity;
    expect(isMember(object({ labels, annotations }, [{ manager: 'x', operation: 'Update' }, applied]), own)).toBe(true);
    expect(isMember(object({ labels, annotations }), own)).toBeUndefined();
    expect(isMember(object({ labels, annotations }, []), own)).toBe(false);
  });

  test.each<[string, ManagedFieldsEntry]>([
    ['another manager', { ...applied, manager: 'kubectl' }],
    ['an update', { ...applied, operation: 'Update' }],
    ['a subresource', { ...applied, subresource: 'status' }],
    ['other labels', { ...applied, fieldsV1: { 'f:metadata': { 'f:labels': { 'f:app': {} } } } }],
    ['no fields', { manager: 'riata-apply', operation: 'Apply' }],
    ['fields that are none', { ...applied, fieldsV1: { 'f:metadata': [] } }],
  ])('is false where the label is owned by %s', (_, entry) => {
    const { labels, annotations } = identity;
    expect(isMember(object({ labels, annotations }, [entry]), own)).toBe(false);
    expect(isMarkedBy(object({ labels, annotations }, [entry]), own)).toBe(false);
  });

  test('is false without all annotations; such an object may still be written again', () => {
    const { labels, annotations } = identity;
    for (const mark of Object.keys(annotations)) {
      const { [mark]: _, ...rest } = annotations;
      const less = object({ labels, annotations: rest }, [applied]);
      expect([mark, isMember(less, own), isMarkedBy(less, own)]).toEqual([mark, false, true]);
      const other = object({ labels, annotations: { ...annotations, [mark]: 'other' } }, [applied]);
      expect([mark, isMember(other, own), isMarkedBy(other, own)]).toEqual([mark, false, false]);
    }
  });

  test('in the three-way form goes by the record, which names the object, also where wrangler cut the name', () => {
    const { labels, annotations } = identity;
    const recorded = (metadata: object) =>
      object({ labels, annotations: { ...annotations, [setMarks.applied]: appliedText({ metadata }) } });
    expect(isMember(recorded({ name: 'a', namespace: 'shop' }), own)).toBe(true);
    // Wrangler has not always noted the namespace.
    expect(isMember(recorded({ name: 'a' }), own)).toBe(true);
    expect(isMember(recorded({ name: 'b', namespace: 'shop' }), own)).toBeUndefined();
    expect(isMember(recorded({ name: 'a', namespace: 'other' }), own)).toBeUndefined();
    expect(isMember(object({ labels, annotations: { ...annotations, [setMarks.applied]: 'junk' } }, []), own)).toBe(
      false,
    );
    const long = recorded({ name: 'x'.repeat(64), namespace: 'shop' });
    const named = (name: string) => ({ metadata: { ...long.metadata, name } });
    expect(isMember(named('x'.repeat(80)), own)).toBe(true);
    expect(isMember(named('y'.repeat(80)), own)).toBeUndefined();
  });
});

test('whatever the owners, names and kinds: objects of one set are never in another, though hashes are the same', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '/', ',', ' ', '=', '"'), maxLength: 6 });
  /** An id, a kind, a name and a namespace, cut out of one text: as many sets with one hash as there are cuts. */
  const cut = (whole: string, at: readonly number[]) => {
    const [a = 0, b = 0, c = 0] = at.map((n) => n % (whole.length + 1)).sort((x, y) => x - y);
    const gvk = ', Kind=';
    const parts = [whole.slice(0, a), whole.slice(a, b), whole.slice(b, c), whole.slice(c)] as const;
    const annotations = {
      [setMarks.id]: parts[0],
      [setMarks.ownerGvk]: parts[1] === '' ? '' : `v1${gvk}${parts[1]}`,
      [setMarks.ownerName]: parts[2],
      [setMarks.ownerNamespace]: parts[3],
    };
    return { hash: 'the same', annotations };
  };
  const cuts = fc.array(fc.nat(), { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(text, cuts, cuts, (whole, one, two) => {
      const [mine, theirs] = [cut(whole, one), cut(whole, two)];
      const labels = { [setMarks.hash]: 'the same' };
      const found = isMember(object({ labels, annotations: theirs.annotations }, [applied]), ownSet(mine, {}));
      expect(found).toBe(JSON.stringify(mine) === JSON.stringify(theirs));
    }),
  );
});
