import { expect, test } from 'vitest';
import { listenProblem } from './listen-problem.js';

test.each([
  ['EADDRINUSE', 'cannot listen on *:80: another process does already; end that one, or take another port, 0 for any'],
  ['EACCES', 'cannot listen on *:80: this user may not; take a port from 1024 up (EACCES)'],
  ['EADDRNOTAVAIL', 'cannot listen on *:80: this machine does not have that address (EADDRNOTAVAIL)'],
  ['ENOTFOUND', 'cannot listen on *:80: getaddrinfo ENOTFOUND nowhere'],
])('says what to do about %s', (code, text) => {
  const error = Object.assign(new Error(`getaddrinfo ${code} nowhere`), { code });
  expect(listenProblem(error, { port: 80 })).toContain(text);
});

test('names the address', () => {
  expect(listenProblem(new Error('no'), { host: '::1', port: 443 })).toBe('cannot listen on [::1]:443: no');
  expect(listenProblem(new Error('no'), { host: '127.0.0.1', port: 0 })).toBe('cannot listen on 127.0.0.1:0: no');
});
