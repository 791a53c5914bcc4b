import { fileURLToPath } from 'node:url';
import { test } from 'vitest';
import { kubectlPair } from './kubectl-pair.js';

const folder = fileURLToPath(new URL('../../../../docs/production/', import.meta.url));
const servers = kubectlPair();

test('the manifests of docs/production.md pass the server as they are', async () => {
  await servers().play([
    { args: ['apply', '-f', `${folder}namespace.yaml`], expects: ['namespace/site-operator created'] },
    {
      args: ['apply', '--dry-run=server', '-f', folder],
      expects: [
        'deployment.apps/site-operator created (server dry run)',
        'clusterrole.rbac.authorization.k8s.io/site-operator created (server dry run)',
        'customresourcedefinition.apiextensions.k8s.io/sites.example.com created (server dry run)',
      ],
    },
  ]);
});
