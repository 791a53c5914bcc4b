import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServer } from '@riata/apiserver';
import { createClient } from 'riata';
import { silentLogger } from 'riata/runtime';
import { afterAll, beforeAll, test } from 'vitest';
import { installCommand } from './dev-process.fixture.js';
import { type DevProject, makeDevProject } from './dev-project.fixture.js';
import { electedOperator, killLeading, killScaled } from './killed-dev.fixture.js';

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
  'riata dev is killed: the deployed operator gets %s back',
  async (_, play) => {
    const folder = mkdtempSync(join(tmpdir(), 'riata-killed-'));
    await using server = await ApiServer.start();
    const admin = server.as({ user: 'admin', groups: ['system:masters'] });
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, admin.kubeconfig(await server.listen({ port: 0 })));
    await using client = createClient(admin.config, { runtime: { log: silentLogger } });
    await play({ project, program, client, kubeconfig });
    rmSync(folder, { recursive: true, force: true });
  },
  180_000,
);
