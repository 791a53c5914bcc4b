import { apply, get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const inCore = (ns: string) => `/api/v1/namespaces/${ns}/events`;
const inEvents = (ns: string) => `/apis/events.k8s.io/v1/namespaces/${ns}/events`;
const time = '2020-01-02T03:04:05Z';
const microTime = '2020-01-02T03:04:05.678901Z';
const pod = (ns: string) => ({ kind: 'Pod', namespace: ns, name: 'p', apiVersion: 'v1', fieldPath: 'spec.x' });

const coreEvent = (ns: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'a', namespace: ns },
  involvedObject: pod(ns),
  reason: 'Started',
  message: 'It began',
  source: { component: 'kubelet', host: 'n1' },
  firstTimestamp: time,
  lastTimestamp: time,
  count: 3,
  type: 'Normal',
  ...more,
});
const newEvent = (ns: string, more: object = {}) => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: 'b', namespace: ns },
  regarding: pod(ns),
  related: { kind: 'Node', name: 'n' },
  reason: 'Started',
  note: 'It began',
  eventTime: microTime,
  reportingController: 'example.com/controller',
  reportingInstance: 'controller-1',
  action: 'Start',
  type: 'Warning',
  ...more,
});

play(pair, 'events are the same in both groups', () => {
  const ns = uniqueName('e');
  const [core, events] = [inCore(ns), inEvents(ns)];
  const selected = (path: string, selector: string) => get(`${path}?fieldSelector=${encodeURIComponent(selector)}`);
  // Events are watched where they are stored: what there is, is read after the watch was answered.
  const watch = (path: string) =>
    get(`${path}?watch=true&timeoutSeconds=60&resourceVersion=0`, { begins: '"name":"b"', ends: 'the-last' });
  return [
    post(namespaces, namespace(ns)),
    post(core, coreEvent(ns), { as: 'a' }),
    get(`${events}/a`),
    post(events, newEvent(ns)),
    get(`${core}/b`),
    get(core),
    get(events),
    get('/apis/events.k8s.io/v1/events?limit=500&fieldSelector=metadata.namespace%3Dno-such'),
    {
      watches: [watch(core), watch(events)],
      during: [
        post(core, coreEvent(ns, { metadata: { name: 'c' } })),
        merge(`${events}/b`, { series: { count: 2, lastObservedTime: microTime } }),
        merge(`${core}/b`, { message: 'changed' }),
        merge(`${events}/a`, { metadata: { labels: { x: 'y' } } }),
        remove(`${events}/c`),
        post(core, coreEvent(ns, { metadata: { name: 'the-last' } })),
      ],
    },
    get(`${core}/b`),
    get(`${events}/b`),
    put(`${core}/a`, coreEvent(ns, { message: 'another', count: 4 })),
    get(`${events}/a`),
    put(`${events}/d`, newEvent(ns, { metadata: { name: 'd' } })),
    put(`${core}/e`, coreEvent(ns, { metadata: { name: 'e' } })),
    apply(`${core}/a?fieldManager=m&force=true`, coreEvent(ns, { message: 'applied' })),
    apply(`${events}/f?fieldManager=m`, newEvent(ns, { metadata: { name: 'f' } })),
    get(`${core}/f`),
    selected(core, 'involvedObject.name=p,type=Warning'),
    selected(core, 'reportingComponent=example.com/controller'),
    selected(core, 'source=kubelet'),
    selected(core, 'source=example.com/controller'),
    selected(core, 'regarding.name=p'),
    selected(core, 'source.component=kubelet'),
    selected(events, 'regarding.kind=Pod,reason=Started,reportingController='),
    selected(events, 'regarding.name=q'),
    selected(events, 'involvedObject.name=p'),
    selected(events, 'reportingComponent=x'),
    get(`${events}?limit=1`),
    get(`${events}/none`),
    remove(`${events}/none`),
    merge(`${events}/none`, {}),
    post(events, newEvent(ns)),
    put(`${events}/b`, newEvent(ns, { metadata: { name: 'b', resourceVersion: '1' } })),
    put(`${events}/b`, newEvent(ns, { metadata: { name: 'b', uid: 'x' } })),
    remove(`${events}/b`, { preconditions: { uid: 'x' } }),
    remove(`${events}/b`),
    remove(events),
    get(core),
  ];
});

play(pair, 'what the two groups ask of events', () => {
  const ns = uniqueName('ev');
  const [core, events] = [inCore(ns), inEvents(ns)];
  const old = (more: object) => post(`${core}?dryRun=All`, coreEvent(ns, more));
  const fresh = (more: object) => post(`${events}?dryRun=All`, newEvent(ns, more));
  const late = { eventTime: microTime };
  return [
    post(namespaces, namespace(ns)),
    old({}),
    old({ involvedObject: {} }),
    old({ involvedObject: { namespace: 'other' } }),
    old({ metadata: { name: 'Odd Name' } }),
    old({ metadata: { name: 'a/b' } }),
    old({ type: 'Odd', count: -1, reason: '' }),
    old({ ...late, reportingComponent: '', reportingInstance: '' }),
    old({ ...late, reportingComponent: 'a b', reportingInstance: 'x'.repeat(129), action: 'x'.repeat(129) }),
    old({ ...late, reportingComponent: 'a', reportingInstance: 'b', action: 'c', reason: 'x'.repeat(129) }),
    old({ ...late, reportingComponent: 'a', reportingInstance: 'b', action: 'c', message: 'x'.repeat(1025) }),
    old({ ...late, reportingComponent: 'a', reportingInstance: 'b', action: 'c', involvedObject: {} }),
    old({ metadata: { name: 'a', namespace: ns, labels: { 'a b': 'c' } } }),
    fresh({}),
    fresh({ metadata: { name: 'Odd Name' } }),
    fresh({ regarding: {} }),
    fresh({ regarding: { namespace: 'other' } }),
    fresh({ eventTime: null }),
    fresh({ type: 'Odd' }),
    fresh({ reportingController: '', reportingInstance: '', action: '', reason: '' }),
    fresh({ note: 'x'.repeat(1025), reportingController: 'a b' }),
    fresh({ deprecatedSource: { component: 'x' }, deprecatedCount: 2 }),
    fresh({ deprecatedFirstTimestamp: time, deprecatedLastTimestamp: time }),
    fresh({ series: { count: 1, lastObservedTime: null } }),
    fresh({ series: { count: 2, lastObservedTime: microTime } }),
    post(events, newEvent(ns)),
    put(
      `${events}/b`,
      newEvent(ns, {
        regarding: { ...pod(ns), name: 'q' },
        related: null,
        reason: 'Other',
        note: 'other',
        eventTime: '2021-01-02T03:04:05.678901Z',
        reportingController: 'other',
        reportingInstance: 'other',
        action: 'Other',
        type: 'Normal',
        deprecatedCount: 5,
        deprecatedSource: { component: 'c', host: 'h' },
        deprecatedFirstTimestamp: time,
        deprecatedLastTimestamp: time,
        series: { count: 1 },
      }),
    ),
    merge(`${events}/b`, { series: { count: 3, lastObservedTime: microTime }, metadata: { labels: { a: 'b' } } }),
    merge(`${events}/b`, { note: 'x', metadata: { name: 'c' } }),
    merge(`${core}/b`, { reason: 'Free', type: 'Odd' }),
    merge(`${core}/b`, { involvedObject: { namespace: null } }),
  ];
});
