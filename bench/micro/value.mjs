// What copying, freezing, comparing, sharing and patching one Pod costs (about 4 KB: managedFields are cut).
//   node bench/micro/value.mjs [count]
import { loadSource } from './bundle.mjs';
import { pod } from './pods.mjs';

const count = Number(process.argv[2] ?? 3_000);
const rounds = 7;
const texts = Array.from({ length: count }, (_, i) => {
  const { metadata, ...rest } = pod(i);
  const { managedFields: _cut, ...kept } = metadata;
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: kept, ...rest });
});
const parse = () => texts.map((text) => JSON.parse(text));

/** The median over the rounds, each on fresh objects; the first ones warm up. */
function measure(name, prepare, run) {
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const inputs = prepare();
    const start = process.hrtime.bigint();
    for (const input of inputs) run(input);
    times.push(Number(process.hrtime.bigint() - start) / 1e3 / inputs.length);
  }
  const median = times.slice(2).sort((a, b) => a - b)[Math.floor((rounds - 2) / 2)];
  console.log(`${name.padEnd(44)} ${median.toFixed(2).padStart(7)} µs`);
}

const { applyJsonPatch, applyMergePatch, clone, createJsonPatch, createMergePatch, edit, equal, freeze, share } =
  await loadSource({
    'object/index.js': [
      'applyJsonPatch',
      'applyMergePatch',
      'clone',
      'createJsonPatch',
      'createMergePatch',
      'edit',
      'equal',
      'freeze',
      'share',
    ],
  });
const pairs = (change) => {
  const next = parse();
  return parse().map((previous, i) => {
    change(next[i]);
    return [freeze(previous), next[i]];
  });
};
const same = () => {};
const event = (object) => {
  object.metadata.resourceVersion = 'next';
  object.status.phase = 'Failed';
};

console.log(`${count} Pods of ${Math.round(texts.reduce((sum, text) => sum + text.length, 0) / count)} bytes`);
measure('JSON.parse', () => texts, JSON.parse);
measure('structuredClone', parse, structuredClone);
measure('JSON.parse(JSON.stringify())', parse, (object) => JSON.parse(JSON.stringify(object)));
measure('clone', parse, clone);
measure('freeze, new', parse, freeze);
measure('freeze, after share', () => pairs(event).map(([previous, next]) => share(previous, next)), freeze);
measure(
  'equal, another copy',
  () => pairs(same),
  ([a, b]) => equal(a, b),
);
measure(
  'equal, subtrees shared',
  () => pairs(event).map(([previous, next]) => [previous, share(previous, next)]),
  ([a, b]) => equal(a.spec, b.spec) && equal(a.metadata.labels, b.metadata.labels),
);
measure(
  'share, nothing changed',
  () => pairs(same),
  ([previous, next]) => share(previous, next),
);
measure(
  'share, status changed',
  () => pairs(event),
  ([previous, next]) => share(previous, next),
);
measure(
  'edit one field of a frozen object',
  () => parse().map(freeze),
  (object) => edit(object, event),
);
measure(
  'createMergePatch',
  () => pairs(event),
  ([from, to]) => createMergePatch(from, to),
);
measure(
  'createJsonPatch',
  () => pairs(event),
  ([from, to]) => createJsonPatch(from, to),
);
measure('applyMergePatch', parse, (object) => applyMergePatch(object, { status: { phase: 'Failed' } }));
const operations = [{ op: 'replace', path: '/status/phase', value: 'Failed' }];
measure('applyJsonPatch', parse, (object) => applyJsonPatch(object, operations));
