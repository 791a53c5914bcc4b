import { expectTypeOf, test } from 'vitest';
import type { KindOf, ListMap, WriteOf, WriteTypeOf } from '../object/kind.js';
import { type Container, CronJob, Deployment, Namespace, type Pod, type PodSpec, StatefulSet } from './index.js';

test('a kind is a value and a type of one name', () => {
  expectTypeOf<KindOf<typeof Pod>>().toEqualTypeOf<Pod>();
  expectTypeOf<Pod['spec']>().toEqualTypeOf<PodSpec>();
  expectTypeOf<PodSpec['containers']>().toEqualTypeOf<ListMap<Container, 'name'>>();
  expectTypeOf<Pod['metadata']['namespace']>().toEqualTypeOf<string>();
  expectTypeOf<Namespace['metadata']['namespace']>().toEqualTypeOf<undefined>();
});

test('what the server fills in is there when read, and left out at will when written', () => {
  expectTypeOf<Deployment['status']['readyReplicas']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<WriteTypeOf<typeof Deployment>['spec']>().toEqualTypeOf<Deployment['spec'] | undefined>();
  expectTypeOf<WriteTypeOf<typeof CronJob>['spec']>().toEqualTypeOf<CronJob['spec']>();
  expectTypeOf<WriteOf<Pod>>().toEqualTypeOf<WriteTypeOf<typeof Pod>>();
  Namespace({ metadata: { name: 'shop' } });
  // @ts-expect-error a CronJob without a spec is refused by every server
  CronJob({ metadata: { namespace: 'shop', name: 'nightly' } });
});

test('everything is read-only', () => {
  const pod = {} as Pod;
  // @ts-expect-error read-only
  pod.metadata.name = 'x';
  // @ts-expect-error read-only
  pod.spec.containers.push({ name: 'x' });
});

test('write objects are plain literals, checked', () => {
  const labels = { app: 'web' };
  Deployment({
    metadata: { namespace: 'shop', name: 'web', labels },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    },
  });
  StatefulSet({
    metadata: { namespace: 'shop', name: 'db' },
    spec: {
      serviceName: 'db',
      selector: {},
      template: {},
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }],
    },
  });
  // @ts-expect-error no such field
  Deployment({ metadata: { name: 'x' }, spec: { replica: 1, selector: {}, template: {} } });
});
