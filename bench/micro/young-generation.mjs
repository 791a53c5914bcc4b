// What it costs work that is not an informer's to have the young generation collected from 4 MB on, as Riata has it while
// lists come in, or from 8 MB on, as in floods of events: here all the time. Each in a process of its own, in turns with the
// same left to V8.
//   npx node@24 bench/micro/young-generation.mjs [rounds] [times]
import { execFileSync } from 'node:child_process';
import { createServer, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { LoopProbe, peakMb, report } from '../subjects/probe.mjs';
import { loadSource } from './bundle.mjs';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const garbage = (n) => {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += [i, { at: i, name: `n${i}` }].length;
  return sum;
};

const workloads = {
  'garbage, 1 MB a turn': async (times) => {
    for (let i = 0; i < times * 400; i++) {
      garbage(10_000);
      await turn();
    }
  },
  'garbage, all in one turn': async (times) => {
    for (let i = 0; i < times; i++) garbage(4_000_000);
  },
  '2,000 tasks under way, 5 KB each, 10 turns': async (times) => {
    const task = async (i) => {
      const held = [];
      for (let step = 0; step < 10; step++) {
        held.push(Array.from({ length: 10 }, (_, k) => ({ key: `${i}/${step}/${k}`, at: k })));
        await turn();
      }
      return held.length;
    };
    for (let i = 0; i < times; i++) await Promise.all(Array.from({ length: 2_000 }, (_, k) => task(k)));
  },
  'a map of 200,000 entries, all replaced': async (times) => {
    const map = new Map();
    for (let i = 0; i < times * 200_000; i++) {
      map.set(i % 200_000, { value: [i, `v${i}`], old: undefined });
      if (i % 2_000 === 0) await turn();
    }
  },
  'HTTP requests, 10 KB of JSON each': async (times) => {
    const text = JSON.stringify(
      Array.from({ length: 200 }, (_, i) => ({ name: `name-${i}`, labels: { app: `a${i}` } })),
    );
    const server = createServer((_, answer) => answer.end(JSON.stringify(JSON.parse(text))));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address();
    const once = () =>
      new Promise((resolve, reject) => {
        request({ port, host: '127.0.0.1', path: '/' }, (answer) => {
          let body = '';
          answer.setEncoding('utf8').on('data', (part) => {
            body += part;
          });
          answer.on('end', () => resolve(JSON.parse(body).length));
        })
          .on('error', reject)
          .end();
      });
    for (let i = 0; i < times * 20; i++) await Promise.all(Array.from({ length: 50 }, once));
    server.close();
  },
};

async function measured(name, way, times) {
  const { youngGeneration } = await loadSource({ 'runtime/young-generation.js': ['youngGeneration'] });
  // As after a start: much has stayed, and the young generation is as large as it gets.
  const stays = [];
  for (let i = 0; i < 1_500_000; i++) {
    stays.push({ at: i, of: [i] });
    if (i % 5_000 === 0) await turn();
  }
  const young = youngGeneration();
  const ways = { '4 MB': () => young.added(), '8 MB': () => young.replaced() };
  const comes = ways[way];
  if (comes) {
    setInterval(() => {
      for (let i = 0; i < 1024; i++) comes();
    }, 25).unref();
  }
  await workloads[name](1);
  const probe = new LoopProbe().start();
  const from = process.cpuUsage();
  await workloads[name](times);
  const { user, system } = process.cpuUsage(from);
  await turn();
  report({ seconds: (user + system) / 1e6, peakMb: peakMb(), stays: stays.length, ...probe.stop() });
}

const [first = '5', second = '20', third] = process.argv.slice(2);
if (third !== undefined) await measured(first, second, Number(third));
else {
  const ways = ['V8', '8 MB', '4 MB'];
  const middle = (values) => values.sort((a, b) => a - b)[values.length >> 1];
  for (const name of Object.keys(workloads)) {
    const found = Object.fromEntries(ways.map((way) => [way, []]));
    for (let round = 0; round < Number(first); round++) {
      for (const way of round % 2 === 0 ? ways : ways.toReversed()) {
        const args = [fileURLToPath(import.meta.url), name, way, second];
        found[way].push(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })));
      }
    }
    const figures = (field, digits) => ways.map((way) => middle(found[way].map((one) => one[field])).toFixed(digits));
    console.log(
      `${name.padEnd(44)} CPU ${figures('seconds', 2).join(' → ')} s, peak RSS ${figures('peakMb', 0).join(' → ')} MB, ` +
        `longest block ${figures('blockCpuMs', 1).join(' → ')} ms of CPU`,
    );
  }
}
