import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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

/** Runs `npm run dev` until it shows a reconcile, and ends it as Ctrl-C does. */
async function develop(project: string): Promise<string> {
  // In a group of its own, as a shell has it: npm, riata and its children.
  const child = spawn('npm', ['run', 'dev'], { cwd: project, env: environment(), detached: true });
  let output = '';
  let isEnding = false;
  const ended = new Promise<void>((done) => child.on('close', () => done()));
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (isEnding || !/^reconciled .* default\/example .*Deployment default\/example/m.test(output)) return;
      isEnding = true;
      process.kill(-(child.pid as number), 'SIGINT');
    });
  }
  await ended;
  return output;
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
  expect(await run(minimal, 'npm', 'test')).toMatch(/Tests\s+2 passed/);
  await run(minimal, 'npm', 'run', 'build');
  expect(readdirSync(join(minimal, 'dist'))).toContain('main.js');
});

test('npm run dev shows a reconcile', async () => {
  expect(await develop(minimal)).toMatch(/^reconciled site default\/example /m);
});

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
  expect(await run(minimal, 'npm', 'test')).toMatch(/Tests\s+7 passed/);
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
    expect(await run(project, 'npm', 'test')).toMatch(new RegExp(`Tests\\s+${tests} passed`));
    expect(await develop(project)).toMatch(/^reconciled .* default\/example /m);
  } finally {
    renameSync(modules(project), modules(minimal));
  }
});
