import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ApiServer } from '@riata/apiserver';
import { createClient, ignoreAlreadyExists, inNamespace, loadConfig, type RestConfig } from 'riata';
import { ConfigMap, Namespace } from 'riata/kinds';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { watchConfigMaps } from './main.js';

const here = fileURLToPath(new URL('.', import.meta.url));
const clusterOwn = 'kube-root-ca.crt';
const isReal = process.env.RIATA_CONTROL_PLANE !== undefined;

/** On the real server where there is one (`npm run test:real`), else on the embedded one. */
async function onServer(run: (config: RestConfig) => Promise<void>): Promise<void> {
  if (isReal) return run(await loadConfig());
  await using server = await ApiServer.start();
  await run(server.config);
}

/** What the README has a reader type: the watch, then what it sees. */
async function commands(): Promise<string[][]> {
  const readme = await readFile(`${here}README.md`, 'utf8');
  return [...readme.matchAll(/^kubectl (.+)$/gm)].map(([, args = '']) => args.split(' '));
}

test('a watch sees what the commands do', async () => {
  await onServer(async (config) => {
    await using client = createClient(config);
    const made = await client.create(Namespace({ metadata: { generateName: 'configmap-watch-' } }));
    const namespace = made.metadata.name;
    // Clusters put one of their own into every namespace, sooner or later; here it tells when a watch has begun.
    await client.create(ConfigMap({ metadata: { namespace, name: clusterOwn } })).catch(ignoreAlreadyExists);
    const lines: string[] = [];
    const stop = new AbortController();
    const print = (line: string) => void (line.includes(clusterOwn) || lines.push(line));
    const watching = watchConfigMaps(client, print, { namespace, signal: stop.signal });
    await vi.waitFor(() => expect(lines).toHaveLength(2), 20_000);
    if (isReal) {
      expect(await kubectlStory(namespace)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    } else {
      for (const file of ['prices.yaml', 'prices-raised.yaml']) {
        const manifest = parse(await readFile(here + file, 'utf8'));
        await inNamespace(client, namespace).apply(ConfigMap(manifest), { fieldManager: 'test' });
      }
      await client.delete(ConfigMap, { namespace, name: 'prices' });
    }
    await vi.waitFor(() => expect(lines).toHaveLength(5), 20_000);
    stop.abort();
    await watching;
    expect(lines).toEqual([
      'what there is:',
      'what changes:',
      'ADDED prices {"apple":"1"}',
      'MODIFIED prices {"apple":"2","pear":"3"}',
      'DELETED prices {"apple":"2","pear":"3"}',
    ]);
  });
});

/** Runs the commands of the README; resolves to the types of the events that the first one printed. */
async function kubectlStory(namespace: string): Promise<string[]> {
  const plane = JSON.parse(await readFile(process.env.RIATA_CONTROL_PLANE ?? '', 'utf8')) as { kubectlPath: string };
  const [watch = [], ...others] = await commands();
  expect(others).toHaveLength(3);
  const options = { cwd: here, env: { ...process.env } };
  const watcher = spawn(plane.kubectlPath, ['-n', namespace, ...watch], options);
  let printed = '';
  watcher.stdout.on('data', (text: Buffer) => {
    printed += text;
  });
  try {
    await vi.waitFor(() => expect(printed).toContain(clusterOwn), 20_000);
    for (const args of others) await promisify(execFile)(plane.kubectlPath, ['-n', namespace, ...args], options);
    const types = () =>
      [...printed.matchAll(/^(ADDED|MODIFIED|DELETED) +(?:configmap\/)?prices\b/gm)].map(([, type]) => type ?? '');
    return await vi.waitFor(() => {
      expect(types()).toContain('DELETED');
      return types();
    }, 20_000);
  } finally {
    watcher.kill();
  }
}
