// Runs of simulate() per CPU second, on the built packages (npm run build): a story of three steps whose controller makes
// five writes, with every single fault.
//   node bench/micro/simulate.mjs [--rounds=5] [--runs=N]
// The first round includes what the engine compiles.
import { simulate } from '@riata/testing';
import { control } from 'riata/controller';
import { Deployment, Service } from 'riata/kinds';
import { defineKind } from 'riata/object';
import { z } from 'zod';

const options = Object.fromEntries(process.argv.slice(2).map((arg) => arg.replace(/^--/, '').split('=')));
const rounds = Number(options.rounds ?? 5);

const Site = defineKind({
  ...{ group: 'example.com', version: 'v1', kind: 'Site' },
  spec: z.object({ image: z.string(), replicas: z.int().min(0).max(10).default(1) }),
  status: z.object({ replicas: z.int() }),
});

const sites = control(Site)
  .owns(Deployment)
  .owns(Service)
  .reconcile(async ({ object: site, apply, status }) => {
    const labels = { app: site.metadata.name };
    const metadata = { name: site.metadata.name };
    await apply(
      Deployment({
        metadata,
        spec: {
          replicas: site.spec.replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: site.spec.image }] } },
        },
      }),
    );
    await apply(Service({ metadata, spec: { selector: labels, ports: [{ port: 80 }] } }));
    await status({ replicas: site.spec.replicas });
  });

const key = { namespace: 'default', name: 'shop' };
const story = async ({ client }) => {
  await client.create(Site({ metadata: key, spec: { image: 'example.com/shop:1' } }));
  await client.patch(Site, key, { type: 'merge', body: { spec: { replicas: 2 } } });
  await client.delete(Site, key);
};

const rates = [];
for (let round = 1; round <= rounds; round += 1) {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const limit = options.runs === undefined ? {} : { runs: Number(options.runs) };
  const report = await simulate({ kinds: [Site], run: [sites], story, pairs: 0, random: 0, ...limit });
  const { user, system } = process.cpuUsage(before);
  const cpuS = (user + system) / 1e6;
  rates.push(report.runs / cpuS);
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `round ${round}: ${report.runs} runs, ${cpuS.toFixed(2)} s of CPU, ${seconds.toFixed(2)} s, ` +
      `${(report.runs / cpuS).toFixed(1)} runs per CPU second; ${report.writes.size} writes, hash ${report.hash.slice(0, 12)}`,
  );
}
const sorted = rates.slice(rounds > 1 ? 1 : 0).sort((a, b) => a - b);
console.log(
  `Node ${process.version}, rounds after the first: median ${sorted[sorted.length >> 1].toFixed(1)} runs per CPU second, ` +
    `${sorted[0].toFixed(1)} to ${sorted.at(-1).toFixed(1)}`,
);
