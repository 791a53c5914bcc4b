import { join } from 'node:path';
import { buildGo } from '../lib/build-controller-runtime.mjs';
import { desiredSet } from '../lib/desired-set.mjs';
import { headline } from '../lib/headline.mjs';
import { isAskedFor, rounds } from '../lib/measure.mjs';
import { panel } from '../lib/panel.mjs';
import { requestsText } from '../lib/requests-text.mjs';
import { goal, number, rowsOf, Series, table } from '../lib/series.mjs';
import { SetCluster } from '../lib/set-cluster.mjs';

const steps = ['first', 'unchanged', '1 % changed'];

/** A set of objects applied to a real kube-apiserver: first, again, and with one in a hundred of them changed. */
export const apply = {
  name: 'apply',
  needs: ['riata'],
  async measure({ riata, node, folder, runs, log, subjects, counts: { setSize, setChanged } }) {
    const go = buildGo('wrangler', 'apply-set', log);
    const ours = {
      command: node,
      before: [join(riata, 'subjects/riata/apply-set.mjs')],
      env: { NODE_ENV: 'production' },
    };
    const theirs = go && { command: go };
    log('  starting kube-apiserver');
    const cluster = await SetCluster.start(folder);
    const by = (subject, mode) => subject && ((namespace, sets) => cluster.apply(subject, namespace, mode, sets));
    const all = {
      riata: by(ours, 'live'),
      'riata, cached': by(ours, 'cached'),
      wrangler: by(theirs, 'live'),
      'wrangler, cached': by(theirs, 'cached'),
      'kubectl apply --server-side --prune': (namespace, sets) => cluster.applyByKubectl(namespace, sets),
    };
    const cases = Object.entries(all).filter(([name, run]) => run !== undefined && isAskedFor(subjects, name));
    const once = async (run) => {
      const namespace = await cluster.newNamespace();
      const set = desiredSet(namespace, setSize);
      const found = await run(namespace, [set, set, desiredSet(namespace, setSize, setChanged)]);
      const asked = await cluster.requestsOf(found);
      return found.map(({ from, to, cpuMs }, at) => ({ ms: (to - from) / 1000, cpuMs, ...asked[at] }));
    };
    try {
      const found = await rounds(Object.fromEntries(cases.map(([name, run]) => [name, () => once(run)])), runs);
      const of = (pick) => Object.fromEntries(Object.entries(found).map(([name, reports]) => [name, pick(reports)]));
      return {
        ...{ objects: setSize, changed: setChanged },
        steps: steps.map((_, at) => ({
          rows: rowsOf(of((reports) => reports.map((report) => report[at]))),
          requests: of((reports) => reports.at(-1)[at].verbs),
        })),
      };
    } finally {
      await cluster.stop();
    }
  },
  describe({ objects, changed, steps: [first, unchanged, edited] }) {
    const found = [first, unchanged, edited];
    const kubectl = 'kubectl apply --server-side --prune';
    const names = { ...Object.fromEntries(Object.keys(first.rows).map((name) => [name, name])), [kubectl]: 'kubectl' };
    return {
      title: `Apply of a desired set of ${number(objects)} objects`,
      parts: [
        ...found.map(({ rows }, at) => `**${steps[at]}**\n\n${figures(rows)}`),
        Object.entries(first.requests)
          .map(
            ([name, verbs]) =>
              `- ${name}, last round: first ${requestsText(verbs, 6)}; unchanged ${requestsText(unchanged.requests[name], 6)}`,
          )
          .join('\n'),
      ],
      charts: [
        {
          name: 'apply',
          title: `A set of ${number(objects)} objects applied to kube-apiserver`,
          panels: found.map(({ rows }, at) => panel(`${steps[at]}, ms`, rows, 'ms', { names })),
        },
      ],
      headlines: headline(`apply of a set of ${number(objects)} objects that has not changed`, unchanged.rows, 'ms', {
        ...{ ours: 'riata, cached', others: { 'wrangler, cached': 'wrangler', [kubectl]: 'kubectl' }, unit: ' ms' },
      }),
      goals: goalsOf(found, changed),
    };
  },
};

function figures(rows) {
  const fields = ['all', 'writes', 'ms', 'cpuMs'];
  const lines = Object.entries(rows).map(([name, row]) => [
    name,
    ...fields.map((field) => Series.of(row, field).text()),
  ]);
  return table(['', 'requests', 'writes', 'ms', 'CPU ms'], lines);
}

function goalsOf([, unchanged, edited], changed) {
  const of = ({ rows }, name, field) => Series.of(rows[name], field);
  const all = [
    goal({ what: 'apply of an unchanged set, writes', got: of(unchanged, 'riata', 'writes'), most: 0 }),
    goal({ what: 'apply with 1 % changed, writes', got: of(edited, 'riata', 'writes'), most: changed }),
    goal({ what: 'cached apply of an unchanged set, requests', got: of(unchanged, 'riata, cached', 'all'), most: 0 }),
    goal({ what: 'cached apply with 1 % changed, requests', got: of(edited, 'riata, cached', 'all'), most: changed }),
  ];
  return all.filter(({ got }) => got !== '–');
}
