import { join } from 'node:path';
import { headline } from '../lib/headline.mjs';
import { measure, rounds } from '../lib/measure.mjs';
import { panel } from '../lib/panel.mjs';
import { goal, rowsOf, Series, table } from '../lib/series.mjs';

const paths = ['riata', 'riata/runtime', 'riata/object', 'riata/rest', 'riata/client', 'riata/kinds'];

export const imports = {
  name: 'imports',
  needs: ['riata', 'clientNode'],
  rounds: (runs) => Math.max(runs, 9),
  async measure({ riata, clientNode, node, oldNode, runs }) {
    const subject = (home, version, ...args) => measure(version, join(home, 'subjects/import.mjs'), ...args);
    const cases = { 'an empty module': () => subject(riata, node, './empty.mjs') };
    for (const path of paths) {
      cases[path] = () => subject(riata, node, path, ...(path === 'riata/kinds' ? ['all'] : []));
    }
    cases['riata/kinds, once riata is there'] = () => subject(riata, node, 'riata/kinds', 'all', 'riata');
    cases['client-node'] = () => subject(clientNode, node, '@kubernetes/client-node');
    for (const path of ['riata', 'riata/kinds']) {
      cases[`${path}, Node 20`] = () => subject(riata, oldNode, path, 'all');
    }
    const found = await rounds(cases, runs);
    return { kinds: found['riata/kinds'][0].kinds, rows: rowsOf(found) };
  },
  describe({ kinds, rows }) {
    const lines = Object.entries(rows).map(([name, row]) => [
      name === 'riata/kinds' ? `riata/kinds: all ${kinds} Kinds` : name,
      Series.of(row, 'wallMs').text(1),
      Series.of(row, 'cpuMs').text(),
      Series.of(row, 'rssMb').text(1),
    ]);
    const ratio = (field, digits) => Series.ratio(rows.riata, rows['client-node'], field).text(digits);
    lines.push(['riata ÷ client-node', ratio('wallMs', 3), ratio('cpuMs', 2), ratio('rssMb', 2)]);
    const names = {
      riata: 'riata',
      'riata/client': 'riata/client',
      'riata/kinds': 'riata/kinds',
      'client-node': 'client-node',
    };
    return {
      title: 'Import, in a fresh process each time',
      parts: [table(['`import`', 'ms', 'CPU ms', 'RSS + MB'], lines)],
      charts: [
        {
          name: 'imports',
          rounds: (runs) => Math.max(runs, 9),
          title: 'Importing riata and @kubernetes/client-node',
          panels: [
            panel('time, ms', rows, 'wallMs', { digits: 1, names }),
            panel('resident memory it adds, MB', rows, 'rssMb', { digits: 1, names }),
          ],
        },
      ],
      headlines: headline("`import 'riata'`", rows, 'wallMs', {
        others: { 'client-node': 'client-node' },
        unit: ' ms',
      }),
      goals: [
        goal({ what: "`import 'riata'`", got: Series.of(rows.riata, 'wallMs'), most: 80, unit: ' ms', digits: 1 }),
        goal({
          what: `all ${kinds} built-in Kinds`,
          got: Series.of(rows['riata/kinds'], 'wallMs'),
          ...{ most: 10, unit: ' ms', digits: 1 },
        }),
      ],
    };
  },
};
