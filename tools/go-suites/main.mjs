#!/usr/bin/env node
// @ts-check
/**
 * Runs programs of the Go world against the embedded API server: controller-runtime's own suites, from the module
 * registry, and a small client-go program. Each gets a fresh server without controllers, which is what those suites are
 * made for. `node tools/go-suites/main.mjs [client] [cache] [client-go]`; all of them by default.
 */
import { join } from 'node:path';
import { startKeeper } from '../control-plane/keeper.mjs';
import { buildClientGo, buildSuite, moduleName } from './build.mjs';
import { knownFailures } from './known-failures.mjs';
import { readReport } from './report.mjs';
import { startServer } from './server.mjs';

/** At least so many of a suite's cases have to pass. */
const expected = 0.95;

/** @param {string[]} argv @returns {Promise<number>} the exit code */
async function main(argv) {
  const all = ['client', 'cache', 'client-go'];
  const unknown = argv.find((name) => !all.includes(name));
  if (unknown !== undefined) {
    console.error(`Usage: node tools/go-suites/main.mjs [${all.join('] [')}]`);
    return 2;
  }
  let good = true;
  const keeper = await startKeeper();
  try {
    for (const name of argv.length > 0 ? argv : all) {
      const passed = name === 'client-go' ? await runClientGo(keeper) : await runSuite(keeper, name);
      good &&= passed;
    }
  } finally {
    await keeper.end();
  }
  return good ? 0 : 1;
}

/** @param {import('../control-plane/keeper.mjs').Keeper} keeper @param {string} name */
async function runSuite(keeper, name) {
  const { binary, dir } = await buildSuite(keeper, name);
  const report = join(keeper.dir, `${name}.json`);
  const server = await startServer(keeper, name);
  const suite = await keeper.start({
    name,
    command: binary,
    args: ['--ginkgo.no-color', '--ginkgo.succinct', `--ginkgo.json-report=${report}`, '--ginkgo.timeout=20m'],
    cwd: dir,
    env: { ...process.env, USE_EXISTING_CLUSTER: 'true', KUBECONFIG: server.kubeconfig },
    logFile: join(keeper.dir, `${name}.log`),
  });
  await suite.exited;
  await server.stop();
  const { passed, failed } = await readReport(report);
  const run = passed + failed.length;
  const share = run === 0 ? 0 : passed / run;
  console.log(`${moduleName} pkg/${name}: ${passed} of ${run} pass (${(share * 100).toFixed(1)} %)`);
  for (const { title, message, place } of failed) {
    const reason = knownFailures[title];
    console.log(`  ${reason === undefined ? 'FAILED' : 'known'}  ${title}\n    ${reason ?? `${message} (${place})`}`);
  }
  return share >= expected && failed.every(({ title }) => knownFailures[title] !== undefined);
}

/** @param {import('../control-plane/keeper.mjs').Keeper} keeper */
async function runClientGo(keeper) {
  const binary = await buildClientGo(keeper);
  const server = await startServer(keeper, 'client-go');
  const env = { ...process.env, KUBECONFIG: server.kubeconfig };
  const program = await keeper.start({ name: 'client-go', command: binary, args: [], env });
  const { code } = await program.exited;
  await server.stop();
  console.log(`client-go: ${code === 0 ? 'passed' : `failed with exit code ${code}`}`);
  return code === 0;
}

process.exitCode = await main(process.argv.slice(2));
