import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { memoryIo, runIn } from '../command/command-io.fixture.js';
import { runRiata } from '../command/run-riata.js';
import { DevDashboard } from './dev-dashboard.js';
import { type DevProject, makeDevProject, widgetOperator, widgetSource } from './dev-project.fixture.js';
import { openBrowser } from './open-browser.js';

const patience = { timeout: 60_000, interval: 10 };
const main = widgetOperator['src/main.ts'] ?? '';
/** As a cluster has it: neither the address nor the certificate is for this machine. */
const options = (gracefulTimeout: string) => `export const options = {
  gracefulTimeout: '${gracefulTimeout}',
  dashboard: { host: '0.0.0.0', protected: true, tls: { certFile: '/none', keyFile: '/none' }, actions: false },
} as const;
`;

let project: DevProject;
beforeAll(async () => {
  project = await makeDevProject({ ...widgetOperator, 'src/main.ts': `${main}${options('5s')}` });
});
afterAll(() => project?.[Symbol.dispose]());

test('riata dev serves the dashboard at one address, also after a swap and with other options of the manager', async () => {
  const stop = new AbortController();
  const folder = mkdtempSync(join(tmpdir(), 'riata-browser-'));
  const browser = join(folder, 'browser');
  writeFileSync(browser, `#!/bin/sh\necho "$1" > "$0.opened"\n`, { mode: 0o755 });
  const env = { PATH: process.env.PATH, BROWSER: browser };
  const io = memoryIo({ cwd: project.folder, signal: stop.signal, env });
  const ended = runRiata(['dev', '--types', 'off', '--nodes', '0', '--open'], io, { version: '0.0.0' });
  const saw = (pattern: RegExp) => vi.waitFor(() => expect(io.read().out).toMatch(pattern), patience);
  await saw(/^dashboard http:\/\/127\.0\.0\.1:\d+$/m);
  const url = /^dashboard (.+)$/m.exec(io.read().out)?.[1] ?? '';
  await vi.waitFor(() => expect(readFileSync(`${browser}.opened`, 'utf8')).toBe(`${url}\n`), patience);
  const controllers = async () => {
    const answer = await fetch(`${url}/debug/controllers`);
    return ((await answer.json()) as readonly { readonly name: string }[]).map(({ name }) => name);
  };
  await vi.waitFor(async () => expect(await controllers()).toEqual(['widget']), patience);
  project.write('src/widgets.ts', widgetSource(1));
  await saw(/replaced widget in/);
  expect(await controllers()).toEqual(['widget']);
  project.write('src/main.ts', `${main}${options('6s')}`);
  await saw(/manager started anew/);
  await vi.waitFor(async () => expect(await controllers()).toEqual(['widget']), patience);
  expect(io.read().out.match(/^dashboard /gm)).toHaveLength(1);
  stop.abort();
  expect(await ended).toBe(0);
  await expect(controllers()).rejects.toThrow();
  rmSync(folder, { recursive: true, force: true });
}, 180_000);

test('--no-dashboard serves none', async () => {
  const stop = new AbortController();
  const io = memoryIo({ cwd: project.folder, signal: stop.signal });
  const ended = runRiata(['dev', '--types', 'off', '--nodes', '0', '--no-dashboard'], io, { version: '0.0.0' });
  await vi.waitFor(() => expect(io.read().out).toMatch(/started widget in/), patience);
  stop.abort();
  expect(await ended).toBe(0);
  expect(`${io.read().out}${io.read().notes}`).not.toMatch('dashboard');
}, 180_000);

test('how to install it is said once, and without it the operator runs', async () => {
  const io = memoryIo({ cwd: project.folder });
  expect(await DevDashboard.of(io, {}, () => false)).toBeUndefined();
  expect(io.read().notes).toBe('no dashboard: npm install --save-dev @riata/dashboard (or --no-dashboard)');
});

test('a port that is taken is refused before anything starts', async () => {
  await using taken = createServer().listen(0, '127.0.0.1');
  await vi.waitFor(() => expect(taken.listening).toBe(true));
  const { port } = taken.address() as AddressInfo;
  const run = await runIn(project.folder, ['dev', '--types', 'off', '--dashboard-port', `${port}`]);
  expect(run.code).toBe(1);
  expect(run.notes).toMatch(`--dashboard-port ${port} cannot be used: listen EADDRINUSE`);
  const wrong = await runIn(project.folder, ['dev', '--dashboard-port', '70000']);
  expect(wrong).toMatchObject({ code: 2, notes: expect.stringContaining('must be a port, 0 to 65535, got "70000"') });
  expect(existsSync(join(project.folder, 'node_modules/.cache/riata/kubeconfig'))).toBe(false);
});

test('a browser that is missing is a note', async () => {
  const io = memoryIo({ cwd: project.folder, env: { BROWSER: '/none/browser' } });
  openBrowser(io, 'http://127.0.0.1:1');
  await vi.waitFor(() =>
    expect(io.read().notes).toBe('cannot open a browser: spawn /none/browser ENOENT; open http://127.0.0.1:1'),
  );
});
