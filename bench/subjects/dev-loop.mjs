// dev-loop.mjs <objects> <edits> <types>: how long it takes from a save in `riata dev` to the first reconcile by the new
// code, with so many objects in the cache of the operator.
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, defineKind, loadConfig } from 'riata';
import { z } from 'zod';
import { report } from './probe.mjs';

const [objects, edits] = process.argv.slice(2, 4).map(Number);
const types = process.argv[4];
const spec = { group: 'bench.riata.dev', version: 'v1', kind: 'Widget' };
const Widget = defineKind({ ...spec, spec: z.object({ size: z.int() }), status: z.object({ size: z.int() }) });
const home = new URL('..', import.meta.url).pathname;
const project = mkdtempSync(join(home, 'dev-'));
mkdirSync(join(project, 'src'));
const write = (path, text) => writeFileSync(join(project, path), text);

/** The reconciles of each version report themselves: the first and the last one that is due. */
const socket = createSocket('udp4');
socket.bind(0, '127.0.0.1');
await once(socket, 'listening');
const arrived = new Map();
socket.on('message', (message) => {
  const [version, what] = message.toString().split(' ');
  const waiting = arrived.get(`${version} ${what}`);
  waiting?.(performance.now());
});
const arrival = (version, what) => new Promise((resolve) => arrived.set(`${version} ${what}`, resolve));

write('package.json', '{ "type": "module", "version": "1.0.0" }');
write(
  'tsconfig.json',
  JSON.stringify({
    compilerOptions: { module: 'nodenext', target: 'es2023', strict: true, skipLibCheck: true, types: ['node'] },
    include: ['src', 'riata.config.ts'],
  }),
);
write(
  'riata.config.ts',
  `import { operator } from '@riata/cli';
export default operator({ name: 'bench', image: 'registry.example.com/bench', run: () => import('./src/main.js') });
`,
);
write('src/main.ts', `import { widgets } from './widgets.js';\nexport const definitions = [widgets];\n`);
write(
  'src/widget.ts',
  `import { defineKind } from 'riata';
import { z } from 'zod';
export const Widget = defineKind({
  group: 'bench.riata.dev', version: 'v1', kind: 'Widget',
  spec: z.object({ size: z.int() }), status: z.object({ size: z.int() }),
});
`,
);
const source = (version) => `import { createSocket } from 'node:dgram';
import { control } from 'riata';
import { ConfigMap } from 'riata/kinds';
import { Widget } from './widget.js';
const socket = createSocket('udp4').unref();
const seen = new Set<string>();
export const widgets = control(Widget)
  .owns(ConfigMap)
  .indexes(Widget, 'size', ({ spec }) => [String(spec.size)])
  .reconcile(async ({ key, object, client }) => {
    if (seen.size === 0) socket.send('${version} first', ${socket.address().port}, '127.0.0.1');
    seen.add(key.name);
    if (seen.size % 1000 === 0) await client.list(Widget, { fieldSelector: { size: String(object.spec.size) } });
    if (seen.size === ${objects}) socket.send('${version} last', ${socket.address().port}, '127.0.0.1');
  });
`;
write('src/widgets.ts', source(0));

const bin = join(home, 'node_modules/@riata/cli/dist/bin.js');
const began = performance.now();
const dev = spawn(process.execPath, [bin, 'dev', '--nodes', '0', '--types', types], { cwd: project });
let output = '';
const errors = [];
dev.stderr.setEncoding('utf8').on('data', (text) => errors.push(text));
const started = new Promise((resolve, reject) => {
  dev.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    if (/started widget in/.test(output)) resolve();
  });
  dev.once('exit', () => reject(new Error(`riata dev has ended:\n${output}${errors.join('')}`)));
});
await started;
const startMs = performance.now() - began;
const path = /^export KUBECONFIG=(.+)$/m.exec(output)[1];
const client = createClient(await loadConfig({ path }));
const everything = arrival(0, 'last');
const names = Array.from({ length: objects }, (_, at) => `widget-${at}`);
const workers = Array.from({ length: 20 }, async () => {
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    await client.create(Widget({ metadata: { namespace: 'default', name }, spec: { size: names.length % 100 } }));
  }
});
await Promise.all(workers);
await everything;
const times = [];
for (let version = 1; version <= edits; version += 1) {
  await sleep(100);
  const [first, last] = [arrival(version, 'first'), arrival(version, 'last')];
  const saved = performance.now();
  write('src/widgets.ts', source(version));
  times.push((await first) - saved);
  await last;
}
times.sort((a, b) => a - b);
const at = (part) => times[Math.min(times.length - 1, Math.ceil(times.length * part) - 1)];
await client.close();
socket.close();
dev.removeAllListeners('exit');
dev.kill('SIGINT');
await once(dev, 'exit');
report({ startMs, p50Ms: at(0.5), p95Ms: at(0.95), mostMs: at(1) });
