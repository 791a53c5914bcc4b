import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cacheFolder, ensureBinaries, pinnedVersions } from './build.mjs';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'riata-build-test-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the cache folder', () => {
  test('is named by the pinned versions and the platform', () => {
    const { kubernetes, etcd } = pinnedVersions();
    expect(kubernetes).toMatch(/^v1\.\d+\.\d+$/);
    expect(etcd).toMatch(/^v3\.\d+\.\d+$/);
    expect(cacheFolder({ XDG_CACHE_HOME: '/caches' })).toEqual({
      root: '/caches/riata/control-plane',
      key: `kubernetes-${kubernetes}-etcd-${etcd}-${process.platform}-${process.arch}`,
    });
  });

  test.each([{}, { XDG_CACHE_HOME: '' }, { XDG_CACHE_HOME: 'not/absolute' }])('is under the home with %o', (env) => {
    expect(cacheFolder({ HOME: '/home/me', ...env }).root).toBe('/home/me/.cache/riata/control-plane');
  });
});

describe('KUBEBUILDER_ASSETS', () => {
  test('is taken as it is; the controller manager may be missing', async () => {
    for (const name of ['etcd', 'kube-apiserver', 'kubectl']) program(join(dir, name), '');
    expect(await ensureBinaries({ env: { KUBEBUILDER_ASSETS: dir } })).toEqual({
      etcd: join(dir, 'etcd'),
      kubeApiserver: join(dir, 'kube-apiserver'),
      kubectl: join(dir, 'kubectl'),
      kubeControllerManager: undefined,
    });
    program(join(dir, 'kube-controller-manager'), '');
    const { kubeControllerManager } = await ensureBinaries({ env: { KUBEBUILDER_ASSETS: dir } });
    expect(kubeControllerManager).toBe(join(dir, 'kube-controller-manager'));
  });

  test('may be relative; what is found is not, as tests run elsewhere', async () => {
    for (const name of ['etcd', 'kube-apiserver', 'kubectl']) program(join(dir, name), '');
    const { kubectl } = await ensureBinaries({ env: { KUBEBUILDER_ASSETS: relative(process.cwd(), dir) } });
    expect(kubectl).toBe(join(dir, 'kubectl'));
  });

  test('a folder without them is named, with what it lacks', async () => {
    program(join(dir, 'etcd'), '');
    writeFileSync(join(dir, 'kubectl'), 'not executable');
    await expect(ensureBinaries({ env: { KUBEBUILDER_ASSETS: dir } })).rejects.toThrow(
      `KUBEBUILDER_ASSETS is "${dir}", but there is no program kube-apiserver, no kubectl in it.`,
    );
  });
});

test('without Go and without assets: one sentence that says how to get either', async () => {
  const failure = await ensureBinaries({ env: { PATH: dir, XDG_CACHE_HOME: dir } }).catch((error) => error.message);
  expect(failure).toMatch(/^The real control plane needs either Go 1\.\d+ or newer on the PATH.* KUBEBUILDER_ASSETS /);
  expect(failure).not.toContain('\n');
});

describe('a build, with a stand-in for go', () => {
  const env = () => ({
    PATH: `${join(dir, 'bin')}:${process.env.PATH}`,
    XDG_CACHE_HOME: dir,
    CALLS: join(dir, 'calls'),
  });
  const log: string[] = [];
  const ensure = () => ensureBinaries({ env: env(), log: (line) => log.push(line) });
  const built = () => readFileSync(join(dir, 'calls'), 'utf8').trim().split('\n');

  beforeEach(() => {
    log.length = 0;
    mkdirSync(join(dir, 'bin'));
    fakeGo('echo "program $last" > "$out"; chmod +x "$out"');
  });

  test('happens once, however many ask at once', async () => {
    // It goes on when the other one waits.
    const waits = join(dir, 'waits');
    fakeGo(`until [ -e "${waits}" ]; do sleep 0.02; done; echo "program $last" > "$out"; chmod +x "$out"`);
    const report = (line: string) => {
      log.push(line);
      if (line.includes('waiting for another build')) writeFileSync(waits, '');
    };
    const ensure = () => ensureBinaries({ env: env(), log: report });
    const [first, second] = await Promise.all([ensure(), ensure()]);
    expect(second).toEqual(first);
    expect(basename(dirname(first.kubeApiserver))).toBe(cacheFolder(env()).key);
    expect(built()).toEqual(['etcd', 'kubectl', 'kube-apiserver', 'kube-controller-manager']);
    expect(log.filter((line) => line.includes('waiting for another build'))).toHaveLength(1);
    mkdirSync(`${dirname(first.etcd)}.partial-1`);
    rmSync(first.etcd);
    await ensure();
    expect(built()).toHaveLength(8);
    expect(readdirSync(join(dir, 'riata/control-plane'))).toEqual([cacheFolder(env()).key]); // no lock, no partial folder
  });

  test.each(['complete.json', 'kubectl'])('a cache without its %s is built again', async (lost) => {
    const { etcd } = await ensure();
    rmSync(join(dirname(etcd), lost));
    await ensure();
    expect(built()).toHaveLength(8);
  });

  test('a cache with a cut-off program is built again', async () => {
    const { kubectl } = await ensure();
    truncateSync(kubectl, 3);
    await ensure();
    expect(readFileSync(kubectl, 'utf8')).toBe('program k8s.io/kubernetes/cmd/kubectl\n');
  });

  test('a lock whose holder is gone is taken over', async () => {
    const { root, key } = cacheFolder(env());
    mkdirSync(root, { recursive: true });
    writeFileSync(
      join(root, `${key}.lock`),
      JSON.stringify({ pid: 2 ** 30, host: (await import('node:os')).hostname() }),
    );
    await ensure();
    expect(built()).toHaveLength(4);
  });

  test('a failure shows what go said, and the next run starts afresh', async () => {
    fakeGo('echo "no required module provides package $last" >&2; exit 1');
    await expect(ensure()).rejects.toThrow(
      /^building etcd failed \(go build: exit code 1\)\n {2}no required module provides package go\.etcd\.io/,
    );
    fakeGo('echo ok > "$out"; chmod +x "$out"');
    expect((await ensure()).kubeControllerManager).toBeDefined();
  });

  function fakeGo(buildScript: string) {
    program(
      join(dir, 'bin/go'),
      `[ "$1" = version ] && exit 0
      while [ $# -gt 0 ]; do [ "$1" = -o ] && out="$2"; last="$1"; shift; done
      basename "$out" >> "$CALLS"
      ${buildScript}`,
    );
  }
});

function program(path: string, script: string) {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}
