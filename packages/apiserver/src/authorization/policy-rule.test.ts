import { describe, expect, test } from 'vitest';
import { type Attributes, resourceAttributes } from './attributes.js';
import { allows, rulesOf, uncovered } from './policy-rule.js';

const user = { username: 'jane' };
const path = (verb: string, asked: string): Attributes => ({
  ...resourceAttributes(user, { verb, resource: '' }),
  isResource: false,
  path: asked,
});
const rule = (given: object) => {
  const [read] = rulesOf([given as never]);
  if (read === undefined) throw new Error('no rule was read');
  return read;
};

describe('a rule', () => {
  const scale = { verb: 'get', group: 'apps', resource: 'deployments', subresource: 'scale', name: 'a' };
  const pod = { verb: 'get', resource: 'pods', name: 'a' };
  test.each([
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, pod, true],
    [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }, pod, false],
    [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, scale, true],
    [{ verbs: ['get'], apiGroups: ['apps'], resources: ['deployments'] }, scale, false],
    [{ verbs: ['get'], apiGroups: ['apps'], resources: ['deployments/scale'] }, scale, true],
    [{ verbs: ['get'], apiGroups: ['apps'], resources: ['deployments/*'] }, scale, false],
    [{ verbs: ['get'], apiGroups: ['apps'], resources: ['*/scale'] }, scale, true],
    [{ verbs: ['get'], apiGroups: ['apps'], resources: ['*/status'] }, scale, false],
    [{ verbs: ['get'], apiGroups: [''], resources: ['*/scale'] }, pod, false],
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a', 'b'] }, pod, true],
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['b'] }, pod, false],
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['*'] }, pod, false],
    [{ verbs: ['get'], nonResourceURLs: ['*'] }, pod, false],
  ])('%j allows %j: %s', (given, desired, expected) => {
    expect(allows(rule(given), resourceAttributes(user, desired))).toBe(expected);
  });

  test.each([
    ['*', '/healthz', true],
    ['/healthz', '/healthz', true],
    ['/healthz', '/healthz/etcd', false],
    ['/healthz/*', '/healthz', false],
    ['/healthz/*', '/healthz/etcd', true],
    ['/healthz*', '/healthzz', true],
    ['/a/**', '/a/b', true],
    ['/*/b', '/a/b', false],
  ])('the path %s allows %s: %s', (url, asked, expected) => {
    expect(allows(rule({ verbs: ['get'], nonResourceURLs: [url] }), path('get', asked))).toBe(expected);
    expect(allows(rule({ verbs: ['post'], nonResourceURLs: [url] }), path('get', asked))).toBe(false);
  });
});

describe('rights that are not covered', () => {
  const owned = rulesOf([
    { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', '*/scale'] },
    { verbs: ['get'], nonResourceURLs: ['/api/*'] },
    { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['a'] },
  ]);
  test.each([
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, []],
    [
      { verbs: ['get'], apiGroups: [''], resources: ['pods', 'replicationcontrollers/scale'], resourceNames: ['x'] },
      [],
    ],
    [{ verbs: ['get'], nonResourceURLs: ['/api/v1', '/api/*'] }, []],
    [
      { verbs: ['get', 'watch', 'delete'], apiGroups: ['', 'apps'], resources: ['pods'] },
      [
        '{APIGroups:[""], Resources:["pods"], Verbs:["watch" "delete"]}',
        '{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "watch" "delete"]}',
      ],
    ],
    [
      { verbs: ['get'], apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'] },
      ['{APIGroups:[""], Resources:["secrets"], ResourceNames:["b"], Verbs:["get"]}'],
    ],
    [
      { verbs: ['get'], apiGroups: [''], resources: ['secrets'] },
      ['{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'],
    ],
    [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, ['{APIGroups:["*"], Resources:["*"], Verbs:["*"]}']],
    [{ verbs: ['get'], nonResourceURLs: ['*'] }, ['{NonResourceURLs:["*"], Verbs:["get"]}']],
  ])('of %j are %j', (desired, expected) => {
    expect(uncovered(owned, rulesOf([desired]))).toEqual(expected);
  });
});
