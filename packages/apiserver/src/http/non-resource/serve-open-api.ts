import { Buffer } from 'node:buffer';
import type { JsonObject } from 'riata/object';
import type { Aggregation } from '../../aggregation/aggregation.js';
import type { OpenApi, OpenApiDocument } from '../../openapi/open-api.js';
import { parseAccept } from '../body/media-type.js';
import { acceptsGzip, GzipReply } from '../node/gzip-reply.js';
import { first } from '../options/query-string.js';
import { type Reply, type ReplyHeaders, sendBytes } from '../reply.js';
import type { RequestInfo } from '../request-info.js';
import type { ServerRequest } from '../server-request.js';
import { commonHeaders, pageNotFound } from '../status-answer.js';

interface Asked {
  readonly request: ServerRequest;
  readonly info: RequestInfo;
  readonly reply: Reply;
}

interface Content {
  readonly text: string | Uint8Array;
  readonly hash: string;
}

/** The subtypes of both versions in Protobuf; the second one of each is an old spelling that clients still use. */
const protobuf2 = ['com.github.proto-openapi.spec.v2.v1.0+protobuf', 'com.github.proto-openapi.spec.v2@v1.0+protobuf'];

const protobuf3 = ['com.github.proto-openapi.spec.v3.v1.0+protobuf', 'com.github.proto-openapi.spec.v3@v1.0+protobuf'];

const yearMs = 365 * 24 * 3_600_000;

/** Answers `/openapi/v2`, `/openapi/v3` and what is below. */
export async function serveOpenApi(
  documents: OpenApi,
  asked: Asked,
  nowMs: number,
  aggregation?: Aggregation,
): Promise<void> {
  const { path } = asked.info;
  if (path === '/openapi/v2') return serveVersion2(documents, asked, aggregation);
  // The index is text, whatever is requested.
  if (path === '/openapi/v3') {
    const index = withOthers(await documents.index(), aggregation?.openApiPaths() ?? {});
    return sendDocument(asked, index, { 'content-type': 'text/plain; charset=utf-8' });
  }
  if (!path.startsWith('/openapi/v3/')) throw pageNotFound();
  return serveGroupVersion(documents, asked, nowMs);
}

async function serveVersion2(documents: OpenApi, asked: Asked, aggregation?: Aggregation): Promise<void> {
  const vary = { vary: 'Accept-Encoding, Accept' };
  const form = formOf(asked.request, protobuf2);
  if (form === undefined) return sendNothing(asked.reply, 406, vary);
  const document = await documents.version2With((await aggregation?.openApiVersion2()) ?? []);
  if (form === 'json') {
    const headers = { 'content-type': 'application/json', etag: `"${document.hash}"`, ...vary };
    return sendDocument(asked, document, headers);
  }
  const { bytes, hash } = await documents.version2Protobuf(document);
  const headers = { 'content-type': `application/${protobuf2[0]}`, etag: `"${hash}"`, ...vary };
  sendDocument(asked, { text: bytes, hash }, headers);
}

/** With the right hash the answer can be kept for ever: another state has another address. */
async function serveGroupVersion(documents: OpenApi, asked: Asked, nowMs: number): Promise<void> {
  const { info, request, reply } = asked;
  const name = info.path.slice('/openapi/v3/'.length);
  if (!documents.has(name)) return sendNothing(reply, 404, {});
  const vary = { vary: 'Accept' };
  const form = formOf(request, protobuf3);
  if (form === undefined) return sendNothing(reply, 406, vary);
  const json = documents.version3(name);
  const document = form === 'json' ? json : { text: await documents.version3Protobuf(name), hash: json.hash };
  const contentType = form === 'json' ? 'application/json' : `application/${protobuf3[0]}`;
  const headers = { 'content-type': contentType, etag: `"${document.hash}"`, ...vary };
  const hash = first(info.query, 'hash') ?? '';
  if (hash === '') return sendDocument(asked, document, headers);
  if (hash !== document.hash) {
    return sendNothing(reply, 301, { ...headers, location: `/openapi/v3/${name}?hash=${document.hash}` });
  }
  const expires = new Date(nowMs + yearMs).toUTCString();
  sendDocument(asked, document, { ...headers, 'cache-control': 'public, immutable', expires });
}

/** The index, with the documents of other servers in it. */
function withOthers(index: OpenApiDocument, others: Readonly<Record<string, JsonObject>>): OpenApiDocument {
  if (Object.keys(others).length === 0) return index;
  const { paths } = JSON.parse(index.text) as { readonly paths: Readonly<Record<string, object>> };
  const all = Object.entries({ ...paths, ...others }).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...index, text: JSON.stringify({ paths: Object.fromEntries(all) }) };
}

/** The first form that the client names. */
function formOf({ headers }: ServerRequest, protobuf: readonly string[]): 'json' | 'protobuf' | undefined {
  const { accept = '' } = headers;
  for (const { type, subtype } of parseAccept(accept || '*/*')) {
    if (type !== 'application' && type !== '*') continue;
    if (subtype === 'json' || subtype === '*') return 'json';
    if (protobuf.includes(subtype)) return 'protobuf';
  }
  return undefined;
}

function sendDocument({ request, reply }: Asked, { text, hash }: Content, own: ReplyHeaders): void {
  const headers = { ...commonHeaders, ...own };
  if ('etag' in own && isKnown(request.headers['if-none-match'], hash)) {
    const { 'content-type': _, ...kept } = headers as Record<string, string>;
    reply.head(304, kept);
    reply.end();
    return;
  }
  const to = acceptsGzip(request.headers['accept-encoding']) ? new GzipReply(reply) : reply;
  sendBytes(to, 200, headers, typeof text === 'string' ? Buffer.from(text) : text);
}

function isKnown(ifNoneMatch: string | undefined, hash: string): boolean {
  const tags = ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes('*') || tags.includes(`"${hash}"`);
}

function sendNothing(reply: Reply, code: number, headers: ReplyHeaders): void {
  sendBytes(reply, code, { ...commonHeaders, ...headers }, Buffer.alloc(0));
}
