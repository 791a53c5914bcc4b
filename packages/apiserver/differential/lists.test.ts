import { configMap, configMaps, eventsOf, get, merge, namespace, namespaces, post, remove } from './asks.js';
import { type Past, play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();

function start() {
  const ns = uniqueName('l');
  const all = configMaps(ns);
  const labels = [{ a: '1' }, { a: '2', b: 'x' }, { a: '3' }, { b: 'y' }, {}, { a: '10', b: '' }];
  return {
    all,
    begin: [
      post(namespaces, namespace(ns)),
      ...labels.map((l, i) => post(all, configMap(`c${i}`, { i: String(i) }, { labels: l }), { as: `c${i}` })),
    ],
  };
}

play(pair, 'label and field selectors', () => {
  const { all, begin } = start();
  const labels = [
    'a=1',
    'a==2',
    'a!=1',
    'a',
    '!a',
    'a,b',
    'a in (1,2)',
    'a notin (1,2)',
    'a in ()',
    'a in (1,,2)',
    'a>2',
    'a<3',
    'b=',
    'b in (x, y)',
    'a=1,a=2',
    ' a = 1 ',
    'a,!b',
    'example.com/x=y',
  ];
  const fields = [
    'metadata.name=c1',
    'metadata.name==c1',
    'metadata.name!=c1',
    'metadata.name=c1,metadata.name=c2',
    'metadata.name!=c1,metadata.name!=c2',
    'metadata.namespace=default',
    'metadata.name=',
    'metadata.name=none',
  ];
  const names = { accept: 'application/json' };
  return [
    ...begin,
    ...labels.map((l) => get(`${all}?labelSelector=${encodeURIComponent(l)}`, names)),
    ...fields.map((f) => get(`${all}?fieldSelector=${encodeURIComponent(f)}`, names)),
    get(`${all}?labelSelector=a&fieldSelector=metadata.name%3Dc1`),
    get(`${all}?labelSelector=a&limit=2`),
    get(`${all}?fieldSelector=metadata.name%21%3Dc1&limit=2`),
    get('/api/v1/namespaces?fieldSelector=status.phase%3DNope'),
    get('/api/v1/pods?fieldSelector=spec.nodeName%3Dnone,status.phase%3DRunning'),
    get('/api/v1/pods?fieldSelector=spec.nope%3Dnone'),
    get('/api/v1/events?fieldSelector=involvedObject.name%3Dnone,reason%3Dx,type%3DNormal'),
    get('/api/v1/nodes?fieldSelector=spec.unschedulable%3Dtrue'),
  ];
});

play(pair, 'pages', () => {
  const { all, begin } = start();
  const next =
    (name: string, more = '') =>
    (past: Past) =>
      get(`${all}?continue=${past.body(name).metadata.continue}${more}`);
  return [
    ...begin,
    get(`${all}?limit=2`, { as: 'one' }),
    (past) => ({ ...next('one', '&limit=2')(past), as: 'two' }),
    merge(`${all}/c5`, { data: { new: '1' } }),
    remove(`${all}/c4`),
    post(all, configMap('c9'), { as: 'c9' }),
    eventsOf(all, 'c9'),
    (past) => ({ ...next('two', '&limit=1')(past), as: 'three' }),
    next('three'),
    next('one'),
    next('one', '&limit=100'),
    next('one', '&resourceVersion=0'),
    next('one', '&resourceVersion=5'),
    next('one', '&resourceVersionMatch=Exact'),
    next('one', '&labelSelector=a'),
    get(`${all}?limit=100`),
    get(`${all}?limit=6`),
    (past) => get(`${all}?limit=2&resourceVersion=${past.revision('c3')}`),
    (past) => get(`${all}?limit=2&resourceVersion=${past.revision('c3')}&resourceVersionMatch=Exact`),
    (past) => get(`${all}?resourceVersion=${past.revision('c3')}&resourceVersionMatch=Exact`),
    (past) => get(`${all}?resourceVersion=${past.revision('c3')}&resourceVersionMatch=NotOlderThan`),
    (past) => get(`${all}?resourceVersion=${past.revision('c3')}`),
    (past) => get(`${all}?resourceVersion=${past.revision('one')}&resourceVersionMatch=Exact`),
    get(`${all}?resourceVersion=0`),
    (past) => get(`${all}/c1?resourceVersion=${past.revision('c1')}`),
    get(all),
  ];
});
