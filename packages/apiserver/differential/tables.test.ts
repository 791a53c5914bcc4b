import { configMap, configMaps, eventsOf, get, merge, namespace, namespaces, post, remove } from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, serverPair, uniqueName } from './pair.js';
import { make, tableSamples } from './table-samples.js';

const pair = serverPair();

const table = (kind = 'Table', v = 'v1') => ({ accept: `application/json;as=${kind};v=${v};g=meta.k8s.io` });

play(pair, 'Tables of built-in kinds', () => {
  const ns = uniqueName('t');
  const samples = tableSamples(ns);
  return [
    post(namespaces, namespace(ns)),
    ...samples.flatMap(make),
    ...samples.map(({ at, object }) => get(`${at}/${object.metadata.name}?includeObject=None`, table())),
    // The same objects in another version, or under another group.
    get(`/apis/autoscaling/v1/namespaces/${ns}/horizontalpodautoscalers/cpu?includeObject=None`, table()),
    get(`/apis/events.k8s.io/v1/namespaces/${ns}/events/x?includeObject=None`, table()),
    get(`/apis/apps/v1/namespaces/${ns}/deployments/x/scale?includeObject=None`, table()),
    // What is in no namespace would be seen by other plays: classes that are the default, nodes.
    ...samples
      .filter(({ at }) => !at.includes('/namespaces/'))
      .map(({ at, object }) => remove(`${at}/${object.metadata.name}`, undefined, { silent: true })),
  ];
});

play(pair, 'Tables in all forms', () => {
  const ns = uniqueName('t');
  const all = configMaps(ns);
  const one = `${all}/a`;
  return [
    post(namespaces, namespace(ns)),
    get(`${all}?fieldSelector=metadata.name=none`, table()),
    post(all, configMap('a', { x: '1' }), table()),
    post(all, configMap('b')),
    get(`${all}?limit=1&fieldSelector=metadata.name!=kube-root-ca.crt`, table()),
    get(`${all}?labelSelector=none`, table()),
    get(one, table('Table', 'v1beta1')),
    get(one, table('Table', 'v2')),
    get(one, table('Tables')),
    get(`${one}?includeObject=Object`, table()),
    get(`${one}?includeObject=None`, table()),
    get(`${one}?includeObject=Metadata`, table()),
    get(`${one}?includeObject=`, table()),
    get(`${one}?includeObject=nope`, table()),
    get(`${all}/none`, table()),
    get(one, { accept: 'application/json;as=Table;v=v2;g=meta.k8s.io, application/json' }),
    get(one, { accept: `${table().accept},application/json` }),
    merge(one, { data: { y: '2' } }, table()),
    merge(one, { data: 5 }, table()),
    get('/api/v1', table()),
    get('/apis', table()),
    remove(one, undefined, table()),
    remove(`${all}/b`, { propagationPolicy: 'Nope' }, table()),
    remove(all, undefined, table()),
  ];
});

play(pair, 'watches of Tables and of metadata alone', () => {
  const ns = uniqueName('t');
  const all = configMaps(ns);
  const until = { ends: 'the-last' };
  const watch = (query: string, form: object) => {
    const own = 'resourceVersion=0&fieldSelector=metadata.name!=kube-root-ca.crt';
    return get(`${all}?watch=1&timeoutSeconds=60&${own}${query}`, { ...form, ...until });
  };
  const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
  return [
    post(namespaces, namespace(ns), { as: 'namespace' }),
    post(all, configMap('a'), { as: 'a' }),
    eventsOf(all, 'a'),
    {
      watches: [
        watch('', table()),
        watch('&includeObject=Object', table()),
        watch(`&includeObject=None&${initial}`, table()),
        watch('&includeObject=nope', table()),
        watch(`&${initial}`, table('PartialObjectMetadata')),
        watch(`&${initial}`, table('PartialObjectMetadata', 'v1beta1')),
        watch('', table('PartialObjectMetadataList')),
        (past) =>
          get(`${all}?watch=1&timeoutSeconds=60&resourceVersion=${past.revision('namespace')}`, {
            ...table(),
            ...until,
          }),
      ],
      during: [
        post(all, configMap('b')),
        merge(`${all}/a`, { data: { x: '1' } }),
        remove(`${all}/b`),
        post(all, configMap('the-last')),
      ],
    },
  ];
});

play(pair, 'Tables of custom kinds', () => {
  const group = `${uniqueName('t')}.example.com`;
  const ns = uniqueName('t');
  const column = (name: string, type: string, jsonPath: string, more: object = {}) => ({
    name,
    type,
    jsonPath,
    ...more,
  });
  const additionalPrinterColumns = [
    column('Text', 'string', '.spec.text'),
    column('Described', 'string', '.spec.text', { description: 'in custom words', priority: 1, format: 'password' }),
    column('Number', 'integer', '.spec.number'),
    column('Float', 'number', '.spec.float'),
    column('Truth', 'boolean', '.spec.truth'),
    column('When', 'date', '.spec.when'),
    column('First', 'string', '.spec.list[0].name'),
    column('Last', 'string', '.spec.list[-1].name'),
    column('Beyond', 'string', '.spec.list[9].name'),
    column('Names', 'string', '.spec.list[*].name'),
    column('Chosen', 'string', '.spec.list[?(@.name=="b")].value'),
    column('Greater', 'integer', '.spec.list[?(@.value>1)].value'),
    column('There', 'string', '.spec.list[?(@.extra)].extra'),
    column('Quoted', 'string', `.metadata.labels['a\\.b/c']`),
    column('Escaped', 'string', '.metadata.labels.a\\.b/c'),
    column('Object', 'string', '.spec.list[0]'),
    column('List', 'string', '.spec.list'),
    column('FloatText', 'string', '.spec.float'),
    column('TruthText', 'string', '.spec.truth'),
    column('NotInteger', 'integer', '.spec.text'),
    column('NotDate', 'date', '.spec.text'),
    column('Absent', 'string', '.spec.nope.deeper'),
    column('Age', 'date', '.metadata.creationTimestamp'),
  ];
  const open = { properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } } };
  const plain = definition(group, {
    plural: 'plains',
    kind: 'Plain',
    versions: [version('v1', open), version('v1beta1', open, { storage: false, deprecated: true })],
  });
  const scale = { subresources: { scale: { specReplicasPath: '.spec.number', statusReplicasPath: '.status.n' } } };
  const rich = definition(group, { versions: [version('v1', open, { additionalPrinterColumns, ...scale })] });
  const at = (plural: string) => `/apis/${group}/v1/namespaces/${ns}/${plural}`;
  const list = [
    { name: 'a', value: 1 },
    { name: 'b', value: 2, extra: '<&>' },
  ];
  const spec = { text: 'some', number: 4, float: 0.00001, truth: true, when: '2020-01-02T03:04:05Z', list };
  const object = (kind: string, name: string, more: object) => ({
    ...{ apiVersion: `${group}/v1`, kind, metadata: { name, labels: { 'a.b/c': 'label' } } },
    ...more,
  });
  return [
    post(namespaces, namespace(ns)),
    ...served(plain),
    ...served(rich),
    post(at('plains'), object('Plain', 'a', {})),
    post(at('widgets'), object('Widget', 'a', { spec })),
    post(at('widgets'), object('Widget', 'empty', {}), { as: 'empty' }),
    post(at('widgets'), object('Widget', 'null', { spec: { text: null, number: 1.5, float: 3, list: [] } })),
    eventsOf(at('widgets'), 'empty'),
    get(`${at('plains')}?includeObject=None`, table()),
    get(`${at('plains')}/a?includeObject=Object`, table()),
    get(`${at('widgets')}?includeObject=None`, table()),
    get(`${at('widgets')}/a`, table()),
    get(`${at('widgets')}/a/scale?includeObject=None`, table()),
    get(`${at('widgets')}/a/scale?includeObject=Object`, table('PartialObjectMetadata')),
    get(at('plains'), table('PartialObjectMetadataList')),
    get(`/apis/${group}/v1beta1/namespaces/${ns}/plains`),
    get(`${at('widgets')}?watch=1&timeoutSeconds=60&resourceVersion=0&includeObject=None`, {
      ...table(),
      ends: '"empty"',
    }),
  ];
});

play(pair, 'what cannot be shown as a Table, or only as its metadata', () => {
  const ns = uniqueName('t');
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const review = (group: string, plural: string, kind: string, spec: object) =>
    [`/apis/${group}/v1/${plural}`, { apiVersion: `${group}/v1`, kind, spec }] as const;
  const reviews = [
    review('authorization.k8s.io', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview', {
      resourceAttributes: { verb: 'get', resource: 'pods' },
    }),
    review('authentication.k8s.io', 'tokenreviews', 'TokenReview', { token: 'x' }),
  ];
  const forms = [table(), table('PartialObjectMetadata'), table('PartialObjectMetadataList')];
  const account = `/api/v1/namespaces/${ns}/serviceaccounts/x`;
  return [
    post(namespaces, namespace(ns)),
    post(account.slice(0, -2), { metadata: { name: 'x' } }),
    post(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, { silent: true }),
    ...forms.flatMap((form) => [
      ...reviews.map(([path, body]) => post(path, body, { ...form, silent: form !== forms[0] })),
      post(`${account}/token`, { spec: {} }, { ...form, silent: true }),
      get(`${pods}/p/ephemeralcontainers?includeObject=None`, form),
      get(`${pods}/p/status?includeObject=None`, form),
      get('/api/v1/componentstatuses?includeObject=None', { ...form, silent: true }),
      get('/apis/apiregistration.k8s.io/v1/apiservices/v1.apps?includeObject=None', { ...form, silent: true }),
    ]),
    post(`${pods}/p/binding`, { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }, table()),
    post(`${pods}/p/eviction`, { metadata: { name: 'p' } }, table()),
  ];
});
