import { configMap, smallDeployment } from '../../lib/api-objects.mjs';
import { openAll, spread, timed } from '../../lib/load.mjs';
import { goal, Series, table } from '../../lib/series.mjs';

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

export async function writes({ servers, runs, count }) {
  const found = {};
  for (let round = 0; round < runs; round++) {
    for (const [kindName, kind] of Object.entries(kinds)) {
      for (const [verbName, verb] of Object.entries(verbs)) {
        for (const clients of [1, 10]) {
          for (const server of servers) {
            const connections = await openAll(server, clients);
            const cost = await timed(server, () =>
              spread(connections, count, (c, n) => verb(c, kind, `w${round}-${clients}-${n}`, round + 1)),
            );
            for (const connection of connections) connection.close();
            const key = `${kindName} ${verbName}, ${clients === 1 ? 'one after the other' : '10 at a time'}`;
            found[key] ??= {};
            found[key][server.name] ??= [];
            found[key][server.name].push({ perSecond: (count / cost.ms) * 1000, cpuUs: (cost.cpuMs / count) * 1000 });
          }
        }
      }
    }
  }
  const goals = [];
  const rows = Object.entries(found).map(([name, { embedded, 'kube-apiserver': real }]) => {
    const faster = Series.ratio(embedded, real, 'perSecond');
    const cpu = Series.ratio(embedded, real, 'cpuUs');
    goals.push(goal(`${name}: time beside kube-apiserver`, 1 / faster.median, 1, '×', 2));
    return [
      name,
      ...[embedded, real].map((reports) => Series.of(reports, 'perSecond').text()),
      faster.text(1),
      ...[embedded, real].map((reports) => Series.of(reports, 'cpuUs').text()),
      cpu.text(2),
    ];
  });
  const head = ['writes', 'embedded /s', 'real /s', 'ratio', 'embedded CPU µs', 'real CPU µs', 'ratio'];
  return { title: 'Writes over HTTPS', text: table(head, rows), goals };
}
