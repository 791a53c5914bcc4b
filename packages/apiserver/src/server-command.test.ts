import { expect, test } from 'vitest';
import { nodeProblem, type OwnOption, parseServerCommand, type ServerCommand, usageOf } from './server-command.js';

const command = {
  name: 'serve',
  about: 'Serves.',
  options: {
    nodes: { written: '--nodes COUNT', help: 'how many', default: 3, most: 5000 },
    controllers: { written: '--no-controllers', help: 'none', default: true },
    plugins: { written: '--plugins NAMES', help: 'some', default: ['A'] as readonly string[] },
  },
  start: () => Promise.reject(new Error('nobody starts it here')),
} satisfies ServerCommand<Record<string, OwnOption>>;

test('has defaults', () => {
  expect(parseServerCommand(command, [])).toEqual({
    host: '127.0.0.1',
    port: 6443,
    kubeconfig: undefined,
    token: undefined,
    tls: true,
    nodes: 3,
    controllers: true,
    plugins: ['A'],
  });
});

test('takes what it knows', () => {
  const common = ['--host', '::1', '--port=0', '--kubeconfig', 'f', '--token', 't', '--no-tls'];
  const own = { nodes: 7, controllers: false, plugins: ['B', 'C'] };
  expect(parseServerCommand(command, [...common, '--nodes', '7', '--no-controllers', '--plugins', 'B,C,'])).toEqual({
    ...{ host: '::1', port: 0, kubeconfig: 'f', token: 't', tls: false },
    ...own,
  });
  expect(parseServerCommand(command, ['--help'])).toBeUndefined();
});

test.each([
  [['--nope'], '--nope'],
  [['--port', 'x'], '--port must be an integer from 0 to 65535, got "x"'],
  [['--port', '70000'], '--port must be an integer'],
  [['--port'], '--port'],
  [['--nodes', '5001'], '--nodes must be an integer from 0 to 5000, got "5001"'],
  [['stray'], 'stray'],
  [['--token', ''], '--token must not be empty'],
])('refuses %j', (args, message) => expect(() => parseServerCommand(command, args)).toThrow(message));

test('says how it is used', () => {
  const lines = usageOf(command).split('\n');
  expect(lines.slice(0, 6)).toEqual([
    'Usage: serve [options]',
    '',
    'Serves.',
    '',
    '  --nodes COUNT      how many',
    '  --no-controllers   none',
  ]);
  expect(lines.filter((line) => line.startsWith('  --host HOST        '))).toHaveLength(1);
});

test('reports that Node is too old', () => {
  expect(['20.19.0', '20.20.2', '22.0.0', '24.1.0'].map(nodeProblem)).toEqual(Array(4).fill(undefined));
  expect(nodeProblem('20.18.3')).toBe('needs Node 20.19 or newer, this is 20.18.3: install a newer one');
  expect(nodeProblem('18.20.8')).toContain('18.20.8');
});
