import { Buffer } from 'node:buffer';
import {
  apply,
  configMap,
  configMaps,
  eventsOf,
  get,
  jsonPatch,
  merge,
  namespace,
  namespaces,
  post,
  put,
  remove,
  strategic,
} from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';

const pair = serverPair();

const shows = ['allow', 'content-encoding', 'vary', 'cache-control', 'x-content-type-options'];
const open = { 'x-kubernetes-preserve-unknown-fields': true };

/** Defined by the first play: the real server takes its time for each new kind. */
const group = `${uniqueName('e')}.example.com`;

play(pair, 'methods that nobody serves', () => {
  const ns = uniqueName('e');
  const all = configMaps(ns);
  const widgets = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  const paths = [
    ...[all, `${all}/a`, '/api/v1/configmaps', '/api/v1/namespaces', `/api/v1/namespaces/${ns}/status`],
    ...[widgets, `${widgets}/a`, `${widgets}/a/status`, `/apis/${group}/v1/widgets`],
    ...['/api', '/apis', '/api/v1', '/apis/apps', '/apis/apps/v1', `/apis/${group}`, `/apis/${group}/v1`, '/version'],
    ...[`/api/v1/watch/namespaces/${ns}/configmaps`, '/nope', '/', `/api/v1/namespaces/${ns}/pods/p/binding`],
  ];
  return [
    post(namespaces, namespace(ns)),
    ...served(definition(group, { versions: [version('v1', open, { subresources: { status: {} } })] })),
    post(all, configMap('a')),
    post(widgets, { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' } }),
    ...['HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'].flatMap((method) =>
      paths
        .filter((path) => path !== '/' && !(method === 'HEAD' && path.includes('/watch/')))
        .map((path) => ({ method, path, shows })),
    ),
    ...['POST', 'PUT', 'DELETE'].flatMap((method) =>
      [
        '/api',
        '/apis',
        '/api/v1',
        '/apis/apps',
        '/apis/apps/v1',
        `/apis/${group}`,
        `/apis/${group}/v1`,
        '/version',
        '/nope',
      ].map((path) => ({ method, path, shows })),
    ),
    ...['PUT', 'PATCH', 'POST'].flatMap((method) => [
      { method, path: all, body: {}, type: 'application/merge-patch+json' },
      { method, path: widgets, body: {}, type: 'application/merge-patch+json' },
      { method, path: '/api/v1/configmaps', body: {}, type: 'application/json' },
    ]),
  ];
});

play(pair, 'media types that are not understood', () => {
  const ns = uniqueName('e');
  const all = configMaps(ns);
  const widgets = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' } };
  const types = [
    'text/plain',
    'application/xml',
    'application/json;',
    'application/JSON',
    'json',
    '*/*',
    'application/*',
    ';',
  ];
  const accepts = [
    'text/html',
    'application/xml',
    'image/*',
    'application/*',
    'application/json;q=0',
    'text/*, */*;q=0.1',
    'nope',
  ];
  return [
    post(namespaces, namespace(ns)),
    post(all, configMap('a')),
    post(widgets, widget),
    ...types.flatMap((type): Step[] => [
      post(`${all}?dryRun=All`, configMap('b'), { type }),
      put(`${all}/a?dryRun=All`, configMap('a'), { type }),
      post(`${widgets}?dryRun=All`, { ...widget, metadata: { name: 'b' } }, { type }),
      { method: 'PATCH', path: `${all}/a`, body: {}, type },
      { method: 'PATCH', path: `${widgets}/a`, body: {}, type },
      remove(`${all}/none`, {}, { type }),
    ]),
    strategic(`${widgets}/a`, {}),
    { method: 'PATCH', path: `${all}/a`, body: '{}', headers: { 'content-type': '' } },
    { method: 'PATCH', path: `${widgets}/a`, body: '{}', headers: { 'content-type': '' } },
    merge(`${all}/a`, {}, { type: 'application/merge-patch+json; charset=utf-8' }),
    ...accepts.flatMap((accept): Step[] => [
      get(all, { accept }),
      get(`${all}/a`, { accept }),
      get(`${all}/none`, { accept }),
      ...(accept === 'image/*' || accept === 'nope' ? [get(`${all}?watch=1&timeoutSeconds=1`, { accept })] : []),
      post(`${all}?dryRun=All`, configMap('b'), { accept }),
      merge(`${all}/a?dryRun=All`, {}, { accept }),
      remove(`${all}/none`, undefined, { accept }),
      get(widgets, { accept }),
      get(`${widgets}/a`, { accept }),
      get('/api/v1', { accept }),
      get('/apis', { accept }),
      get('/nope', { accept }),
    ]),
  ];
});

play(pair, 'continue tokens of all sorts', () => {
  const ns = uniqueName('e');
  const all = configMaps(ns);
  const token = (value: unknown) =>
    Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
  const v = 'meta.k8s.io/v1';
  const tokens = [
    ...['!', 'a', 'ab', 'abc', 'abcd', '====', 'e30=', token('x'), token('[]'), token('null'), token('5'), token({})],
    ...[token({ v }), token({ v, rv: 1 }), token({ v, start: 'a' }), token({ v: 'v2', rv: 1, start: 'a' })],
    ...[token({ v, rv: 0, start: 'a' }), token({ v, rv: -2, start: 'a' }), token({ v, rv: 'x', start: 'a' })],
    ...[token({ v, rv: -1, start: '../a' }), token({ v, rv: -1, start: '/../a' }), token({ v, rv: -1, start: '' })],
    token({ v, rv: 1.5, start: 'b' }),
  ];
  return [
    post(namespaces, namespace(ns)),
    ...['a', 'b', 'c'].map((name) => post(all, configMap(name))),
    ...tokens.map((one) => get(`${all}?limit=1&continue=${encodeURIComponent(one)}`)),
    get(`${all}?limit=1`, { as: 'first' }),
    (past) => get(`${all}?limit=1&continue=${past.body('first').metadata.continue}`, { as: 'second' }),
    (past) => get(`${all}?continue=${past.body('first').metadata.continue}`),
    (past) => get(`${all}?limit=5&continue=${past.body('first').metadata.continue}&resourceVersion=0`),
    (past) => get(`${all}?limit=5&continue=${past.body('first').metadata.continue}&resourceVersion=7`),
    (past) => get(`${all}?limit=5&continue=${past.body('first').metadata.continue}&resourceVersionMatch=Exact`),
    (past) => get(`${all}?limit=5&continue=${past.body('first').metadata.continue}&labelSelector=x`),
    (past) => get(`${configMaps('default')}?limit=5&continue=${past.body('first').metadata.continue}&labelSelector=x`),
    (past) => get(`${all}?watch=1&timeoutSeconds=1&continue=${past.body('first').metadata.continue}`),
    (past) => remove(`${all}?limit=1&continue=${past.body('first').metadata.continue}`),
    get(`${all}?limit=1`),
  ];
});

play(pair, 'resourceVersions of all sorts', () => {
  const ns = uniqueName('e');
  const all = configMaps(ns);
  const versions = ['0', '1', 'x', '-1', '1.5', '+1', '0x1', '18446744073709551616', '%20', '00'];
  const widgets = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  return [
    post(namespaces, namespace(ns)),
    post(all, configMap('a'), { as: 'a' }),
    post(widgets, { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' } }, { as: 'widget' }),
    eventsOf(all, 'a'),
    eventsOf(widgets, 'widget'),
    ...versions.flatMap((rv): Step[] => [
      get(`${all}/a?resourceVersion=${rv}`),
      get(`${all}/none?resourceVersion=${rv}`),
      get(`${widgets}/a?resourceVersion=${rv}`),
      ...(rv === '1' || rv === '+1' ? [] : [get(`${all}?resourceVersion=${rv}&fieldSelector=metadata.name=a`)]),
    ]),
    ...['x', '-1', '1.5'].map((rv) => get(`${all}?watch=1&timeoutSeconds=1&resourceVersion=${rv}`)),
  ];
});

play(pair, 'timeouts, pretty answers and what else a query can say', () => {
  const ns = uniqueName('e');
  const all = configMaps(ns);
  const none = `${all}/none`;
  return [
    post(namespaces, namespace(ns)),
    ...['', '0', '0s', '1s', '-1s', '1', 'x', '100h', '1m30s', '1.5s', '1d', '99999999999h'].flatMap(
      (timeout): Step[] => [
        get(`${none}?timeout=${timeout}`),
        get(`${all}?fieldSelector=metadata.name=none&timeout=${timeout}`),
        post(`${all}?dryRun=All&timeout=${timeout}`, configMap('a')),
      ],
    ),
    ...['', 'true', 'false', '1', '0', 'yes', 'TRUE', 't'].map((pretty) =>
      get(`${none}?pretty=${pretty}`, { raw: true }),
    ),
    ...['curl/8', 'Wget/1', 'Mozilla/5.0 (X)', 'Mozilla/4.0', 'kubectl/v1'].map((agent) =>
      get(none, { raw: true, headers: { 'user-agent': agent } }),
    ),
    get(none, { raw: true, accept: 'application/json;pretty=1' }),
    get(none, { raw: true, accept: 'application/json;pretty=true' }),
    get(none, { raw: true, accept: 'application/yaml' }),
    get(`${none}?pretty=false`, { raw: true, headers: { 'user-agent': 'curl/8' } }),
    get(`${none}?pretty=true&pretty=false`, { raw: true }),
    get('/nope?pretty=true', { raw: true }),
    ...['limit=1&limit=x', 'watch=false&watch=true', 'watch=0', 'watch=no&timeoutSeconds=1', 'timeoutSeconds=-1'].map(
      (query) => get(`${all}?fieldSelector=metadata.name=none&${query}`),
    ),
    ...['limit=%', 'limit=1;2', 'a%zz=1', '&&', '=', 'limit'].map((query) =>
      get(`${all}?fieldSelector=metadata.name=none&${query}`),
    ),
    ...['dryRun=all', 'dryRun=All&dryRun=None', 'fieldValidation=strict', 'fieldManager=', 'force=true'].map((query) =>
      post(`${all}?${query}`, configMap('never', {}, { resourceVersion: '1' })),
    ),
    ...['force=x', 'force=true', 'fieldManager=m&force=maybe', 'fieldManager=m&dryRun=x'].map((query) =>
      apply(`${all}/ap?${query}`, configMap('ap')),
    ),
    ...[
      'gracePeriodSeconds=x',
      'propagationPolicy=x',
      'orphanDependents=x',
      'orphanDependents=true&propagationPolicy=Orphan',
    ].map((query) => remove(`${all}/none?${query}`)),
    jsonPatch(`${all}/none`, 'x'),
  ];
});

play(pair, 'packed answers', () => {
  const ns = uniqueName('e');
  const all = configMaps(ns);
  const big = 'x'.repeat(200_000);
  const packed = (path: string, encoding: string) =>
    get(path, { shows, raw: true, headers: { 'accept-encoding': encoding } });
  return [
    post(namespaces, namespace(ns)),
    post(all, configMap('big', { big })),
    post(all, configMap('small')),
    ...['identity', 'deflate', 'gzip;q=0', 'br', ''].map((encoding) =>
      get(`${all}/big`, { shows, headers: { 'accept-encoding': encoding } }),
    ),
    packed(`${all}/small/none`, 'gzip'),
    get(`${all}/small`, { shows, headers: { 'accept-encoding': 'gzip' } }),
    get(`${all}/none`, { shows, headers: { 'accept-encoding': 'gzip' } }),
    ...['gzip', 'gzip, deflate', 'br, gzip;q=0.5', 'GZIP', '*'].flatMap((encoding): Step[] => [
      { method: 'HEAD', path: `${all}/big`, shows, headers: { 'accept-encoding': encoding } },
      get(`${all}/big`, { shows, headers: { 'accept-encoding': encoding } }),
      get(`${all}?fieldSelector=metadata.name=big`, { shows, headers: { 'accept-encoding': encoding } }),
    ]),
  ];
});
