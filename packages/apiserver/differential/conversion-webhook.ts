import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority, systemClock } from 'riata/runtime';

/** What a webhook is sent: as much of it as it looks at. */
interface Review {
  readonly apiVersion: string;
  readonly request: { readonly uid: string; readonly desiredAPIVersion: string; readonly objects: readonly Sent[] };
}

// biome-ignore lint/suspicious/noExplicitAny: objects are changed in every way that a webhook must not
type Sent = any;

/**
 * A conversion webhook for both servers: v1 has `spec.host` and `spec.port`, v2 has `spec.hostPort`. Objects say in an
 * annotation what it does wrong, to those of one version alone: `v1:wrong-name`.
 */
export async function conversionWebhook() {
  const hourMs = 3_600_000;
  const now = systemClock.now();
  const authority = createAuthority('hooks', { notBefore: new Date(now - hourMs), notAfter: new Date(now + hourMs) });
  const server = createServer(authority.issue('hooks', ['127.0.0.1', '*.default.svc']), async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    const [status, answer] = answerTo(JSON.parse(body) as Review);
    const type = typeof answer === 'string' ? 'text/plain' : 'application/json';
    response.writeHead(status, { 'content-type': type });
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const caBundle = Buffer.from(authority.cert).toString('base64');
  return {
    port,
    caBundle,
    /** For `spec.conversion` of a definition. */
    conversion: (more: object = {}) => ({
      strategy: 'Webhook',
      webhook: {
        conversionReviewVersions: ['v1'],
        clientConfig: { url: `https://127.0.0.1:${port}/convert`, caBundle },
        ...more,
      },
    }),
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

const modeKey = 'riata.dev/mode';

function modeOf({ apiVersion, metadata }: Sent): string {
  const [, mode = ''] =
    new RegExp(`^${apiVersion.split('/')[1]}:(.*)$`).exec(metadata?.annotations?.[modeKey] ?? '') ?? [];
  return mode;
}

function answerTo({ apiVersion, request }: Review): [number, unknown] {
  const { uid, desiredAPIVersion, objects } = request;
  const mode = objects.map(modeOf).find((one) => one !== '') ?? '';
  const convertedObjects = objects.map((object) => corrupt(converted(object, desiredAPIVersion), modeOf(object)));
  const response = { uid, result: { status: 'Success' }, convertedObjects };
  const review = (more: object) => ({ apiVersion, kind: 'ConversionReview', response: { ...response, ...more } });
  const answers: Readonly<Record<string, [number, unknown]>> = {
    'no-success': [200, review({ result: { status: 'Failure' } })],
    message: [200, review({ result: { status: 'Failure', message: 'I do not feel like it' } })],
    'no-status': [200, review({ result: {} })],
    'wrong-review-uid': [200, review({ uid: 'other' })],
    'no-response': [200, { apiVersion, kind: 'ConversionReview' }],
    'other-kind': [200, { ...review({}), kind: 'Widget' }],
    'other-version': [200, { ...review({}), apiVersion: 'apiextensions.k8s.io/v1beta1' }],
    'no-kind': [200, { response }],
    'not-json': [200, 'well'],
    'too-many': [200, review({ convertedObjects: [...convertedObjects, ...convertedObjects] })],
    none: [200, review({ convertedObjects: [] })],
    500: [500, 'out of order'],
    404: [404, 'nothing here'],
    400: [400, 'bad'],
    503: [503, 'busy'],
  };
  return answers[mode] ?? [200, review({})];
}

function converted(object: Sent, apiVersion: string): Sent {
  const { spec = {} } = object;
  const { host, port, hostPort, ...rest } = spec;
  if (apiVersion.endsWith('/v2')) {
    const text = host === undefined ? {} : { hostPort: port === undefined ? host : `${host}:${port}` };
    return { ...object, apiVersion, ...(object.spec === undefined ? {} : { spec: { ...rest, ...text } }) };
  }
  const [first, second] = String(hostPort ?? '').split(':');
  const parts = hostPort === undefined ? {} : { host: first, ...(second === undefined ? {} : { port: second }) };
  return { ...object, apiVersion, ...(object.spec === undefined ? {} : { spec: { ...rest, ...parts } }) };
}

/** Breaks the rules for what a webhook answers. */
function corrupt(object: Sent, mode: string): Sent {
  const { metadata } = object;
  const meta = (more: object) => ({ ...object, metadata: { ...metadata, ...more } });
  const { labels, annotations } = metadata;
  switch (mode) {
    case 'wrong-name':
      return meta({ name: 'other' });
    case 'wrong-namespace':
      return meta({ namespace: 'other' });
    case 'wrong-uid':
      return meta({ uid: 'other' });
    case 'wrong-kind':
      return { ...object, kind: 'Gadget' };
    case 'wrong-version':
      return { ...object, apiVersion: object.apiVersion.replace(/v\d$/, 'v9') };
    case 'no-apiversion':
      return { ...object, apiVersion: undefined };
    case 'no-metadata':
      return { ...object, metadata: undefined };
    case 'metadata-text':
      return { ...object, metadata: 'none' };
    case 'text':
      return 'text';
    case 'labels-text':
      return meta({ labels: 'none' });
    case 'label-number':
      return meta({ labels: { a: 1 } });
    case 'bad-label':
      return meta({ labels: { 'not a label': 'not a value!' } });
    case 'bad-annotation':
      return meta({ annotations: { ...annotations, 'not a key': 'x' } });
    case 'add-label':
      return meta({ labels: { ...labels, converted: 'yes' }, annotations: { ...annotations, also: 'yes' } });
    case 'drop-labels':
      return meta({ labels: null });
    case 'other-metadata':
      return meta({ finalizers: ['example.com/x'], generation: 99, ownerReferences: [], resourceVersion: '1' });
    case 'unknown-field':
      return { ...object, spec: { ...object.spec, surprise: 'field' }, extra: 1 };
    case 'invalid-value':
      return { ...object, spec: { ...object.spec, replicas: 'many' } };
    default:
      return object;
  }
}
