import type { Client, StatusWriter, SubResourceClient } from '../../client/interfaces.js';
import type { KindRef } from '../../object/kind.js';

/** Kinds of these groups can be created without effect: the server answers them and stores nothing. */
const reviewGroups: ReadonlySet<string> = new Set(['authentication.k8s.io', 'authorization.k8s.io']);

/**
 * The client for handlers whose webhook has no side effects: it reads, and refuses to write. Access reviews and dry runs
 * have no effect, and pass.
 *
 * @param refusal the error for a verb and what it was meant for
 */
export function fencedClient(client: Client, refusal: (verb: string, what: string) => Error): Client {
  /** Rejects, as all failures of a client do, instead of throwing. */
  const refuse = (verb: string, what: string): Promise<never> => Promise.reject(refusal(verb, what));
  const isHarmless = (options: object | undefined): boolean =>
    options !== undefined && 'dryRun' in options && options.dryRun === true;
  const nameOf = ({ kind }: Pick<KindRef, 'kind'>): string => kind;
  const isReview = ({ apiVersion }: { readonly apiVersion: string }): boolean =>
    reviewGroups.has(apiVersion.split('/')[0] ?? '');
  const writer = (real: StatusWriter, name: string): StatusWriter => ({
    update: ((object: KindRef, options?: object) =>
      isHarmless(options)
        ? real.update(object as never, options)
        : refuse('update', `${name} of ${nameOf(object)}`)) as never,
    patch: (kind, key, patch, options) =>
      isHarmless(options) ? real.patch(kind, key, patch, options) : refuse('patch', `${name} of ${nameOf(kind)}`),
    applyFields: (kind, fields, options) =>
      isHarmless(options) ? real.applyFields(kind, fields, options) : refuse('apply', `${name} of ${nameOf(kind)}`),
  });
  const subresource = (name: string): SubResourceClient => {
    const real = client.subresource(name);
    return {
      ...writer(real, name),
      get: (kind, key, options) => real.get(kind, key, options),
      create: (kind, key, body, options) =>
        isHarmless(options) ? real.create(kind, key, body, options) : refuse('create', `${name} of ${nameOf(kind)}`),
      replace: (kind, key, body, options) =>
        isHarmless(options) ? real.replace(kind, key, body, options) : refuse('update', `${name} of ${nameOf(kind)}`),
    };
  };
  return {
    get scheme() {
      return client.scheme;
    },
    get mapper() {
      return client.mapper;
    },
    get status() {
      return writer(client.status, 'status');
    },
    get: (kind, key, options) => client.get(kind, key, options),
    find: (kind, key, options) => client.find(kind, key, options),
    list: (kind, options) => client.list(kind, options),
    each: (kind, options) => client.each(kind, options),
    pages: (kind, options) => client.pages(kind, options),
    watch: (kind, options) => client.watch(kind, options),
    retryingWatch: (kind, options) => client.retryingWatch(kind, options),
    create: (object, options) =>
      isReview(object) || isHarmless(options) ? client.create(object, options) : refuse('create', nameOf(object)),
    update: ((object: KindRef, options?: object) =>
      isHarmless(options) ? client.update(object as never, options) : refuse('update', nameOf(object))) as never,
    patch: (kind, key, patch, options) =>
      isHarmless(options) ? client.patch(kind, key, patch, options) : refuse('patch', nameOf(kind)),
    apply: (object, options) =>
      isHarmless(options as object) ? client.apply(object, options) : refuse('apply', nameOf(object)),
    applyFields: (kind, fields, options) =>
      isHarmless(options) ? client.applyFields(kind, fields, options) : refuse('apply', nameOf(kind)),
    delete: (kind, key, options) =>
      isHarmless(options) ? client.delete(kind, key, options) : refuse('delete', nameOf(kind)),
    deleteCollection: (kind, options) =>
      isHarmless(options) ? client.deleteCollection(kind, options) : refuse('delete', nameOf(kind)),
    subresource,
    table: (kind, options) => client.table(kind, options),
    logs: ((of: never, options: never) => client.logs(of, options)) as Client['logs'],
    exec: () => {
      throw refusal('exec in', 'Pod');
    },
    forward: (target, options) => client.forward(target, options),
    proxy: (target, path, options) => {
      const { method = 'GET' } = options ?? {};
      if (method === 'GET' || method === 'HEAD') return client.proxy(target, path, options);
      throw refusal(`proxy a ${method} to`, target.kind?.kind ?? 'Pod');
    },
    copy: () => refuse('copy to', 'Pod'),
    debug: () => refuse('debug', 'Pod'),
    attach: () => {
      throw refusal('attach to', 'Pod');
    },
  };
}
