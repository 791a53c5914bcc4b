import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildControllerRuntime } from '../lib/build-controller-runtime.mjs';
import { buildKubeRs } from '../lib/informer-subjects.mjs';
import { rounds } from '../lib/measure.mjs';
import { goal, number, Series, table } from '../lib/series.mjs';
import { sleep, WidgetCluster } from '../lib/widget-cluster.mjs';

const WIDGETS = 1000;
const EVENTS = 1000;
const PER_SECOND = 100;
/** Told before any that count, so that server, client and operator are warm alike. */
const WARM_UP_EVENTS = 300;
const IDLE_KINDS = 50;
const IDLE_MS = 30_000;
/** What trails behind the last status write is counted, too. */
const SETTLE_MS = 2_000;
const ours = 'riata';
const theirs = 'controller-runtime';

/** Operators of Widgets on a real kube-apiserver, with leader election, ten reconciles at a time. */
export async function controller({ riata, node, folder, runs, log, subjects }) {
  const go = buildControllerRuntime(log);
  const rust = buildKubeRs(log, 'operator');
  const all = {
    [ours]: { command: node, before: [join(riata, 'subjects/riata/operator.mjs')], env: { NODE_ENV: 'production' } },
    [theirs]: go && { command: go },
    'kube-rs': rust && { command: rust },
  };
  const isWanted = (name) => !subjects || subjects.some((part) => name.includes(part));
  const operators = Object.entries(all).filter(([name, operator]) => operator !== undefined && isWanted(name));
  log('starting kube-apiserver');
  const cluster = await WidgetCluster.start((text) => {
    const path = join(folder, 'operator.kubeconfig');
    writeFileSync(path, text);
    return path;
  });
  try {
    const cases = (once) =>
      rounds(Object.fromEntries(operators.map(([name, operator]) => [name, () => once(cluster, operator)])), runs);
    log(`  until ${number(WIDGETS)} Widgets are ready`);
    const made = await cases(untilReady);
    log(`  ${PER_SECOND} events a second`);
    const told = await cases(latency);
    let idled = [];
    if (isWanted(ours)) {
      log(`  idle, ${IDLE_KINDS} kinds`);
      await cluster.define(
        'idle.riata.dev',
        Array.from({ length: IDLE_KINDS }, (_, at) => `Idle${at}`),
      );
      ({ [ours]: idled } = await rounds({ [ours]: () => idle(cluster, all[ours]) }, Math.min(runs, 3)));
    }
    return { title: 'Controllers', text: figures(made, told, idled), goals: goalsOf(made, told, idled) };
  } finally {
    await cluster.stop();
  }
}

async function untilReady(cluster, operator) {
  const namespace = await cluster.fill(WIDGETS);
  const from = performance.now();
  const process = cluster.startOperator(operator, namespace, 'ready');
  await cluster.ready(namespace, WIDGETS);
  const seconds = (performance.now() - from) / 1000;
  await sleep(SETTLE_MS);
  const [cpuSeconds, rssMb] = [process.cpuMs() / 1000, process.rssMb()];
  await process.stop();
  const { all: requests, refused, verbs } = await cluster.requestsOf(namespace);
  return { seconds, cpuSeconds, rssMb, requests, refused, verbs };
}

async function latency(cluster, operator) {
  const namespace = await cluster.fill(EVENTS);
  const process = cluster.startOperator(operator, namespace, 'latency');
  await sleep(SETTLE_MS * 2);
  await cluster.change(namespace, { count: EVENTS, perSecond: PER_SECOND, events: WARM_UP_EVENTS, isMeasured: false });
  await sleep(SETTLE_MS);
  const before = process.cpuMs();
  await cluster.change(namespace, { count: EVENTS, perSecond: PER_SECOND, events: EVENTS });
  await sleep(SETTLE_MS);
  const cpuUs = ((process.cpuMs() - before) * 1000) / EVENTS;
  const found = (await process.stop()).sort((a, b) => a - b);
  if (found.length !== EVENTS) throw new Error(`${found.length} reconciles came of ${EVENTS} events`);
  const at = (share) => found[Math.ceil(share * found.length) - 1] / 1000;
  return { p50: at(0.5), p99: at(0.99), cpuUs };
}

async function idle(cluster, operator) {
  const namespace = await cluster.fill(0);
  const process = cluster.startOperator(operator, namespace, 'idle');
  await sleep(SETTLE_MS * 4);
  const [before, from] = [process.cpuMs(), performance.now()];
  await sleep(IDLE_MS);
  const percent = ((process.cpuMs() - before) / (performance.now() - from)) * 100;
  const rssMb = process.rssMb();
  await process.stop();
  return { percent, rssMb };
}

function figures(made, told, idled) {
  const ratio = (found, name, field) => (found[theirs] ? Series.ratio(found[name], found[theirs], field).text(2) : '–');
  const ready = table(
    ['', 's', 'CPU s', `÷ ${theirs}`, 'requests', 'refused', 'RSS MB'],
    Object.entries(made).map(([name, reports]) => [
      name,
      Series.of(reports, 'seconds').text(1),
      Series.of(reports, 'cpuSeconds').text(2),
      ratio(made, name, 'cpuSeconds'),
      Series.of(reports, 'requests').text(),
      Series.of(reports, 'refused').text(),
      Series.of(reports, 'rssMb').text(),
    ]),
  );
  const asked = Object.entries(made).map(([name, reports]) => {
    const verbs = Object.entries(reports.at(-1).verbs).sort(([, a], [, b]) => b - a);
    return `${name}, last round: ${verbs.map(([what, count]) => `${number(count)} × ${what}`).join(', ')}.`;
  });
  const latencies = table(
    ['', 'p50 ms', 'p99 ms', `p99 ÷ ${theirs}`, 'CPU µs/event'],
    Object.entries(told).map(([name, reports]) => [
      name,
      Series.of(reports, 'p50').text(1),
      Series.of(reports, 'p99').text(1),
      ratio(told, name, 'p99'),
      Series.of(reports, 'cpuUs').text(),
    ]),
  );
  const parts = [
    `**Until ${number(WIDGETS)} Widgets are ready**, from the start of the process`,
    ready,
    ...asked,
    `**From a write to its reconcile**, ${PER_SECOND} a second`,
    latencies,
  ];
  if (idled.length > 0) {
    const [cpu, rss] = [Series.of(idled, 'percent').text(2), Series.of(idled, 'rssMb').text()];
    parts.push(`**Idle, ${IDLE_KINDS} kinds watched**: ${cpu} % of a core, ${rss} MB RSS.`);
  }
  return parts.join('\n\n');
}

function goalsOf(made, told, idled) {
  const goals = [];
  if (made[ours]) goals.push(goal('controller, API requests', Series.of(made[ours], 'requests').median, 2060));
  if (made[ours] && made[theirs]) {
    const [cpu, p99] = [
      Series.ratio(made[ours], made[theirs], 'cpuSeconds'),
      Series.ratio(told[ours], told[theirs], 'p99'),
    ];
    goals.push(goal(`controller, CPU beside ${theirs}`, cpu.median, 0.5, '×', 2));
    goals.push(goal(`controller, p99 from a write to its reconcile beside ${theirs}`, p99.median, 1, '×', 2));
  }
  if (idled.length > 0) {
    const { median } = Series.of(idled, 'percent');
    goals.push(goal(`controller, idle CPU with ${IDLE_KINDS} kinds`, median, 0.5, ' %', 2));
  }
  return goals;
}
