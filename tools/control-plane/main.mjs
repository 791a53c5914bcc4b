#!/usr/bin/env node
// @ts-check

import { constants } from 'node:os';
import { delimiter } from 'node:path';
import { ensureBinaries } from './build.mjs';
import { pluralVariable, variable } from './client.mjs';
import { openControlEndpoint } from './control-endpoint.mjs';
import { startControlPlane } from './start.mjs';

const usage = `Usage: node tools/control-plane/main.mjs <command>

  build                                     find or build the programs, print the folder's contents
  start [--controller-manager]              start a control plane, stop it with Ctrl-C
  run [--controller-manager] -- cmd args…   start one, run cmd under it (KUBECONFIG, ${variable}), stop it
  run --planes=2 … -- cmd args…             the same with several, all of them named in ${pluralVariable}
`;

/** The command a signal was passed on to gets this long to end. */
const graceMs = 10_000;

/** @param {string[]} argv @returns {Promise<number>} the exit code */
async function main(argv) {
  const [verb, ...rest] = argv;
  const dashes = rest.indexOf('--');
  const options = dashes === -1 ? rest : rest.slice(0, dashes);
  const [command, ...args] = dashes === -1 ? [] : rest.slice(dashes + 1);
  const unknown = options.find((option) => option !== '--controller-manager' && !/^--planes=[1-9]$/.test(option));
  const planes = Number(options.find((option) => option.startsWith('--planes='))?.slice('--planes='.length) ?? 1);
  const startOptions = { controllerManager: options.includes('--controller-manager') };
  if (unknown === undefined) {
    if (verb === 'build' && dashes === -1 && options.length === 0) return build();
    if (verb === 'start' && dashes === -1) return start(startOptions);
    if (verb === 'run' && command !== undefined) return run(startOptions, planes, command, args);
  }
  process.stderr.write(usage);
  return 2;
}

async function build() {
  for (const path of Object.values(await ensureBinaries())) if (path) console.log(path);
  return 0;
}

/** @param {import('./start.mjs').StartOptions} options */
async function start(options) {
  const controlPlane = await startControlPlane(options);
  // From here on signals end it in order; before, the default end of this process is enough.
  const signal = nextSignal();
  console.log(`export KUBECONFIG=${controlPlane.kubeconfigPath}`);
  console.log(`# ${controlPlane.url}, logs in ${controlPlane.dir}/logs, kubectl is ${controlPlane.kubectlPath}`);
  console.log('# Ctrl-C stops it and removes everything');
  const keepAlive = setInterval(() => {}, 60_000);
  await signal;
  clearInterval(keepAlive);
  await controlPlane.stop();
  return 0;
}

/**
 * @param {import('./start.mjs').StartOptions} options
 * @param {number} count
 * @param {string} command
 * @param {string[]} args
 */
async function run(options, count, command, args) {
  const started = Date.now();
  /** @type {(() => unknown)[]} */
  const closing = [];
  try {
    const opened = await Promise.all(Array.from({ length: count }, () => open(options, closing)));
    const [first] = opened;
    const urls = opened.map(({ controlPlane }) => controlPlane.url).join(' and ');
    console.error(`control plane: ready at ${urls} in ${((Date.now() - started) / 1000).toFixed(1)} s`);
    const env = {
      ...process.env,
      KUBECONFIG: first?.controlPlane.kubeconfigPath,
      [variable]: first?.descriptionPath,
      [pluralVariable]: opened.map(({ descriptionPath }) => descriptionPath).join(delimiter),
    };
    const signal = nextSignal();
    const child = await first?.controlPlane.plane.startCommand({ command, args, env }).catch((error) => {
      throw new Error(`cannot run ${command}: ${error.message}`);
    });
    if (child === undefined) throw new Error('no control plane was asked for');
    const end = await Promise.race([child.exited, signal]);
    if (typeof end === 'string') {
      // A second signal ends it without waiting for the command.
      await Promise.race([child.stop(end, graceMs), nextSignal()]);
      return 128 + constants.signals[end];
    }
    return end.code ?? 128 + constants.signals[end.signal ?? 'SIGKILL'];
  } finally {
    await Promise.all(closing.map((close) => close()));
  }
}

/** Starts a control plane that can be told to restart; what is to be done at the end comes into `closing`.
 * @param {import('./start.mjs').StartOptions} options
 * @param {(() => unknown)[]} closing
 */
async function open(options, closing) {
  const controlPlane = await startControlPlane(options);
  closing.push(() => controlPlane.stop());
  const { plane } = controlPlane;
  const endpoint = await openControlEndpoint(plane);
  closing.push(() => endpoint.close());
  const description = { ...plane.facts, control: { url: endpoint.url, secret: endpoint.secret } };
  const descriptionPath = plane.writeFile('control-plane.json', JSON.stringify(description, null, 2));
  return { controlPlane, descriptionPath };
}

/** @returns {Promise<'SIGINT' | 'SIGTERM' | 'SIGHUP'>} */
function nextSignal() {
  const names = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  return new Promise((resolve) => {
    for (const name of names) process.once(name, () => resolve(name));
  });
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
