import { createClient, loadConfig, silentLogger } from 'riata';
import { afterAll, beforeAll, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { installCommand } from '../src/dev/dev-process.fixture.js';
import { type DevProject, makeDevProject } from '../src/dev/dev-project.fixture.js';
import { electedOperator, killLeading, killScaled } from '../src/dev/killed-dev.fixture.js';

let project: DevProject;
let program: string;
beforeAll(async () => {
  project = await makeDevProject(electedOperator);
  program = await installCommand(project);
});
afterAll(() => project?.[Symbol.dispose]());

test.each([
  ['its replicas', killScaled],
  ['its Lease', killLeading],
])(
  'riata dev is killed: the deployed operator gets %s back, on a real API server',
  async (_, play) => {
    const { kubeconfigPath } = controlPlaneFromEnv();
    await using client = createClient(await loadConfig({ path: kubeconfigPath }), { runtime: { log: silentLogger } });
    await play({ project, program, client, kubeconfig: kubeconfigPath });
  },
  180_000,
);
