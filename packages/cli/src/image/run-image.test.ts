import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { createClient } from 'riata';
import { Deployment } from 'riata/kinds';
import { defaultRuntime, silentLogger } from 'riata/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { goTool } from '../../../../tools/go-tools/go-tool.mjs';
import { memoryIo, runIn } from '../command/command-io.fixture.js';
import { loadOperator } from '../config/load-operator.js';
import { conditions, makeProject, siteOperator } from '../config/project.fixture.js';
import { tinyBase } from './base-image.fixture.js';
import { blobOf } from './oci/blob.js';
import { assembleImage } from './oci/image.js';
import { tarOf } from './oci/tar.js';
import { writeLayoutFolder } from './oci/write-layout.js';
import { registryProgram, startRegistry } from './registry/registry.fixture.js';

const [check = '', crane = ''] = [await goTool('oci-check'), await goTool('crane')];
const folder = mkdtempSync(join(tmpdir(), 'riata-image-'));
const project = makeProject(siteOperator);
const args = ['image', ...conditions.flatMap((each) => ['--conditions', each])];

beforeAll(() => writeLayoutFolder(join(folder, 'base'), tinyBase(), { names: [] }));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  project[Symbol.dispose]();
});

/** A base with the Node that runs this test, and the libraries it is linked with. */
async function nodeBase(path: string): Promise<void> {
  const libraries = execFileSync('ldd', [process.execPath], { encoding: 'utf8' })
    .split('\n')
    .flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? []);
  const files = new Map(libraries.map((library) => [library.slice(1), realpathSync(library)]));
  files.set('nodejs/bin/node', realpathSync(process.execPath));
  const tar = tarOf([...files].map(([name, from]) => ({ path: name, mode: 0o755, content: readFileSync(from) })));
  const layer = blobOf('application/vnd.oci.image.layer.v1.tar', tar);
  const platform = { os: 'linux', architecture: 'amd64' };
  const config = {
    ...platform,
    config: { Entrypoint: ['/nodejs/bin/node'] },
    rootfs: { type: 'layers' as const, diff_ids: [layer.descriptor.digest] },
  };
  const manifest = { schemaVersion: 2 as const, config: layer.descriptor, layers: [layer.descriptor] };
  await writeLayoutFolder(path, assembleImage({ platforms: [{ platform, manifest, config }], blobs: [layer] }), {
    names: [],
  });
}

/** Extracts all layers of a layout, in order. */
function unpack(layout: string, root: string): { Entrypoint: string[]; User: string; Env: string[] } {
  const blob = ({ digest }: { digest: string }) => join(layout, 'blobs', digest.replace(':', '/'));
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
  const manifest = read(blob(read(join(layout, 'index.json')).manifests[0]));
  mkdirSync(root, { recursive: true });
  for (const layer of manifest.layers) execFileSync('tar', ['-xf', blob(layer), '-C', root]);
  return read(blob(manifest.config)).config;
}

describe('riata image', () => {
  test.skipIf(check === '' || crane === '')('writes an archive that is valid, and the same on each run', async () => {
    const first = await runIn(project.folder, [
      ...args,
      '--base',
      `oci:${folder}/base`,
      '--output',
      join(folder, 'a.tar'),
    ]);
    expect(first.notes).toMatch(
      /^bundled site-operator 1\.2\.3 with \d+ packages\nbase oci:\S+@sha256:\w+ \(linux\/amd64, linux\/arm64\)\nlayer \d+ KiB compressed\nwrote \S+a\.tar$/,
    );
    expect(first.out).toMatch(/^registry\.example\.com\/site-operator@sha256:[0-9a-f]{64}$/);
    // In another folder: nothing of it may reach the image.
    using copy = makeProject(siteOperator);
    const second = await runIn(copy.folder, [
      ...args,
      '--base',
      `oci:${folder}/base`,
      '--output',
      join(folder, 'b.tar'),
    ]);
    expect(second.out).toBe(first.out);
    expect(readFileSync(join(folder, 'a.tar')).equals(readFileSync(join(folder, 'b.tar')))).toBe(true);
    execFileSync(crane, ['validate', '--tarball', join(folder, 'a.tar')]);
    mkdirSync(join(folder, 'unpacked'));
    execFileSync('tar', ['-xf', join(folder, 'a.tar'), '-C', join(folder, 'unpacked')]);
    execFileSync(check, [join(folder, 'unpacked')]);
  });

  test.skipIf(registryProgram === '' || crane === '')(
    'writes an archive that crane reads as docker load does',
    async () => {
      const archive = join(folder, 'loaded.tar');
      const base = ['--base', `oci:${folder}/base`, '--platform', 'linux/amd64'];
      const { out } = await runIn(project.folder, [...args, ...base, '--output', archive, '--json']);
      await using registry = await startRegistry();
      const name = `${registry.host}/loaded:1`;
      execFileSync(crane, ['push', archive, name], { stdio: 'pipe' });
      const config = JSON.parse(execFileSync(crane, ['config', name], { encoding: 'utf8' }));
      expect(config.config).toMatchObject({ User: '65532:65532', WorkingDir: '/app' });
      const files = execFileSync(crane, ['export', name, '-'], { maxBuffer: 1 << 28 });
      const listed = execFileSync('tar', ['-tf', '-'], { input: files, encoding: 'utf8' }).split('\n');
      expect(listed).toEqual(expect.arrayContaining(['etc/os-release', 'app/main.mjs', 'app/sbom.cdx.json']));
      const sbom = JSON.parse(
        execFileSync('tar', ['-xOf', '-', 'app/sbom.cdx.json'], { input: files, encoding: 'utf8' }),
      );
      expect(sbom.components).toContainEqual(expect.objectContaining({ type: 'container', name: 'base' }));
      expect(JSON.parse(out).platforms).toEqual(['linux/amd64']);
    },
  );

  test('a registry that cannot be reached', async () => {
    const base = ['--base', '127.0.0.1:1/node:22'];
    const { clock, ...rest } = defaultRuntime();
    const runtime = {
      ...{ ...rest, log: silentLogger },
      clock: {
        now: () => clock.now(),
        monotonic: () => clock.monotonic(),
        after: clock.after.bind(clock),
        yield: () => clock.yield(),
        // No waiting between attempts.
        sleep: (_ms: number, options?: Parameters<typeof clock.sleep>[1]) => clock.sleep(0, options),
      },
    };
    const output = ['--output', join(folder, 'none.tar')];
    const { code, notes } = await runIn(project.folder, [...args, ...base, ...output], { runtime });
    expect(code).toBe(1);
    expect(notes.split('\n').at(-1)).toMatch(
      /^riata: registry 127\.0\.0\.1:1: connection refused by 127\.0\.0\.1:1; check the name of the image and the network; /,
    );
  });

  test('lists the packages of the bundle, with their licenses', async () => {
    const bundle = join(folder, 'bundle');
    expect(await runIn(project.folder, [...args, '--bundle', bundle])).toMatchObject({ code: 0 });
    const sbom = JSON.parse(readFileSync(join(bundle, 'sbom.cdx.json'), 'utf8'));
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { name: 'site-operator', version: '1.2.3' } },
    });
    const zod = sbom.components.find(({ name }: { name: string }) => name === 'zod');
    expect(zod).toMatchObject({
      type: 'library',
      licenses: [{ expression: 'MIT' }],
      purl: expect.stringMatching(/^pkg:npm\/zod@\d/),
    });
    const refs = new Set(sbom.components.map((each: { 'bom-ref': string }) => each['bom-ref']));
    for (const { dependsOn } of sbom.dependencies) for (const ref of dependsOn) expect(refs).toContain(ref);
    const licenses = readFileSync(join(bundle, 'THIRD-PARTY-LICENSES.txt'), 'utf8');
    expect(licenses).toMatch(/^zod \d\S+\nLicense: MIT$/m);
    expect(licenses).toContain('Permission is hereby granted, free of charge');
    const maps = readdirSync(join(bundle, 'chunks')).filter((name) => name.endsWith('.map'));
    const sources = maps.flatMap((name) => JSON.parse(readFileSync(join(bundle, 'chunks', name), 'utf8')).sources);
    expect(sources).toContain('src/sites.ts');
    // Riata loads it by require, when metrics are on.
    expect(createRequire(join(bundle, 'chunks/x.mjs'))('prom-client').Registry).toBeTypeOf('function');
    expect(sbom.components.map(({ name }: { name: string }) => name)).toContain('prom-client');
    // Nothing of this machine.
    expect(
      spawnSync('grep', ['-rlF', '-e', project.folder, '-e', 'node_modules/.cache', bundle], { encoding: 'utf8' })
        .stdout,
    ).toBe('');
  });

  test.skipIf(registryProgram === '')('pushes to a registry and takes its base from there', async () => {
    await using registry = await startRegistry();
    const base = await runIn(project.folder, [
      ...args,
      '--base',
      `oci:${folder}/base`,
      '--image',
      `${registry.host}/base/node`,
      '--tag',
      '22',
      '--push',
    ]);
    expect(base.code).toBe(0);
    const { code, out, notes } = await runIn(project.folder, [
      ...[...args, '--base', `${registry.host}/base/node:22`, '--image', `${registry.host}/team/site-operator`],
      ...['--tag', '1.2.3', 'latest', '--label', 'team=web', '--platform', 'linux/arm64', '--push', '--json'],
    ]);
    expect({ code, notes }).toMatchObject({
      code: 0,
      notes: expect.stringContaining('2 blobs uploaded, 2 mounted, 0 present already'),
    });
    const result = JSON.parse(out);
    expect(result).toMatchObject({ tags: ['1.2.3', 'latest'], platforms: ['linux/arm64'], pushed: true });
    const name = `${registry.host}/team/site-operator:latest`;
    const config = JSON.parse(execFileSync(crane, ['config', name], { encoding: 'utf8' }));
    expect(config).toMatchObject({
      architecture: 'arm64',
      config: { Labels: { team: 'web', 'org.opencontainers.image.version': '1.2.3' } },
    });
    expect(execFileSync(crane, ['digest', name], { encoding: 'utf8' }).trim()).toBe(result.digest);
    execFileSync(crane, ['validate', '--remote', name]);
  });

  test('prints a Dockerfile', async () => {
    const { out } = await runIn(project.folder, [...args, '--dockerfile', '--base', 'registry.example.com/node:22']);
    expect(out).toContain('FROM registry.example.com/node:22\n');
    expect(out).toContain('LABEL org.opencontainers.image.title="site-operator"\n');
    expect(out).toContain('USER 65532:65532\n');
  });

  test.each([
    [[], 2, 'nothing to write; give --push, or --output image.tar'],
    [['--push', '--label', 'x'], 2, "option '--label <key=value...>' argument 'x' is invalid. It must be key=value."],
    [['--output', 'x.tar', '--base', 'oci:./nowhere'], 1, 'riata: base image "oci:./nowhere": '],
    [
      ['--output', 'x.tar', '--image', 'registry.example.com/a:1'],
      1,
      'image "registry.example.com/a:1": must be a repository; give the tag by --tag',
    ],
    [['--output', 'x.tar', '--tag', 'a b'], 1, 'tag "a b" is invalid'],
  ])('refuses %j', async (given, code, problem) => {
    const run = await runIn(project.folder, [...args, ...given]);
    expect(run).toMatchObject({ code, notes: expect.stringContaining(problem) });
  });

  test('names what cannot be bundled', async () => {
    using broken = makeProject({
      ...siteOperator,
      'src/sites.ts': `import 'left-out';\n${siteOperator['src/sites.ts']}`,
    });
    const { code, notes } = await runIn(broken.folder, [...args, '--bundle', join(folder, 'broken')]);
    expect(code).toBe(1);
    expect(notes).toContain('cannot bundle src/sites.ts: "left-out" not found; install it: npm install left-out');
  });

  test('refuses a malformed SOURCE_DATE_EPOCH, and takes a good one', async () => {
    const run = (value: string) =>
      runIn(project.folder, [...args, '--bundle', join(folder, 'dated')], { env: { SOURCE_DATE_EPOCH: value } });
    expect((await run('yesterday')).notes).toContain(
      'SOURCE_DATE_EPOCH must be a number of seconds ≥ 0, got "yesterday"',
    );
    expect((await run('1700000000')).code).toBe(0);
    expect(readFileSync(join(folder, 'dated/sbom.cdx.json'), 'utf8')).toContain(
      '"timestamp": "2023-11-14T22:13:20.000Z"',
    );
  });
});

/** Root may enter the image as its own file system; elsewhere the files of the image run with this Node. */
const canEnter =
  process.getuid?.() === 0 && process.platform === 'linux' && spawnSync('unshare', ['-m', 'true']).status === 0;

test('the image runs as another user on a read-only file system until it reconciles', async () => {
  const { folder: cwd } = project;
  await nodeBase(join(folder, 'node-base'));
  const layout = join(folder, 'layout');
  expect(await runIn(cwd, [...args, '--base', `oci:${folder}/node-base`, '--output', layout])).toMatchObject({
    code: 0,
  });
  const root = join(folder, 'root');
  const { Entrypoint, User, Env } = unpack(layout, root);
  expect(User).toBe('65532:65532');
  await using server = await ApiServer.start();
  const { url, ca } = await server.listen();
  writeFileSync(join(root, 'kubeconfig'), adminKubeconfig({ url, ca, token: server.token }), { mode: 0o600 });
  if (canEnter) chownSync(join(root, 'kubeconfig'), 1000, 1000);
  const client = createClient(server.connect());
  const { operator } = await loadOperator(memoryIo({ cwd }), { conditions });
  const [Site] = operator.kinds;
  if (Site === undefined) throw new Error('the operator has no kind');
  await client.create(Site.crd());
  const env = Object.fromEntries(Env.map((each) => each.split('=')));
  const [node = '', ...nodeArgs] = Entrypoint;
  const script =
    'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec chroot --userspec=1000:1000 "$@"';
  const child = canEnter
    ? spawn('unshare', ['-m', 'sh', '-ec', script, 'sh', root, root, node, ...nodeArgs], {
        env: { ...env, PATH: process.env.PATH, KUBECONFIG: '/kubeconfig' },
        stdio: 'pipe',
      })
    : spawn(
        process.execPath,
        nodeArgs.map((each) => each.replace(/^\/app\//, `${root}/app/`)),
        { env: { ...env, KUBECONFIG: join(root, 'kubeconfig') }, stdio: 'pipe' },
      );
  let output = '';
  child.stdout.on('data', (text) => {
    output += text;
  });
  child.stderr.on('data', (text) => {
    output += text;
  });
  const exited = once(child, 'exit');
  try {
    await client.create({
      apiVersion: 'sites.example.com/v1',
      kind: 'Site',
      metadata: { namespace: 'default', name: 'blog' },
      spec: { image: 'web' },
    });
    const reconciled = (async () => {
      for await (const { object } of await client.watch(Deployment, { namespace: 'default' })) {
        if (object.metadata && 'name' in object.metadata && object.metadata.name === 'blog') return 'reconciled';
      }
      return 'watch ended';
    })();
    expect(await Promise.race([reconciled, exited.then(() => `exited:\n${output}`)])).toBe('reconciled');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  } finally {
    child.kill('SIGKILL');
    await client.close();
    await server.stop();
  }
});
