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
    enable: {
      written: '--enable-admission-plugins NAMES',
      help: 'admission plugins to run beside those that are on by default, with commas',
      default: [] as readonly string[],
    },
    disable: {
      written: '--disable-admission-plugins NAMES',
      help: 'admission plugins that are on by default and do not run, with commas',
      default: [] as readonly string[],
    },
  },
  async start({ token, controllers, enable, disable }) {
    // The package's own entry, so that it is one file.
    const { ApiServer } = await import('./index.js');
    return ApiServer.start({ token, controllers, admission: { enable, disable } });
  },
});
