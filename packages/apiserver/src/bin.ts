#!/usr/bin/env node
import { runServerCommand } from './server-command.js';

void runServerCommand({
  name: 'riata-apiserver',
  about: 'Runs a Kubernetes API server that keeps its objects in memory.',
  options: {
    controllers: {
      written: '--no-controllers',
      help: 'leave it to a kube-controller-manager to empty namespaces and to collect garbage',
      default: true,
    },
  },
  async start({ token, controllers }) {
    // The package's own entry, so that it is one file.
    const { ApiServer } = await import('./index.js');
    return ApiServer.start({ token, controllers });
  },
});
