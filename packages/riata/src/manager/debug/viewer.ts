import type { Client } from '../../client/interfaces.js';
import { TokenReview } from '../../kinds/generated/groups/authentication.k8s.io/v1.js';
import { SelfSubjectAccessReview, SubjectAccessReview } from '../../kinds/generated/groups/authorization.k8s.io/v1.js';
import type { KindRef } from '../../object/kind.js';
import { isForbidden } from '../../rest/errors/error-guards.js';
import type { Clock } from '../../runtime/time/clock.js';

/** What a viewer wants to do. */
export interface ViewerWish {
  readonly verb: 'get' | 'list' | 'patch';
  readonly kind: KindRef;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  /** An added cluster's name. */
  readonly cluster?: string | undefined;
}

/** Who looks at the debug endpoints, and what the API server lets them do. */
export interface Viewer {
  /** The user name, for Events; `the operator` for someone without a token, who acts with the operator's own rights. */
  readonly name: string;
  /** Undefined if it is allowed, else the reason. Kept for a minute, unless `isFresh`. */
  refusal(wish: ViewerWish, options: { readonly signal: AbortSignal; isFresh?: boolean }): Promise<string | undefined>;
}

/** What {@link Viewers} ask. */
export interface ViewersParts {
  readonly client: Pick<Client, 'create'>;
  /** Of an added cluster. */
  readonly clusterClient: (name: string) => Pick<Client, 'create'> | undefined;
  readonly clock: Clock;
  /** Whether each caller has a token; else those on the same machine come without. */
  readonly isProtected: boolean;
  /** Whether the operator's rights are not the viewer's: a Pod's service account. */
  readonly isInCluster: boolean;
}

type ReviewedUser = NonNullable<NonNullable<TokenReview['status']>['user']>;

const keptMs = 60_000;
const mostKept = 1_024;

/** Finds out who a caller is, by TokenReview, and what they may do, by SubjectAccessReview. */
export class Viewers {
  readonly #parts: ViewersParts;
  readonly #known = new Map<string, { readonly refusal: string | undefined; readonly untilMs: number }>();

  readonly #users = new Map<string, { readonly user: ReviewedUser; readonly untilMs: number }>();

  constructor(parts: ViewersParts) {
    this.#parts = parts;
  }

  /** Undefined if the token is not known. Known ones are reviewed again after a minute, or at once if `isFresh`. */
  async of(
    authorization: string | undefined,
    { signal, isFresh = false }: { readonly signal: AbortSignal; readonly isFresh?: boolean },
  ): Promise<Viewer | undefined> {
    const { client, isProtected } = this.#parts;
    const token = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return isProtected ? undefined : this.#local();
    let user: ReviewedUser | undefined;
    try {
      user = await this.#userOf(token, { signal, isFresh });
    } catch (error) {
      // Without the token, the caller may look as well.
      if (isProtected || !isForbidden(error)) throw error;
      return this.#local('the operator may not create tokenreviews, and does not know who you are');
    }
    if (user === undefined) return undefined;
    const { username = '', groups, uid, extra } = user;
    return {
      name: username,
      refusal: (wish, options) => {
        // Names of users mean something in one cluster only.
        if (wish.cluster !== undefined)
          return Promise.resolve('objects of added clusters are shown to local viewers only');
        return this.#keep(JSON.stringify(user), wish, options, async () => {
          const spec = { user: username, groups, uid, extra, resourceAttributes: attributes(wish) };
          const review = await client.create(SubjectAccessReview({ metadata: {}, spec }), { signal: options.signal });
          return review.status?.allowed ? undefined : `${username} may not ${describeWish(wish)}`;
        });
      },
    };
  }

  /** Undefined if the token is not known. Kept for a minute, unless `isFresh`: pages ask often. */
  async #userOf(token: string, options: { readonly signal: AbortSignal; readonly isFresh: boolean }) {
    const { client, clock } = this.#parts;
    const known = this.#users.get(token);
    if (!options.isFresh && known !== undefined && known.untilMs > clock.monotonic()) return known.user;
    const { status } = await client.create(TokenReview({ metadata: {}, spec: { token } }), { signal: options.signal });
    this.#users.delete(token);
    if (!status?.authenticated) return undefined;
    if (this.#users.size >= mostKept) this.#users.clear();
    const user = status.user ?? {};
    this.#users.set(token, { user, untilMs: clock.monotonic() + keptMs });
    return user;
  }

  /** Someone on the same machine, who could read the operator's credentials as well. */
  #local(actRefusal?: string): Viewer {
    const { client, clusterClient, isInCluster } = this.#parts;
    return {
      name: 'the operator',
      refusal: async (wish, options) => {
        if (wish.verb !== 'patch') return undefined;
        if (actRefusal !== undefined) return actRefusal;
        // Forwarding a port to a Pod must not give the rights of its service account.
        if (isInCluster) return 'actions need a token: send one, or set dashboard.protected';
        const asked = wish.cluster === undefined ? client : clusterClient(wish.cluster);
        if (asked === undefined) return `cluster "${wish.cluster}" not found`;
        return this.#keep('self', wish, options, async () => {
          const spec = { resourceAttributes: attributes(wish) };
          const review = await asked.create(SelfSubjectAccessReview({ metadata: {}, spec }), {
            signal: options.signal,
          });
          return review.status?.allowed ? undefined : `the operator may not ${describeWish(wish)}`;
        });
      },
    };
  }

  async #keep(
    who: string,
    wish: ViewerWish,
    { isFresh = false }: { readonly isFresh?: boolean },
    ask: () => Promise<string | undefined>,
  ): Promise<string | undefined> {
    const { clock } = this.#parts;
    const id = JSON.stringify([who, wish.cluster, attributes(wish)]);
    const known = this.#known.get(id);
    if (!isFresh && known !== undefined && known.untilMs > clock.monotonic()) return known.refusal;
    const refusal = await ask();
    if (this.#known.size >= mostKept) this.#known.clear();
    this.#known.set(id, { refusal, untilMs: clock.monotonic() + keptMs });
    return refusal;
  }
}

function attributes({ verb, kind, namespace, name }: ViewerWish) {
  const { group, version, plural: resource } = kind;
  return { verb, group, version, resource, ...(namespace && { namespace }), ...(name && { name }) };
}

function describeWish({ verb, kind, namespace, name }: ViewerWish): string {
  const where = namespace ? ` in namespace ${namespace}` : '';
  return `${verb} ${kind.plural}${kind.group === '' ? '' : `.${kind.group}`}${name ? ` "${name}"` : ''}${where}`;
}
