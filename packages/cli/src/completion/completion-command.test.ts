import { execFileSync, spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import { runIn } from '../command/command-io.fixture.js';
import { shells } from './completion-scripts.js';

const scripts = new Map<string, string>();
beforeAll(async () => {
  for (const shell of shells) {
    const { code, out } = await runIn('/', ['completion', shell]);
    expect(code).toBe(0);
    scripts.set(shell, out);
  }
});

const has = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0;

/** What bash offers for a line that the user has typed so far. */
function offered(line: string): string[] {
  const words = line.split(' ');
  const script = `${scripts.get('bash')}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_riata
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' })
    .split('\n')
    .filter((word) => word !== '');
}

describe.skipIf(!has('bash'))('in bash', () => {
  test.each([
    ['riata man', ['manifests']],
    ['riata ex', ['explain']],
    ['riata manifests --form', ['--format']],
    ['riata manifests --format ', ['yaml', 'kustomize']],
    ['riata manifests --format k', ['kustomize']],
    ['riata completion ', expect.arrayContaining(['bash', 'zsh', 'fish', '--help'])],
    ['riata explain Site/web --names', ['--namespace']],
    // Names of files are bash's own, where riata has nothing to offer.
    ['riata doctor --kubeconfig ', []],
    ['riata nonsense', []],
    ['riata add ', expect.arrayContaining(['kind'])],
    ['riata add kind --g', ['--group']],
  ])('%s', (line, words) => expect(offered(line)).toEqual(words));

  test('every command', () => {
    expect(offered('riata ')).toEqual(expect.arrayContaining(['manifests', 'doctor', 'top', 'sandbox', '--version']));
  });
});

test.skipIf(!has('zsh'))('zsh takes the script', () => {
  expect(spawnSync('zsh', ['-n'], { input: scripts.get('zsh') ?? '' })).toMatchObject({ status: 0 });
});

test.skipIf(!has('fish'))('fish takes the script', () => {
  expect(spawnSync('fish', ['--no-execute'], { input: scripts.get('fish') ?? '' })).toMatchObject({ status: 0 });
});

test('descriptions with quotes are quoted for the shell', () => {
  expect(scripts.get('fish')).toContain(`complete -c riata -n '__riata_at '\\''riata doctor'\\''' -l json`);
  expect(scripts.get('zsh')).toContain(`'riata doctor') commands=(); options=('--json:print one JSON value'`);
});

test('another shell', async () => {
  const { code, notes } = await runIn('/', ['completion', 'tcsh']);
  expect(code).toBe(2);
  expect(notes).toContain('Allowed choices are bash, zsh, fish.');
});
