import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildControllerRuntime } from '../lib/build-controller-runtime.mjs';
import { headline } from '../lib/headline.mjs';
import { buildKubeRs } from '../lib/informer-subjects.mjs';
import { isAskedFor, rounds } from '../lib/measure.mjs';
import { panel } from '../lib/panel.mjs';
import { requestsText } from '../lib/requests-text.mjs';
import { goal, number, rowsOf, Series, table } from '../lib/series.mjs';
import { sleep, WidgetCluster } from '../lib/widget-cluster.mjs';

const PER_SECOND = 100;
/** Runs before the rounds that count, so that server, client and operator are equally warm. */
const WARM_UP_EVENTS = 300;
/** What trails behind the last status write is counted, too. */
const SETTLE_MS = 2_000;
const ours = 'riata';
const theirs = 'controller-runtime';
const bare = 'node:https alone';
const peers = { [theirs]: theirs, 'kube-rs': 'kube-rs' };

/** Operators of Widgets on a real kube-apiserver, with leader election, ten reconciles at a time. */
export const controller = {
  name: 'controller',
  needs: ['riata'],
  async measure({ riata, node, folder, runs, log, subjects, counts }) {
    const { widgets, widgetEvents, idleKinds } = counts;
    const go = buildControllerRuntime(log);
    const rust = buildKubeRs(log, 'operator');
    const all = {
      [ours]: {
        command: node,
        before: [join(riata, 'subjects/riata/operator.mjs')],
        env: { NODE_ENV: 'production' },
      },
      [theirs]: go && { command: go },
      'kube-rs': rust && { command: rust },
    };
    const bareOperator = { command: node, before: [join(riata, 'subjects/node-https/operator.mjs')] };
    const operators = Object.entries(all).filter(([name, it]) => it !== undefined && isAskedFor(subjects, name));
    log('  starting kube-apiserver');
    const cluster = await WidgetCluster.start((text) => {
      const path = join(folder, 'operator.kubeconfig');
      writeFileSync(path, text);
      return path;
    });
    try {
      const cases = (once, more = []) => {
        const each = [...operators, ...more].map(([name, it]) => [name, () => once(cluster, it, counts)]);
        return rounds(Object.fromEntries(each), runs);
      };
      log(`  until ${number(widgets)} Widgets are ready`);
      const made = await cases(untilReady, isAskedFor(subjects, bare) ? [[bare, bareOperator]] : []);
      log(`  ${PER_SECOND} events a second`);
      const latencies = await cases(latency);
      let idled = {};
      if (isAskedFor(subjects, ours)) {
        log(`  idle, ${idleKinds} kinds`);
        const kinds = Array.from({ length: idleKinds }, (_, at) => `Idle${at}`);
        await cluster.define('idle.riata.dev', kinds);
        idled = await rounds({ [ours]: () => idle(cluster, all[ours], counts) }, Math.min(runs, 3));
      }
      const requests = Object.fromEntries(Object.entries(made).map(([name, reports]) => [name, reports.at(-1).verbs]));
      return {
        ...{ widgets, events: widgetEvents, idleKinds, requests },
        ...{ ready: rowsOf(made), latency: rowsOf(latencies), idle: rowsOf(idled) },
      };
    } finally {
      await cluster.stop();
    }
  },
  describe({ widgets, idleKinds, requests, ready, latency: latencies, idle: idled }) {
    return {
      title: `Operators of ${number(widgets)} Widgets on kube-apiserver`,
      parts: figures({ widgets, idleKinds, requests, ready, latencies, idled }),
      charts: [
        {
          name: 'controllers',
          title: `${number(widgets)} Widgets made ready by operators, ten reconciles at a time`,
          columns: 2,
          panels: [
            panel('API requests until all are ready', ready, 'requests'),
            panel('CPU until all are ready, s', ready, 'cpuSeconds', { digits: 2 }),
            panel('time until all are ready, s', ready, 'seconds', { digits: 1 }),
            panel('from a write to its reconcile, p99, ms', latencies, 'p99', { digits: 1 }),
          ],
        },
      ],
      headlines: [
        ...headline(`API requests until ${number(widgets)} Widgets are ready`, ready, 'requests', { others: peers }),
        ...headline('the same, CPU', ready, 'cpuSeconds', { others: peers, unit: ' s', digits: 2 }),
        ...headline('the same, memory', ready, 'rssMb', { others: peers, unit: ' MB' }),
        ...headline('from a write to its reconcile, median', latencies, 'p50', {
          others: peers,
          unit: ' ms',
          digits: 1,
        }),
      ],
      goals: goalsOf({ ready, latencies, idled, idleKinds }),
    };
  },
};

async function untilReady(cluster, operator, { widgets }) {
  const namespace = await cluster.fill(widgets);
  const from = performance.now();
  const process = cluster.startOperator(operator, namespace, 'ready');
  await cluster.ready(namespace, widgets);
  const seconds = (performance.now() - from) / 1000;
  await sleep(SETTLE_MS);
  const [cpuSeconds, rssMb] = [process.cpuMs() / 1000, process.rssMb()];
  const { all: requests, refused, verbs } = await cluster.requestsOf(namespace);
  // The same again, by an operator that has been running for a while.
  await cluster.add(namespace, widgets, 2 * widgets);
  await cluster.ready(namespace, 2 * widgets);
  await sleep(SETTLE_MS);
  const moreCpuSeconds = process.cpuMs() / 1000 - cpuSeconds;
  await process.stop();
  return { seconds, cpuSeconds, moreCpuSeconds, rssMb, requests, refused, verbs };
}

async function latency(cluster, operator, { widgetEvents: count }) {
  const namespace = await cluster.fill(count);
  const process = cluster.startOperator(operator, namespace, 'latency');
  await sleep(SETTLE_MS * 2);
  await cluster.change(namespace, { count, perSecond: PER_SECOND, events: WARM_UP_EVENTS, isMeasured: false });
  await sleep(SETTLE_MS);
  const before = process.cpuMs();
  await cluster.change(namespace, { count, perSecond: PER_SECOND, events: count });
  await sleep(SETTLE_MS);
  const cpuUs = ((process.cpuMs() - before) * 1000) / count;
  const found = (await process.stop()).sort((a, b) => a - b);
  if (found.length !== count) throw new Error(`${found.length} reconciles came of ${count} events`);
  const at = (share) => found[Math.ceil(share * found.length) - 1] / 1000;
  return { p50: at(0.5), p99: at(0.99), cpuUs };
}

async function idle(cluster, operator, { idleMs }) {
  const namespace = await cluster.fill(0);
  const process = cluster.startOperator(operator, namespace, 'idle');
  await sleep(SETTLE_MS * 4);
  const [before, from] = [process.cpuMs(), performance.now()];
  await sleep(idleMs);
  const percent = ((process.cpuMs() - before) / (performance.now() - from)) * 100;
  const rssMb = process.rssMb();
  await process.stop();
  return { percent, rssMb };
}

function figures({ widgets, idleKinds, requests, ready, latencies, idled }) {
  const readyLines = Object.entries(ready).map(([name, row]) => [
    name,
    Series.of(row, 'seconds').text(1),
    Series.of(row, 'cpuSeconds').text(2),
    Series.ratio(row, ready[theirs], 'cpuSeconds').text(2),
    Series.of(row, 'moreCpuSeconds').text(2),
    Series.ratio(row, ready[theirs], 'moreCpuSeconds').text(2),
    Series.of(row, 'requests').text(),
    Series.of(row, 'refused').text(),
    Series.of(row, 'rssMb').text(),
  ]);
  const latencyLines = Object.entries(latencies).map(([name, row]) => [
    name,
    Series.of(row, 'p50').text(1),
    Series.of(row, 'p99').text(1),
    Series.ratio(row, latencies[theirs], 'p99').text(2),
    Series.of(row, 'cpuUs').text(),
  ]);
  const parts = [
    `**Until ${number(widgets)} Widgets are ready**, from the start of the process`,
    table(
      [
        '',
        's',
        'CPU s',
        `÷ ${theirs}`,
        `CPU s for ${number(widgets)} more`,
        `÷ ${theirs}`,
        'requests',
        'refused',
        'RSS MB',
      ],
      readyLines,
    ),
    Object.entries(requests)
      .map(([name, verbs]) => `- ${name}, last round: ${requestsText(verbs)}`)
      .join('\n'),
    `**From a write to its reconcile**, ${PER_SECOND} a second`,
    table(['', 'p50 ms', 'p99 ms', `p99 ÷ ${theirs}`, 'CPU µs/event'], latencyLines),
  ];
  if (idled[ours]) {
    const [cpu, rss] = [Series.of(idled[ours], 'percent').text(2), Series.of(idled[ours], 'rssMb').text()];
    parts.push(`**Idle, ${idleKinds} kinds watched**: riata takes ${cpu} % of a core and ${rss} MB RSS.`);
  }
  return parts;
}

function goalsOf({ ready, latencies, idled, idleKinds }) {
  const cpu = Series.ratio(ready[ours], ready[theirs], 'cpuSeconds');
  const p99 = Series.ratio(latencies[ours], latencies[theirs], 'p99');
  const all = [
    goal({ what: 'controller, API requests for 1,000 Widgets', got: Series.of(ready[ours], 'requests'), most: 2060 }),
    goal({ what: `controller, CPU beside ${theirs}`, got: cpu, most: 0.5, unit: '×', digits: 2 }),
    goal({
      what: `controller, p99 from a write to its reconcile beside ${theirs}`,
      ...{ got: p99, most: 1, unit: '×', digits: 2 },
    }),
    goal({
      what: `controller, idle CPU with ${idleKinds} kinds`,
      ...{ got: Series.of(idled[ours], 'percent'), most: 0.5, unit: ' %', digits: 2 },
    }),
  ];
  return all.filter(({ got }) => got !== '–');
}
