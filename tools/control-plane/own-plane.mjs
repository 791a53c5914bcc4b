// @ts-check
/**
 * A setup file of vitest: where `main.mjs run` started several control planes, each worker gets one of its own, so that
 * files run side by side and yet no other file is there when one restarts or compacts its server.
 */
import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { pluralVariable, variable } from './client.mjs';

const all = process.env[pluralVariable]?.split(delimiter) ?? [];
if (all.length > 1) {
  const own = all[Number(process.env.VITEST_POOL_ID) - 1];
  if (own === undefined) {
    throw new Error(
      `worker ${process.env.VITEST_POOL_ID} of vitest has no control plane: there are ${all.length}, so start it with ` +
        `--maxWorkers=${all.length}`,
    );
  }
  process.env[variable] = own;
  process.env.KUBECONFIG = JSON.parse(readFileSync(own, 'utf8')).kubeconfigPath;
}
