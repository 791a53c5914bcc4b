import { join } from 'node:path';
import { measure, rounds } from '../lib/measure.mjs';
import { goal, Series, table } from '../lib/series.mjs';

const paths = ['riata', 'riata/runtime', 'riata/object', 'riata/rest', 'riata/client', 'riata/kinds'];

export async function imports({ riata, clientNode, node, oldNode, runs }) {
  const subject = (home, version, ...args) => measure(version, join(home, 'subjects/import.mjs'), ...args);
  const cases = { 'an empty module': () => subject(riata, node, './empty.mjs') };
  for (const path of paths) cases[path] = () => subject(riata, node, path, ...(path === 'riata/kinds' ? ['all'] : []));
  cases['riata/kinds, once riata is there'] = () => subject(riata, node, 'riata/kinds', 'all', 'riata');
  cases['client-node'] = () => subject(clientNode, node, '@kubernetes/client-node');
  for (const path of ['riata', 'riata/kinds']) cases[`${path}, Node 20`] = () => subject(riata, oldNode, path, 'all');
  const found = await rounds(cases, Math.max(runs, 9));
  const kinds = found['riata/kinds'][0].kinds;
  const rows = Object.entries(found).map(([name, reports]) => [
    name === 'riata/kinds' ? `riata/kinds: all ${kinds} Kinds` : name,
    Series.of(reports, 'wallMs').text(1),
    Series.of(reports, 'cpuMs').text(0),
    Series.of(reports, 'rssMb').text(1),
  ]);
  const ratio = (field, digits) => Series.ratio(found.riata, found['client-node'], field).text(digits);
  rows.push(['riata ÷ client-node', ratio('wallMs', 3), ratio('cpuMs', 2), ratio('rssMb', 2)]);
  const median = (name) => Series.of(found[name], 'wallMs').median;
  return {
    title: 'Import, in a fresh process each time',
    text: table(['`import`', 'ms', 'CPU ms', 'RSS + MB'], rows),
    goals: [
      goal("import 'riata'", median('riata'), 80, ' ms', 1),
      goal(`all ${kinds} built-in Kinds`, median('riata/kinds'), 10, ' ms', 1),
    ],
  };
}
