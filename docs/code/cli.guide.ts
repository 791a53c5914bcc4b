import { resolveOperator } from '@riata/cli';
import { expect, test } from 'vitest';
import config from './site-operator/riata.config.js';

test('the operator that the guide of the command describes', async () => {
  const { name, namespace, controllers, kinds, options } = await resolveOperator(config, { version: '1.0.0' });
  expect({ name, namespace }).toEqual({ name: 'site-operator', namespace: 'site-operator' });
  expect(controllers.map((controller) => controller.name)).toEqual(['site']);
  expect(kinds.map((kind) => kind.crd().metadata?.name)).toEqual(['sites.sites.example.com']);
  expect(options.leaderElection).toEqual({ namespace: 'site-operator', name: 'site-operator' });
});
