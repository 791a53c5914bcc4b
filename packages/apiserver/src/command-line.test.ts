import { expect, test } from 'vitest';
import { nodeProblem, parseCommandLine } from './command-line.js';

test('has defaults', () => {
  expect(parseCommandLine([])).toEqual({
    host: '127.0.0.1',
    port: 6443,
    kubeconfig: undefined,
    token: undefined,
    controllers: true,
    tls: true,
  });
});

test('takes what it knows', () => {
  const args = ['--host', '::1', '--port=0', '--kubeconfig', 'f', '--token', 't', '--no-tls', '--no-controllers'];
  const switches = { controllers: false, tls: false };
  expect(parseCommandLine(args)).toEqual({ host: '::1', port: 0, kubeconfig: 'f', token: 't', ...switches });
  expect(parseCommandLine(['--help'])).toBeUndefined();
});

test.each([
  [['--nope'], '--nope'],
  [['--port', 'x'], '--port wants a number from 0 to 65535, got "x"'],
  [['--port', '70000'], '--port wants a number'],
  [['--port'], '--port'],
  [['stray'], 'stray'],
  [['--token', ''], '--token wants a text'],
])('refuses %j', (args, message) => expect(() => parseCommandLine(args)).toThrow(message));

test('tells when Node is too old', () => {
  expect(['20.19.0', '20.20.2', '22.0.0', '24.1.0'].map(nodeProblem)).toEqual(Array(4).fill(undefined));
  expect(nodeProblem('20.18.3')).toBe('needs Node 20.19 or newer, this is 20.18.3: install a newer one');
  expect(nodeProblem('18.20.8')).toContain('18.20.8');
});
