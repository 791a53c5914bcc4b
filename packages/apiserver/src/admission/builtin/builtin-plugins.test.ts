import type { JsonObject } from 'riata/object';
import { seededRandom, VirtualClock } from 'riata/runtime';
import { afterEach, expect, test } from 'vitest';
import { ApiServer } from '../../api-server.js';
import type { AdmissionOptions } from '../admission.js';

let server: ApiServer | undefined;

afterEach(async () => {
  await server?.stop();
});

/** Sends requests to a server with these plugins, one after the other; gives the last answer. */
async function last(admission: AdmissionOptions, ...requests: readonly [string, string, unknown?][]) {
  const clock = new VirtualClock();
  server = await ApiServer.start({ clock, random: seededRandom('plugins'), admission });
  const { url } = await server.listen({ tls: false });
  let answer: JsonObject = {};
  for (const [method, path, body] of requests) {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${server.token}`, 'content-type': type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    answer = (await response.json()) as JsonObject;
  }
  return answer;
}

const ns = '/api/v1/namespaces/default';
const pod = (spec: JsonObject = {}) => ({
  metadata: { name: 'a' },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const newPod = (spec: JsonObject = {}) => ['POST', `${ns}/pods`, pod(spec)] as [string, string, unknown];
const annotated = (key: string) => ({ name: 'default-class', annotations: { [key]: 'true' } });
const claim = {
  metadata: { name: 'a' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};
const privileged = { containers: [{ name: 'c', image: 'i', securityContext: { privileged: true } }] };

const sized = (cpu: string) => ({ name: 'c', image: 'i', resources: { requests: { cpu } } });

const onByDefault: readonly [string, unknown, ...[string, string, unknown?][]][] = [
  ['NamespaceLifecycle', { code: 404 }, ['POST', '/api/v1/namespaces/none/configmaps', { metadata: { name: 'a' } }]],
  [
    'LimitRanger',
    { code: 403 },
    [
      'POST',
      `${ns}/limitranges`,
      { metadata: { name: 'a' }, spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } },
    ],
    newPod({ containers: [{ name: 'c', image: 'i', resources: { limits: { cpu: '2' } } }] }),
  ],
  ['ServiceAccount', { spec: { serviceAccountName: 'default' } }, newPod()],
  [
    'TaintNodesByCondition',
    { spec: { taints: [{ key: 'node.kubernetes.io/not-ready' }] } },
    ['POST', '/api/v1/nodes', { metadata: { name: 'a' } }],
  ],
  [
    'PodSecurity',
    { code: 403 },
    ['PATCH', ns, { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'baseline' } } }],
    newPod(privileged),
  ],
  ['Priority', { spec: { priority: 0 } }, newPod()],
  [
    'DefaultTolerationSeconds',
    { spec: { tolerations: [{ tolerationSeconds: 300 }, { tolerationSeconds: 300 }] } },
    newPod(),
  ],
  [
    'DefaultStorageClass',
    { spec: { storageClassName: 'default-class' } },
    [
      'POST',
      '/apis/storage.k8s.io/v1/storageclasses',
      { metadata: annotated('storageclass.kubernetes.io/is-default-class'), provisioner: 'p' },
    ],
    ['POST', `${ns}/persistentvolumeclaims`, claim],
  ],
  [
    'StorageObjectInUseProtection',
    { metadata: { finalizers: ['kubernetes.io/pvc-protection'] } },
    ['POST', `${ns}/persistentvolumeclaims`, claim],
  ],
  [
    'PersistentVolumeClaimResize',
    { code: 403 },
    ['POST', `${ns}/persistentvolumeclaims`, claim],
    ['PATCH', `${ns}/persistentvolumeclaims/a/status`, { status: { phase: 'Bound' } }],
    ['PATCH', `${ns}/persistentvolumeclaims/a`, { spec: { resources: { requests: { storage: '2Gi' } } } }],
  ],
  ['RuntimeClass', { code: 403 }, newPod({ runtimeClassName: 'none' })],
  [
    'PodTopologyLabels',
    { metadata: { labels: { 'topology.kubernetes.io/zone': 'a' } } },
    ['POST', '/api/v1/nodes', { metadata: { name: 'n', labels: { 'topology.kubernetes.io/zone': 'a' } } }],
    newPod({ nodeName: 'n' }),
  ],
  [
    'PodResizeValidator',
    { code: 403, message: 'pods "a" is forbidden: node "n" not found' },
    newPod({ nodeName: 'n', containers: [sized('1')] }),
    ['PATCH', `${ns}/pods/a/resize`, { spec: { containers: [sized('2')] } }],
  ],
  [
    'DefaultIngressClass',
    { spec: { ingressClassName: 'default-class' } },
    [
      'POST',
      '/apis/networking.k8s.io/v1/ingressclasses',
      { metadata: annotated('ingressclass.kubernetes.io/is-default-class'), spec: { controller: 'example.com/c' } },
    ],
    [
      'POST',
      '/apis/networking.k8s.io/v1/namespaces/default/ingresses',
      { metadata: { name: 'a' }, spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } } },
    ],
  ],
];

test.each(onByDefault)('%s runs unless it is disabled', async (name, answer, ...requests) => {
  expect(await last({}, ...requests)).toMatchObject(answer as JsonObject);
  await server?.stop();
  expect(await last({ disable: [name] }, ...requests)).not.toMatchObject(answer as JsonObject);
});

const extended = { requests: { 'example.com/gpu': '1' }, limits: { 'example.com/gpu': '1' } };
const spread = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'topology.kubernetes.io/zone', labelSelector: { matchLabels: { a: 'b' } } },
      ],
    },
  },
};
const annotate = (key: string, value: string): [string, string, unknown] => [
  ...(['PATCH', ns, { metadata: { annotations: { [`scheduler.alpha.kubernetes.io/${key}`]: value } } }] as const),
];

const offByDefault: readonly [string, unknown, ...[string, string, unknown?][]][] = [
  [
    'AlwaysDeny',
    { code: 403, message: 'pods "a" is forbidden: admission control is denying all modifications' },
    newPod(),
  ],
  [
    'AlwaysPullImages',
    { spec: { containers: [{ imagePullPolicy: 'Always' }] } },
    newPod({ containers: [{ name: 'c', image: 'i:1', imagePullPolicy: 'Never' }] }),
  ],
  [
    'LimitPodHardAntiAffinityTopology',
    {
      code: 403,
      message:
        'pods "a" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ' +
        'topology.kubernetes.io/zone but only key kubernetes.io/hostname is allowed',
    },
    newPod(spread),
  ],
  [
    'ExtendedResourceToleration',
    { spec: { tolerations: [{}, {}, { key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' }] } },
    newPod({ containers: [{ name: 'c', image: 'i', resources: extended }] }),
  ],
  ['PodNodeSelector', { spec: { nodeSelector: { zone: 'a' } } }, annotate('node-selector', 'zone=a'), newPod()],
  [
    'PodTolerationRestriction',
    { code: 500 },
    annotate('tolerationsWhitelist', '[{"key":"x","operator":"Exists"}]'),
    newPod(),
  ],
  [
    'DenyServiceExternalIPs',
    { code: 403, message: 'services "a" is forbidden: Use of external IPs is denied by admission control' },
    ['POST', `${ns}/services`, { metadata: { name: 'a' }, spec: { ports: [{ port: 1 }], externalIPs: ['192.0.2.1'] } }],
  ],
];

test.each(offByDefault)('%s runs when it is enabled', async (name, answer, ...requests) => {
  expect(await last({ enable: [name] }, ...requests)).toMatchObject(answer as JsonObject);
  await server?.stop();
  expect(await last({}, ...requests)).not.toMatchObject(answer as JsonObject);
});

test.each(['EventRateLimit', 'ImagePolicyWebhook', 'NamespaceAutoProvision'])('%s cannot be enabled', async (name) => {
  const refused = `enable-admission-plugins plugin "${name}" is not part of this server; leave it out`;
  await expect(ApiServer.start({ admission: { enable: [name] } })).rejects.toThrow(refused);
});
