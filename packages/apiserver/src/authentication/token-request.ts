import { formatTime, isJsonObject, type JsonObject, type KubeObject, splitApiVersion } from 'riata/object';
import type { Random } from 'riata/runtime';
import { track } from '../resource/fields/track.js';
import { metaOf, stringsOf, textOf, valueAt, withMeta } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import { invalid } from '../status/field-error.js';
import { badRequest, conflict, invalidObject } from '../status/refusal.js';
import type { Steps } from '../steps.js';
import { serviceAccountUser } from './service-account-name.js';
import { tokenIssuer } from './token-authenticator.js';
import type { TokenSigner } from './token-signer.js';

/** What tokens of ServiceAccounts are made with. */
export interface TokenParts {
  readonly store: ObjectStore;
  readonly random: Random;
  readonly signer: TokenSigner;
  /** A resource of the core group. */
  readonly core: (plural: string) => Resource;
}

const tokenKind = { group: 'authentication.k8s.io', plural: 'TokenRequest', kind: 'TokenRequest' };
const leastSeconds = 10 * 60;
const mostSeconds = 2 ** 32;
const usualSeconds = 60 * 60;

/** Tokens that kubelets ask for Pods: they are honoured for a year, so that old clients need not renew them. */
const podTokenSeconds = 60 * 60 + 7;
const extendedSeconds = 365 * 24 * 60 * 60;

/** The account of the token; `as` is the resource that requests are read by. */
export interface TokenPlace {
  readonly accounts: Resource;
  readonly as: Resource;
  readonly namespace: string;
  readonly name: string;
}

/** Answers a TokenRequest below a ServiceAccount. Nothing is stored. */
export function* requestToken(
  parts: TokenParts,
  { accounts, as, namespace, name }: TokenPlace,
  request: JsonObject,
  context: WriteContext,
): Steps<JsonObject> {
  const meta = metaOf(request);
  for (const [field, is] of Object.entries({ name, namespace })) {
    const sent = textOf(meta[field]);
    if (sent === '' || sent === is) continue;
    const why = `must match the service account ${field} if specified`;
    throw invalidObject(tokenKind, name, [invalid(`metadata.${field}`, sent, why)]);
  }
  const account = parts.store.get(accounts, namespace, name);
  const { uid } = account.metadata;
  if (textOf(meta.uid) !== '' && meta.uid !== uid) {
    const why = `the UID in the token request (${String(meta.uid)}) does not match the UID of the service account (${uid})`;
    throw conflict(tokenKind, name, why);
  }
  const spec = isJsonObject(request.spec) ? request.spec : {};
  const asked = stringsOf(spec.audiences);
  const audiences = asked.length === 0 ? [tokenIssuer] : asked;
  const expirationSeconds = secondsOf(spec);
  const written = { ...request, spec: { ...spec, expirationSeconds } };
  const tracked = meta.managedFields === undefined ? track(as, undefined, written, context, 'token') : written;
  const answered = withMeta(tracked, { name, namespace, uid, creationTimestamp: context.now });
  const shown = { ...answered, spec: { ...spec, audiences: [...audiences], expirationSeconds } };
  yield* context.admission?.validate('CREATE', shown, undefined) ?? [];
  const reference = isJsonObject(spec.boundObjectRef) ? spec.boundObjectRef : undefined;
  const bound = reference === undefined ? {} : boundTo(parts, namespace, name, reference);
  const extended = 'pod' in bound && expirationSeconds === podTokenSeconds && audiences.every((a) => a === tokenIssuer);
  const start = Math.floor(context.nowMs / 1000);
  const claims: JsonObject = {
    aud: [...audiences],
    exp: start + (extended ? extendedSeconds : expirationSeconds),
    iat: start,
    iss: tokenIssuer,
    jti: parts.random.uuid(),
    'kubernetes.io': {
      namespace,
      ...bound,
      serviceaccount: { name, uid },
      ...(extended ? { warnafter: start + expirationSeconds } : {}),
    },
    nbf: start,
    sub: serviceAccountUser(namespace, name),
  };
  const expirationTimestamp = formatTime(context.nowMs + expirationSeconds * 1000);
  return {
    ...answered,
    spec: { audiences: [...audiences], expirationSeconds, boundObjectRef: reference ?? null },
    status: { token: parts.signer.sign(claims), expirationTimestamp },
  };
}

/** A TokenRequest with the default expiration. */
export function withExpiry(request: JsonObject): JsonObject {
  const spec = isJsonObject(request.spec) ? request.spec : {};
  if (typeof spec.expirationSeconds === 'number') return request;
  return { ...request, spec: { ...spec, expirationSeconds: usualSeconds } };
}

function secondsOf(spec: JsonObject): number {
  const seconds = typeof spec.expirationSeconds === 'number' ? spec.expirationSeconds : usualSeconds;
  const why =
    seconds < leastSeconds
      ? 'may not specify a duration less than 10 minutes'
      : seconds > mostSeconds
        ? 'may not specify a duration larger than 2^32 seconds'
        : undefined;
  if (why !== undefined) throw invalidObject(tokenKind, '', [invalid('spec.expirationSeconds', seconds, why)]);
  return seconds;
}

/** What a token says of the object that it lives and dies with. */
function boundTo(parts: TokenParts, namespace: string, account: string, reference: JsonObject): JsonObject {
  const [kind, apiVersion, name] = [reference.kind, reference.apiVersion, reference.name].map(textOf);
  const { group, version } = splitApiVersion(apiVersion ?? '');
  const place = group === '' && Object.hasOwn(boundKinds, kind ?? '') ? boundKinds[kind ?? ''] : undefined;
  if (place === undefined) {
    throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const object = parts.store.get(parts.core(place.plural), place.namespaced ? namespace : '', name ?? '');
  const is = refTo(object);
  const node = kind === 'Pod' ? nodeOf(parts, account, object) : {};
  const sent = textOf(reference.uid);
  if (sent !== '' && sent !== is.uid) {
    const why = `the UID in the bound object reference (${sent}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw conflict({ group: '', plural: kind ?? '', kind: kind ?? '' }, name ?? '', why);
  }
  return { ...node, [place.claim]: is };
}

const boundKinds: Readonly<Record<string, { plural: string; namespaced: boolean; claim: string }>> = {
  Pod: { plural: 'pods', namespaced: true, claim: 'pod' },
  Secret: { plural: 'secrets', namespaced: true, claim: 'secret' },
  Node: { plural: 'nodes', namespaced: false, claim: 'node' },
};

/** A Pod's token names its node too. */
function nodeOf(parts: TokenParts, account: string, pod: KubeObject): JsonObject {
  const spec = pod as unknown as JsonObject;
  if (textOf(valueAt(spec, 'spec.serviceAccountName')) !== account) {
    throw badRequest(
      `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
    );
  }
  const name = textOf(valueAt(spec, 'spec.nodeName'));
  if (name === '') return {};
  const node = parts.store.find(parts.core('nodes'), '', name)?.object;
  return { node: node === undefined ? { name } : refTo(node) };
}

function refTo({ metadata: { name, uid } }: KubeObject) {
  return { name, uid };
}
