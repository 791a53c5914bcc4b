import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { buildClientGo, buildKubeRs } from '../lib/informer-subjects.mjs';
import { rounds } from '../lib/measure.mjs';
import { ScriptedInformerServer } from '../lib/scripted-informer-server.mjs';
import { goal, number, Series, table } from '../lib/series.mjs';

const SIZES = [50_000, 10_000];
const EVENTS = 50_000;
const ours = 'riata';
const oursOfMetadata = 'riata raw, metadata alone read';
const clientGo = 'client-go, typed, protobuf';
const clientGoLean = 'client-go, typed, no managedFields';

/** Informers of the same Pods. `subjects` says which by a part of the name, `sizes` how many Pods. */
export async function informer({ riata, clientNode, node, folder, runs, log, subjects, sizes = SIZES }) {
  const isWanted = (name) => !subjects || subjects.some((part) => name.includes(part));
  const goPrograms = buildClientGo(log);
  const kubeRs = isWanted('kube-rs') ? buildKubeRs(log) : undefined;
  log('making the bytes that the server sends');
  const home = join(folder, 'informer');
  mkdirSync(home);
  const encode = goPrograms && join(goPrograms, 'encode');
  const server = await ScriptedInformerServer.start({ folder: home, sizes, events: EVENTS, node, encode });
  const onNode = (script, ...args) => {
    const before = ['--expose-gc', script];
    return (size) => server.measure(node, { size, events: EVENTS, before, args, env: { NODE_ENV: 'production' } });
  };
  const ofRiata = (...args) => onNode(join(riata, 'subjects/riata/informer.mjs'), ...args);
  const program = (path, ...args) => path && ((size) => server.measure(path, { size, events: EVENTS, args }));
  const go = goPrograms && join(goPrograms, 'informer');
  const all = {
    [clientGo]: program(go, 'typed'),
    [ours]: ofRiata('parsed', 'whole'),
    [clientGoLean]: program(go, 'no-managed-fields'),
    'riata raw': ofRiata('raw', 'whole'),
    [oursOfMetadata]: ofRiata('raw', 'metadata'),
    'riata hash-consed': ofRiata('hash-consed', 'whole'),
    'client-go, dynamic, JSON': program(go, 'dynamic'),
    'kube-rs': program(kubeRs, 'default'),
    'kube-rs, no managedFields': program(kubeRs, 'no-managed-fields'),
    'client-node': onNode(join(clientNode, 'subjects/client-node/informer.mjs')),
  };
  const cases = Object.entries(all).filter(([name, run]) => run !== undefined && isWanted(name));
  const parts = [];
  const goals = [];
  try {
    for (const size of sizes) {
      log(`  ${number(size)} Pods`);
      const found = await rounds(Object.fromEntries(cases.map(([name, run]) => [name, () => run(size)])), runs);
      parts.push(`**${number(size)} Pods**\n\n${figures(found)}`);
      if (size === SIZES[0]) goals.push(...goalsOf(found));
    }
  } finally {
    server.stop();
  }
  return {
    title: `Informers of Pods of ${number(server.podBytes)} B, over HTTP; ${number(EVENTS)} MODIFIED events`,
    text: parts.join('\n\n'),
    goals,
  };
}

function figures(found) {
  const base = found[clientGo];
  const ratio = (reports, field) => (base ? Series.ratio(reports, base, field).text(2) : '–');
  const block = (reports, field) => (reports[0][field] === undefined ? '–' : Series.of(reports, field).text(1));
  const rows = Object.entries(found).map(([name, reports]) => [
    name,
    Series.of(reports, 'syncSeconds').text(2),
    ratio(reports, 'syncSeconds'),
    Series.of(reports, 'eventUs').text(1),
    ratio(reports, 'eventUs'),
    Series.of(reports, 'heapPerObject').text(),
    Series.of(reports, 'rssMb').text(),
    Series.of(reports, 'atSyncMb').text(),
    Series.of(reports, 'peakMb').text(),
    block(reports, 'blockMs'),
    block(reports, 'blockCpuMs'),
  ]);
  const head = ['', 'CPU s to sync', '÷ client-go', 'CPU µs/event', '÷ client-go', 'heap B/object'];
  const memory = ['RSS MB after sync', 'before collecting', 'peak RSS MB', 'longest block ms', 'of it CPU ms'];
  return table([...head, ...memory], rows);
}

function goalsOf(found) {
  const goals = [];
  const median = (name, field) => Series.of(found[name], field).median;
  const beside = (name, other, field) => Series.ratio(found[name], found[other], field).median;
  if (found[ours]) {
    if (found[clientGo]) {
      goals.push(goal('informer, CPU to sync beside client-go', beside(ours, clientGo, 'syncSeconds'), 0.75, '×', 2));
      goals.push(goal('informer, CPU per event beside client-go', beside(ours, clientGo, 'eventUs'), 0.75, '×', 2));
    }
    if (found[clientGoLean]) {
      const limit = beside(ours, clientGoLean, 'rssMb');
      goals.push(goal('informer, RSS after sync beside client-go without managedFields', limit, 1, '×', 2));
    }
    goals.push(goal('informer, heap per object', median(ours, 'heapPerObject') / 1000, 5, ' KB', 2));
    goals.push(goal('informer, longest block of the event loop', median(ours, 'blockMs'), 20, ' ms', 1));
    goals.push(goal('informer, of it CPU time of the thread', median(ours, 'blockCpuMs'), 20, ' ms', 1));
  }
  if (found[oursOfMetadata] && found[clientGo]) {
    const event = beside(oursOfMetadata, clientGo, 'eventUs');
    goals.push(goal('raw informer, metadata read, CPU per event beside client-go', event, 0.4, '×', 2));
  }
  return goals;
}
