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
      const size = Math.min(objects, 5000);
      const given = { round, objects: size, rate, seconds, bursts };
      const alone = await withOperators(cli, node, (operators) => measureAlone({ ...given, operators }));
      const paired = await withOperators(cli, node, (operators) => measurePair({ ...given, operators }));
      reports.off.push({ ...alone.off, ...paired.off });
      reports.on.push({ ...alone.on, ...paired.on });
      reports.viewed.push(alone.viewed);
    }
    progress('');
    const page = await measurePage({ cli, node, objects, rate, runs: Math.min(runs, 3) });
    return { objects, rate, rows: rowsOf(reports), page };
  },
  describe({ objects, rate, rows, page }) {
    const lines = Object.entries(modes).map(([mode, name]) => [
      name,
      ...['cpuUs', 'pacedCpuUs', 'aloneCpuUs', 'startCpuMs', 'rssMb', 'heapMb'].map((field) =>
        Series.of(rows[mode], field).text(1),
      ),
    ]);
    const cpu = (field) => Series.of(rows.on, field).map((ratio) => (ratio - 1) * 100);
    const more = (mode, field) => {
      const others = rows.off[field];
      return new Series(rows[mode][field].map((value, round) => value - others[round]));
    };
    const parts = [
      'Operators with one controller; each tenth reconcile writes. Bursts of 5,000 changes, then' +
        ` ${number(rate)} changes a second, go in turns to the first two in one process; then to all three, each in its own.`,
      table(
        [
          'dashboard',
          'CPU µs/reconcile, bursts',
          `CPU µs/reconcile, ${number(rate)}/s`,
          'the same, alone',
          'CPU ms, start',
          'RSS MB',
          'heap MB',
        ],
        lines,
      ),
    ];
    const quiet = 'dashboard, nobody looks';
    const goals = [
      meanGoal({ what: `${quiet}: CPU more, bursts`, got: cpu('cpuRatio'), most: 2, unit: ' %', digits: 1 }),
      meanGoal({
        what: `${quiet}: CPU more, ${number(rate)} events/s`,
        ...{ got: cpu('pacedCpuRatio'), most: 2, unit: ' %', digits: 1 },
      }),
      meanGoal({ what: `${quiet}: RSS more`, got: more('on', 'rssMb'), most: 5, unit: ' MB', digits: 1 }),
      meanGoal({ what: `${quiet}: heap more`, got: more('on', 'heapMb'), most: 5, unit: ' MB', digits: 1 }),
      meanGoal({
        what: `dashboard, one viewer and ${number(rate)} events/s: CPU more, of a core`,
        // A thousand reconciles of so many µs are a tenth of as many percent.
        ...{ got: more('viewed', 'aloneCpuUs').map((us) => (us * rate) / 10_000), most: 10, unit: ' %', digits: 1 },
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
 * One operator of each mode, in processes of their own: what they take to start, their memory, and what a viewer costs.
 * Bursts go to one after the other, so that what disturbs the machine disturbs all.
 */
async function measureAlone({ operators, round, objects, rate, seconds, bursts }) {
  // Who starts first may have the better place in memory and on the cores.
  const names = round % 2 === 0 ? Object.keys(modes) : Object.keys(modes).toReversed();
  const found = {};
  const { burst, memory, pace } = operators;
  for (const mode of names) {
    const { startCpuMs } = await operators.start([mode], objects);
    // Each tenth object was written: all that is kept of writes is there. What bursts leave to the operating system later
    // differs by more than a dashboard needs.
    found[mode] = { startCpuMs, ...(await memory(mode)) };
  }
  for (let turn = 0; turn < Math.ceil(bursts / 6); turn++) for (const mode of names) await burst(mode, objects);
  // One after the other, so that they do not wait for cores; there and back, so that a machine that slows down hits all.
  for (const mode of names) await pace(mode, rate, seconds * 1000);
  for (const mode of [...names, ...names.toReversed()]) {
    const { cpuUs } = await pace(mode, rate, seconds * 500);
    found[mode].aloneCpuUs = (found[mode].aloneCpuUs ?? 0) + cpuUs / 2;
  }
  return found;
}

/**
 * Two operators in one process, one of them with a dashboard that nobody looks at. Processes of the same program differ by more
 * than what is looked for here, by where the engine has put and how it has compiled things; these two share that.
 * The work goes to them in turns, and only the CPU time of the process is counted.
 */
async function measurePair({ operators, round, objects, rate, seconds, bursts }) {
  const names = round % 2 === 0 ? ['off', 'on'] : ['on', 'off'];
  await operators.start(names, objects);
  const { burst, pace } = operators;
  const warmUp = Math.ceil(bursts / 3);
  for (let turn = 0; turn < warmUp; turn++) for (const mode of names) await burst(mode, objects);
  const bursting = await inPairs(names, bursts, (mode) => burst(mode, objects));
  // Few changes at a time take other ways through the code than bursts, and the engine compiles them.
  for (const mode of names) await pace(mode, rate, seconds * 1000);
  const paced = await inPairs(names, 10, (mode) => pace(mode, rate, (seconds * 1000) / 5));
  return {
    off: { cpuUs: bursting.off, pacedCpuUs: paced.off },
    on: { cpuUs: bursting.on, pacedCpuUs: paced.on, cpuRatio: bursting.ratio, pacedCpuRatio: paced.ratio },
  };
}

/**
 * The same work for both, one directly after the other: the median of each one's CPU time, and that of the ratios within
 * pairs. A large garbage collection falls into a few of them.
 */
async function inPairs(names, pairs, work) {
  const cpuUs = { off: [], on: [] };
  for (let turn = 0; turn < pairs; turn++) {
    for (const mode of turn % 2 === 0 ? names : names.toReversed()) cpuUs[mode].push((await work(mode)).cpuUs);
  }
  const { off, on } = cpuUs;
  const ratios = on.map((us, turn) => us / off[turn]);
  return { off: new Series(off).median, on: new Series(on).median, ratio: new Series(ratios).median };
}

/** Operators of `subjects/dashboard.mjs`, each with a server of its own. */
class Operators {
  #cli;
  #node;
  #open = [];
  #byMode = {};

  constructor(cli, node) {
    this.#cli = cli;
    this.#node = node;
  }

  /** Starts operators of these modes in one process. */
  async start(names, objects) {
    const servers = [];
    for (const mode of names) {
      const server = await startPaced(this.#node, objects, 0);
      this.#open.push(server);
      servers.push(`${mode}=${server.line}`);
    }
    const process = await started(this.#node, ['--expose-gc', join(this.#cli, 'subjects/dashboard.mjs'), ...servers]);
    this.#open.push(process);
    for (const mode of names) this.#byMode[mode] = process;
    return JSON.parse(process.line);
  }

  burst = (mode, count) => this.#byMode[mode].ask(`burst ${mode} ${count}`);
  pace = (mode, rate, ms) => this.#byMode[mode].ask(`pace ${mode} ${rate} ${ms}`);
  memory = (mode) => this.#byMode[mode].ask('memory');

  stop() {
    for (const each of this.#open.reverse()) each.stop();
  }
}

async function withOperators(cli, node, measure) {
  const operators = new Operators(cli, node);
  try {
    return await measure(operators);
  } finally {
    operators.stop();
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
