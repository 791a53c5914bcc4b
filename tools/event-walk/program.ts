// One controller over HTTPS; counts files once it has warmed up.
import { fork } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
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
const steps = stations.map(({ reached, files }) => {
  const entered = files.filter((file) => !seen.has(file));
  for (const file of entered) seen.add(file);
  return { reached, entered };
});
for (const { reached, entered } of steps) console.log(`\n${reached}\n${entered.map((file) => `  ${file}`).join('\n')}`);
const summary = `${seen.size} files on the way; ${executed} executed, helpers included`;
console.log(`\n${summary}`);

if (process.argv.includes('--write')) {
  const page = join(root, 'docs/architecture.md');
  const link = (file: string) => `[${file.replace('riata/src/', '')}](../packages/${file})`;
  const rows = steps.map(({ reached, entered }) => `| ${reached} | ${entered.map(link).join(' → ')} |`);
  const table = ['| until | files that the event enters, in order |', '|---|---|', ...rows, '', `${summary}.`].join(
    '\n',
  );
  const marks = /(<!-- event walk -->\n)[\s\S]*?(\n<!-- end of event walk -->)/;
  await writeFile(page, (await readFile(page, 'utf8')).replace(marks, `$1\n${table}\n$2`));
}
