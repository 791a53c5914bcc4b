import { describe, expect, test } from 'vitest';
import { WebhookPlay } from '../admission/admission.fixture.js';
import { type AuthenticatesOptions, authenticates, type TokenContext } from './authenticates.js';
import { type AccessContext, authorizes } from './authorizes.js';

type Review = Readonly<Record<string, unknown>> & { readonly status: Readonly<Record<string, unknown>> };

async function ask(play: WebhookPlay, path: string, review: object | string, query = ''): Promise<Review> {
  const { status, body } = await play.send(path, typeof review === 'string' ? review : JSON.stringify(review), {
    query,
  });
  expect(status).toBe(200);
  return JSON.parse(body as string) as Review;
}

function tokenReview(token: unknown, more: object = {}): object {
  return { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, ...more } };
}

describe('authenticates', () => {
  const play = (check: Parameters<typeof authenticates>[0], options?: AuthenticatesOptions) =>
    new WebhookPlay(authenticates(check, options));

  test('says whose a token is', async () => {
    const seen: TokenContext[] = [];
    const tokens = play(async (context) => {
      seen.push(context);
      return { name: 'ann', uid: '7', groups: ['a'], extra: { scopes: ['x'] }, audiences: ['api'] };
    });
    const review = await ask(tokens, '/authenticate', tokenReview('t-1', { audiences: ['api', 'other'] }));
    expect(review).toEqual({
      kind: 'TokenReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: {},
      spec: {},
      status: {
        authenticated: true,
        user: { username: 'ann', uid: '7', groups: ['a'], extra: { scopes: ['x'] } },
        audiences: ['api'],
      },
    });
    expect(seen[0]).toMatchObject({ token: 't-1', audiences: ['api', 'other'] });
    expect(seen[0]?.signal.aborted).toBe(false);
    expect(tokens.records).toMatchObject([{ operation: 'authenticate', user: 'ann', outcome: 'allowed' }]);
  });

  test('says why not', async () => {
    expect(
      (
        await ask(
          play(() => 'unknown token'),
          '/authenticate',
          tokenReview('x'),
        )
      ).status,
    ).toEqual({
      user: {},
      error: 'unknown token',
    });
    expect(
      (
        await ask(
          play(() => undefined),
          '/authenticate',
          tokenReview('x'),
        )
      ).status,
    ).toEqual({ user: {} });
  });

  test('answers in the version that was asked', async () => {
    const review = { ...tokenReview('x'), apiVersion: 'authentication.k8s.io/v1beta1' };
    const answer = await ask(
      play(() => ({ name: 'ann' })),
      '/authenticate',
      review,
    );
    expect(answer).toMatchObject({ apiVersion: 'authentication.k8s.io/v1beta1', status: { authenticated: true } });
  });

  test('remembers answers for a while, by token and audience', async () => {
    const asked: string[] = [];
    const tokens = authenticates(
      ({ token }) => {
        asked.push(token);
        if (token === 'broken') throw new Error('down');
        return token === 'bad' ? 'unknown' : { name: token };
      },
      { cache: '2m' },
    );
    const server = new WebhookPlay(tokens);
    const bound = tokens.bind({
      client: {} as never,
      runtime: { clock: server.clock, log: server.log } as never,
      record: () => {},
    })[0];
    const name = async (token: string, audiences: string[] = []): Promise<unknown> => {
      const body = Buffer.from(JSON.stringify(tokenReview(token, { audiences })));
      const signal = new AbortController().signal;
      const request = { path: '/authenticate', query: new URLSearchParams(), contentType: 'application/json' };
      const answer = await bound?.answer({ ...request, body, signal });
      return (JSON.parse(answer?.body as string) as Review).status;
    };
    await name('a');
    await name('a');
    await name('a', ['other']);
    await name('bad');
    expect(await name('bad')).toMatchObject({ error: 'unknown' });
    await name('broken');
    await name('broken');
    expect(asked).toEqual(['a', 'a', 'bad', 'broken', 'broken']);
    await server.clock.advance(120_000);
    await name('a');
    expect(asked.at(-1)).toBe('a');
    expect(asked).toHaveLength(6);
  });

  test('never logs a token', async () => {
    const secret = 'sk-very-secret';
    const tokens = play(({ token }) => {
      throw new Error(`GET /check?token=${token} failed`, { cause: new Error(`bad ${token}`) });
    });
    const answer = await ask(tokens, '/authenticate', tokenReview(secret));
    expect(answer.status.error).toBe('webhook "authentication" failed; the webhook\'s log has the error');
    expect(tokens.log.messages('error')).toEqual(['review webhook failed']);
    expect(JSON.stringify([tokens.log.records, tokens.records, answer])).not.toContain(secret);
    expect(String(tokens.log.records[0]?.fields.error)).toContain('token=[redacted] failed');
  });

  test('answers at the deadline', async () => {
    const tokens = play(() => new Promise(() => {}));
    const answer = ask(tokens, '/authenticate', tokenReview('x'), 'timeout=2s');
    await tokens.clock.advance(1800);
    expect((await answer).status.error).toBe('webhook "authentication" did not answer within 1.8s');
  });

  test('takes its own name and path, and refuses wrong ones', () => {
    const definition = authenticates(() => undefined, { name: 'idp', path: '/idp' });
    expect([definition.name, definition.targets, definition.readKinds]).toEqual(['idp', [], []]);
    expect(() => authenticates(() => undefined, { path: 'idp' })).toThrow(/path must start with a slash/);
    expect(() => authenticates(() => undefined, { name: 'A b' })).toThrow(/not a valid name/);
    expect(() => authenticates(undefined as never)).toThrow('authenticates: expects a function, got undefined');
  });
});

describe('authorizes', () => {
  const spec = {
    user: 'ann',
    groups: ['a'],
    uid: '7',
    extra: { scopes: ['x'] },
    resourceAttributes: {
      namespace: 'shop',
      verb: 'get',
      group: 'apps',
      version: 'v1',
      resource: 'deployments',
      name: 'x',
    },
  };
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };

  test('decides about resources and paths', async () => {
    const seen: AccessContext[] = [];
    const play = new WebhookPlay(
      authorizes((context) => {
        seen.push(context);
        return context.path === '' ? 'allow' : { decision: 'deny', reason: 'not that' };
      }),
    );
    const answer = await ask(play, '/authorize', review);
    expect(answer).toMatchObject({ apiVersion: 'authorization.k8s.io/v1', status: { allowed: true } });
    expect(seen[0]).toMatchObject({ user: 'ann', groups: ['a'], verb: 'get', resource: 'deployments', group: 'apps' });
    expect(seen[0]).toMatchObject({ namespace: 'shop', name: 'x', subresource: '', path: '' });
    const nonResource = { user: 'bob', nonResourceAttributes: { path: '/metrics', verb: 'get' } };
    expect((await ask(play, '/authorize', { ...review, spec: nonResource })).status).toEqual({
      allowed: false,
      denied: true,
      reason: 'not that',
    });
    expect(play.records).toMatchObject([
      { operation: 'authorize', user: 'ann', outcome: 'allowed', details: ['allow: get deployments'] },
      { outcome: 'denied', details: ['deny: get /metrics'] },
    ]);
  });

  test('reads the groups of v1beta1', async () => {
    const { groups, ...rest } = spec;
    const old = { ...review, apiVersion: 'authorization.k8s.io/v1beta1', spec: { ...rest, group: groups } };
    const play = new WebhookPlay(authorizes(({ groups: found }) => (found.includes('a') ? 'allow' : 'no opinion')));
    expect(await ask(play, '/authorize', old)).toMatchObject({
      apiVersion: 'authorization.k8s.io/v1beta1',
      status: { allowed: true },
    });
  });

  test('has no opinion when it fails, or says so', async () => {
    const silent = new WebhookPlay(authorizes(() => 'no opinion'));
    expect((await ask(silent, '/authorize', review)).status).toEqual({ allowed: false });
    for (const wrong of [() => Promise.reject(new Error('down')), () => 'yes' as never]) {
      const play = new WebhookPlay(authorizes(wrong));
      expect((await ask(play, '/authorize', review)).status).toEqual({
        allowed: false,
        evaluationError: 'webhook "authorization" failed; the webhook\'s log has the error',
      });
    }
  });
});
