import { operator } from '@riata/cli';

export default operator({
  name: 'site-operator',
  image: 'registry.example.com/site-operator',
  run: () => import('./src/main.js'),
});
