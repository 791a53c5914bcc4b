import { join } from 'node:path';
import { configMap } from '../../lib/api-objects.mjs';
import { Connection } from '../../lib/connection.mjs';
import { openAll, timed } from '../../lib/load.mjs';
import { measure } from '../../lib/measure.mjs';
import { goal, Series, table } from '../../lib/series.mjs';

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
  let told = () => {};
  const path = `${base}?watch=1&resourceVersion=${resourceVersion}`;
  const open = connections.map((connection) =>
    connection.stream(path, (chunk) => {
      // An event may come in several pieces; its end is the end of a line (and of its HTTP chunk).
      if (chunk.includes('}\n') && --missing === 0) told();
    }),
  );
  await Promise.all(open);
  const times = [];
  const { cpuMs } = await timed(server, async () => {
    for (let step = 1; step <= writesEach; step++) {
      missing = watchers;
      const all = new Promise((resolve) => {
        told = resolve;
      });
      const from = performance.now();
      await Promise.all([writer.request('PUT', `${base}/${name}`, configMap(name, step)), all]);
      times.push(performance.now() - from);
    }
  });
  for (const connection of [writer, ...connections]) connection.close();
  return { ms: new Series(times).median, cpuUs: (cpuMs * 1000) / writesEach / watchers };
}

export async function fanOut({ home, node, servers, runs, watchers }) {
  const found = { embedded: [], 'kube-apiserver': [], 'in-process': [] };
  for (let round = 0; round < runs; round++) {
    for (const server of servers) found[server.name].push(await measureFanOut(server, watchers, round));
    found['in-process'].push(await measure(node, join(home, 'subjects/apiserver/fan-out.mjs'), String(watchers)));
  }
  const rows = Object.entries(found).map(([name, reports]) => [
    name,
    Series.of(reports, 'ms').text(1),
    Series.of(reports, 'cpuUs').text(1),
  ]);
  const ratio = (field) => Series.ratio(found.embedded, found['kube-apiserver'], field);
  rows.push(['embedded ÷ kube-apiserver', ratio('ms').text(2), ratio('cpuUs').text(2)]);
  return {
    title: `One write, ${watchers} watchers over HTTPS`,
    text: table(['', 'ms until all have it', 'CPU µs per event, server'], rows),
    goals: [
      goal('fan-out: time beside kube-apiserver', ratio('ms').median, 1, '×', 2),
      goal('fan-out: CPU beside kube-apiserver', ratio('cpuUs').median, 1, '×', 2),
    ],
  };
}
