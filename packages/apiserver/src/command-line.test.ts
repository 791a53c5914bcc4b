import { expect, test } from 'vitest';
import { parseCommandLine } from './command-line.js';

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
