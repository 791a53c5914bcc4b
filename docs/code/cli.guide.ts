import { operatorObjects, resolveOperator } from '@riata/cli';
import { expect, test } from 'vitest';
import chartConfig, { siteChart } from './site-operator/chart.config.js';
import custom from './site-operator/custom.config.js';
import config from './site-operator/riata.config.js';

test('the operator that the guide of the command describes', async () => {
  const { name, namespace, controllers, kinds, options } = await resolveOperator(config, { version: '1.0.0' });
  expect({ name, namespace }).toEqual({ name: 'site-operator', namespace: 'site-operator' });
  expect(controllers.map((controller) => controller.name)).toEqual(['site']);
  expect(kinds.map((kind) => kind.crd().metadata?.name)).toEqual(['sites.sites.example.com']);
  expect(options.leaderElection).toEqual({ namespace: 'site-operator', name: 'site-operator' });
});

test('objects that the config changes by code', async () => {
  const objects = await operatorObjects(await resolveOperator(custom));
  expect(objects.at(-1)).toMatchObject({ kind: 'ResourceQuota', metadata: { namespace: 'site-operator' } });
  expect(objects.find(({ kind }) => kind === 'Deployment')).toMatchObject({
    spec: { replicas: 3, template: { spec: { priorityClassName: 'system-cluster-critical' } } },
  });
});

test('the objects of the chart, for values', async () => {
  const context = { release: { name: 'sites', namespace: 'shop' }, operator: await resolveOperator(chartConfig) };
  const values = { replicas: 1, image: { repository: 'registry.example.com/sites', tag: '2' }, quota: true };
  const objects = await siteChart.objects(values, context);
  expect(objects.at(-1)).toMatchObject({ kind: 'ResourceQuota', metadata: { namespace: 'shop' } });
});
