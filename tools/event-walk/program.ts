// One controller over HTTPS; counts files once it has warmed up.
import { fork } from 'node:child_process';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';
import { configFromKubeconfig, control, Manager, silentLogger, systemClock } from 'riata';
import { ConfigMap } from 'riata/kinds';

Error.stackTraceLimit = 200;
/** Files below packages/ with a frame on the call stack, outermost first. */
const filesOf = (stack = '') => [
  ...new Set([...stack.matchAll(/packages\/([^:)]+)\.mjs/g)].map(([, file]) => `${file}.ts`).reverse()),
];

const stations: { readonly reached: string; readonly files: readonly string[] }[] = [];
let isMeasured = false;
const reach = (reached: string) => {
  if (isMeasured) stations.push({ reached, files: filesOf(new Error().stack) });
};
Object.assign(globalThis, { reachStation: reach });

const root = process.cwd();
const server = fork(join(root, 'tools/run-ts.mjs'), [join(root, 'tools/event-walk/server.ts')]);
const kubeconfig = await new Promise<string>((resolve) => server.once('message', (text) => resolve(String(text))));
const session = new Session();
session.connect();

let reconciled = () => {};
let executed = 0;
const copies = control(ConfigMap, { name: 'copies', predicates: [({ key }) => key === 'default/source'] }).reconcile(
  async ({ object, apply }) => {
    reach('the reconciler is called');
    await apply(ConfigMap({ metadata: { name: 'copy' }, data: { ...object.data } }));
    if (isMeasured) {
      const { result } = await session.post('Profiler.takePreciseCoverage');
      executed = result.filter(
        ({ url, functions }) =>
          url.includes('/packages/') && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
      ).length;
      isMeasured = false;
    }
    reconciled();
  },
);
const manager = new Manager({ config: await configFromKubeconfig(kubeconfig), runtime: { log: silentLogger } });
manager.add(copies);
const stop = new AbortController();
const running = manager.run({ signal: stop.signal });
const change = async (text: string) => {
  const done = new Promise<void>((resolve) => {
    reconciled = resolve;
  });
  server.send(text);
  await done;
  await systemClock.sleep(300);
};
for (const text of ['a', 'b', 'c']) await change(text);
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await session.post('Profiler.takePreciseCoverage');
isMeasured = true;
await change('measured');
stop.abort();
await running;
server.kill();

const seen = new Set<string>();
for (const { reached, files } of stations) {
  console.log(`\n${reached}`);
  for (const file of files.filter((path) => !seen.has(path))) console.log(`  ${seen.add(file).size}. ${file}`);
}
console.log(`\n${seen.size} files on the way; ${executed} executed, helpers included`);
