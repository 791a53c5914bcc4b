import { Buffer } from 'node:buffer';
import { timingSafeEqual } from 'node:crypto';
import { isJsonObject, type JsonObject } from 'riata/object';
import type { OpenIdKeys } from '../http/non-resource/openid.js';
import { metaOf, stringsOf, textOf } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import { serviceAccountGroups } from './service-account-name.js';
import { TokenSigner } from './token-signer.js';
import { administrator, authenticated, credentialIdKey, type UserInfo } from './user-info.js';

/** Issuer and default audience of ServiceAccount tokens. */
export const tokenIssuer = 'https://kubernetes.default.svc';

/** What tokens are checked against. */
export interface TokenAuthenticatorParts {
  readonly store: ObjectStore;
  /** A resource of the core group. */
  readonly core: (plural: string) => Resource;
  /** The administrator's token. */
  readonly token: string;
  /** Tokens that stand for users from the start. */
  readonly tokens?: Readonly<Record<string, UserInfo>>;
  /** Signs tokens of ServiceAccounts. @default one with a new key */
  readonly signer?: TokenSigner;
  now(): number;
}

/** Whom a token stands for and for which of the audiences, or why it is refused. */
export type TokenVerdict =
  | { readonly user: UserInfo; readonly audiences: readonly string[] }
  | { readonly problem: string };

/** Clocks of servers may differ by so much. */
const leewaySeconds = 60;

/** Checks tokens: the administrator's, static ones, and those that the server has issued for ServiceAccounts. */
export class TokenAuthenticator {
  readonly signer: TokenSigner;
  readonly #parts: TokenAuthenticatorParts;
  readonly #administrator: Buffer;
  readonly #users: Map<string, UserInfo>;

  constructor(parts: TokenAuthenticatorParts) {
    this.#parts = parts;
    this.signer = parts.signer ?? new TokenSigner();
    this.#administrator = Buffer.from(parts.token);
    this.#users = new Map(Object.entries(parts.tokens ?? {}).map(([token, user]) => [token, authenticated(user)]));
  }

  /** Lets a token stand for a user from now on. */
  add(token: string, user: UserInfo): void {
    this.#users.set(token, authenticated(user));
  }

  /** The keys that tokens of ServiceAccounts can be checked by. */
  openIdKeys(): OpenIdKeys {
    return { issuer: tokenIssuer, key: this.signer.publicKey() };
  }

  /** Whom a token stands for. Static tokens are good for any audience. */
  identify(token: string, audiences: readonly string[] = [tokenIssuer]): TokenVerdict {
    if (this.#isAdministrator(token)) return { user: administrator, audiences };
    const user = this.#users.get(token);
    if (user !== undefined) return { user, audiences };
    const claims = this.signer.read(token);
    if (claims === undefined) return { problem: 'invalid bearer token' };
    const own = stringsOf(claims.aud);
    const shared = own.filter((audience) => audiences.includes(audience));
    const problem =
      shared.length === 0
        ? `token audiences ${quoted(own)} is invalid for the target audiences ${quoted(audiences)}`
        : this.#outdated(claims);
    if (problem !== undefined) return { problem: `[invalid bearer token, ${problem}]` };
    return { user: userOf(claims), audiences: shared };
  }

  /** Takes as long for a wrong token as for the right one of the same length. */
  #isAdministrator(token: string): boolean {
    const sent = Buffer.from(token);
    return sent.length === this.#administrator.length && timingSafeEqual(sent, this.#administrator);
  }

  /** Why a token is no longer valid; undefined if it is. */
  #outdated(claims: JsonObject): string | undefined {
    const { store, core, now } = this.#parts;
    const seconds = now() / 1000;
    if (seconds - leewaySeconds > Number(claims.exp)) return 'service account token has expired';
    if (seconds + leewaySeconds < Number(claims.nbf)) return 'service account token is not valid yet';
    const own = isJsonObject(claims['kubernetes.io']) ? claims['kubernetes.io'] : {};
    const namespace = textOf(own.namespace);
    const { name, uid } = isJsonObject(own.serviceaccount) ? own.serviceaccount : {};
    const account = store.find(core('serviceaccounts'), namespace, textOf(name))?.object;
    if (account === undefined) return `serviceaccounts "${textOf(name)}" not found`;
    if (account.metadata.uid !== uid) {
      return `service account UID (${account.metadata.uid}) does not match claim (${textOf(uid)})`;
    }
    for (const [claim, plural] of boundClaims) {
      const bound = own[claim];
      // The node of a Pod is named, and binds nothing.
      if (!isJsonObject(bound) || (claim === 'node' && own.pod !== undefined)) continue;
      const place = claim === 'node' ? '' : namespace;
      const object = store.find(core(plural), place, textOf(bound.name))?.object as JsonObject | undefined;
      if (object === undefined) return 'service account token has been invalidated';
      if (metaOf(object).uid !== bound.uid) {
        const is = textOf(metaOf(object).uid);
        return `${claim} UID (${is}) does not match service account ${claim} ref claim (${textOf(bound.uid)})`;
      }
    }
    return undefined;
  }
}

const boundClaims = [
  ['secret', 'secrets'],
  ['pod', 'pods'],
  ['node', 'nodes'],
] as const;

function quoted(list: readonly string[]): string {
  return `[${list.map((text) => JSON.stringify(text)).join(' ')}]`;
}

function userOf(claims: JsonObject): UserInfo {
  const own = isJsonObject(claims['kubernetes.io']) ? claims['kubernetes.io'] : {};
  const [account, pod, node] = [own.serviceaccount, own.pod, own.node].map((o) => (isJsonObject(o) ? o : {}));
  const extra = {
    [credentialIdKey]: `JTI=${textOf(claims.jti)}`,
    'authentication.kubernetes.io/node-name': textOf(node?.name),
    'authentication.kubernetes.io/node-uid': textOf(node?.uid),
    'authentication.kubernetes.io/pod-name': textOf(pod?.name),
    'authentication.kubernetes.io/pod-uid': textOf(pod?.uid),
  };
  const known = Object.entries(extra).flatMap(([key, value]) => (value === '' ? [] : [[key, [value]]]));
  return authenticated({
    username: textOf(claims.sub),
    uid: textOf(account?.uid),
    groups: serviceAccountGroups(textOf(own.namespace)),
    extra: Object.fromEntries(known),
  });
}
