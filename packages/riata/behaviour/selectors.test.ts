import { ConfigMap, Event, Pod } from 'riata/kinds';
import { parseFieldSelector, parseSelector, type Selector } from 'riata/object';
import { isBadRequest } from 'riata/rest';
import { expect, test } from 'vitest';
import { describeServers, rejection } from './servers.js';

const objects: readonly (Record<string, string> | undefined)[] = [
  undefined,
  {},
  { app: 'web' },
  { app: 'web', tier: 'front' },
  { app: 'api', tier: 'back', 'x.dev/size': '3' },
  { app: 'api', tier: '' },
  { app: 'Web', size: '10' },
  { in: 'notin', exists: '1' },
  { size: '5' },
  { size: 'many', tier: 'front' },
  { 'x.dev/size': '7' },
];

const labelSelectors = [
  '',
  'app',
  '!app',
  '! app',
  'app=web',
  'app==web',
  'app = web',
  'app!=web',
  'app != web',
  'app=',
  'tier=',
  'tier!=',
  'app in (web)',
  'app in (web,api)',
  'app in ( web , api )',
  'app in (web,web)',
  'app in (,web)',
  'tier in ()',
  'tier in (,)',
  'app notin (web)',
  'app notin (web, api),tier',
  'tier notin ()',
  'app=web,tier=front',
  'app=web,tier!=front',
  ' app=web , tier ',
  'app,',
  ',app',
  'app,,tier',
  'size>4',
  'size > 4',
  'size<4',
  'size>-6',
  'size<many',
  'size>4.5',
  'size>',
  'x.dev/size>4',
  'x.dev/size in (3,7)',
  'in',
  'notin',
  'in in (notin)',
  'in=notin',
  'exists',
  'app in',
  'app in (web',
  'app in web',
  'app (web)',
  'app web',
  'app=web tier=front',
  '=web',
  '!',
  '!app=web',
  '!app in (web)',
  'app=a b',
  'app=a/b',
  'a/b/c=d',
  '/app=web',
  'x.dev/=web',
  'X.dev/size=3',
  '-app=web',
  'app=-web',
  'app=we_b.c',
  'app===web',
  'app=!web',
  'app<>web',
  'app=(web)',
  'app in (we(b)',
  'app in (!web)',
  `app=${'a'.repeat(63)}`,
  `app=${'a'.repeat(64)}`,
  `${'a'.repeat(64)}=web`,
  'äpp=web',
  'app=wéb',
  'app\t=\nweb',
  'app!in (web)',
  'app not in (web)',
  'app IN (web)',
];

describeServers('selectors', (server) => {
  test('labels: our matching gives what the server gives; what it refuses we refuse', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const made = await Promise.all(
      objects.map((labels, i) => client.create(ConfigMap({ metadata: { namespace, name: `o-${i}`, labels } }))),
    );
    const differences: object[] = [];
    for (const selector of labelSelectors) {
      const theirs = await client.list(ConfigMap, { namespace, labelSelector: selector }).then(
        ({ items }) => items.map((item) => item.metadata.name).sort(),
        (error: unknown) => (isBadRequest(error) ? 'refused' : error),
      );
      const ours = namesOrRefusal(() => {
        const parsed = parseSelector(selector);
        return made.filter((o) => parsed.matches(o.metadata.labels ?? {})).map((o) => o.metadata.name);
      });
      if (JSON.stringify(theirs) !== JSON.stringify(ours)) differences.push({ selector, theirs, ours });
    }
    expect(differences).toEqual([]);
  });

  test('labels: what a parsed selector prints means the same to the server', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await Promise.all(
      objects.map((labels, i) => client.create(ConfigMap({ metadata: { namespace, name: `o-${i}`, labels } }))),
    );
    const names = async (labelSelector: string | Selector) =>
      (await client.list(ConfigMap, { namespace, labelSelector })).items.map((item) => item.metadata.name);
    let compared = 0;
    for (const selector of labelSelectors) {
      const parsed = accepted(() => parseSelector(selector));
      if (parsed === undefined) continue;
      expect({ selector, names: await names(parsed) }).toEqual({ selector, names: await names(selector) });
      compared += 1;
    }
    expect(compared).toBeGreaterThan(20);
    const matchExpressions = [{ key: 'app', operator: 'In', values: ['web', 'api'] }];
    const selector = { matchLabels: { tier: 'front' }, matchExpressions };
    const { items } = await client.list(ConfigMap, { namespace, labelSelector: selector });
    expect(items.map((item) => item.metadata.labels)).toEqual([{ app: 'web', tier: 'front' }]);
  });

  test('fields: the same set, the same refusals', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const spec = { containers: [{ name: 'a', image: 'a:1' }] };
    const made = await Promise.all(
      [undefined, 'node-a', 'node-b'].map((nodeName, i) =>
        client.create(Pod({ metadata: { namespace, name: `p-${i}` }, spec: { ...spec, nodeName } })),
      ),
    );
    const selectors = [
      '',
      'metadata.name=p-1',
      'metadata.name==p-1',
      'metadata.name!=p-1',
      'metadata.name!=p-1,metadata.name!=p-0',
      'spec.nodeName=node-a',
      'spec.nodeName!=node-a',
      'spec.nodeName=',
      'spec.nodeName!=',
      'status.phase=Pending',
      'status.phase!=Pending',
      'metadata.name=p-1,spec.nodeName=node-a',
      'metadata.name=p-1,spec.nodeName=node-b',
      'metadata.name=p\\=1',
      'metadata.name=p\\,1',
      'metadata.name= p-1',
      'metadata.name',
      'metadata.name>p',
      'metadata.name=p-1,',
      ',metadata.name=p-1',
      'metadata.name=a=b',
      'metadata.name=a\\b',
      'metadata.name=a\\',
    ];
    const differences: object[] = [];
    for (const selector of selectors) {
      const theirs = await client.list(Pod, { namespace, fieldSelector: selector }).then(
        ({ items }) => items.map((item) => item.metadata.name),
        (error: unknown) => (isBadRequest(error) ? 'refused' : error),
      );
      const ours = namesOrRefusal(() => {
        const parsed = parseFieldSelector(selector);
        const fields = (pod: (typeof made)[number]) => ({
          'metadata.name': pod.metadata.name,
          'spec.nodeName': pod.spec?.nodeName ?? '',
          'status.phase': pod.status?.phase ?? '',
        });
        return made.filter((pod) => parsed.matches(fields(pod))).map((pod) => pod.metadata.name);
      });
      if (JSON.stringify(theirs) !== JSON.stringify(ours)) differences.push({ selector, theirs, ours });
    }
    expect(differences).toEqual([]);
  });

  test('fields: an object as selector; a field that the kind does not have is refused by name', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const involvedObject = { kind: 'Pod', name: 'a,b=c', namespace };
    const event = Event({ metadata: { namespace, name: 'e' }, involvedObject, reason: 'Odd', type: 'Normal' });
    await client.create(event);
    const fieldSelector = { 'involvedObject.name': 'a,b=c', reason: 'Odd' };
    expect((await client.list(Event, { namespace, fieldSelector })).items).toHaveLength(1);
    const error = await rejection(client.list(ConfigMap, { namespace, fieldSelector: 'data.a=1' }));
    expect(error).toSatisfy(isBadRequest);
    expect(error.message).toContain('data.a');
  });
});

function namesOrRefusal(match: () => string[]): string[] | 'refused' {
  return accepted(match)?.sort() ?? 'refused';
}

function accepted<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
