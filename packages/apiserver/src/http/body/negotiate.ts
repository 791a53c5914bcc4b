import type { GroupVersionKind } from 'riata/object';
import { notAcceptable, Refusal } from '../../status/refusal.js';
import { first } from '../options/query-string.js';
import type { RequestInfo } from '../request-info.js';
import type { ServerRequest } from '../server-request.js';
import { type AcceptClause, bodyTypes, parseAccept, protobufType } from './media-type.js';

/** The form of an answer that client and server agree on. */
export interface Negotiated {
  readonly mediaType: (typeof bodyTypes)[number];
  /** Indented, for people. */
  readonly pretty: boolean;
  /** The kind to convert objects to, e.g. `meta.k8s.io/v1` PartialObjectMetadata. */
  readonly as: GroupVersionKind | undefined;
}

/** The kinds that an endpoint can convert its answers to. */
export type Transforms = (as: GroupVersionKind) => boolean;

export const noTransforms: Transforms = () => false;

/** The conversions of objects and lists without a Table. */
export const metadataTransforms: Transforms = ({ group, version, kind }) =>
  group === 'meta.k8s.io' &&
  (version === 'v1' || version === 'v1beta1') &&
  (kind === 'PartialObjectMetadata' || kind === 'PartialObjectMetadataList');

/** The conversions of other objects and lists. */
export const objectTransforms: Transforms = (as) =>
  metadataTransforms(as.kind === 'Table' ? { ...as, kind: 'PartialObjectMetadata' } : as);

/** The versions of aggregated discovery. */
export const discoveryTransforms: Transforms = ({ group, version, kind }) =>
  group === 'apidiscovery.k8s.io' && version === 'v2' && kind === 'APIGroupDiscoveryList';

/**
 * Chooses the form of an answer by the Accept header. `custom` is for what has no form in Protobuf, but for its metadata.
 * Throws 406.
 */
export function negotiate(
  request: ServerRequest,
  info: RequestInfo,
  transforms: Transforms,
  custom = false,
): Negotiated {
  const found = tryNegotiate(request, info, transforms, custom);
  if (found === undefined) throw notAcceptable(bodyTypes);
  return found;
}

/** The same; undefined when nothing that the client takes can be given. */
export function tryNegotiate(
  request: ServerRequest,
  info: RequestInfo | undefined,
  transforms: Transforms,
  custom = false,
): Negotiated | undefined {
  const { accept = '' } = request.headers;
  const pretty = isPrettyRequested(request, info);
  if (accept === '') return { mediaType: 'application/json', pretty, as: undefined };
  for (const clause of parseAccept(accept)) {
    const mediaType = bodyTypes.find((type) => covers(clause, type));
    if (mediaType === undefined || !allowed(clause, mediaType, transforms)) continue;
    const as = conversionOf(clause);
    if (mediaType === protobufType && (as === undefined ? custom : as.kind === 'Table')) continue;
    return { mediaType, pretty: pretty || clause.params.get('pretty') === '1', as };
  }
  return undefined;
}

/** As `negotiate`, for a watch: YAML has no form for it. */
export function negotiateStream(
  request: ServerRequest,
  info: RequestInfo,
  transforms: Transforms,
  custom = false,
): Negotiated {
  const found = negotiate(request, info, transforms, custom);
  if (found.mediaType !== 'application/yaml') return found;
  throw notAcceptable(['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch']);
}

/**
 * The check of go-restful before a built-in endpoint of kube-apiserver gets a request: some clause must name one of
 * `produces`, or everything. Throws 406.
 */
export function checkRouteAccepts(request: ServerRequest, produces: readonly string[]): void {
  const { accept = '' } = request.headers;
  if (accept === '') return;
  const types = accept.split(',').map((clause) => (clause.split(';', 1)[0] ?? '').trim());
  if (types.some((type) => type === '*/*' || produces.includes(type))) return;
  const message = `406: Not Acceptable\n\nAvailable representations: ${produces.join(', ')}`;
  throw new Refusal(406, 'NotAcceptable', message, {});
}

export const objectProduces: readonly string[] = bodyTypes;
export const listProduces: readonly string[] = [
  ...bodyTypes,
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
];

function covers({ type, subtype }: AcceptClause, media: string): boolean {
  if (type === '*') return subtype === '*';
  return media === `${type}/${subtype}` || (subtype === '*' && media.startsWith(`${type}/`));
}

function allowed(clause: AcceptClause, mediaType: string, transforms: Transforms): boolean {
  const stream = clause.params.get('stream') ?? '';
  if (stream !== '' && (stream !== 'watch' || mediaType === 'application/yaml')) return false;
  const as = conversionOf(clause);
  return as === undefined || transforms(as);
}

function conversionOf({ params }: AcceptClause): GroupVersionKind | undefined {
  if (!params.has('as') && !params.has('g') && !params.has('v')) return undefined;
  return { group: params.get('g') ?? '', version: params.get('v') ?? '', kind: params.get('as') ?? '' };
}

/** People's tools get indented answers, unless they say otherwise. */
function isPrettyRequested({ headers }: ServerRequest, info: RequestInfo | undefined): boolean {
  const asked = info && first(info.query, 'pretty');
  if (asked) return ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(asked);
  return /^(?:curl|Wget|Mozilla\/5\.0)/.test(headers['user-agent'] ?? '');
}
