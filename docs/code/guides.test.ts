import { afterAll, beforeAll } from 'vitest';
import { kubeconfigCluster } from './cluster.js';
import './cli.guide.js';
import './clients.guide.js';
import './controllers.guide.js';
import './embedded-server.guide.js';
import './informers.guide.js';
import './kinds.guide.js';
import './migrating.guide.js';
import './packages.guide.js';
import './production.guide.js';
import './queues.guide.js';
import './shared-handlers.guide.js';
import './troubleshooting.guide.js';
import './webhooks.guide.js';

// One file, so that shared modules are loaded once.
let cluster: AsyncDisposable | undefined;
beforeAll(async () => {
  cluster = await kubeconfigCluster();
});
afterAll(() => cluster?.[Symbol.asyncDispose]());
