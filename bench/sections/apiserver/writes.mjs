import { configMap, smallDeployment } from '../../lib/api-objects.mjs';
import { openAll, spread, timed } from '../../lib/load.mjs';
import { progress } from '../../lib/measure.mjs';
import { panel } from '../../lib/panel.mjs';
import { goal, rowsOf, Series, table } from '../../lib/series.mjs';

const kinds = {
  ConfigMap: { base: '/api/v1/namespaces/default/configmaps', make: configMap },
  Deployment: { base: '/apis/apps/v1/namespaces/default/deployments', make: smallDeployment },
};

const apply = { type: 'application/apply-patch+yaml' };
const mergePatch = { type: 'application/merge-patch+json' };

/** How each verb writes object `n` of `base` for the `step`th time. */
const verbs = {
  create: (c, { base, make }, name) => c.request('POST', base, make(name)),
  update: (c, { base, make }, name, step) => c.request('PUT', `${base}/${name}`, make(name, step)),
  patch: (c, { base }, name, step) =>
    c.request('PATCH', `${base}/${name}`, { metadata: { labels: { step: `s${step}` } } }, mergePatch),
  apply: (c, { base, make }, name, step) =>
    c.request('PATCH', `${base}/${name}?fieldManager=bench&force=true`, make(name, step), apply),
};

const cases = Object.entries(kinds).flatMap(([kindName, kind]) =>
  Object.entries(verbs).flatMap(([verbName, write]) =>
    [1, 10].map((clients) => ({
      name: `${kindName} ${verbName}, ${clients === 1 ? 'one after the other' : '10 at a time'}`,
      ...{ kind, write, clients },
    })),
  ),
);

/** Both servers write the same; `servers` is what the section needs. */
const writesSection = ({ name, servers: needed, title, chart, what }) => ({
  name,
  needs: [needed],
  async measure({ [needed]: servers, runs, counts: { writes: count } }) {
    const found = {};
    for (let round = 0; round < runs; round++) {
      for (const { name, kind, write, clients } of cases) {
        progress(`${round + 1}/${runs} ${name}`);
        for (const server of servers) {
          const connections = await openAll(server, clients);
          const { ms, cpuMs } = await timed(server, () =>
            spread(connections, count, (c, n) => write(c, kind, `w${round}-${clients}-${n}`, round + 1)),
          );
          for (const connection of connections) connection.close();
          found[name] ??= {};
          found[name][server.name] ??= [];
          const figures = { us: (ms / count) * 1000, perSecond: (count / ms) * 1000, cpuUs: (cpuMs / count) * 1000 };
          found[name][server.name].push(figures);
        }
      }
    }
    progress('');
    return { count, writes: Object.fromEntries(Object.entries(found).map(([name, both]) => [name, rowsOf(both)])) };
  },
  describe({ writes: found }) {
    const lines = Object.entries(found).map(([name, { embedded, 'kube-apiserver': real }]) => [
      name,
      ...[embedded, real].map((row) => Series.of(row, 'perSecond').text()),
      Series.ratio(embedded, real, 'perSecond').text(1),
      ...[embedded, real].map((row) => Series.of(row, 'cpuUs').text()),
      Series.ratio(embedded, real, 'cpuUs').text(2),
    ]);
    const beside = Object.values(found).map(({ embedded, 'kube-apiserver': real }) =>
      Series.ratio(embedded, real, 'us'),
    );
    return {
      title,
      parts: [table(['writes', 'embedded /s', 'real /s', 'ratio', 'embedded CPU µs', 'real CPU µs', 'ratio'], lines)],
      charts: [
        {
          name,
          title: chart,
          panels: ['one after the other', '10 at a time'].map((how) =>
            panel(`${how}, writes per second`, sideBySide(found, how), 'perSecond', { better: 'more' }),
          ),
        },
      ],
      goals: [
        goal({
          what: `${what}, time beside kube-apiserver, the slowest of ${beside.length} ways`,
          ...{ got: Series.worst(beside), most: 1, unit: '×', digits: 2 },
        }),
      ],
    };
  },
});

export const writes = writesSection({
  ...{ name: 'apiserver-writes', servers: 'apiServers', title: 'Writes over HTTPS', what: 'write' },
  chart: 'Writes per second over HTTPS, embedded API server and kube-apiserver with etcd',
});

export const durableWrites = writesSection({
  ...{ name: 'apiserver-durable-writes', servers: 'durableServers', title: 'Durable writes over HTTPS' },
  ...{ what: 'durable write', chart: 'Writes per second over HTTPS, with a data directory and with fsync of etcd' },
});

/** Rows of both servers for each kind of object and verb. */
function sideBySide(found, how) {
  const rows = {};
  for (const [name, { embedded, 'kube-apiserver': real }] of Object.entries(found)) {
    const [what, ...rest] = name.split(', ');
    if (rest.join(', ') !== how) continue;
    rows[`embedded: ${what}`] = embedded;
    rows[`kube-apiserver: ${what}`] = real;
  }
  return rows;
}
