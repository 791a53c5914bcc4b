import { operator } from '@riata/cli';
import { Deployment } from 'riata/kinds';
import { collectRbac } from 'riata/patterns';
import { Site } from './src/site.js';

export default operator({
  name: 'site-operator',
  image: 'registry.example.com/site-operator',
  run: () => import('./src/main.js'),
  // Handlers are registered while the operator runs, so their kinds and rights are named here.
  kinds: [Site],
  rights: collectRbac([
    { kind: Site, verbs: ['get', 'list', 'watch'] },
    { kind: Site, subresource: 'status', verbs: ['get', 'patch', 'update'] },
    { kind: Deployment, verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] },
  ]),
});
