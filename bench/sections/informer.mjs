import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { headline } from '../lib/headline.mjs';
import { buildClientGo, buildKubeRs } from '../lib/informer-subjects.mjs';
import { isAskedFor, rounds } from '../lib/measure.mjs';
import { panel } from '../lib/panel.mjs';
import { ScriptedInformerServer } from '../lib/scripted-informer-server.mjs';
import { goal, number, rowsOf, Series, table } from '../lib/series.mjs';

const ours = 'riata';
const clientGo = 'client-go, typed, protobuf';
const clientGoLean = 'client-go, typed, no managedFields';

/** Informers of the same Pods. `subjects` says which by a part of the name. */
export const informer = {
  name: 'informer',
  needs: ['riata', 'clientNode'],
  async measure({ riata, clientNode, node, folder, runs, log, subjects, counts }) {
    const { informerSizes: sizes, informerEvents: events } = counts;
    const goPrograms = buildClientGo(log);
    const kubeRs = isAskedFor(subjects, 'kube-rs') ? buildKubeRs(log) : undefined;
    log('  making the bytes that the server sends');
    const home = join(folder, 'informer');
    mkdirSync(home);
    const encode = goPrograms && join(goPrograms, 'encode');
    const server = await ScriptedInformerServer.start({ folder: home, sizes, events, node, encode });
    const onNode = (script, args = [], flags = []) => {
      const before = ['--expose-gc', ...flags, script];
      return (size) => server.measure(node, { size, events, before, args, env: { NODE_ENV: 'production' } });
    };
    const ofRiata = (args, flags) => onNode(join(riata, 'subjects/riata/informer.mjs'), args, flags);
    const program = (path, ...args) => path && ((size) => server.measure(path, { size, events, args }));
    const go = goPrograms && join(goPrograms, 'informer');
    const all = {
      [clientGo]: program(go, 'typed'),
      [ours]: ofRiata(),
      'riata, --max-semi-space-size=4': ofRiata([], ['--max-semi-space-size=4']),
      [clientGoLean]: program(go, 'no-managed-fields'),
      'client-go, dynamic, JSON': program(go, 'dynamic'),
      'kube-rs': program(kubeRs, 'default'),
      'kube-rs, no managedFields': program(kubeRs, 'no-managed-fields'),
      'client-node': onNode(join(clientNode, 'subjects/client-node/informer.mjs')),
    };
    const cases = Object.entries(all).filter(([name, run]) => run !== undefined && isAskedFor(subjects, name));
    const bySize = {};
    try {
      for (const size of sizes) {
        log(`  ${number(size)} Pods`);
        const found = await rounds(Object.fromEntries(cases.map(([name, run]) => [name, () => run(size)])), runs);
        bySize[size] = rowsOf(found);
      }
    } finally {
      server.stop();
    }
    return { podBytes: Math.round(server.podBytes), events, sizes, bySize };
  },
  describe({ podBytes, events, sizes, bySize }) {
    const largest = Math.max(...sizes);
    const rows = bySize[largest];
    return {
      title: `Informers of Pods of ${number(podBytes)} B, over HTTP; ${number(events)} MODIFIED events`,
      parts: sizes.map((size) => `**${number(size)} Pods**\n\n${figures(bySize[size])}`),
      charts: [
        {
          name: 'informers',
          title: `Informers of ${number(largest)} Pods of ${number(podBytes / 1000, 1)} KB`,
          columns: 2,
          panels: [
            panel('CPU until all Pods are held, s', rows, 'syncSeconds', { digits: 2, names }),
            panel('CPU per MODIFIED event, µs', rows, 'eventUs', { digits: 1, names }),
            panel('heap per Pod, bytes', rows, 'heapPerObject', { names }),
            panel('resident memory with all Pods held, MB', rows, 'rssMb', { names }),
          ],
        },
      ],
      headlines: [
        ...headline(`informer of ${number(largest)} Pods, memory`, rows, 'rssMb', { others: peers, unit: ' MB' }),
        ...headline('the same, CPU until all Pods are there', rows, 'syncSeconds', {
          others: peers,
          unit: ' s',
          digits: 1,
        }),
        ...headline('the same, CPU per MODIFIED event', rows, 'eventUs', { others: peers, unit: ' µs' }),
      ],
      goals: goalsOf(rows),
    };
  },
};

const peers = { [clientGo]: 'client-go', 'kube-rs': 'kube-rs', 'client-node': 'client-node' };

const names = {
  [ours]: 'riata',
  [clientGo]: 'client-go, protobuf',
  [clientGoLean]: 'client-go, no managedFields',
  'client-go, dynamic, JSON': 'client-go, dynamic',
  'kube-rs': 'kube-rs',
  'kube-rs, no managedFields': 'kube-rs, no managedFields',
  'client-node': 'client-node',
};

function figures(rows) {
  const lines = Object.entries(rows).map(([name, row]) => [
    name,
    Series.of(row, 'syncSeconds').text(2),
    Series.ratio(row, rows[clientGo], 'syncSeconds').text(2),
    Series.of(row, 'eventUs').text(1),
    Series.ratio(row, rows[clientGo], 'eventUs').text(2),
    Series.of(row, 'heapPerObject').text(),
    Series.of(row, 'rssMb').text(),
    Series.of(row, 'atSyncMb').text(),
    Series.of(row, 'peakMb').text(),
    Series.of(row, 'blockMs').text(1),
    Series.of(row, 'blockCpuMs').text(1),
  ]);
  const head = ['', 'CPU s to sync', '÷ client-go', 'CPU µs/event', '÷ client-go', 'heap B/object'];
  const memory = ['RSS MB after sync', 'before collecting', 'peak RSS MB', 'longest block ms', 'of it CPU ms'];
  return table([...head, ...memory], lines);
}

function goalsOf(rows) {
  const beside = (name, other, field) => Series.ratio(rows[name], rows[other], field);
  const times = { unit: '×', digits: 2 };
  const mine = rows[ours];
  const all = [
    goal({
      what: 'informer, CPU to sync beside client-go',
      got: beside(ours, clientGo, 'syncSeconds'),
      most: 0.75,
      ...times,
    }),
    goal({
      what: 'informer, CPU per event beside client-go',
      got: beside(ours, clientGo, 'eventUs'),
      most: 0.75,
      ...times,
    }),
    goal({
      what: 'informer, RSS after sync beside client-go without managedFields',
      ...{ got: beside(ours, clientGoLean, 'rssMb'), most: 1, ...times },
    }),
    goal({
      what: 'informer, heap per object',
      ...{ got: Series.of(mine, 'heapPerObject').map((bytes) => bytes / 1000), most: 5, unit: ' KB', digits: 2 },
    }),
    goal({
      what: 'informer, longest block of the event loop',
      ...{ got: Series.of(mine, 'blockMs'), most: 20, unit: ' ms', digits: 1 },
    }),
  ];
  return all.filter(({ got }) => got !== '–');
}
