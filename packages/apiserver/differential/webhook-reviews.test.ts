import { apply, configMap, configMaps, get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';
import { WebhookPlays } from './webhook-plays.js';
import { echo } from './webhook-server.js';

const pair = serverPair();
const hooks = new WebhookPlays(pair, { '/echo': echo });

const deployment = (name: string, more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: {
    replicas: 2,
    selector: { matchLabels: { a: name } },
    template: { metadata: { labels: { a: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    ...more,
  },
});

const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }] },
});

for (const kind of ['Mutating', 'Validating'] as const) {
  const begin = (ns: string) => [
    hooks.place(ns),
    post(configMaps(ns), configMap('c', { a: '1' }, { labels: { l: '1' } })),
    post(configMaps(ns), configMap('d', {})),
  ];

  play(pair, `what ${kind} webhooks are sent of objects`, () => {
    const ns = uniqueName('w');
    const maps = configMaps(ns);
    return [
      ...begin(ns),
      ...hooks.configure(kind, ns, ns, [{ at: '/echo' }]),
      post(maps, configMap('new', { b: '1' }, { uid: 'mine', annotations: { x: 'y' } })),
      post(`${maps}?dryRun=All&fieldManager=me&fieldValidation=Strict`, configMap('new')),
      post(maps, { metadata: { generateName: 'gen-' } }),
      put(`${maps}/c`, configMap('c', { a: '2' })),
      put(`${maps}/c?fieldManager=other`, configMap('c', { a: '1' }, { labels: { l: '1' }, resourceVersion: '1' })),
      merge(`${maps}/c`, { data: { z: '3' } }),
      apply(`${maps}/c?fieldManager=a`, { ...configMap('c', { y: '1' }) }),
      apply(`${maps}/fresh?fieldManager=a&force=true`, { ...configMap('fresh', { y: '1' }) }),
      put(`${maps}/missing`, configMap('missing')),
      remove(`${maps}/c`),
      remove(`${maps}/c?gracePeriodSeconds=5&dryRun=All`),
      remove(`${maps}/c`, {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        propagationPolicy: 'Foreground',
        preconditions: { uid: 'x' },
      }),
      remove(`${maps}/c`, { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Foreground' }),
      remove(`${maps}?labelSelector=l`),
      remove(`${maps}/missing`),
      post(maps, configMap('Not Valid')),
      post(maps, configMap('c')),
      ...hooks.forget(kind, ns, ns),
      get(`${maps}/c`),
    ];
  });

  play(pair, `what ${kind} webhooks are sent of subresources`, () => {
    const ns = uniqueName('w');
    const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
    const pods = `/api/v1/namespaces/${ns}/pods`;
    const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`;
    const scale = (replicas: number) => ({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'd', namespace: ns },
      spec: { replicas },
    });
    return [
      hooks.place(ns),
      post(deployments, deployment('d'), { silent: true }),
      post(pods, pod('p'), { silent: true }),
      post(accounts, { metadata: { name: 'robot' } }),
      ...hooks.configure(kind, ns, ns, [{ at: '/echo' }]),
      post(deployments, deployment('e')),
      merge(`${deployments}/d/status`, { status: { replicas: 1 } }),
      merge(`${deployments}/d/status`, { spec: { replicas: 9 }, metadata: { labels: { a: 'b' } } }),
      put(`${deployments}/d/scale`, scale(3)),
      merge(`${deployments}/d/scale`, { spec: { replicas: 4 } }),
      put(`${deployments}/d/scale`, scale(-3)),
      post(`${pods}/p/binding`, {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'p' },
        target: { kind: 'Node', name: 'n' },
      }),
      post(`${pods}/p/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: {} }),
      post(`/api/v1/namespaces/${ns}/bindings`, {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'p' },
        target: { kind: 'Node', name: 'n' },
      }),
      post(`${pods}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'p' } }),
      post(`${pods}/p/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'q' } }),
      post(`${accounts}/robot/token`, {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { audiences: ['a'] },
      }),
      post(`/apis/authorization.k8s.io/v1/namespaces/${ns}/localsubjectaccessreviews`, {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'LocalSubjectAccessReview',
        metadata: { namespace: ns },
        spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'pods', namespace: ns } },
      }),
      post(`${pods}/p/exec?command=a&command=b&stdin=true&stdout=1&tty=false&container=c`, undefined),
      get(`${pods}/p/exec?command=a&stderr=true`),
      post(`${pods}/missing/attach?container=c&stdout=true`, undefined),
      get(`${pods}/p/portforward?ports=80&ports=8080`),
      get(`${pods}/p/exec?command=a&dryRun=All`),
      get(`${pods}/p/proxy`),
      put(`${pods}/p/proxy`, {}),
      ...hooks.forget(kind, ns, ns),
    ];
  });

  play(pair, `what ${kind} webhooks are sent of namespaces`, () => {
    const ns = uniqueName('w');
    const other = uniqueName('v');
    const labelled = (name: string, labels: object) => ({ ...namespace(name), metadata: { name, labels } });
    return [
      hooks.place(ns),
      post(namespaces, labelled(other, {})),
      ...hooks.configure(kind, ns, ns, [{ at: '/echo' }]),
      post(namespaces, labelled(`${other}x`, { play: ns })),
      merge(`${namespaces}/${ns}`, { metadata: { annotations: { a: '1' } } }),
      merge(`${namespaces}/${other}`, { metadata: { labels: { play: ns } } }),
      merge(`${namespaces}/${other}`, { metadata: { labels: { play: 'x' } } }),
      remove(`${namespaces}/${ns}`),
      put(`${namespaces}/${ns}/finalize`, { ...namespace(ns), spec: { finalizers: ['a/b'] } }),
      ...hooks.forget(kind, ns, ns),
    ];
  });
}
