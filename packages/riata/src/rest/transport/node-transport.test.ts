import { afterAll, describe, vi } from 'vitest';

vi.stubEnv('RIATA_TRANSPORT', 'node');
afterAll(() => void vi.unstubAllEnvs().resetModules());

// Before and after: files of this worker share modules, and one that is imported again would register no test.
vi.resetModules();

// The same tests again, by Node's own client.
describe('nodeTransport', async () => {
  await import('./http-transport.test.js');
  await import('./http-transport-limits.test.js');
});
