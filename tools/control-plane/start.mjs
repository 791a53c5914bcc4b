// @ts-check
import { ensureBinaries } from './build.mjs';
import { writeConfiguration } from './configuration.mjs';
import { ControlPlane, PortClash } from './control-plane.mjs';
import { startKeeper } from './keeper.mjs';
import { freePorts } from './ports.mjs';

/**
 * @typedef {object} StartOptions
 * @property {import('./build.mjs').Binaries} [binaries] Default: `ensureBinaries()`.
 * @property {string[]} [apiServerArgs] More flags for kube-apiserver, e.g. `--feature-gates=…`.
 * @property {boolean | string[]} [controllerManager] Start it too, with the default controllers or these. Default false.
 * @property {boolean} [fsync] Whether etcd writes to the disk before it answers, as in production. Default false.
 * @property {number} [readyTimeoutMs] How long each server may take to be ready. Default 3 min.
 * @property {(line: string) => void} [log] Told about builds and about servers that end by themselves. Default: stderr.
 *
 * @typedef {import('./control-plane.mjs').ControlPlaneHandle
 *   & { plane: ControlPlane, stop: () => Promise<void>, [Symbol.asyncDispose]: () => Promise<void> }} StartedControlPlane
 */

/**
 * Starts etcd and kube-apiserver on free loopback ports, in a temporary folder, and waits until they are ready. They and
 * the folder are gone after `stop()` (or `await using`), and also soon after this process ends without it.
 * @param {StartOptions} [options]
 * @returns {Promise<StartedControlPlane>}
 */
export async function startControlPlane(options = {}) {
  const { apiServerArgs = [], controllerManager = false, fsync = false } = options;
  const { readyTimeoutMs = 180_000, log = console.error } = options;
  const binaries = options.binaries ?? (await ensureBinaries({ log }));
  for (let tries = 1; ; tries++) {
    const [etcd = 0, etcdPeer = 0, apiServer = 0] = await freePorts(3);
    const ports = { etcd, etcdPeer, apiServer };
    const keeper = await startKeeper();
    const configuration = writeConfiguration(keeper.dir, { apiServerPort: apiServer });
    const plane = new ControlPlane(keeper, binaries, configuration, ports, {
      apiServerArgs,
      fsync,
      readyTimeoutMs,
      log,
    });
    try {
      await plane.startEtcd();
      await plane.startApiServer();
      if (controllerManager !== false) {
        await plane.startControllerManager(controllerManager === true ? {} : { controllers: controllerManager });
      }
      return handleOf(plane);
    } catch (error) {
      await plane.stop();
      if (!(error instanceof PortClash) || tries === 5) throw error;
    }
  }
}

/** @param {ControlPlane} plane @returns {StartedControlPlane} */
function handleOf(plane) {
  const stop = () => plane.stop();
  return {
    ...plane.facts,
    plane,
    restartApiServer: (options) => plane.restartApiServer(options),
    stopApiServer: (options) => plane.stopApiServer(options),
    startApiServer: () => plane.startApiServer(),
    startControllerManager: (options) => plane.startControllerManager(options),
    stopControllerManager: () => plane.stopControllerManager(),
    compact: (revision) => plane.compact(revision),
    clientCertificate: (user, groups, validity) => plane.clientCertificate(user, groups, validity),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
