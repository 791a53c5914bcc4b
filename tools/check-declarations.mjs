// @ts-check
/**
 * `node tools/check-declarations.mjs <tarball of riata>`: whether a user's package that emits declarations can export what
 * riata makes. A type that no exported path leads to cannot be named there (TS2742, TS2883), which nothing in the
 * repository notices, since everything can be named from within. Nor does it notice what fails in a project that has
 * options of the compiler which this one has not.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dependencies = ['yaml', '@standard-schema', '@types', 'undici-types', 'zod', 'prom-client'];
const source = `
import { control, createClient, defineKind, listWatch, Manager, SharedIndexInformer } from 'riata';
import type { KubeObject } from 'riata';
import { ClusterRole, ConfigMap, Deployment, Namespace, Node, Pod } from 'riata/kinds';
import { HorizontalPodAutoscaler } from 'riata/kinds/autoscaling/v2';
import * as z from 'zod';

export const Foo = defineKind({ group: 'x.dev', version: 'v1', kind: 'Foo', spec: z.object({ size: z.int() }) });
export const foos = control(Foo).owns(ConfigMap).reconcile(async ({ apply, object }) => {
  await apply(ConfigMap({ metadata: { name: object.metadata.name } }));
});
export const pods = control(Pod).reconcile(() => {});
export const deployments = control(Deployment).owns(Pod).watches(HorizontalPodAutoscaler, () => []).reconcile(() => {});
export const Tenant = defineKind({ group: 'x.dev', version: 'v1', kind: 'Tenant', scope: 'Cluster', spec: z.object({}) });
export const tenants = control(Tenant).owns(Namespace).watches(Node, () => []).reconcile(async ({ apply, object }) => {
  await apply(ClusterRole({ metadata: { name: object.metadata.name }, rules: [] }));
});
export const namespaces = async (): Promise<readonly KubeObject[]> => [
  await client.get(Namespace, { name: 'a' }),
  ...(await client.list(Tenant)).items,
];
export const made = Deployment({
  metadata: { name: 'a', namespace: 'b' },
  spec: { selector: {}, template: { spec: { containers: [] } } },
});
export const client = createClient({ server: 'https://localhost' });
export const first = async () => (await client.list(Pod, { labelSelector: { app: 'a' } })).items[0];
export const informer = new SharedIndexInformer(listWatch(client, Deployment));
export const manager = new Manager({ client });
`;
const options = {
  compilerOptions: {
    // The strictest that users have.
    ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noPropertyAccessFromIndexSignature: true },
    ...{ target: 'ES2022', lib: ['ES2023', 'ESNext.Disposable'], module: 'NodeNext', strict: true, types: ['node'] },
    ...{ declaration: true, outDir: 'out', skipLibCheck: false },
  },
  include: ['index.ts'],
};

const [tarball] = process.argv.slice(2);
if (tarball === undefined) throw new Error('usage: node tools/check-declarations.mjs <tarball of riata>');
const home = mkdtempSync(join(tmpdir(), 'riata-declarations-'));
try {
  const modules = join(home, 'node_modules');
  mkdirSync(join(modules, 'riata'), { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '-C', join(modules, 'riata'), '--strip-components=1']);
  for (const name of dependencies) symlinkSync(join(root, 'node_modules', name), join(modules, name));
  writeFileSync(join(home, 'package.json'), '{ "name": "user", "type": "module", "private": true }\n');
  writeFileSync(join(home, 'index.ts'), source);
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify(options));
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', home], { stdio: 'inherit' });
} catch (error) {
  process.exitCode = 1;
  // tsc has said it all.
  if (!(error instanceof Error && 'status' in error)) throw error;
} finally {
  rmSync(home, { recursive: true, force: true });
}
