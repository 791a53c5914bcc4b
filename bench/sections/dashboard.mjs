import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { measure, rounds } from '../lib/measure.mjs';
import { goal, number, rowsOf, Series, table } from '../lib/series.mjs';

const modes = { off: 'without', on: 'nobody looks', viewed: 'one viewer' };

/** What the dashboard costs an operator, and how quickly its page answers. */
export const dashboard = {
  name: 'dashboard',
  needs: ['cli'],
  async measure({ cli, node, runs, counts }) {
    const { dashboardObjects: objects, dashboardRate: rate, dashboardSeconds: seconds } = counts;
    const server = await startPaced(node, Math.min(objects, 5000), rate);
    const subject = (mode) => () =>
      measureWithGc(node, join(cli, 'subjects/dashboard.mjs'), server.line, mode, String(seconds));
    let rows;
    try {
      rows = rowsOf(await rounds(Object.fromEntries(Object.keys(modes).map((mode) => [mode, subject(mode)])), runs));
    } finally {
      server.stop();
    }
    return { objects, rate, rows, page: await measurePage({ cli, node, objects, rate, runs: Math.min(runs, 3) }) };
  },
  describe({ objects, rate, rows, page }) {
    const lines = Object.entries(modes).map(([mode, name]) => [
      name,
      ...['cpuPercent', 'cpuUs', 'rate', 'rssMb', 'heapMb'].map((field) => Series.of(rows[mode], field).text(1)),
    ]);
    const cpu = Series.ratio(rows.on, rows.off, 'cpuUs').map((ratio) => (ratio - 1) * 100);
    const more = (mode, field) => {
      const others = rows.off[field];
      return new Series(rows[mode][field].map((value, round) => value - others[round]));
    };
    const about = `An operator with one controller, whose objects change ${number(rate)} times a second; each tenth reconcile writes.`;
    const parts = [
      about,
      table(['dashboard', 'CPU, % of a core', 'CPU µs/reconcile', 'reconciles/s', 'RSS MB', 'heap MB'], lines),
    ];
    const goals = [
      goal({ what: 'dashboard, nobody looks: CPU more', got: cpu, most: 2, unit: ' %', digits: 1 }),
      goal({ what: 'dashboard, nobody looks: heap more', got: more('on', 'heapMb'), most: 5, unit: ' MB', digits: 1 }),
      goal({
        what: `dashboard, one viewer and ${number(rate)} events/s: CPU more, of a core`,
        // A thousand reconciles of so many µs are a tenth of as many percent.
        ...{ got: more('viewed', 'cpuUs').map((us) => (us * rate) / 10_000), most: 10, unit: ' %', digits: 1 },
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

const measureWithGc = (node, script, ...args) => measure(node, '--expose-gc', script, ...args);

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

/** Starts a program that prints one line when it is ready, and ends when its stdin does. */
async function started(node, args) {
  const child = spawn(node, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) return { line, stop: () => child.stdin.end() };
  throw new Error(`${args[0]} ended before it was ready`);
}
