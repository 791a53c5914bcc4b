import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isCustomGroup } from './is-custom-group.js';

test('groups that Kubernetes serves are not custom', () => {
  const groups = readdirSync(new URL('../kinds/generated/groups', import.meta.url));
  expect(groups.length).toBeGreaterThan(20);
  expect(groups.filter(isCustomGroup)).toEqual([]);
});

test.each(['gateway.networking.k8s.io', 'snapshot.storage.k8s.io', 'cluster.x-k8s.io', 'example.com'])(
  '%s is custom, whatever it ends in',
  (group) => expect(isCustomGroup(group)).toBe(true),
);
