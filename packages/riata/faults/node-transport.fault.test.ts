import { afterAll, describe, vi } from 'vitest';

vi.stubEnv('RIATA_TRANSPORT', 'node');
afterAll(() => void vi.unstubAllEnvs().resetModules());

// Before and after: files of this worker share modules, and one that is imported again would register no test.
vi.resetModules();

// The same faults again, by Node's own client.
describe('nodeTransport', async () => {
  await import('./abort.fault.test.js');
  await import('./list.fault.test.js');
  await import('./proxy.fault.test.js');
  await import('./requests.fault.test.js');
  await import('./tls.fault.test.js');
  await import('./transport.fault.test.js');
  await import('./watch.fault.test.js');
});
