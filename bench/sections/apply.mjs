import { join } from 'node:path';
import { buildGo } from '../lib/build-controller-runtime.mjs';
import { desiredSet } from '../lib/desired-set.mjs';
import { rounds } from '../lib/measure.mjs';
import { goal, number, Series, table } from '../lib/series.mjs';
import { SetCluster } from '../lib/set-cluster.mjs';

const OBJECTS = 500;
const CHANGED = 5;
const steps = ['first', 'unchanged', '1 % changed'];

/** A set of 500 objects applied to a real kube-apiserver: first, again, and with five of them changed. */
export async function apply({ riata, node, folder, runs, log, subjects }) {
  const go = buildGo('wrangler', 'apply-set', log);
  const ours = {
    command: node,
    before: [join(riata, 'subjects/riata/apply-set.mjs')],
    env: { NODE_ENV: 'production' },
  };
  const theirs = go && { command: go };
  log('starting kube-apiserver');
  const cluster = await SetCluster.start(folder);
  const by = (subject, mode) => subject && ((namespace, sets) => cluster.apply(subject, namespace, mode, sets));
  const all = {
    riata: by(ours, 'live'),
    'riata, cached': by(ours, 'cached'),
    wrangler: by(theirs, 'live'),
    'wrangler, cached': by(theirs, 'cached'),
    'kubectl apply --server-side --prune': (namespace, sets) => cluster.applyByKubectl(namespace, sets),
  };
  const isWanted = (name) => !subjects || subjects.some((part) => name.includes(part));
  const cases = Object.entries(all).filter(([name, run]) => run !== undefined && isWanted(name));
  const once = async (run) => {
    const namespace = await cluster.newNamespace();
    const set = desiredSet(namespace, OBJECTS);
    const found = await run(namespace, [set, set, desiredSet(namespace, OBJECTS, CHANGED)]);
    const counts = await cluster.requestsOf(found);
    return found.map(({ from, to, cpuMs }, at) => ({ ms: (to - from) / 1000, cpuMs, ...counts[at] }));
  };
  try {
    const found = await rounds(Object.fromEntries(cases.map(([name, run]) => [name, () => once(run)])), runs);
    return { title: 'Apply of a desired set', text: figures(found), goals: goalsOf(found) };
  } finally {
    await cluster.stop();
  }
}

function figures(found) {
  const tables = steps.map((step, at) => {
    const rows = Object.entries(found).map(([name, reports]) => {
      const of = (field, digits) =>
        Series.of(
          reports.map((report) => report[at]),
          field,
        ).text(digits);
      return [name, of('all'), of('writes'), of('ms'), of('cpuMs')];
    });
    return `**${step}**\n\n${table(['', 'requests', 'writes', 'ms', 'CPU ms'], rows)}`;
  });
  const asked = Object.entries(found).map(([name, reports]) => {
    const verbs = (at) =>
      Object.entries(reports.at(-1)[at].verbs)
        .sort(([, a], [, b]) => b - a)
        .slice(0, 6);
    const text = (at) =>
      verbs(at)
        .map(([what, count]) => `${number(count)} × ${what}`)
        .join(', ') || 'nothing';
    return `${name}, last round: first ${text(0)}; unchanged ${text(1)}.`;
  });
  return [`${number(OBJECTS)} objects of five kinds in one namespace.`, ...tables, ...asked].join('\n\n');
}

function goalsOf(found) {
  const ours = found['riata, cached'];
  const writes = (reports, at) =>
    Series.of(
      reports.map((report) => report[at]),
      'writes',
    ).median;
  const requests = (reports, at) =>
    Series.of(
      reports.map((report) => report[at]),
      'all',
    ).median;
  const goals = [];
  for (const [name, reports] of Object.entries(found)) {
    if (!name.startsWith('riata')) continue;
    goals.push(goal(`${name}: writes of an unchanged set`, writes(reports, 1), 0));
    goals.push(goal(`${name}: writes with 1 % changed`, writes(reports, 2), CHANGED));
  }
  if (ours) goals.push(goal('riata, cached: requests of an unchanged set', requests(ours, 1), 0));
  return goals;
}
