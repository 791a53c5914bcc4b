import { isJsonObject } from '../object/json.js';
import { impersonationHeaders } from '../rest/chain/default-headers.js';
import type { Impersonation } from '../rest/config/rest-config.js';
import { patchTypes } from '../rest/rest-client.js';
import type { FieldOwned, InNamespace, Placement } from './interfaces.js';
import type { KubeClient } from './kube-client.js';
import { type Answers, isWrite, type Operation, type Verb } from './operation/operation.js';
import type { FieldValidation } from './options.js';

/**
 * Looks at every operation on its way (`interceptor.NewClient`): pass it on with `next`, changed or not, look at the
 * answer, or answer yourself.
 */
export type Interceptor = <V extends Verb>(
  operation: Operation<V>,
  next: (operation: Operation<V>) => Promise<Answers[V]>,
) => Promise<Answers[V]>;

/** A client whose every operation passes `interceptor` first. */
export function intercept<P extends Placement>(client: KubeClient<P>, interceptor: Interceptor): KubeClient<P> {
  return client.wrap((run) => (operation) => interceptor(operation, run));
}

/**
 * A client for one namespace (`client.NewNamespacedClient`): keys and objects may leave it out, lists and watches see
 * it alone, and any other namespace is refused. Cluster-scoped kinds work as ever.
 */
export function inNamespace<P extends Placement>(client: KubeClient<P>, namespace: string): KubeClient<InNamespace<P>> {
  if (namespace === '') throw new TypeError('inNamespace: the namespace is empty; name one');
  const wrapped: unknown = client.wrap((run) => (operation) => run(placed(operation, namespace)));
  return wrapped as KubeClient<InNamespace<P>>;
}

/** A client whose writes store nothing (`client.NewDryRunClient`). */
export function dryRun<P extends Placement>(client: KubeClient<P>): KubeClient<P> {
  return client.wrap((run) => (operation) => {
    refuseToTry(operation);
    return run(isWrite(operation.verb) ? tried(operation) : operation);
  });
}

/** A client whose writes belong to `fieldManager` unless a call says otherwise (`client.WithFieldOwner`). */
export function withFieldOwner<P extends Placement>(
  client: KubeClient<P>,
  fieldManager: string,
): KubeClient<FieldOwned<P>> {
  const wrapped: unknown = client.wrap(
    (run) => (operation) => run(defaultParam(operation, 'fieldManager', fieldManager)),
  );
  return wrapped as KubeClient<FieldOwned<P>>;
}

/** A client whose writes are validated like this unless a call says otherwise (`client.WithFieldValidation`). */
export function withFieldValidation<P extends Placement>(client: KubeClient<P>, mode: FieldValidation): KubeClient<P> {
  return client.wrap((run) => (operation) => run(defaultParam(operation, 'fieldValidation', mode)));
}

/**
 * A client that acts as another user; the credentials need the right to impersonate. Of several, the outermost one
 * counts, as a whole: users and groups of two are never mixed.
 */
export function impersonating<P extends Placement>(client: KubeClient<P>, who: Impersonation): KubeClient<P> {
  const headers = impersonationHeaders(who);
  return client.wrap(
    (run) => (operation) => run(impersonates(operation) ? operation : withHeaders(operation, headers)),
  );
}

/** A client that calls itself something else in the server's logs and audit. */
export function withUserAgent<P extends Placement>(client: KubeClient<P>, userAgent: string): KubeClient<P> {
  return client.wrap((run) => (operation) => run(withHeaders(operation, { 'user-agent': userAgent })));
}

/** What a command does, or a proxied request, cannot be tried. */
function refuseToTry({ verb, kind, subresource, method = 'GET' }: Operation): void {
  const runs = verb === 'stream' && subresource !== 'portforward';
  if (!runs && (verb !== 'connect' || method === 'GET' || method === 'HEAD')) return;
  throw new TypeError(`${subresource} ${kind.kind}: a client for dry runs cannot do this; use one without dryRun()`);
}

/** A deletion that has a body is read from there, not from the query. */
function tried<V extends Verb>(operation: Operation<V>): Operation<V> {
  const { body } = operation;
  const deletes = operation.verb === 'delete' || operation.verb === 'deletecollection';
  if (deletes && isJsonObject(body)) return { ...operation, body: { ...body, dryRun: ['All'] } };
  return withParam(operation, 'dryRun', 'All');
}

function withParam<V extends Verb>(operation: Operation<V>, name: string, value: string): Operation<V> {
  return { ...operation, params: { ...operation.params, [name]: value } };
}

function defaultParam<V extends Verb>(operation: Operation<V>, name: string, value: string): Operation<V> {
  const takesIt = operation.verb === 'create' || operation.verb === 'update' || operation.verb === 'patch';
  return takesIt && operation.params[name] === undefined ? withParam(operation, name, value) : operation;
}

/** Headers that a call names itself stay. */
function withHeaders<V extends Verb>(operation: Operation<V>, headers: Operation['headers']): Operation<V> {
  return { ...operation, headers: { ...headers, ...operation.headers } };
}

function impersonates({ headers = {} }: Operation): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase().startsWith('impersonate-'));
}

function placed<V extends Verb>(operation: Operation<V>, namespace: string): Operation<V> {
  const { kind, body } = operation;
  if (kind.scope !== 'Namespaced') return operation;
  if (operation.namespace !== undefined && operation.namespace !== namespace) {
    throw new TypeError(
      `${operation.verb} ${kind.kind} in namespace ${JSON.stringify(operation.namespace)}: ` +
        `this client is for namespace ${JSON.stringify(namespace)} alone`,
    );
  }
  const here = { ...operation, namespace };
  const metadata = isJsonObject(body) ? body.metadata : undefined;
  // Of patches, only those of server-side apply are whole objects.
  const isWhole = operation.verb !== 'patch' || operation.contentType === patchTypes.apply;
  if (!isWhole || !isJsonObject(body) || !isJsonObject(metadata)) return here;
  return { ...here, body: { ...body, metadata: { ...metadata, namespace } } };
}
