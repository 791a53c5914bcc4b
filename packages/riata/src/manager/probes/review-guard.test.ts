import { expect, test } from 'vitest';
import type { Client } from '../../client/interfaces.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { reviewGuard } from './review-guard.js';

interface Review {
  readonly kind: string;
  readonly spec: { readonly token?: string; readonly user?: string; readonly nonResourceAttributes?: { path: string } };
}

/** Knows the tokens "ann" and "bob"; only ann may look. */
function setUp() {
  const clock = new VirtualClock();
  const asked: string[] = [];
  const create = async (review: Review) => {
    asked.push(review.kind);
    if (review.kind === 'TokenReview') {
      const { token } = review.spec;
      const authenticated = token === 'ann' || token === 'bob';
      return { status: { authenticated, user: { username: token } } };
    }
    const { user, nonResourceAttributes } = review.spec;
    return { status: { allowed: user === 'ann' && nonResourceAttributes?.path === '/metrics' } };
  };
  const guard = reviewGuard({ create } as unknown as Pick<Client, 'create'>, clock);
  const status = async (authorization: string | undefined, path = '/metrics') =>
    (await guard({ path, authorization, signal: new AbortController().signal }))?.status ?? 200;
  return { clock, asked, status };
}

test('who has no token, or one that is not known, gets 401; who may not, 403', async () => {
  const { status } = setUp();
  expect(await status(undefined)).toBe(401);
  expect(await status('Basic abc')).toBe(401);
  expect(await status('Bearer eve')).toBe(401);
  expect(await status('Bearer bob')).toBe(403);
  expect(await status('Bearer ann')).toBe(200);
  expect(await status('Bearer ann', '/debug/reconciles')).toBe(403);
});

test('an answer holds for a minute', async () => {
  const { status, asked, clock } = setUp();
  await status('Bearer ann');
  await clock.advance(59_000);
  await status('Bearer ann');
  expect(asked).toEqual(['TokenReview', 'SubjectAccessReview']);
  await clock.advance(2_000);
  await status('Bearer ann');
  expect(asked).toHaveLength(4);
});

test('while the API server cannot be reached no client is admitted, and that is not cached', async () => {
  const problem = new Error('connection refused');
  let isDown = true;
  const create = async (review: Review) => {
    if (isDown) throw problem;
    return { status: review.kind === 'TokenReview' ? { authenticated: true, user: {} } : { allowed: true } };
  };
  const guard = reviewGuard({ create } as unknown as Pick<Client, 'create'>, new VirtualClock());
  const asked = { path: '/metrics', authorization: 'Bearer ann', signal: new AbortController().signal };
  expect(await guard(asked)).toEqual({
    status: 503,
    body: expect.stringContaining('cannot be asked'),
    failure: problem,
  });
  isDown = false;
  expect(await guard(asked)).toBeUndefined();
});

test('a slow review is given up, as is one whose client has gone', async () => {
  const clock = new VirtualClock();
  const create = (_: Review, { signal }: { signal: AbortSignal }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const guard = reviewGuard({ create } as unknown as Pick<Client, 'create'>, clock);
  const caller = new AbortController();
  const asked = { path: '/metrics', authorization: 'Bearer ann', signal: caller.signal };
  const late = guard(asked);
  await clock.advance(10_000);
  expect(await late).toMatchObject({ status: 503, failure: { message: expect.stringContaining('10000 ms') } });
  const left = guard(asked);
  caller.abort(new Error('hung up'));
  expect(await left).toMatchObject({ status: 503, failure: { message: 'hung up' } });
});
