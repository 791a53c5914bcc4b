import { expect, test } from 'vitest';
import { systemRandom } from '../../runtime/random.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { EndpointGuard } from '../probes/http-endpoint.js';
import { assertDashboardGuarded } from './dashboard-options.js';
import { localGuard } from './local-guard.js';
import { SignIn } from './sign-in.js';

const { signal } = new AbortController();

function setUp() {
  const clock = new VirtualClock();
  const reviews: EndpointGuard = async ({ authorization, path }) => {
    if (authorization === undefined) return { status: 401, body: 'a bearer token is required\n' };
    if (authorization !== 'Bearer good') return { status: 401, body: 'the token is not known\n' };
    return path.startsWith('/debug/') ? undefined : { status: 403, body: 'not allowed\n' };
  };
  const pages = { signInPage: (problem?: string) => ({ body: `sign in: ${problem ?? ''}` }) };
  const signIn = new SignIn({ clock, random: systemRandom }, { reviews, pages, isSecure: true });
  const post = (token: string, headers = {}) =>
    signIn.route({ rest: '', query: new URLSearchParams(), body: `token=${token}`, headers, signal });
  return { clock, signIn, post };
}

test('who is not signed in gets no page but the one to sign in, and no data', async () => {
  const { signIn } = setUp();
  expect(await signIn.guard({ path: '/', authorization: undefined, signal })).toMatchObject({
    status: 401,
    body: 'sign in: ',
  });
  expect(await signIn.guard({ path: '/assets/app.js', authorization: 'Bearer bad', signal })).toMatchObject({
    status: 401,
    body: 'sign in: the token is not known',
  });
  expect(await signIn.guard({ path: '/debug/stream', authorization: undefined, signal })).toMatchObject({
    status: 401,
  });
  expect(await signIn.guard({ path: '/objects', authorization: 'Bearer good', signal })).toBeUndefined();
});

test('a token is exchanged for a cookie that no script and no other site can use, and that expires', async () => {
  const { clock, signIn, post } = setUp();
  expect(await post('bad')).toMatchObject({ status: 401, body: 'sign in: the token is not known' });
  expect(await post('good', { 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 });
  const answer = await post('good');
  const cookie = answer?.headers?.['set-cookie'] ?? '';
  expect(cookie).toMatch(/^riata-dashboard=[\w-]{72}; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
  expect(cookie).not.toContain('good');
  const [pair = ''] = cookie.split(';');
  expect(signIn.authorizationOf({ cookie: `other=1; ${pair}` })).toBe('Bearer good');
  expect(signIn.authorizationOf({ cookie: 'riata-dashboard=guessed' })).toBeUndefined();
  await clock.advance(9 * 3_600_000);
  expect(signIn.authorizationOf({ cookie: pair })).toBeUndefined();
});

test('a local dashboard is not for names of other sites that lead to this machine', async () => {
  const status = async (host?: string) =>
    (await localGuard({ path: '/', authorization: undefined, headers: { ...(host && { host }) }, signal }))?.status ??
    200;
  for (const host of ['localhost:8082', '127.0.0.1', '127.0.0.1:80', '[::1]:8082'])
    expect(await status(host)).toBe(200);
  for (const host of ['evil.example.com', 'localhost.evil.example.com:80', undefined])
    expect(await status(host)).toBe(421);
});

test('on the network, a dashboard requires tokens and TLS', () => {
  const tls = { cert: 'c', key: 'k' };
  expect(() => assertDashboardGuarded(true)).not.toThrow();
  expect(() => assertDashboardGuarded({ host: '0.0.0.0', protected: true, tls })).not.toThrow();
  const message = 'dashboard.host "0.0.0.0" is not loopback; set dashboard.protected and dashboard.tls';
  expect(() => assertDashboardGuarded({ host: '0.0.0.0', protected: true })).toThrow(message);
  expect(() => assertDashboardGuarded({ host: '0.0.0.0', tls })).toThrow(message);
});
