import fc from 'fast-check';
import type { KubeObject } from 'riata/object';
import { expect, test } from 'vitest';
import { OwnershipGraph } from './ownership-graph.js';

function object(uid: string, owners: readonly string[]): KubeObject {
  const ownerReferences = owners.map((owner) => ({ apiVersion: 'v1', kind: 'K', name: owner, uid: owner }));
  return { apiVersion: 'v1', kind: 'K', metadata: { name: uid, uid, resourceVersion: '1', ownerReferences } } as never;
}

test('finds dependents by owner, whichever was created first', () => {
  const graph = new OwnershipGraph();
  graph.set('t', 'child', object('child', ['root']));
  expect(graph.place('root')).toBeUndefined();
  expect(graph.dependentsOf('root')).toEqual([{ table: 't', key: 'child', uid: 'child' }]);
  graph.set('t', 'root', object('root', []));
  expect(graph.place('root')).toEqual({ table: 't', key: 'root', uid: 'root' });
  graph.delete('root');
  expect(graph.dependentsOf('root').map(({ uid }) => uid)).toEqual(['child']);
  graph.delete('child');
  expect(graph.dependentsOf('root')).toEqual([]);
});

test('equals a graph built from the final objects after any changes', () => {
  const uid = fc.constantFrom('a', 'b', 'c', 'd');
  const step = fc.oneof(fc.record({ set: uid, owners: fc.uniqueArray(uid) }), fc.record({ delete: uid }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const graph = new OwnershipGraph();
      const model = new Map<string, readonly string[]>();
      for (const change of steps) {
        if ('set' in change) {
          graph.set('t', change.set, object(change.set, change.owners));
          model.set(change.set, change.owners);
        } else {
          graph.delete(change.delete);
          model.delete(change.delete);
        }
      }
      for (const owner of ['a', 'b', 'c', 'd']) {
        expect(graph.place(owner)?.uid).toBe(model.has(owner) ? owner : undefined);
        const dependents = [...model].filter(([, owners]) => owners.includes(owner)).map(([name]) => name);
        expect(
          graph
            .dependentsOf(owner)
            .map((place) => place.uid)
            .sort(),
        ).toEqual(dependents.sort());
      }
    }),
  );
});
