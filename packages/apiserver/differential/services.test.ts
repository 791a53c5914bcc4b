import { apply, get, jsonPatch, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const services = (ns: string) => `/api/v1/namespaces/${ns}/services`;
const service = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, ...metadata },
  spec,
});
const ports = [{ port: 80 }];
const two = [
  { name: 'a', port: 80 },
  { name: 'b', port: 81 },
];

play(pair, 'services of every type, as they are made', () => {
  const ns = uniqueName('sv');
  const all = services(ns);
  const make = (name: string, spec: object) => post(all, service(name, spec));
  return [
    post(namespaces, namespace(ns)),
    make('plain', { ports }),
    make('selects', { ports, selector: { a: 'b' } }),
    make('headless', { ports, clusterIP: 'None', selector: { a: 'b' } }),
    make('bare', { clusterIP: 'None' }),
    make('bare6', { clusterIP: 'None', ipFamilies: ['IPv6'] }),
    make('bare1', { clusterIP: 'None', ipFamilyPolicy: 'SingleStack' }),
    make('external', { type: 'ExternalName', externalName: 'example.com.' }),
    make('node', { type: 'NodePort', ports: two }),
    make('node-shared', {
      type: 'NodePort',
      ports: [
        { name: 'a', port: 53, protocol: 'TCP' },
        { name: 'b', port: 53, protocol: 'UDP' },
      ],
    }),
    make('balancer', { type: 'LoadBalancer', ports }),
    make('balancer-off', { type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: false }),
    make('balancer-local', { type: 'LoadBalancer', ports, externalTrafficPolicy: 'Local', loadBalancerClass: 'a/b' }),
    make('sticky', { ports, sessionAffinity: 'ClientIP' }),
    make('sticky2', { ports, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } }),
    make('not-sticky', { ports, sessionAffinityConfig: { clientIP: { timeoutSeconds: 5 } } }),
    make('prefers', { ports, ipFamilyPolicy: 'PreferDualStack' }),
    make('outside', { ports, externalIPs: ['1.2.3.4'] }),
    make('named', { ports: [{ port: 80, targetPort: 'http', appProtocol: 'example.com/x' }] }),
    make('zero', {
      ports: [
        { port: 80, targetPort: 0 },
        { name: 'x', port: 81, targetPort: '' },
      ].slice(0, 1),
    }),
    make('near', { ports, trafficDistribution: 'PreferClose' }),
    make('1starts-with-a-digit', { ports }),
    make('Bad.Name', { ports }),
    post(`${all}?dryRun=All`, service('dry', { type: 'NodePort', ports: two })),
    post(`${all}?dryRun=All`, service('dry', { type: 'LoadBalancer', ports, externalTrafficPolicy: 'Local' })),
    put(`${all}/by-put`, service('by-put', { ports })),
    apply(`${all}/by-apply?fieldManager=m`, service('by-apply', { ports, type: 'NodePort' })),
    get(`${all}?fieldSelector=spec.type%3DNodePort`),
    get(`${all}?fieldSelector=spec.clusterIP%3DNone`),
    get(`${all}/prefers`),
    post(`/api/v1/namespaces/${ns}/endpoints`, { metadata: { name: 'plain' } }),
    remove(`${all}/plain`),
    get(`/api/v1/namespaces/${ns}/endpoints/plain`),
    remove(all),
  ];
});

play(pair, 'services that are refused', () => {
  const ns = uniqueName('sx');
  const all = services(ns);
  const dry = (spec: object, metadata: object = {}) => post(`${all}?dryRun=All`, service('a', spec, metadata));
  const annotated = (annotations: object) => dry({ ports }, { annotations });
  const ranges = 'service.beta.kubernetes.io/load-balancer-source-ranges';
  return [
    post(namespaces, namespace(ns)),
    dry({}),
    dry({ type: 'Odd', ports }),
    dry({ type: 'NodePort' }),
    dry({ type: 'NodePort', ports, clusterIP: 'None' }),
    dry({ type: 'LoadBalancer', ports, clusterIP: 'None' }),
    dry({ type: 'ExternalName' }),
    dry({ type: 'ExternalName', externalName: 'Bad Name' }),
    dry({
      type: 'ExternalName',
      externalName: 'x',
      clusterIP: '10.0.0.9',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    }),
    dry({ ports: [{}] }),
    dry({ ports: [{ port: 70_000, targetPort: 70_000 }] }),
    dry({ ports: [{ port: 1, targetPort: 'Not-A-Port-Name' }] }),
    dry({ ports: [{ port: 1, protocol: 'ICMP' }] }),
    dry({ ports: [{ port: 1, name: 'A_b', appProtocol: 'a b' }] }),
    dry({ ports: [{ port: 1 }, { port: 2 }] }),
    dry({
      ports: [
        { name: 'a', port: 1 },
        { name: 'a', port: 1 },
      ],
    }),
    dry({ ports: [{ port: 1, nodePort: 30_010 }] }),
    dry({ selector: { 'a b': 'c d' }, ports }),
    dry({ sessionAffinity: 'Odd', ports }),
    dry({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } }, ports }),
    dry({ sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } }, ports }),
    dry({ clusterIP: 'x', ports }),
    dry({ clusterIPs: ['10.0.0.9'], ports }),
    dry({ clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.8'], ports }),
    dry({ clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9', '10.0.0.8'], ports }),
    dry({ clusterIP: 'None', clusterIPs: ['None', '10.0.0.8'], ports }),
    dry({ clusterIP: '10.0.0.9', clusterIPs: ['10.0.0.9', 'fd00::1', 'x'], ports }),
    dry({ clusterIP: 'fd00::1', ports }),
    dry({ clusterIP: '010.0.0.9', ports }),
    dry({ clusterIP: '10.0.0.9', ipFamilies: ['IPv6'], ports }),
    dry({ ipFamilies: ['IPv6'], ports }),
    dry({ ipFamilies: ['IPv4', 'IPv4'], ports }),
    dry({ ipFamilies: ['Odd'], ports }),
    dry({ ipFamilies: ['IPv4', 'IPv6'], ports }),
    dry({ ipFamilyPolicy: 'RequireDualStack', ports }),
    dry({ ipFamilyPolicy: 'Odd', ports }),
    dry({ externalIPs: ['x', '127.0.0.1', '01.2.3.4', '0.0.0.0'], ports }),
    dry({ loadBalancerSourceRanges: ['10.0.0.0/8'], ports }),
    dry({ type: 'LoadBalancer', loadBalancerSourceRanges: [' 10.1.0.0/16 ', '10.0.0.1/8', 'x'], ports }),
    dry({ type: 'LoadBalancer', ports }, { annotations: { [ranges]: '10.1.0.0/16, x' } }),
    annotated({ [ranges]: '' }),
    annotated({ 'service.kubernetes.io/topology-mode': 'a', 'service.kubernetes.io/topology-aware-hints': 'b' }),
    annotated({ 'service.kubernetes.io/topology-aware-hints': 'auto' }),
    dry({ allocateLoadBalancerNodePorts: true, loadBalancerClass: 'x', ports }),
    dry({ type: 'LoadBalancer', loadBalancerClass: 'a b', ports }),
    dry({ externalTrafficPolicy: 'Local', healthCheckNodePort: 30_011, ports }),
    dry({ type: 'NodePort', externalTrafficPolicy: 'Odd', ports }),
    dry({ internalTrafficPolicy: 'Odd', trafficDistribution: 'Odd', ports }),
    dry({ externalName: 'x', loadBalancerIP: '01.2.3.4', ports }),
    dry({ type: 'LoadBalancer', loadBalancerIP: 'FD00::1', ports }),
    dry({ clusterIP: 'None', sessionAffinity: 'ClientIP', externalIPs: ['1.2.3.4'], loadBalancerIP: '1.2.3.4', ports }),
  ];
});

play(pair, 'addresses and ports that are asked for', () => {
  const ns = uniqueName('sa');
  const all = services(ns);
  const make = (name: string, spec: object) => post(all, service(name, spec));
  const node = (...nodePorts: number[]) => ({
    type: 'NodePort',
    ports: nodePorts.map((nodePort, i) => ({ name: `p${i}`, port: i + 1, nodePort })),
  });
  return [
    post(namespaces, namespace(ns)),
    make('a', { ports, clusterIP: '10.0.0.5' }),
    make('b', { ports, clusterIP: '10.0.0.5' }),
    post(`${all}?dryRun=All`, service('b', { ports, clusterIP: '10.0.0.5' })),
    make('c', { ports, clusterIP: '10.0.0.1' }),
    make('d', { ports, clusterIP: '10.0.0.0' }),
    make('e', { ports, clusterIP: '10.0.0.255' }),
    make('f', { ports, clusterIP: '10.0.1.5' }),
    make('g', node(30_001)),
    make('h', node(30_001)),
    make('i', node(80)),
    make('j', node(30_002, 30_002)),
    make('k', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_001, ports }),
    make('l', { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 30_003, ports }),
    merge(`${all}/g`, { spec: { ports: [{ name: 'p0', port: 1, nodePort: 30_003 }] } }),
    merge(`${all}/g`, { spec: { ports: [{ name: 'p0', port: 1, nodePort: 30_004 }] } }),
    make('m', node(30_001)),
    remove(`${all}/a`),
    make('b', { ports, clusterIP: '10.0.0.5' }),
    remove(all),
  ];
});

play(pair, 'how services change', () => {
  const ns = uniqueName('sc');
  const all = services(ns);
  const at = `${all}/a`;
  return [
    post(namespaces, namespace(ns)),
    post(all, service('a', { ports: two, selector: { a: 'b' } }), { as: 'a' }),
    put(at, service('a', { ports: two, selector: { a: 'b' } })),
    merge(at, { spec: { selector: { a: 'c' } } }),
    merge(at, { spec: { clusterIP: '10.0.0.9' } }),
    merge(at, { spec: { clusterIP: null } }),
    merge(at, { spec: { clusterIP: '', clusterIPs: null } }),
    merge(at, { spec: { clusterIP: 'None' } }),
    merge(at, { spec: { clusterIPs: ['10.0.0.9'] } }),
    merge(at, { spec: { ipFamilies: ['IPv6'] } }),
    merge(at, { spec: { ipFamilies: null, ipFamilyPolicy: null } }),
    merge(at, { spec: { ipFamilyPolicy: 'PreferDualStack' } }),
    merge(at, { spec: { ipFamilyPolicy: 'SingleStack' } }),
    merge(at, { spec: { type: 'NodePort' } }),
    put(at, service('a', { type: 'NodePort', ports: two, selector: { a: 'b' } })),
    put(at, service('a', { type: 'NodePort', ports: [...two, { name: 'c', port: 82 }] })),
    merge(at, { spec: { externalTrafficPolicy: 'Local' } }),
    merge(at, { spec: { type: 'LoadBalancer' } }),
    merge(at, { spec: { healthCheckNodePort: 30_020 } }),
    merge(at, { spec: { loadBalancerClass: 'a/b' } }),
    merge(`${at}/status`, { status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }, { hostname: 'x.y' }] } } }),
    merge(`${at}/status`, {
      status: {
        loadBalancer: {
          ingress: [
            { ip: '1.2' },
            { ip: '1.2.3.4', ipMode: 'Odd' },
            { hostname: '1.1.1.1', ipMode: 'VIP' },
            { hostname: 'A' },
          ],
        },
      },
    }),
    merge(`${at}/status`, {
      status: {
        conditions: [
          { type: 'A', status: 'True', reason: 'R', message: '', lastTransitionTime: '2020-01-01T00:00:00Z' },
        ],
      },
    }),
    merge(at, { spec: { allocateLoadBalancerNodePorts: false } }),
    merge(at, { spec: { sessionAffinity: 'ClientIP' } }),
    merge(at, { spec: { type: 'ClusterIP' } }),
    merge(`${at}/status`, { status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }] } } }),
    merge(at, { spec: { sessionAffinity: 'None' } }),
    merge(at, { spec: { type: 'ExternalName' } }),
    merge(at, { spec: { type: 'ExternalName', externalName: 'x.y' } }),
    merge(at, { spec: { type: 'ClusterIP' } }),
    jsonPatch(at, [{ op: 'replace', path: '/spec/ports', value: [] }]),
    post(all, service('h', { clusterIP: 'None', ports })),
    merge(`${all}/h`, { spec: { clusterIP: '10.0.0.9' } }),
    merge(`${all}/h`, { spec: { ports: null } }),
    merge(`${all}/h`, { spec: { type: 'ExternalName', externalName: 'a.b' } }),
    apply(`${at}?fieldManager=m&force=true`, service('a', { ports: two, type: 'LoadBalancer' })),
    apply(`${at}?fieldManager=m&force=true`, service('a', { ports: two })),
    get(at),
    remove(all),
  ];
});

play(pair, 'addresses as objects', () => {
  const ns = uniqueName('sv');
  const all = services(ns);
  const addresses = '/apis/networking.k8s.io/v1/ipaddresses';
  const ranges = '/apis/networking.k8s.io/v1/servicecidrs';
  const asking = (name: string, clusterIP: string) => post(all, service(name, { clusterIP, ports }));
  const address = (name: string, parentRef: object) => post(addresses, { metadata: { name }, spec: { parentRef } });
  const parent = { resource: 'services', namespace: ns, name: 'x' };
  const range = (...cidrs: string[]) => post(`${ranges}?dryRun=All`, { metadata: { name: 'x' }, spec: { cidrs } });
  return [
    get(ranges),
    get(`${addresses}/10.0.0.1`),
    post(namespaces, namespace(ns)),
    asking('a', '10.0.0.9'),
    get(`${addresses}/10.0.0.9`),
    asking('b', '10.0.0.9'),
    asking('b', 'None'),
    post(`${all}?dryRun=All`, service('dry', { clusterIP: '10.0.0.10', ports })),
    get(`${addresses}/10.0.0.10`),
    merge(`${all}/a`, { spec: { type: 'ExternalName', externalName: 'x', clusterIP: null } }),
    get(`${addresses}/10.0.0.9`),
    merge(`${all}/a`, { spec: { type: 'ClusterIP', clusterIP: '10.0.0.9', externalName: null } }),
    get(`${addresses}/10.0.0.9`, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }),
    remove(`${all}/a`),
    get(`${addresses}/10.0.0.9`),
    address('10.0.0.10', parent),
    asking('c', '10.0.0.10'),
    merge(`${addresses}/10.0.0.10`, { spec: { parentRef: { name: 'y' } } }),
    merge(`${addresses}/10.0.0.10`, { spec: { parentRef: null } }),
    remove(`${addresses}/10.0.0.10`),
    post(addresses, { metadata: { name: 'x' }, spec: {} }),
    address('010.0.0.10', parent),
    address('2001:DB8::1', { ...parent, resource: '', name: '' }),
    address('10.0.0.11', { group: 'x_y', resource: 'a%b', namespace: '..', name: 'a/b' }),
    range('10.1.0.0/24'),
    range('10.1.0.1/24', 'x'),
    range(),
    range('10.1.0.0/24', '10.2.0.0/24'),
    range('10.1.0.0/24', '2001:db8::/64', '::/0'),
    merge(`${ranges}/kubernetes?dryRun=All`, { spec: { cidrs: ['10.0.0.0/16'] } }),
    merge(`${ranges}/kubernetes?dryRun=All`, { spec: { cidrs: null } }),
    merge(`${ranges}/kubernetes?dryRun=All`, { spec: { cidrs: ['10.0.0.0/24', '10.2.0.0/24'] } }),
  ];
});
