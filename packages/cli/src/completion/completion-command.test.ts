import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

const folder = mkdtempSync(join(tmpdir(), 'riata-completion-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** What each shell offers for a line that the user has typed so far. */
const offered = { bash: offeredByBash, zsh: offeredByZsh, fish: offeredByFish };

function offeredByBash(line: string): string[] {
  const words = line.split(' ');
  const script = `${scripts.get('bash')}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_riata
printf '%s\\n' "\${COMPREPLY[@]}"`;
  return linesOf(execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' }));
}

/** Completion of zsh needs a terminal: a shell in a pseudo-terminal is typed to, and reports what is added to its list. */
function offeredByZsh(line: string): string[] {
  const [script, found] = [join(folder, 'riata.zsh'), join(folder, 'found')];
  writeFileSync(script, scripts.get('zsh') ?? '');
  writeFileSync(found, '');
  const driver = `zmodload zsh/zpty
zpty child zsh -f -i
zpty -w child 'PROMPT= RPROMPT= LISTMAX=100000'
zpty -w child 'source ${script}'
zpty -w child 'compadd() {
  if [[ " \${(j: :)@[1,(i)--]} " == *" -"[OAD]" "* ]]; then builtin compadd "$@"; return; fi
  local -a hits; builtin compadd -O hits "$@"
  print -rl -- $hits >> ${found}
  builtin compadd "$@"
}
offer() { zle list-choices; zle kill-whole-line; print "offered-$((1 + 1))" }
zle -N offer; bindkey "^I" offer'
zpty -w child 'print "ready-$((1 + 1))"'
zpty -r child text '*ready-2*'
zpty -w -n child ${`'${line}'`}$'\\t'
zpty -r child text '*offered-2*'
zpty -d child`;
  const home = { ...process.env, HOME: folder, ZDOTDIR: folder, TERM: 'dumb' };
  execFileSync('zsh', ['-f', '-c', driver], { cwd: folder, env: home, timeout: 120_000 });
  return linesOf(readFileSync(found, 'utf8'));
}

function offeredByFish(line: string): string[] {
  const script = `${scripts.get('fish')}\ncomplete -C '${line}'`;
  const home = { ...process.env, HOME: folder };
  const out = execFileSync('fish', ['--no-config', '-c', script], { cwd: folder, env: home, encoding: 'utf8' });
  return linesOf(out).map((each) => each.split('\t')[0] as string);
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

describe.each(shells)('in %s', (shell) => {
  // Where the shell is missing, the report shows what was left out.
  test.skipIf(!has(shell)).each([
    ['riata man', ['manifests']],
    ['riata ex', ['explain']],
    ['riata manifests --form', ['--format']],
    ['riata manifests --format ', ['kustomize', 'yaml']],
    ['riata manifests --format k', ['kustomize']],
    ['riata completion ', expect.arrayContaining(['bash', 'fish', 'zsh'])],
    ['riata explain Site/web --names', ['--namespace']],
    ['riata nonsense', []],
    ['riata add ', expect.arrayContaining(['controller', 'kind', 'version', 'webhook'])],
    ['riata add kind --g', ['--group']],
    ['riata ', expect.arrayContaining(['doctor', 'manifests', 'sandbox', 'top'])],
  ])('%s', (line, words) => expect([...offered[shell](line)].sort()).toEqual(words));

  test.skipIf(!has(shell))('names of files where riata has nothing to offer', () => {
    writeFileSync(join(folder, 'cluster.yaml'), '');
    // By bash's own means: `complete -o default`.
    const files = shell === 'bash' ? [] : ['cluster.yaml'];
    expect(offered[shell]('riata doctor --kubeconfig clus')).toEqual(files);
  });
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
