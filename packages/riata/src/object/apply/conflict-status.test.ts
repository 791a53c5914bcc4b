import { expect, test } from 'vitest';
import { conflictStatus } from './conflict-status.js';

const updater = { manager: 'kubectl', applied: false, apiVersion: 'apps/v1', subresource: '' };
const applier = { manager: 'a"b', applied: true, apiVersion: 'apps/v1', subresource: 'status' };

test('one conflict', () => {
  expect(conflictStatus([{ manager: updater, path: ['f:spec', 'f:replicas'] }])).toEqual({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Apply failed with 1 conflict: conflict with "kubectl" using apps/v1: .spec.replicas',
    reason: 'Conflict',
    details: {
      causes: [
        { reason: 'FieldManagerConflict', message: 'conflict with "kubectl" using apps/v1', field: '.spec.replicas' },
      ],
    },
    code: 409,
  });
});

test('several, by manager', () => {
  const status = conflictStatus([
    { manager: updater, path: ['f:b'] },
    { manager: applier, path: ['f:s', 'v:"x"'] },
    { manager: updater, path: ['f:a'] },
  ]);
  expect(status.message).toBe(
    [
      'Apply failed with 3 conflicts: conflicts with "a\\"b" with subresource "status":',
      '- .s[="x"]',
      'conflicts with "kubectl" using apps/v1:',
      '- .b',
      '- .a',
    ].join('\n'),
  );
  expect(status.details?.causes).toHaveLength(3);
});
