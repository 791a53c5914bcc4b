import { expect, test } from 'vitest';
import { configMap, configMaps, eventsOf, get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { describeDifference } from './difference.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';

const pair = serverPair();

play(pair, 'what watches are told', () => {
  const ns = uniqueName('w');
  const all = configMaps(ns);
  // Every watch gets an event of one of the two objects that are created last.
  const until = { ends: 'the-last' };
  const watch =
    (query: string, from?: string): Step =>
    (past) => {
      const rv = from === undefined ? '' : `&resourceVersion=${past.revision(from)}`;
      return get(`${all}?watch=1&timeoutSeconds=60&${query}${rv}`, until);
    };
  return [
    post(namespaces, namespace(ns), { as: 'ns' }),
    post(all, configMap('a', { x: '1' }, { labels: { l: '1' } }), { as: 'a' }),
    post(all, configMap('b', { x: '1' }, { labels: { l: '2' } }), { as: 'b' }),
    merge(`${all}/a`, { data: { x: '2' } }, { as: 'a2' }),
    eventsOf(all, 'a2'),
    {
      watches: [
        watch(''),
        watch('resourceVersion=0'),
        watch('', 'a'),
        watch('', 'a2'),
        watch('labelSelector=l%3D1'),
        watch('labelSelector=l%3D1', 'a'),
        watch('labelSelector=l%21%3D1', 'a'),
        watch('fieldSelector=metadata.name%3Da'),
        watch('fieldSelector=metadata.name%3Da', 'a'),
        watch('fieldSelector=metadata.name%21%3Da', 'a'),
        watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'),
        watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan'),
        watch('sendInitialEvents=false&resourceVersionMatch=NotOlderThan'),
        watch('sendInitialEvents=false&resourceVersionMatch=NotOlderThan', 'a'),
        watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true', 'a'),
        get(`${all}/a?watch=1&timeoutSeconds=60`, until),
        get(`/api/v1/watch/namespaces/${ns}/configmaps?timeoutSeconds=60`, until),
        get(`/api/v1/watch/namespaces/${ns}/configmaps/a?timeoutSeconds=60`, until),
        (past) => ({
          ...get(`${all}?watch=1&timeoutSeconds=60&resourceVersion=${past.revision('a')}`, until),
          accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
        }),
        get(`/api/v1/configmaps?watch=1&timeoutSeconds=60&fieldSelector=metadata.namespace%3D${ns}`, until),
      ],
      during: [
        post(all, configMap('c', {}, { labels: { l: '1' }, finalizers: ['example.com/x'] })),
        merge(`${all}/a`, { metadata: { labels: { l: '2' } } }),
        merge(`${all}/b`, { metadata: { labels: { l: '1' } } }),
        merge(`${all}/b`, { metadata: { labels: { l: '1' } } }),
        put(`${all}/a`, configMap('a', { y: '1' })),
        remove(`${all}/c`),
        merge(`${all}/c`, { metadata: { finalizers: null } }),
        merge(`${all}/b?dryRun=All`, { data: { dry: '1' } }),
        remove(`${all}/b`),
        remove(all),
        post(all, configMap('a', {}, { labels: { l: '1' }, annotations: { x: 'the-last' } })),
        post(all, configMap('the-last')),
      ],
    },
  ];
});

play(pair, 'watches that are refused', () => {
  const ns = uniqueName('r');
  const watch = (query: string) => get(`${configMaps(ns)}?watch=1&timeoutSeconds=1&${query}`);
  return [
    watch('resourceVersion=x'),
    watch('resourceVersion=1&resourceVersionMatch=Exact'),
    watch('resourceVersion=1&resourceVersionMatch=NotOlderThan'),
    watch('sendInitialEvents=true'),
    watch('sendInitialEvents=true&resourceVersionMatch=Exact'),
    watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x'),
    watch('labelSelector=a+in+('),
    watch('fieldSelector=nope%3Dx'),
    watch('limit=5'),
    watch('timeoutSeconds=x'),
    get('/api/v1/nopes?watch=1'),
    get('/apis/rbac.authorization.k8s.io/v1/nopes?watch=1'),
  ];
});

test('watches from a past that is forgotten', async () => {
  const ns = uniqueName('o');
  const all = configMaps(ns);
  const watch = (query: string, more: object = {}) => get(`${all}?watch=1&timeoutSeconds=60&${query}`, more);
  const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  await pair().both(post(namespaces, namespace(ns)));
  await pair().both(post(all, configMap('a')));
  await pair().forgetPast();
  const found = await pair().differences([
    watch('resourceVersion=1'),
    watch('resourceVersion=1&allowWatchBookmarks=true'),
    watch('resourceVersion=1&labelSelector=a%3Db'),
    watch('resourceVersion=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan'),
    watch(`resourceVersion=1&${initial}`, { ends: 'k8s.io/initial-events-end' }),
    watch('resourceVersion=0', { ends: '"name":"a"' }),
    watch('resourceVersion=1', { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }),
    get(`/api/v1/watch/namespaces/${ns}/configmaps?resourceVersion=1&timeoutSeconds=60`),
    get(`${all}?resourceVersion=1&resourceVersionMatch=NotOlderThan`),
    get(`${all}?resourceVersion=1`),
    get(`${all}/a?resourceVersion=1`),
  ]);
  expect(found.map(describeDifference).join('\n')).toBe('');
});
