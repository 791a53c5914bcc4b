import { expect, test } from 'vitest';
import { createClient } from '../../client/create-client.js';
import { isTerminalError, TerminalError } from '../../controller/loop/terminal-error.js';
import { Deployment } from '../../kinds/index.js';
import { formatTime } from '../../object/time.js';
import { ApiError } from '../../rest/errors/api-error.js';
import { isConflict, isNotFound } from '../../rest/errors/error-guards.js';
import { answeringTransport } from '../../rest/transport/answering-transport.fixture.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { IgnoreError, isIgnoreError, objectOfError } from '../../shared/ignore-error.js';
import { KindClient } from '../../shared/kind-client.js';
import { type StatusHandler, type StatusHandlerOptions, statusHandler } from './status-handler.js';

const clock = new VirtualClock();
const now = formatTime(clock.now());
const condition = { type: 'Counted', status: 'True', reason: 'Counted', message: '', lastTransitionTime: now };

function deployment(status?: object): Deployment {
  const metadata = {
    namespace: 'shop',
    name: 'web',
    uid: 'u',
    resourceVersion: '7',
    creationTimestamp: now,
    generation: 4,
  };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata, ...(status && { status }) } as Deployment;
}

/**
 * Calls a handler for a Deployment with this status, on a server that accepts all writes, or none; returns the
 * requests.
 */
async function play(
  handler: StatusHandler<Deployment>,
  status: object | undefined,
  options: Pick<StatusHandlerOptions, 'condition'> & { refuses?: boolean } = {},
) {
  const refusal = {
    status: 409,
    body: { kind: 'Status', apiVersion: 'v1', code: 409, reason: 'Conflict', message: 'no' },
  };
  const answer = options.refuses ? refusal : { body: { ...deployment({ written: true }) } };
  const transport = answeringTransport([answer]);
  await using client = createClient({ server: 'http://a' }, { transport, runtime: { log: silentLogger } });
  const context = {
    ...{ signal: new AbortController().signal, clock, log: silentLogger, reasons: [], attempt: 1 },
    client: new KindClient<Deployment>(Deployment, client),
  };
  const run = statusHandler<Deployment>(Deployment, { condition: options.condition }, handler);
  const outcome = await Promise.resolve(run('shop/web', deployment(status), context)).then(
    (object) => ({ object, error: undefined }),
    (error: unknown) => ({ object: undefined, error }),
  );
  const sent = transport.requests.map(({ method, path, body }) => {
    expect(path).toMatch(/^\/apis\/apps\/v1\/namespaces\/shop\/deployments\/web\/status/);
    return [method, JSON.parse(`${body}`)];
  });
  return { ...outcome, sent };
}

const pinned = { metadata: { uid: 'u', resourceVersion: '7' } };

test('what is said is patched, if it differs, with the version that was seen', async () => {
  const same = await play((_, status) => ({ ...status }), { replicas: 1 });
  expect([same.sent, same.object?.status]).toEqual([[], { replicas: 1 }]);
  const changed = await play(({ metadata }, status) => ({ ...status, replicas: metadata.generation }), { replicas: 1 });
  expect(changed.sent).toEqual([['PATCH', { ...pinned, status: { replicas: 4 } }]]);
  expect(changed.object?.status).toEqual({ written: true });
  const less = await play(() => ({}), { replicas: 1 });
  expect(less.sent).toEqual([['PATCH', { ...pinned, status: { replicas: null } }]]);
});

test('without a word it stays; without a status it is as if it was empty', async () => {
  expect((await play(() => {}, { replicas: 1 })).sent).toEqual([]);
  expect((await play((_, status) => status, undefined)).sent).toEqual([]);
  const reported = await play(() => {}, undefined, { condition: 'Counted' });
  expect(reported.sent).toEqual([['PATCH', { ...pinned, status: { conditions: [condition] } }]]);
});

test('an error leaves the status as it was, is reported, and comes with the written status', async () => {
  const failing = () => {
    throw new TerminalError('no way');
  };
  const reported = await play(failing, { replicas: 1 }, { condition: 'Counted' });
  const failed = { ...condition, status: 'False', reason: 'Error', message: 'no way' };
  expect(reported.sent).toEqual([['PATCH', { ...pinned, status: { conditions: [failed] } }]]);
  expect(isTerminalError(reported.error)).toBe(true);
  expect(objectOfError(reported.error)).toMatchObject({ status: { written: true } });
  const again = await play(failing, { conditions: [failed] }, { condition: 'Counted' });
  expect([again.sent, isTerminalError(again.error), objectOfError(again.error)]).toEqual([[], true, undefined]);
  const unreported = await play(failing, { replicas: 1 });
  expect([unreported.sent, (unreported.error as Error).message]).toEqual([[], 'no way']);
});

test('an ignored error is a success, and stays ignored', async () => {
  const ignoring = () => {
    throw new IgnoreError('paused');
  };
  const reported = await play(ignoring, {}, { condition: 'Counted' });
  expect(reported.sent).toEqual([['PATCH', { ...pinned, status: { conditions: [condition] } }]]);
  expect(isIgnoreError(reported.error)).toBe(true);
  expect(objectOfError(reported.error)).toMatchObject({ status: { written: true } });
});

test('a conflict of the handler is reported as a success, and is still a conflict', async () => {
  const conflict = new ApiError(
    { code: 409, reason: 'Conflict', message: 'somebody was faster' } as never,
    {} as never,
  );
  const reported = await play(() => Promise.reject(conflict), {}, { condition: 'Counted' });
  expect(reported.sent).toEqual([['PATCH', { ...pinned, status: { conditions: [condition] } }]]);
  expect(isConflict(reported.error)).toBe(true);
});

test('a conflict of the write is looked at again', async () => {
  const reported = await play(() => ({ replicas: 2 }), {}, { refuses: true });
  expect(isConflict(reported.error)).toBe(true);
});

test('a kind of others gets no generation: it may have no place for it', async () => {
  const { sent } = await play(() => ({ replicas: 2 }), {}, { condition: 'Counted' });
  expect(JSON.stringify(sent)).not.toContain('observedGeneration');
});

test('what is gone has no status', async () => {
  const run = statusHandler<Deployment>(Deployment, { condition: 'Counted' }, () => {
    throw new Error('not to be called');
  });
  expect(await run('shop/web', undefined, {} as never)).toBeUndefined();
});

test('an object without its last finalizer is gone: the handler is not called', async () => {
  const run = statusHandler<Deployment>(Deployment, { condition: 'Counted' }, () => {
    throw new Error('not to be called');
  });
  const { metadata, ...rest } = deployment();
  const gone = { ...rest, metadata: { ...metadata, deletionTimestamp: now, deletionGracePeriodSeconds: 0 } };
  expect(await run('shop/web', gone, {} as never)).toBe(gone);
});

test('a 404 of the write is no failure if the object is gone or replaced, else it is: the kind may have no status', async () => {
  const details = { name: 'web', group: 'apps', kind: 'deployments' };
  const body = { kind: 'Status', apiVersion: 'v1', code: 404, reason: 'NotFound', message: 'not found', details };
  const missing = {
    status: 404,
    headers: { 'content-type': 'application/json' },
    body: { ...body, status: 'Failure' },
  };
  const runOn = async (found: { readonly status?: number; readonly body: object }) => {
    const transport = answeringTransport([missing, found]);
    await using client = createClient({ server: 'http://a' }, { transport, runtime: { log: silentLogger } });
    const context = {
      ...{ signal: new AbortController().signal, clock, log: silentLogger, reasons: [], attempt: 1 },
      client: new KindClient<Deployment>(Deployment, client),
    };
    return statusHandler<Deployment>(Deployment, {}, () => ({ replicas: 2 }))('shop/web', deployment(), context);
  };
  const { metadata, ...rest } = deployment();
  expect(await runOn(missing)).toEqual(deployment());
  expect(await runOn({ body: { ...rest, metadata: { ...metadata, uid: 'another' } } })).toEqual(deployment());
  await expect(runOn({ body: deployment() })).rejects.toSatisfy(isNotFound);
});
