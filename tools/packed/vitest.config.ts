import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Lies at the top of the folder that main.mjs makes. No condition of its own: what resolves is what a user gets.
const longRun = { testTimeout: 300_000, hookTimeout: 300_000 };

export default defineConfig({
  test: {
    maxWorkers: availableParallelism(),
    projects: [
      {
        test: {
          name: 'packed',
          include: [
            'packages/{riata,sandbox}/behaviour/**/*.test.ts',
            'packages/riata/faults/**/*.test.ts',
            'examples/**/*.test.ts',
            'tools/packed/*.check.ts',
          ],
          // About the real server alone.
          exclude: ['**/server-side-apply-engine.test.ts', 'packages/sandbox/behaviour/kubectl*.test.ts'],
          env: { RIATA_SERVERS: process.env.RIATA_SERVERS ?? 'in-process,https', RIATA_PACKED: 'true' },
          ...longRun,
        },
      },
      {
        test: {
          name: 'packed-real',
          include: ['packages/testing/behaviour/**/*.test.ts'],
          env: { RIATA_SERVERS: 'kube-apiserver', RIATA_TEST_SERVER: 'kubeconfig', RIATA_PACKED: 'true' },
          ...longRun,
        },
      },
    ],
  },
});
