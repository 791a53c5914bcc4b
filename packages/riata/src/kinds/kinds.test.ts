import { describe, expect, test } from 'vitest';
import { Scheme } from '../object/scheme.js';
import * as appsV1 from './generated/groups/apps/v1.js';
import { builtinScheme, ConfigMap, Deployment, Event, Namespace, Pod } from './index.js';

describe('built-in kinds', () => {
  test('know how they are addressed', () => {
    expect({ ...Pod }).toMatchObject({ apiVersion: 'v1', plural: 'pods', scope: 'Namespaced', shortNames: ['po'] });
    expect({ ...Deployment }).toMatchObject({ apiVersion: 'apps/v1', plural: 'deployments', categories: ['all'] });
    expect(Deployment.subresources).toEqual(['scale', 'status']);
    expect(Namespace.scope).toBe('Cluster');
    expect(Pod.subresources).toContain('eviction');
  });

  test('the flat name of a kind that two groups have is the core one', () => {
    expect(Event.apiVersion).toBe('v1');
  });

  test('build objects', () => {
    expect(ConfigMap({ metadata: { namespace: 'a', name: 'b' }, data: { k: 'v' } })).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'a', name: 'b' },
      data: { k: 'v' },
    });
  });

  test('a group registers its kinds', () => {
    const scheme = new Scheme();
    appsV1.addToScheme(scheme);
    expect(scheme.kindFor(Deployment.gvk)).toBe(Deployment);
    expect(scheme.kinds().map((k) => k.kind)).toEqual([
      'ControllerRevision',
      'DaemonSet',
      'Deployment',
      'ReplicaSet',
      'StatefulSet',
    ]);
  });

  test('the built-in scheme has every kind in every version, and each call gives a new one', () => {
    const scheme = builtinScheme();
    expect(scheme.kinds().length).toBeGreaterThan(90);
    expect(scheme.versionsOf('autoscaling', 'HorizontalPodAutoscaler').map((k) => k.version)).toEqual(['v1', 'v2']);
    expect(builtinScheme()).not.toBe(scheme);
  });
});
