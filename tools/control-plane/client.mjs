// @ts-check
import { readFileSync } from 'node:fs';
import { clientCertificate } from './client-certificate.mjs';
import { compactEtcd } from './etcd.mjs';

/** @typedef {import('./control-plane.mjs').ControlPlaneHandle} ControlPlaneHandle */

/** The variable in which `main.mjs run` names the file that describes its control plane. */
export const variable = 'RIATA_CONTROL_PLANE';
/** The variable in which it names those of all its control planes. */
export const pluralVariable = 'RIATA_CONTROL_PLANES';

/**
 * The control plane that this process was started under by `main.mjs run`. It belongs to the whole run: whoever restarts
 * or compacts it does so for all that use it at the same time.
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {ControlPlaneHandle}
 */
export function controlPlaneFromEnv(env = process.env) {
  const path = env[variable];
  if (!path) {
    throw new Error(
      `${variable} is not set: these tests need a real control plane, so run them with "npm run test:real" or under ` +
        '"node tools/control-plane/main.mjs run -- <command>".',
    );
  }
  const { control, ...facts } = JSON.parse(readFileSync(path, 'utf8'));
  /** @param {string} action @param {object} [options] */
  const post = async (action, options = {}) => {
    const headers = { authorization: `Bearer ${control.secret}` };
    const response = await fetch(control.url + action, { method: 'POST', headers, body: JSON.stringify(options) });
    if (response.ok) return;
    const { message } = /** @type {{ message: string }} */ (await response.json());
    throw new Error(`control plane: ${action.slice(1)} failed: ${message}`);
  };
  return {
    ...facts,
    restartApiServer: (options) => post('/restart-apiserver', options),
    stopApiServer: (options) => post('/stop-apiserver', options),
    startApiServer: () => post('/start-apiserver'),
    startControllerManager: (options) => post('/start-controller-manager', options),
    stopControllerManager: () => post('/stop-controller-manager'),
    compact: (revision) => compactEtcd(facts.etcdUrl, revision),
    clientCertificate: (user, groups, validity) => clientCertificate(facts, user, groups, validity),
  };
}
