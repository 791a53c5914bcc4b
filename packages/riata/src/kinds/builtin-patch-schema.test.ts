import { expect, test } from 'vitest';
import { applyStrategicMergePatch } from '../object/patch/apply-strategic-merge-patch.js';
import { builtinPatchSchema, Deployment, Service } from './index.js';

test('containers of a Deployment merge by name, their ports by number, through three types', () => {
  const before = Deployment({
    metadata: { name: 'web' },
    spec: {
      selector: {},
      template: { spec: { containers: [{ name: 'a', image: '1', ports: [{ containerPort: 80 }] }, { name: 'b' }] } },
    },
  });
  const patch = {
    spec: { template: { spec: { containers: [{ name: 'a', ports: [{ containerPort: 81 }] }] } } },
  };
  const schema = builtinPatchSchema(Deployment)!;
  expect(applyStrategicMergePatch(before as never, patch, schema)).toMatchObject({
    spec: {
      template: {
        spec: {
          containers: [{ name: 'a', image: '1', ports: [{ containerPort: 81 }, { containerPort: 80 }] }, { name: 'b' }],
        },
      },
    },
  });
});

test('a list without a strategy is replaced', () => {
  const schema = builtinPatchSchema(Service)!;
  const before = { spec: { externalIPs: ['a', 'b'], ports: [{ port: 80, name: 'http' }] } };
  const patch = { spec: { externalIPs: ['c'], ports: [{ port: 80, name: 'web' }] } };
  expect(applyStrategicMergePatch(before, patch, schema)).toEqual({
    spec: { externalIPs: ['c'], ports: [{ port: 80, name: 'web' }] },
  });
});

test('kinds that servers take no strategic patch of have no schema', () => {
  expect(builtinPatchSchema({ apiVersion: 'x.dev/v1', kind: 'Foo' })).toBeUndefined();
  expect(builtinPatchSchema({ apiVersion: '', kind: '__proto__' })).toBeUndefined();
});
