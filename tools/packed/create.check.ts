import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

// From an empty folder to an operator, by the tarballs that a user would get from the registry.
const folder = mkdtempSync(join(tmpdir(), 'riata-create-'));
const isPackage = (name: string) => /^(?:@riata\/.+|riata|create-riata)$/.test(name);
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: Record<string, string> };
const packages = Object.keys(dependencies).filter(isPackage);
const tarballOf = (name: string) => resolve((dependencies[name] as string).slice('file:'.length));

/** The environment without the variables of the run around it, and with the Node that runs this before others. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|RIATA_|VITEST|NODE_ENV|NODE_OPTIONS|TEST$)/.test(name),
  );
  const env = Object.fromEntries(kept);
  return { ...env, PATH: [join(process.execPath, '..'), env.PATH].join(':'), NO_COLOR: '1' };
}

/** Runs a program of npm and gives its output. */
async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(command, args, { cwd, env: environment() });
  return stripVTControlCharacters(`${stdout}${stderr}`);
}

/** Creates a project, which gets the packages from their tarballs, as they are not on the registry. */
async function create(name: string, ...flags: string[]): Promise<string> {
  const tarball = tarballOf('create-riata');
  await run(
    folder,
    'npx',
    '--yes',
    '--package',
    tarball,
    '--',
    'create-riata',
    name,
    '--yes',
    '--no-install',
    ...flags,
  );
  const project = join(folder, name);
  const made = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
  for (const each of packages) {
    if (each in made.dependencies) made.dependencies[each] = `file:${tarballOf(each)}`;
    else made.devDependencies[each] = `file:${tarballOf(each)}`;
  }
  made.devDependencies['fast-check'] = dependencies['fast-check'];
  writeFileSync(join(project, 'package.json'), JSON.stringify(made));
  return project;
}

/** The machine may have much else to do. */
const patientTest = ['npm', 'test', '--', '--testTimeout=120000'] as const;

/** Runs the installed command, and gives its exit code and standard output. */
async function riata(
  cwd: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ readonly code: number; readonly out: string; readonly notes: string }> {
  const child = spawn(join(cwd, 'node_modules/.bin/riata'), args, { cwd, env: { ...environment(), ...env } });
  const text = { out: '', notes: '' };
  child.stdout.setEncoding('utf8').on('data', (part) => (text.out += part));
  child.stderr.setEncoding('utf8').on('data', (part) => (text.notes += part));
  const code = await new Promise<number | null>((done) => child.on('close', done));
  return { code: code ?? -1, ...text };
}

/**
 * Runs `npm run dev` until it shows a reconcile, does more with it if asked, and ends it as Ctrl-C does. `saw` waits for a
 * line.
 */
async function develop(
  project: string,
  more: (saw: (pattern: RegExp) => Promise<RegExpExecArray>) => Promise<void> = async () => {},
): Promise<string> {
  // In a group of its own, as a shell has it: npm, riata and its children.
  const child = spawn('npm', ['run', 'dev'], { cwd: project, env: environment(), detached: true });
  let output = '';
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const each of waiting) each();
  };
  let isOver = false;
  const ended = new Promise<void>((done) => child.on('close', () => done())).then(() => {
    isOver = true;
    wake();
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      wake();
    });
  }
  const saw = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((found, failed) => {
      const look = () => {
        const match = pattern.exec(output);
        if (match === null && !isOver) return;
        waiting.delete(look);
        if (match === null) failed(new Error(`npm run dev has ended without ${pattern}:\n${output}`));
        else found(match);
      };
      waiting.add(look);
      look();
    });
  try {
    await saw(/^reconciled .* default\/example .*Deployment default\/example/m);
    await more(saw);
  } finally {
    if (!isOver) process.kill(-(child.pid as number), 'SIGINT');
    await ended;
  }
  return output;
}

/** Writes an image without layers, as an OCI layout, to build upon. */
function writeBase(path: string): void {
  const blobs = join(path, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const put = (mediaType: string, value: object) => {
    const content = JSON.stringify(value);
    const digest = createHash('sha256').update(content).digest('hex');
    writeFileSync(join(blobs, digest), content);
    return {
      mediaType: `application/vnd.oci.image.${mediaType}.v1+json`,
      digest: `sha256:${digest}`,
      size: content.length,
    };
  };
  const platform = { os: 'linux', architecture: 'amd64' };
  const config = put('config', {
    ...platform,
    config: { Entrypoint: ['/nodejs/bin/node'] },
    rootfs: { type: 'layers', diff_ids: [] },
  });
  const manifest = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json', config, layers: [] };
  const index = { schemaVersion: 2, manifests: [{ ...put('manifest', manifest), platform }] };
  writeFileSync(join(path, 'index.json'), JSON.stringify(index));
  writeFileSync(join(path, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}');
}

/** The other parts are tested on one Node: they take their time, and don't depend on it. */
const isFirst = process.env.RIATA_SERVERS === 'https';
let minimal: string;

beforeAll(async () => {
  minimal = await create('my-operator');
  await run(minimal, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a new project compiles, passes its tests and builds', async () => {
  await run(minimal, 'npm', 'run', 'check');
  expect(await run(minimal, ...patientTest)).toMatch(/Tests\s+2 passed/);
  await run(minimal, 'npm', 'run', 'build');
  expect(readdirSync(join(minimal, 'dist'))).toContain('main.js');
});

test('npm run dev shows a reconcile, serves the dashboard, swaps code and holds back type errors', async () => {
  const sites = join(minimal, 'src/sites.ts');
  const source = readFileSync(sites, 'utf8');
  const output = await develop(minimal, async (saw) => {
    const [, dashboard = ''] = await saw(/^dashboard (http:.+)$/m);
    expect(await (await fetch(dashboard)).text()).toMatch(/<script [^>]*src="[^"]*\/assets\//);
    const [, kubeconfig = ''] = await saw(/^export KUBECONFIG=(.+)$/m);
    writeFileSync(sites, source.replace('const { name }', 'const name: number'));
    await saw(/^src\/sites\.ts:\d+:\d+ - error TS\d+: /m);
    await saw(/^the code before runs on$/m);
    writeFileSync(
      sites,
      source.replace("{ 'app.kubernetes.io/name': name }", "{ 'app.kubernetes.io/name': name, v: '2' }"),
    );
    await saw(/^replaced site in \d+ ms$/m);
    const doctor = await riata(minimal, ['doctor', '--json'], { KUBECONFIG: kubeconfig });
    expect(doctor.notes).toBe('');
    // Nothing is deployed, and that is no problem of the cluster.
    expect(JSON.stringify(JSON.parse(doctor.out))).toContain('answers: Kubernetes v1.');
  });
  writeFileSync(sites, source);
  expect(output).toMatch(/^reconciled site default\/example /m);
}, 120_000);

test.runIf(isFirst)(
  'commands run from the installed package',
  async () => {
    const fine = async (...args: string[]) => {
      const result = await riata(minimal, args);
      expect(result, args.join(' ')).toMatchObject({ code: 0 });
      return result.out;
    };
    await fine('manifests');
    await fine('manifests', '--check');
    expect(readdirSync(join(minimal, 'manifests'))).toContain('10-crd-sites.example.com.yaml');
    await fine('chart');
    await fine('chart', '--check');
    await fine('bundle');
    await fine('bundle', '--check');
    expect(await fine('completion', 'bash')).toContain('complete ');
    expect(await fine('--help')).toContain('riata [options] [command]');
    writeBase(join(minimal, 'base'));
    await fine('image', '--base', 'oci:base', '--output', 'image', '--tag', '1.0.0');
    expect(existsSync(join(minimal, 'image/index.json'))).toBe(true);
    // What is committed is stale as soon as the code says something else.
    const kind = join(minimal, 'src/site.ts');
    const source = readFileSync(kind, 'utf8');
    writeFileSync(kind, source.replace('max(100)', 'max(99)'));
    expect(await riata(minimal, ['manifests', '--check'])).toMatchObject({ code: 3 });
    writeFileSync(kind, source);
    expect(await riata(minimal, ['manifest'])).toMatchObject({ code: 2, notes: expect.stringContaining('manifests') });
  },
  120_000,
);

test.runIf(isFirst)('what riata adds, generates and imports compiles, and passes its tests', async () => {
  const add = (...words: string[]) => run(minimal, 'npx', 'riata', 'add', ...words);
  await add('kind', 'CronBackup', '--version', 'v1beta1');
  await add('kind', 'Tenant', '--group', 'tenants.example.com', '--cluster-scoped');
  await add('webhook', 'Site');
  await add('webhook', 'Tenant');
  await add('controller', 'Namespace');
  await add('version', 'Site', '--version', 'v2');
  await run(minimal, 'npx', 'riata', 'import', resolve('packages/cli/fixtures/go-operator'), '--no-wire');
  await run(minimal, 'npx', 'riata', 'types', resolve('packages/cli/fixtures/go-operator/config/crd/bases'));
  await run(minimal, 'npm', 'run', 'check');
  expect(await run(minimal, ...patientTest)).toMatch(/Tests\s+7 passed/);
});

test.runIf(isFirst).each([
  ['webhook', 3],
  ['handlers', 2],
])('so does one of the template %s, with other names', async (template, tests) => {
  const project = await create(
    `${template}-operator`,
    '--template',
    template,
    '--kind',
    'HTTPProxy',
    '--group',
    'a.dev',
  );
  const modules = (of: string) => join(of, 'node_modules');
  renameSync(modules(minimal), modules(project));
  try {
    await run(project, 'npm', 'run', 'check');
    expect(await run(project, ...patientTest)).toMatch(new RegExp(`Tests\\s+${tests} passed`));
    expect(await develop(project)).toMatch(/^reconciled .* default\/example /m);
  } finally {
    renameSync(modules(project), modules(minimal));
  }
});
