import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TestEnvironment } from '@riata/testing';
import { ignoreAlreadyExists, inNamespace } from 'riata';
import { ConfigMap } from 'riata/kinds';
import { expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { watchConfigMaps } from './main.js';

const here = fileURLToPath(new URL('.', import.meta.url));
const clusterOwn = 'kube-root-ca.crt';
/** Set where kubectl is available. */
const isReal = process.env.RIATA_CONTROL_PLANE !== undefined;

/** The commands of the README: the watch, then the changes. */
async function commands(): Promise<string[][]> {
  const readme = await readFile(`${here}README.md`, 'utf8');
  return [...readme.matchAll(/^kubectl (.+)$/gm)].map(([, args = '']) => args.split(' '));
}

test('a watch sees what the commands do', async () => {
  // In this process, on a virtual clock; on the real server, with kubectl, in `npm run test:real`.
  await using env = await TestEnvironment.start();
  const { client } = env;
  const namespace = await env.namespace('configmap-watch');
  // Clusters create kube-root-ca.crt in every namespace; this one marks the start of the watch.
  await client.create(ConfigMap({ metadata: { namespace, name: clusterOwn } })).catch(ignoreAlreadyExists);
  const lines: string[] = [];
  const stop = new AbortController();
  const print = (line: string) => void (line.includes(clusterOwn) || lines.push(line));
  const watching = watchConfigMaps(client, print, { namespace, signal: stop.signal });
  await env.eventually(() => expect(lines).toHaveLength(2));
  if (isReal) {
    expect(await kubectlStory(namespace)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
  } else {
    for (const file of ['prices.yaml', 'prices-raised.yaml']) {
      const manifest = parse(await readFile(here + file, 'utf8'));
      await inNamespace(client, namespace).apply(ConfigMap(manifest), { fieldManager: 'test' });
    }
    await client.delete(ConfigMap, { namespace, name: 'prices' });
  }
  await env.eventually(() => expect(lines).toHaveLength(5));
  stop.abort();
  await watching;
  expect(lines).toEqual([
    'existing:',
    'changes:',
    'ADDED prices {"apple":"1"}',
    'MODIFIED prices {"apple":"2","pear":"3"}',
    'DELETED prices {"apple":"2","pear":"3"}',
  ]);
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
    await vi.waitFor(() => expect(printed).toContain(clusterOwn), 60_000);
    for (const args of others) await promisify(execFile)(plane.kubectlPath, ['-n', namespace, ...args], options);
    const types = () =>
      [...printed.matchAll(/^(ADDED|MODIFIED|DELETED) +(?:configmap\/)?prices\b/gm)].map(([, type]) => type ?? '');
    return await vi.waitFor(() => {
      expect(types()).toContain('DELETED');
      return types();
    }, 60_000);
  } finally {
    watcher.kill();
  }
}
