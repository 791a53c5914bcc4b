import { apply, get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const networking = (ns: string, plural: string) => `/apis/networking.k8s.io/v1/namespaces/${ns}/${plural}`;

play(pair, 'ingresses', () => {
  const ns = uniqueName('i');
  const all = networking(ns, 'ingresses');
  const service = (name: string, port: object) => ({ service: { name, port } });
  const backend = service('web', { number: 80 });
  const ingress = (spec: object, metadata: object = {}) => ({ metadata: { name: 'a', ...metadata }, spec });
  const dry = (spec: object, metadata: object = {}) => post(`${all}?dryRun=All`, ingress(spec, metadata));
  const path = (one: object) => dry({ rules: [{ http: { paths: [{ backend, ...one }] } }] });
  const old = { annotations: { 'kubernetes.io/ingress.class': 'a' } };
  return [
    post(namespaces, namespace(ns)),
    dry({}),
    dry({ defaultBackend: backend }),
    dry({ defaultBackend: {} }),
    dry({ defaultBackend: { ...backend, resource: { kind: 'K', name: 'n' } } }),
    dry({ defaultBackend: { resource: { apiGroup: 'A b', kind: '', name: '' } } }),
    dry({ defaultBackend: { resource: { kind: 'a/b', name: '..' } } }),
    dry({ defaultBackend: service('', {}) }),
    dry({ defaultBackend: service('Bad', { number: 70_000 }) }),
    dry({ defaultBackend: service('1a', { name: 'UPPER--' }) }),
    dry({ defaultBackend: service('web', { name: 'http', number: 80 }) }),
    dry({ rules: [{}] }),
    dry({ rules: [{ host: '10.0.0.1' }, { host: '*.example.com' }, { host: 'a.*.b' }, { host: 'Up' }] }),
    dry({ rules: [{ host: 'a', http: { paths: [] } }] }),
    path({}),
    path({ pathType: 'Odd' }),
    path({ pathType: 'Exact' }),
    path({ pathType: 'Prefix', path: 'a' }),
    path({ pathType: 'Prefix', path: '/a//b/./c/../%2f%2F/..' }),
    path({ pathType: 'ImplementationSpecific' }),
    path({ pathType: 'ImplementationSpecific', path: 'x' }),
    path({ pathType: 'Exact', path: '/', backend: {} }),
    dry({ defaultBackend: backend, tls: [{ hosts: ['A', '*', '*.a', 'ok'], secretName: 'Bad Name' }, {}] }),
    dry({ defaultBackend: backend, ingressClassName: 'Not Good' }),
    dry({ defaultBackend: backend, ingressClassName: 'b' }, old),
    dry({ defaultBackend: backend }, old),
    post(all, ingress({ defaultBackend: backend }), { as: 'a' }),
    put(`${all}/a`, ingress({ defaultBackend: backend, rules: [{ host: 'x.y' }] })),
    merge(`${all}/a`, { spec: { defaultBackend: null, rules: null } }),
    merge(`${all}/a/status`, { status: { loadBalancer: { ingress: [{ ip: '1.2.3.4' }, { hostname: 'h' }] } } }),
    merge(`${all}/a/status`, {
      status: {
        loadBalancer: { ingress: [{ ip: '1.2.3' }, { ip: '01.2.3.4', hostname: 'H' }, { hostname: '1.1.1.1' }] },
      },
    }),
    merge(`${all}/a/status`, {
      status: { loadBalancer: { ingress: [{ ip: 'FE80::1', ports: [{ port: 1, protocol: 'TCP' }] }] } },
    }),
    get(`${all}/a`),
  ];
});

play(pair, 'classes of ingresses', () => {
  const name = uniqueName('ic');
  const backend = { service: { name: 'web', port: { number: 80 } } };
  const all = '/apis/networking.k8s.io/v1/ingressclasses';
  const dry = (spec: object) => post(`${all}?dryRun=All`, { metadata: { name }, spec });
  // The real server hears of its classes a moment later.
  const ingress = post(`${networking('default', 'ingresses')}?dryRun=All`, {
    metadata: { name },
    spec: { defaultBackend: backend },
  });
  const parameters = (one: object) => dry({ controller: 'a/b', parameters: { kind: 'K', name: 'n', ...one } });
  return [
    ...['', 'a', '/a', 'a/', 'A b/c', 'a.b/c d', `a/${'b'.repeat(250)}`, 'example.com/x'].map((controller) =>
      dry({ controller }),
    ),
    dry({ controller: 'a/b', parameters: {} }),
    parameters({}),
    parameters({ apiGroup: 'Odd One', kind: 'a/b', name: 'c%d' }),
    parameters({ scope: 'Namespace' }),
    parameters({ scope: 'Namespace', namespace: 'A' }),
    parameters({ scope: 'Namespace', namespace: 'a' }),
    parameters({ scope: 'Cluster', namespace: 'a' }),
    parameters({ scope: 'Odd' }),
    post(all, { metadata: { name }, spec: { controller: 'a/b' } }),
    merge(`${all}/${name}`, { spec: { controller: 'a/c' } }),
    merge(`${all}/${name}`, { spec: { parameters: { kind: 'K', name: 'n' } } }),
    merge(`${all}/${name}`, { metadata: { annotations: { 'ingressclass.kubernetes.io/is-default-class': 'true' } } }),
    { ...ingress, until: ({ body }) => body.spec.ingressClassName === name },
    post(`${networking('default', 'ingresses')}?dryRun=All`, {
      metadata: { name, annotations: { 'kubernetes.io/ingress.class': 'a' } },
      spec: { defaultBackend: backend },
    }),
    remove(`${all}/${name}`),
    { ...ingress, until: ({ body }) => body.spec.ingressClassName === undefined },
  ];
});

play(pair, 'network policies', () => {
  const ns = uniqueName('np');
  const all = networking(ns, 'networkpolicies');
  const dry = (spec: object) =>
    post(`${all}?dryRun=All`, { metadata: { name: 'a' }, spec: { podSelector: {}, ...spec } });
  const port = (...ports: object[]) => dry({ ingress: [{ ports }] });
  const peer = (...to: object[]) => dry({ egress: [{ to }] });
  const block = (cidr: string, ...except: string[]) => ({ ipBlock: { cidr, except } });
  return [
    post(namespaces, namespace(ns)),
    dry({}),
    dry({ egress: [{}] }),
    dry({ egress: [{}], policyTypes: ['Egress'] }),
    dry({ policyTypes: ['Ingress', 'Odd'] }),
    dry({ policyTypes: ['Ingress', 'Egress', 'Ingress'] }),
    dry({
      podSelector: { matchLabels: { 'a b': 'c' }, matchExpressions: [{ key: 'a', operator: 'Exists', values: ['b'] }] },
    }),
    port({}),
    port({ port: 0 }, { port: 'Bad' }, { port: 'http', protocol: 'ICMP' }, { protocol: '' }),
    port({ port: 80, endPort: 79 }, { port: 80, endPort: 70_000 }, { port: 'x', endPort: 1 }, { endPort: 5 }),
    port({ port: 80, endPort: 90, protocol: 'SCTP' }),
    peer({}),
    peer({ podSelector: {}, namespaceSelector: {} }),
    peer({ ...block('10.0.0.0/8'), podSelector: {} }),
    peer({ podSelector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] } }),
    peer(block(''), block('10.0.0.0/8', '10.1.0.0/16'), block('10.0.0.0/8', '11.0.0.0/16', '10.0.0.0/8', 'x')),
    peer(
      block('10.0.0.1/8'),
      block('010.0.0.0/8'),
      block('10.0.0.0/08'),
      block('::ffff:1.2.3.0/120'),
      block('1.2.3.4'),
    ),
    peer(block('2001:DB8::/32'), block('2001:db8:0:0::/64', '2001:db8::/96'), block('fe80::1/10')),
    post(all, { metadata: { name: 'a' }, spec: { podSelector: {}, egress: [{ to: [block('2001:DB8::/32')] }] } }),
    merge(`${all}/a`, { spec: { egress: [] } }),
    merge(`${all}/a`, { spec: { ingress: [{ ports: [{ port: 1 }] }] } }),
    merge(`${all}/a`, { spec: { policyTypes: null } }),
    merge(`${all}/a`, { metadata: { labels: { a: 'b' } } }),
    apply(`${all}/b?fieldManager=m`, {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'b' },
      spec: { ingress: [{ ports: [{ port: 'http' }] }] },
    }),
  ];
});

play(pair, 'slices of endpoints', () => {
  const ns = uniqueName('es');
  const all = `/apis/discovery.k8s.io/v1/namespaces/${ns}/endpointslices`;
  const dry = (more: object) =>
    post(`${all}?dryRun=All`, { metadata: { name: 'a' }, addressType: 'IPv4', endpoints: [], ...more });
  const at = (addressType: string, ...addresses: string[]) => dry({ addressType, endpoints: [{ addresses }] });
  const ports = (...list: object[]) => dry({ ports: list });
  const one = (more: object) => dry({ endpoints: [{ addresses: ['1.2.3.4'], ...more }] });
  const many = (count: number, of: (index: number) => object) => Array.from({ length: count }, (_, i) => of(i));
  return [
    post(namespaces, namespace(ns)),
    dry({}),
    dry({ addressType: '' }),
    dry({ addressType: undefined }),
    dry({ addressType: 'Odd' }),
    dry({ endpoints: null }),
    dry({ endpoints: [{ addresses: [] }, {}] }),
    at('IPv4', '1.2.3.4', '1.2.3', '01.2.3.4', '::1', '127.0.0.1', '169.254.1.1', '224.0.0.1', '0.0.0.0', ''),
    at('IPv6', '2001:db8::1', '2001:DB8::1', '1.2.3.4', '::', '::1', 'fe80::1', 'ff02::1', '2001:db8:0:0:0::1'),
    at('FQDN', 'example.com', 'example.com.', 'one', '', 'A.b', `${'a'.repeat(64)}.com`),
    ports({}, {}, { name: 'Odd' }, { name: 'a', protocol: 'ICMP' }, { name: 'a', appProtocol: 'a b' }),
    ports(
      { name: 'http', port: 80, appProtocol: 'example.com/http' },
      { name: '', port: -1 },
      { name: 'x', port: null },
    ),
    one({ nodeName: 'Bad Node', hostname: 'Bad.Host' }),
    one({ nodeName: 'n', hostname: 'h', zone: 'z', conditions: { ready: true } }),
    one({ deprecatedTopology: { a: 'b' } }),
    one({
      hints: { forZones: [{ name: 'a' }, { name: 'a' }, { name: 'a b' }], forNodes: [{ name: 'n' }, { name: 'N' }] },
    }),
    one({ hints: { forZones: many(9, (i) => ({ name: `z${i}` })) } }),
    one({ hints: { forNodes: many(9, (i) => ({ name: `n${i}` })) } }),
    dry({ endpoints: [{ addresses: many(101, (i) => `1.2.3.${i}` as unknown as object) }] }),
    dry({ endpoints: many(1001, () => ({ addresses: ['1.2.3.4'] })) }),
    post(all, {
      metadata: { name: 'a' },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['1.2.3.4'] }],
      ports: [{ port: 1 }],
    }),
    put(`${all}/a`, { metadata: { name: 'a' }, addressType: 'IPv6', endpoints: [] }),
    merge(`${all}/a`, { endpoints: [{ addresses: ['1.2.3.5'], conditions: { ready: false } }] }),
    merge(`${all}/a`, { metadata: { labels: { a: 'b' } } }),
    merge(`${all}/a`, { metadata: { annotations: { a: 'b' } } }),
    post(all, { metadata: { name: 'f' }, addressType: 'FQDN', endpoints: [{ addresses: ['a.b'] }] }),
  ];
});

play(pair, 'endpoints', () => {
  const ns = uniqueName('ep');
  const all = `/api/v1/namespaces/${ns}/endpoints`;
  const dry = (...subsets: object[]) => post(`${all}?dryRun=All`, { metadata: { name: 'a' }, subsets });
  const addresses = [{ ip: '1.2.3.4' }];
  const at = (...ips: string[]) => dry({ addresses: ips.map((ip) => ({ ip })) });
  return [
    post(namespaces, namespace(ns)),
    dry(),
    dry({}),
    dry({ notReadyAddresses: addresses }),
    at('', '1.2.3', '127.0.0.1', '01.2.3.4', '::ffff:1.2.3.4', 'FD00::1'),
    dry({ addresses: [{ ip: '1.2.3.4', hostname: 'A', nodeName: 'N N' }], ports: [{ port: 0 }] }),
    dry({ addresses, ports: [{ port: 80 }, { port: 81 }] }),
    dry({ addresses, ports: [{ port: 80, name: 'A_', protocol: 'X', appProtocol: 'a b' }] }),
    dry({
      addresses,
      ports: [
        { port: 80, name: 'a' },
        { port: 81, name: 'b', protocol: 'UDP' },
      ],
    }),
    post(all, { metadata: { name: 'a' }, subsets: [{ addresses, ports: [{ port: 80 }] }] }),
    merge(`${all}/a`, { subsets: [{ addresses: [{ ip: '1' }] }] }),
    put(`${all}/a`, { metadata: { name: 'a' } }),
    get(`${all}/a`),
    get(all),
  ];
});
