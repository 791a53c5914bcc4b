// Runs of simulate() per CPU second, on the built packages (npm run build): a story of three steps whose controller makes
// five writes, with every single fault.
//   node bench/micro/simulate.mjs [--rounds=5] [--runs=N] [--threads=1]
// The first round includes what the engine compiles. Threads start anew in each round, and load the packages.
import { simulate } from '@riata/testing';
import { sites } from './simulate-sites.mjs';

const options = Object.fromEntries(process.argv.slice(2).map((arg) => arg.replace(/^--/, '').split('=')));
const rounds = Number(options.rounds ?? 5);
const threads = Number(options.threads ?? 1);

const rates = [];
for (let round = 1; round <= rounds; round += 1) {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  const limit = options.runs === undefined ? {} : { runs: Number(options.runs) };
  const report = await simulate({ ...sites, pairs: 0, random: 0, threads, ...limit });
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
