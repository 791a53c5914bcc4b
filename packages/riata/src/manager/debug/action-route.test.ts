import { expect, test } from 'vitest';
import { ConfigMap } from '../../kinds/generated/groups/core/v1.js';
import { ApiError } from '../../rest/errors/api-error.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { type ActionRouteParts, actionRoute } from './action-route.js';

const asked = { action: 'pause', apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: 'a' };
const headers = { 'x-riata-action': '1' };

function route(patch: () => Promise<never>) {
  const place = { client: { patch }, recorder: { event: () => {} } };
  return actionRoute({
    shown: { find: () => ({ kind: ConfigMap, place }) },
    viewers: { of: async () => ({ name: 'jane', refusal: async () => undefined }) },
    ...{ clock: new VirtualClock(), log: silentLogger, mask: (text: string) => text.replace('xyzzy', '••••••') },
  } as unknown as ActionRouteParts);
}

test('a refusal of the API server is passed on, without what it quotes of a Secret', async () => {
  const status = { kind: 'Status', status: 'Failure', code: 422, reason: 'Invalid', message: 'xyzzy is too short' };
  const answer = await route(() => Promise.reject(new ApiError(status as never)))({
    ...{ body: JSON.stringify(asked), headers, signal: new AbortController().signal },
  } as never);
  expect(answer).toMatchObject({ status: 422 });
  expect(JSON.stringify(answer)).toContain('•••••• is too short');
  expect(JSON.stringify(answer)).not.toContain('xyzzy');
});
