import { headline } from '../lib/headline.mjs';
import { installedSize } from '../lib/install.mjs';
import { panel } from '../lib/panel.mjs';
import { goal, rowsOf, Series, table } from '../lib/series.mjs';

export const size = {
  name: 'size',
  needs: ['riata', 'clientNode'],
  rounds: () => 1,
  measure({ riata, clientNode }) {
    return { rows: rowsOf({ riata: [installedSize(riata)], 'client-node': [installedSize(clientNode)] }) };
  },
  describe({ rows }) {
    const cells = (row) => [Series.of(row, 'megabytes').text(1), Series.of(row, 'packages').text()];
    const ratio = (field) => Series.ratio(rows.riata, rows['client-node'], field).text(2);
    return {
      title: 'Installed size',
      parts: [
        table(
          ['', 'MB on disk', 'packages'],
          [
            ...Object.entries(rows).map(([name, row]) => [name, ...cells(row)]),
            ['riata ÷ client-node', ratio('megabytes'), ratio('packages')],
          ],
        ),
      ],
      charts: [
        {
          name: 'size',
          rounds: () => 1,
          title: 'riata and @kubernetes/client-node, installed alone',
          panels: [
            panel('on disk, MB', rows, 'megabytes', { digits: 1, limit: 12 }),
            panel('packages', rows, 'packages'),
          ],
        },
      ],
      headlines: headline('installed', rows, 'megabytes', {
        others: { 'client-node': 'client-node' },
        unit: ' MB',
        digits: 1,
      }),
      goals: [
        goal({ what: 'installed size', got: Series.of(rows.riata, 'megabytes'), most: 12, unit: ' MB', digits: 1 }),
      ],
    };
  },
};
