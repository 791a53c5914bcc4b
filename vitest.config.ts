import { availableParallelism } from 'node:os';
import { delimiter } from 'node:path';
import { defineConfig } from 'vitest/config';

// Tests load the source through the `riata-source` export condition: edit → result, no build between.
const resolve = { conditions: ['riata-source', 'node', 'import', 'default'] };
const ssr = { resolve };
// Limits are for what hangs, not for what is slow: the machine may have much else to do, or stand still for a while.
const longRun = { testTimeout: 300_000, hookTimeout: 300_000 };
// Files of one worker share the loaded modules, which halves the CPU of unit tests: no module has mutable state
// (tools/check-module-state.mjs). A test that spies on a module, or imports another test file, calls vi.resetModules.
const shared = { isolate: false };
// A control plane is for one file at a time; `npm run test:real` starts as many as there are workers.
const planes = process.env.RIATA_CONTROL_PLANES?.split(delimiter).length ?? 1;
const onePlaneEach = planes > 1 ? { maxWorkers: planes } : { fileParallelism: false };

export default defineConfig({
  test: {
    // One more than cores: tests with sockets, processes and files wait for a third of their time.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        resolve,
        ssr,
        test: {
          name: 'unit',
          include: [
            'packages/*/src/**/*.test.ts',
            'packages/*/faults/**/*.test.ts',
            'packages/create-riata/templates/**/*.test.ts',
            'tools/**/*.test.{ts,mjs}',
            'bench/lib/**/*.test.mjs',
            'docs/code/**/*.test.ts',
          ],
          globalSetup: ['packages/cli/src/completion/install-shells.fixture.ts'],
          ...longRun,
          ...shared,
        },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'types',
          include: [],
          typecheck: {
            enabled: true,
            only: true,
            include: ['packages/*/src/**/*.test-d.ts'],
            tsconfig: 'packages/riata/tsconfig.json',
          },
        },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'real',
          setupFiles: ['tools/control-plane/own-plane.mjs'],
          env: { RIATA_SERVERS: 'kube-apiserver', RIATA_TEST_SERVER: 'kubeconfig' },
          include: [
            'packages/*/behaviour/**/*.test.ts',
            'packages/*/differential/**/*.test.ts',
            'examples/**/*.test.ts',
          ],
          ...longRun,
          ...shared,
          ...onePlaneEach,
        },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'embedded',
          include: ['packages/{cli,riata,sandbox}/behaviour/**/*.test.ts', 'examples/**/*.test.ts'],
          // What is about the real server alone, from its first line on.
          exclude: ['**/server-side-apply-engine.test.ts', 'packages/sandbox/behaviour/kubectl*.test.ts'],
          // Over HTTPS they run on the packed packages, by `npm run test:packed`.
          env: { RIATA_SERVERS: process.env.RIATA_SERVERS ?? 'in-process' },
          ...longRun,
          ...shared,
        },
      },
      {
        resolve,
        ssr,
        test: {
          // A part of the behaviour again, over Node's own HTTP client.
          name: 'node-transport',
          include: ['packages/riata/behaviour/{connections,informers,outages,paging,reads,verbs,watch,writes}.test.ts'],
          env: { RIATA_SERVERS: 'https', RIATA_TRANSPORT: 'node' },
          ...longRun,
          ...shared,
        },
      },
      {
        resolve,
        ssr,
        test: {
          // The dashboard in Chromium, which is installed if it is missing.
          name: 'browser',
          include: ['packages/dashboard/browser/**/*.test.ts'],
          globalSetup: ['packages/dashboard/browser/set-up.ts'],
          ...longRun,
          fileParallelism: false,
        },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'soak',
          include: ['packages/*/soak/**/*.test.ts'],
          ...longRun,
          fileParallelism: false,
          testTimeout: 1_800_000,
        },
      },
    ],
  },
});
