import { join } from 'node:path';
import { configMap } from '../../lib/api-objects.mjs';
import { Connection } from '../../lib/connection.mjs';
import { openAll, timed } from '../../lib/load.mjs';
import { measure, progress } from '../../lib/measure.mjs';
import { panel } from '../../lib/panel.mjs';
import { goal, number, rowsOf, Series, table } from '../../lib/series.mjs';

const base = '/api/v1/namespaces/default/configmaps';
const writesEach = 40;

/** One write after the other, each waited for until all have it. */
async function measureFanOut(server, watchers, round) {
  const name = `fan-${round}`;
  const writer = await Connection.open(server);
  const { text } = await writer.request('POST', base, configMap(name));
  const { resourceVersion } = JSON.parse(text).metadata;
  const connections = await openAll(server, watchers);
  let missing = 0;
  let reported = () => {};
  const path = `${base}?watch=1&resourceVersion=${resourceVersion}`;
  const open = connections.map((connection) =>
    connection.stream(path, (chunk) => {
      // An event may come in several pieces; its end is the end of a line (and of its HTTP chunk).
      if (chunk.includes('}\n') && --missing === 0) reported();
    }),
  );
  await Promise.all(open);
  const times = [];
  const { cpuMs } = await timed(server, async () => {
    for (let step = 1; step <= writesEach; step++) {
      missing = watchers;
      const all = new Promise((resolve) => {
        reported = resolve;
      });
      const from = performance.now();
      await Promise.all([writer.request('PUT', `${base}/${name}`, configMap(name, step)), all]);
      times.push(performance.now() - from);
    }
  });
  for (const connection of [writer, ...connections]) connection.close();
  return { ms: new Series(times).median, cpuUs: (cpuMs * 1000) / writesEach / watchers };
}

export const fanOut = {
  name: 'apiserver-fan-out',
  needs: ['apiserver', 'apiServers'],
  // They take a few seconds, and differ much.
  rounds: (runs) => Math.max(runs, 5),
  async measure({ apiserver, oldNode: node, apiServers: servers, runs, counts: { watchers } }) {
    const found = { embedded: [], 'kube-apiserver': [], 'in-process': [] };
    for (let round = 0; round < runs; round++) {
      progress(`${round + 1}/${runs}`);
      for (const server of servers) found[server.name].push(await measureFanOut(server, watchers, round));
      const script = join(apiserver, 'subjects/apiserver/fan-out.mjs');
      found['in-process'].push(await measure(node, script, String(watchers)));
    }
    progress('');
    return { watchers, rows: rowsOf(found) };
  },
  describe({ watchers, rows }) {
    const lines = Object.entries(rows).map(([name, row]) => [
      name,
      Series.of(row, 'ms').text(1),
      Series.of(row, 'cpuUs').text(1),
    ]);
    const ratio = (field) => Series.ratio(rows.embedded, rows['kube-apiserver'], field);
    lines.push(['embedded ÷ kube-apiserver', ratio('ms').text(2), ratio('cpuUs').text(2)]);
    const names = {
      'in-process': 'in-process',
      embedded: 'embedded, HTTPS',
      'kube-apiserver': 'kube-apiserver, HTTPS',
    };
    return {
      title: `One write, ${number(watchers)} watchers`,
      parts: [table(['', 'ms until all have it', 'CPU µs per event, server'], lines)],
      charts: [
        {
          name: 'apiserver-fan-out',
          // They take a few seconds, and differ much.
          rounds: (runs) => Math.max(runs, 5),
          title: `One write told to ${number(watchers)} watchers`,
          panels: [
            panel('time until all have it, ms', rows, 'ms', { digits: 1, names }),
            panel("the server's CPU per event, µs", rows, 'cpuUs', { digits: 1, names }),
          ],
        },
      ],
      goals: [
        goal({
          what: `one write to ${number(watchers)} watchers, time beside kube-apiserver`,
          ...{ got: ratio('ms'), most: 1, unit: '×', digits: 2 },
        }),
      ],
    };
  },
};
