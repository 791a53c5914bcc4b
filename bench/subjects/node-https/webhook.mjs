// webhook.mjs <folder>: the same reviews answered by Node's own server and JSON.parse, without checks, metrics, types or
// comparison: what Node and TLS alone cost. Prints the port that it listens on.
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { join } from 'node:path';

const [folder] = process.argv.slice(2);
const read = (name) => readFileSync(join(folder, name));
const patch = (operations) => ({ patchType: 'JSONPatch', patch: btoa(JSON.stringify(operations)) });

const handlers = {
  '/mutate-widgets': ({ object }) => (object.spec.zone ? {} : patch([{ op: 'add', path: '/spec/zone', value: 'a' }])),
  '/mutate-pods': ({ object }) =>
    object.spec.priorityClassName ? {} : patch([{ op: 'add', path: '/spec/priorityClassName', value: 'standard' }]),
  '/validate-widgets': ({ object, oldObject }) => {
    if (oldObject && oldObject.spec.zone !== object.spec.zone) return denied('spec.zone', 'is immutable');
    return object.spec.replicas > 100 ? denied('spec.replicas', 'must be at most 100') : {};
  },
  '/validate-pods': ({ object }) =>
    object.spec.containers.every(({ image }) => image.startsWith('registry.example.com/'))
      ? {}
      : denied('spec.containers[0].image', 'must come from registry.example.com'),
};

function denied(field, message) {
  const causes = [{ reason: 'FieldValueInvalid', field, message }];
  return { allowed: false, status: { code: 422, reason: 'Invalid', message, details: { causes } } };
}

const server = createSecureServer(
  { cert: read('tls.crt'), key: read('tls.key'), allowHTTP1: true },
  (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
      const handler = handlers[request.url.slice(0, request.url.indexOf('?'))];
      const answer = { uid: review.request.uid, allowed: true, ...handler(review.request) };
      const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer });
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    });
  },
);
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.once('SIGTERM', () => process.exit(0));
