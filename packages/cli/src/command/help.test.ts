import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { exitCodes } from './command-error.js';
import { memoryIo, runIn } from './command-io.fixture.js';
import { program } from './program.js';

/** All commands with the words that lead to them, those that only group others included. */
function all(command: Command, path: readonly string[] = []): { path: readonly string[]; command: Command }[] {
  return command.commands.flatMap((child) => {
    const at = [...path, child.name()];
    return [{ path: at, command: child }, ...all(child, at)];
  });
}

const commands = all(program(memoryIo({ cwd: '/' }), '0.0.0'));
const named = commands.map(({ path, command }) => [path.join(' '), command] as const);

test('the guide describes every command', () => {
  const guide = readFileSync(new URL('../../../../docs/cli.md', import.meta.url), 'utf8');
  expect(named.length).toBeGreaterThan(5);
  expect(named.map(([path]) => path).filter((path) => !guide.includes(`riata ${path}`))).toEqual([]);
});

test.each(named)('riata %s: a description that starts with a verb, and is a sentence', (_, command) => {
  for (const text of [command.description(), command.summary() || command.description()]) {
    expect(text).toMatch(/^[A-Z][a-z]+s\b.*\.$/s);
  }
});

test.each(named)('riata %s: every argument and option is described, in the same style', (_, command) => {
  const described = [
    ...command.registeredArguments.map((argument) => [argument.name(), argument.description] as const),
    ...command.options.map((option) => [option.flags, option.description] as const),
  ];
  const wrong = described.filter(
    ([, text]) =>
      !/^[^A-Z\s](?:.*[^.])?$|^(?:JSON|OCI|API|CI|URL|Node|Helm|OLM|CRDs|Kubernetes|YAML)\b.*[^.]$/s.test(text),
  );
  expect(wrong).toEqual([]);
});

test.each(named.filter(([, command]) => command.commands.length === 0))(
  'riata %s --help: an example, no line past 120 columns, exit code 0',
  async (path) => {
    const { code, out } = await runIn('/', [...path.split(' '), '--help']);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`Examples?:\\s+(?:.*\\n\\s+)?.*riata ${path}\\b`));
    expect(out.split('\n').filter((line) => line.length > 120)).toEqual([]);
  },
);

test.each(named)('riata %s with an unknown option: exit code 2, the nearest name', async (path) => {
  const { code, out, notes } = await runIn('/', [...path.split(' '), '--hlep']);
  expect({ code, out }).toEqual({ code: exitCodes.usage, out: '' });
  expect(notes).toMatch(/^riata: unknown option '--hlep'\n/);
  expect(notes).toMatch(new RegExp(`^See: riata ${path} --help$`, 'm'));
});

test('the help of riata names all exit codes', async () => {
  const { out } = await runIn('/', ['--help']);
  for (const code of Object.values(exitCodes)) expect(out).toMatch(new RegExp(`\\b${code} `));
});
