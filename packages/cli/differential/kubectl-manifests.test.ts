import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { WriteObject } from 'riata/client';
import { objectsFromYaml } from 'riata/patterns';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { exampleNames, exampleOperator } from '../behaviour/example-operators.js';
import { marked } from '../src/command/generated-files.js';
import { deployment } from '../src/manifests/deployment.js';
import { manifestFiles } from '../src/manifests/manifest-files.js';

const run = promisify(execFile);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'riata-kubectl-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function kubectl(...args: readonly string[]): Promise<string> {
  const { kubectlPath, kubeconfigPath } = controlPlaneFromEnv();
  const own = ['--kubeconfig', kubeconfigPath, '--cache-dir', join(folder, 'cache')];
  const { stdout } = await run(kubectlPath, [...own, ...args], { maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

const nameOf = ({ kind, metadata }: WriteObject) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
const sorted = (objects: readonly WriteObject[]) =>
  [...objects].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)).map((each) => JSON.parse(JSON.stringify(each)));

test.each(exampleNames)('kubectl kustomizes and applies the manifests of %s', async (name) => {
  const objects = await deployment(exampleOperator(name, `kubectl-${name}`));
  const place = await mkdtemp(join(folder, `${name}-`));
  for (const file of await manifestFiles(objects, 'kustomize')) {
    await writeFile(join(place, file.path), marked(file, 'manifests'));
  }
  expect(sorted(await objectsFromYaml(await kubectl('kustomize', place)))).toEqual(sorted(objects));
  await kubectl('apply', '-f', join(place, '00-namespace.yaml'));
  for (const how of [[], ['--server-side']]) {
    const applied = await kubectl('apply', ...how, '--dry-run=server', '-k', place);
    expect(applied.trim().split('\n')).toHaveLength(objects.length);
  }
  await kubectl('delete', '--wait=false', '-f', join(place, '00-namespace.yaml'));
});
