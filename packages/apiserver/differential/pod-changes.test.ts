import { apply, get, merge, namespace, namespaces, post, put, strategic } from './asks.js';
import { type Past, play, serverPair, uniqueName } from './pair.js';
import { paths, pod } from './workload-objects.js';

const pair = serverPair();

const resources = (more: object) => ({ containers: [{ name: 'c', image: 'i', resources: more }] });

play(pair, 'changes of Pods', () => {
  const ns = uniqueName('u');
  const { pods } = paths(ns);
  const at = `${pods}/a`;
  const change = (spec: object) => merge(at, { spec });
  const status = (more: object) => merge(`${at}/status`, { status: more });
  const ended = {
    name: 'c',
    image: '',
    imageID: '',
    ready: false,
    restartCount: 0,
    state: { terminated: { exitCode: 0 } },
  };
  const sized = (limits: object) => ({ containers: [{ name: 'c', image: 'i', resources: { limits } }] });
  const resize = (name: string, spec: object) => merge(`${pods}/${name}/resize`, { spec });
  const ephemeral = (...containers: object[]) =>
    merge(`${at}/ephemeralcontainers`, { spec: { ephemeralContainers: containers } });
  return [
    post(namespaces, namespace(ns)),
    post(pods, pod('a', { restartPolicy: 'Never', tolerations: [{ key: 'k', operator: 'Exists' }] })),
    change({ containers: [{ name: 'c', image: 'j' }] }),
    change({ containers: [{ name: 'c', image: '' }] }),
    change({
      containers: [
        { name: 'c', image: 'j' },
        { name: 'd', image: 'j' },
      ],
    }),
    change({ containers: [{ name: 'd', image: 'j' }] }),
    change({ restartPolicy: 'Always' }),
    change({ nodeSelector: { a: 'b' } }),
    change({ activeDeadlineSeconds: 5 }),
    change({ activeDeadlineSeconds: 6 }),
    change({ activeDeadlineSeconds: 3 }),
    change({ activeDeadlineSeconds: null }),
    change({ terminationGracePeriodSeconds: 1 }),
    change({ tolerations: [] }),
    change({
      tolerations: [
        { key: 'k', operator: 'Exists' },
        { key: 'l', operator: 'Exists' },
      ],
    }),
    change({ tolerations: null }),
    change({ schedulingGates: [{ name: 'a' }] }),
    change({ nodeName: 'n' }),
    change({ priority: 1 }),
    merge(at, { metadata: { annotations: { 'kubernetes.io/config.mirror': 'x' } } }),
    merge(at, { metadata: { generateName: 'x', labels: { a: 'b' } } }),
    put(at, pod('a')),
    status({ phase: 'Running', qosClass: 'Guaranteed' }),
    status({ phase: 'Nope', conditions: [{ type: 'a b', status: 'True' }] }),
    status({ podIP: 'x' }),
    status({ podIPs: [{ ip: '1.2.3.4' }, { ip: '1.2.3.5' }] }),
    status({ hostIP: '1.2.3.4', hostIPs: [{ ip: '1.2.3.5' }] }),
    status({ observedGeneration: -1, nominatedNodeName: 'A_b' }),
    status({ observedGeneration: 7, conditions: [{ type: 'Ready', status: 'True', observedGeneration: 7 }] }),
    status({ observedGeneration: 0, conditions: [{ type: 'Ready', status: 'False' }] }),
    status({ containerStatuses: [ended] }),
    status({ containerStatuses: [{ ...ended, state: { running: {} } }] }),
    ephemeral({ name: 'e', image: 'i', targetContainerName: 'none' }),
    ephemeral({ name: 'c', image: 'i' }),
    ephemeral({
      name: 'e',
      image: 'i',
      ports: [{ containerPort: 1 }],
      resources: { limits: { cpu: '1' } },
      lifecycle: {},
    }),
    ephemeral({ name: 'e', image: 'i', targetContainerName: 'c' }),
    ephemeral({ name: 'e', image: 'j' }),
    ephemeral(),
    ephemeral({ name: 'e', image: 'i', targetContainerName: 'c' }, { name: 'f', image: 'i' }),
    merge(`${at}/ephemeralcontainers`, {
      metadata: { labels: { x: 'y' } },
      spec: { nodeName: 'n' },
    }),
    merge(at, { spec: { ephemeralContainers: null } }),
    post(pods, pod('s', { ...sized({ cpu: '1', memory: '1Gi' }) })),
    resize('s', sized({ cpu: '2', memory: '1Gi' })),
    resize('s', sized({ cpu: '2' })),
    resize('s', sized({ cpu: '2', memory: '1Gi', 'ephemeral-storage': '1Gi' })),
    resize('s', { containers: [] }),
    resize('s', { containers: [{ name: 'x', image: 'i' }] }),
    resize('s', { nodeName: 'n', tolerations: [] }),
    resize('a', sized({ cpu: '2' })),
    merge(`${pods}/s`, { spec: sized({ cpu: '3', memory: '1Gi' }) }),
    post(pods, pod('g', { schedulingGates: [{ name: 'a' }, { name: 'b' }], nodeSelector: { a: 'b' } })),
    merge(`${pods}/g`, { spec: { nodeSelector: { c: 'd' } } }),
    merge(`${pods}/g`, { spec: { nodeSelector: { a: null } } }),
    merge(`${pods}/g`, { spec: { schedulingGates: [{ name: 'c' }] } }),
    merge(`${pods}/g`, {
      spec: {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'Exists' }] }],
            },
          },
        },
      },
    }),
    merge(`${pods}/g`, { spec: { affinity: null } }),
    merge(`${pods}/g`, { spec: { schedulingGates: null } }),
  ];
});

play(pair, 'limits of a namespace', () => {
  const ns = uniqueName('l');
  const { pods } = paths(ns);
  const ranges = `/api/v1/namespaces/${ns}/limitranges`;
  const range = (name: string, limit: object) => ({ metadata: { name }, spec: { limits: [limit] } });
  const ask = (name: string, limits: object, requests: object = {}) =>
    post(pods, pod(name, resources({ limits, requests })));
  return [
    post(namespaces, namespace(ns)),
    post(
      ranges,
      range('r', {
        type: 'Container',
        default: { cpu: '2', memory: '1Gi' },
        defaultRequest: { cpu: '1' },
        max: { cpu: '3' },
        min: { memory: '1Mi' },
        maxLimitRequestRatio: { cpu: '2' },
      }),
    ),
    post(pods, pod('a')),
    post(pods, pod('b', { initContainers: [{ name: 'i', image: 'i' }] })),
    ask('c', { cpu: '1' }),
    ask('d', { cpu: '4' }, { cpu: '3' }),
    ask('e', { memory: '1Ki' }),
    ask('f', { cpu: '3' }, { cpu: '1' }),
    ask('g', { gpu: '4' }),
  ];
});

play(pair, 'subresources of Pods in every way of writing', () => {
  const ns = uniqueName('w');
  const { pods } = paths(ns);
  const debug = { name: 'e', image: 'i', targetContainerName: 'c' };
  const sized = (cpu: string) => ({ containers: [{ name: 'c', resources: { limits: { cpu } } }] });
  const fine = pod('a', { containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '1' } } }] });
  const changed = (past: Past, change: object) => {
    const before = past.body('a');
    return { ...before, spec: { ...before.spec, ...change }, metadata: { ...before.metadata, labels: { x: 'y' } } };
  };
  return [
    post(namespaces, namespace(ns)),
    post(pods, fine, { as: 'a' }),
    get(`${pods}/a/ephemeralcontainers`),
    get(`${pods}/a/resize`),
    strategic(`${pods}/a/ephemeralcontainers`, { spec: { ephemeralContainers: [debug] } }, { as: 'a' }),
    strategic(
      `${pods}/a/ephemeralcontainers`,
      { spec: { ephemeralContainers: [{ ...debug, name: 'f' }] } },
      { as: 'a' },
    ),
    (past) => put(`${pods}/a/ephemeralcontainers`, changed(past, { nodeName: 'n', ephemeralContainers: [debug] })),
    strategic(`${pods}/a/resize`, { spec: sized('2') }, { as: 'a' }),
    (past) => put(`${pods}/a/resize`, changed(past, { nodeName: 'n', tolerations: [] })),
    apply(`${pods}/a/resize?fieldManager=m&force=true`, { ...pod('a'), spec: sized('3') }),
    apply(`${pods}/a/status?fieldManager=m`, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a', labels: { z: '1' } },
      status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
    }),
    get(`${pods}/a`),
  ];
});

play(pair, 'logs that nobody has', () => {
  const ns = uniqueName('l');
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const containers = ['a', 'b'].map((name) => ({ name, image: 'i' }));
  const make = (name: string, spec: object) => post(pods, { metadata: { name }, spec });
  const log = (query: string, name = 'one') => get(`${pods}/${name}/log${query}`);
  return [
    post(namespaces, namespace(ns)),
    make('one', { containers: containers.slice(0, 1) }),
    make('two', { containers, initContainers: [{ name: 'init', image: 'i' }] }),
    make('placed', { containers, nodeName: 'nowhere' }),
    ...['', '?container=a', '?container=x', '?tailLines=5&timestamps=true&previous=true', '?follow=false'].map(
      (query) => log(query),
    ),
    ...['tailLines=-1', 'limitBytes=0', 'sinceSeconds=0', 'sinceSeconds=5&sinceTime=2024-01-01T00:00:00Z'].map(
      (query) => log(`?${query}`),
    ),
    ...['tailLines=x', 'tailLines=-1&limitBytes=-1&container=x'].map((query) => log(`?${query}`)),
    log('', 'two'),
    log('?container=init', 'two'),
    log('?container=b', 'placed'),
    log('', 'none'),
    log('?tailLines=-1', 'none'),
    post(`${pods}/one/log`, {}),
  ];
});

play(pair, 'the first status of Pods, and their generations', () => {
  const ns = uniqueName('ps');
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const containers = [{ name: 'c', image: 'i' }];
  const make = (name: string, spec: object, more: object = {}, metadata: object = {}) =>
    post(pods, { metadata: { name, ...metadata }, spec: { containers, ...spec }, ...more });
  const limited = [{ ...containers[0], resources: { limits: { cpu: '1', memory: '1Gi' } } }];
  return [
    post(namespaces, namespace(ns)),
    make('sent', {}, { status: { phase: 'Running', podIP: '1.2.3.4' } }),
    make('placed', { nodeName: 'x', schedulingGates: [], containers: limited }),
    make('gated', { schedulingGates: [{ name: 'a.b/c' }] }, {}, { generation: 5 }),
    apply(`${pods}/applied?fieldManager=m`, {
      ...{ apiVersion: 'v1', kind: 'Pod' },
      spec: { hostNetwork: true, containers: [{ ...containers[0], ports: [{ containerPort: 8 }] }] },
    }),
    merge(`${pods}/sent`, { metadata: { labels: { a: 'b' } } }),
    merge(`${pods}/sent`, { spec: { containers: [{ name: 'c', image: 'j' }] } }),
    merge(`${pods}/sent/status`, { status: { phase: 'Running', observedGeneration: 1 } }),
  ];
});
