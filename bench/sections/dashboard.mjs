import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { progress, rounds } from '../lib/measure.mjs';
import { goal, meanGoal, number, rowsOf, Series, table } from '../lib/series.mjs';

const modes = { off: 'without', on: 'nobody looks', viewed: 'one viewer' };

/** What the dashboard costs an operator, and how quickly its page answers. */
export const dashboard = {
  name: 'dashboard',
  needs: ['cli'],
  async measure({ cli, node, runs, counts }) {
    const {
      dashboardObjects: objects,
      dashboardRate: rate,
      dashboardSeconds: seconds,
      dashboardBursts: bursts,
    } = counts;
    const reports = { off: [], on: [], viewed: [] };
    for (let round = 0; round < runs; round++) {
      progress(`${round + 1}/${runs}`);
      const found = await measureTogether({
        round,
        cli,
        node,
        objects: Math.min(objects, 5000),
        rate,
        seconds,
        bursts,
      });
      for (const mode of Object.keys(modes)) reports[mode].push(found[mode]);
    }
    progress('');
    const page = await measurePage({ cli, node, objects, rate, runs: Math.min(runs, 3) });
    return { objects, rate, rows: rowsOf(reports), page };
  },
  describe({ objects, rate, rows, page }) {
    const lines = Object.entries(modes).map(([mode, name]) => [
      name,
      ...['cpuUs', 'pacedCpuUs', 'startCpuMs', 'rssMb', 'heapMb'].map((field) => Series.of(rows[mode], field).text(1)),
    ]);
    const cpu = (field) => Series.ratio(rows.on, rows.off, field).map((ratio) => (ratio - 1) * 100);
    const more = (mode, field) => {
      const others = rows.off[field];
      return new Series(rows[mode][field].map((value, round) => value - others[round]));
    };
    const parts = [
      'Operators with one controller, side by side; each tenth reconcile writes. Bursts of 5,000 changes go to them in turn;' +
        ` then ${number(rate)} changes a second to each of them in turn.`,
      table(
        [
          'dashboard',
          'CPU µs/reconcile, bursts',
          `CPU µs/reconcile, ${number(rate)}/s`,
          'CPU ms, start',
          'RSS MB',
          'heap MB',
        ],
        lines,
      ),
    ];
    const quiet = 'dashboard, nobody looks';
    const goals = [
      meanGoal({ what: `${quiet}: CPU more, bursts`, got: cpu('cpuUs'), most: 2, unit: ' %', digits: 1 }),
      meanGoal({
        what: `${quiet}: CPU more, ${number(rate)} events/s`,
        ...{ got: cpu('pacedCpuUs'), most: 2, unit: ' %', digits: 1 },
      }),
      meanGoal({ what: `${quiet}: RSS more`, got: more('on', 'rssMb'), most: 5, unit: ' MB', digits: 1 }),
      meanGoal({ what: `${quiet}: heap more`, got: more('on', 'heapMb'), most: 5, unit: ' MB', digits: 1 }),
      meanGoal({
        what: `dashboard, one viewer and ${number(rate)} events/s: CPU more, of a core`,
        // A thousand reconciles of so many µs are a tenth of as many percent.
        ...{ got: more('viewed', 'pacedCpuUs').map((us) => (us * rate) / 10_000), most: 10, unit: ' %', digits: 1 },
      }),
    ];
    if (page) {
      const of = (field) => Series.of(page, field);
      parts.push(
        `In Chromium, ${number(objects)} objects, ${number(rate)} events a second: from a key to the drawn page, ms (the browser's event timing, in steps of 8).`,
        table(
          ['interactions', 'p50', 'p95', 'longest', 'longest task'],
          [[of('count').text(), ...['p50', 'p95', 'most', 'longestTaskMs'].map((field) => of(field).text())]],
        ),
      );
      goals.push(
        goal({
          what: `dashboard, ${number(objects)} objects: interaction, p95`,
          got: of('p95'),
          most: 100,
          unit: ' ms',
        }),
      );
    }
    return { title: 'Dashboard', parts, charts: [], goals };
  },
};

/**
 * One operator of each mode, at the same time: bursts go to one after the other, in turns, so that what disturbs the machine
 * disturbs all. The work is counted, and of it only the CPU time of the operator's process.
 */
async function measureTogether({ round, cli, node, objects, rate, seconds, bursts }) {
  const size = Math.min(objects, 5000);
  // Who starts first may have the better place in memory and on the cores.
  const names = round % 2 === 0 ? Object.keys(modes) : Object.keys(modes).toReversed();
  const found = Object.fromEntries(names.map((mode) => [mode, { cpuMs: 0, reconciles: 0 }]));
  const open = [];
  const operators = {};
  try {
    for (const mode of names) {
      const server = await startPaced(node, objects, 0);
      open.push(server);
      const subject = join(cli, 'subjects/dashboard.mjs');
      operators[mode] = await started(node, ['--expose-gc', subject, server.line, mode]);
      open.push(operators[mode]);
      found[mode].startCpuMs = JSON.parse(operators[mode].line).startCpuMs;
    }
    const warmUp = Math.ceil(bursts / 3);
    for (let turn = -warmUp; turn < bursts; turn++) {
      for (const mode of turn % 2 === 0 ? names : names.toReversed()) {
        const { cpuMs, reconciles } = await operators[mode].ask(`burst ${size}`);
        if (turn < 0) continue;
        found[mode].cpuMs += cpuMs;
        found[mode].reconciles += reconciles;
      }
    }
    for (const mode of names) Object.assign(found[mode], await operators[mode].ask('memory'));
    // One after the other, so that they do not wait for cores; there and back, so that a machine that slows down hits all.
    // Once before that: few changes at a time take other ways through the code than bursts, and the engine compiles them.
    for (const mode of names) await operators[mode].ask(`pace ${rate} ${seconds * 1000}`);
    for (const mode of [...names, ...names.toReversed()]) {
      const { cpuUs } = await operators[mode].ask(`pace ${rate} ${seconds * 500}`);
      found[mode].pacedCpuUs = (found[mode].pacedCpuUs ?? 0) + cpuUs / 2;
    }
    for (const each of Object.values(found)) each.cpuUs = (1000 * each.cpuMs) / each.reconciles;
    return found;
  } finally {
    for (const each of open.reverse()) each.stop();
  }
}

/** How long interactions take in a browser; undefined without one. */
async function measurePage({ cli, node, objects, rate, runs }) {
  const { executablePath, useDashboard } = await import('../lib/dashboard-interactions.mjs');
  if (!existsSync(executablePath)) return undefined;
  const server = await startPaced(node, objects, rate);
  const operator = await started(node, [join(cli, 'subjects/dashboard-operator.mjs'), server.line, String(objects)]);
  try {
    const once = async () => {
      const { durations, longestTaskMs } = await useDashboard(operator.line, 'apiVersion=v1&kind=ConfigMap');
      const at = (share) => durations[Math.min(durations.length - 1, Math.floor(durations.length * share))];
      return { count: durations.length, p50: at(0.5), p95: at(0.95), most: durations.at(-1), longestTaskMs };
    };
    return rowsOf(await rounds({ page: once }, runs)).page;
  } finally {
    operator.stop();
    server.stop();
  }
}

const startPaced = (node, objects, rate) =>
  started(node, [fileURLToPath(new URL('../lib/paced-server.mjs', import.meta.url)), String(objects), String(rate)]);

/** Starts a program that prints one line when it is ready, answers each line with one, and ends when its stdin does. */
async function started(node, args) {
  const child = spawn(node, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${args.join(' ')} ended too early`);
    return value;
  };
  const line = await next();
  const ask = async (command) => {
    child.stdin.write(`${command}\n`);
    return JSON.parse(await next());
  };
  return { line, ask, stop: () => child.stdin.end() };
}
