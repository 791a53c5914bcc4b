import { isJsonObject, type JsonObject } from '../../object/json.js';
import type { Status, StatusCause, StatusDetails } from '../../object/meta.js';
import { redactHeaders, redactText } from './redact.js';

/** Longest text of a body that is not a Status that goes into an error. */
const maxTextLength = 512;

/** The body of a refusal, classified. */
export type ErrorBody =
  /** The API server's own word. */
  | { readonly kind: 'status'; readonly status: Status }
  /** Anything else, from a proxy in between: a readable excerpt, `''` if it has none. */
  | { readonly kind: 'other'; readonly text: string };

/**
 * Reads the body of an answer that is no success: a Status, plain text, a proxy's HTML page, other JSON, half of a
 * JSON document, bytes, nothing. Never throws.
 */
export function readErrorBody(
  body: Uint8Array | string,
  contentType = '',
  redact: (text: string) => string = (text) => text,
): ErrorBody {
  // Before anything is cut off: half a secret could not be recognised.
  const shorten = (text: string, before?: string) => shortened(redact(text), before);
  const text = (typeof body === 'string' ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
    .replace(/^\uFEFF/, '')
    .trim();
  if (text === '') return { kind: 'other', text: '' };
  if (text.startsWith('{')) {
    const value = tryParse(text);
    if (value === undefined) return { kind: 'other', text: shorten(text, 'JSON, cut off or broken: ') };
    const status = statusOf(value);
    if (status) return { kind: 'status', status };
    const said = [value.message, value.error, value.detail].find((part) => typeof part === 'string' && part !== '');
    return { kind: 'other', text: shorten(typeof said === 'string' ? said : text) };
  }
  if (/html/i.test(contentType) || /^<(!doctype|html|head|body)\b/i.test(text)) {
    return { kind: 'other', text: shorten(textOfHtml(text)) };
  }
  if (isBinary(text)) {
    const size = typeof body === 'string' ? body.length : body.byteLength;
    return { kind: 'other', text: `${size} bytes of ${contentType || 'an unknown content type'}` };
  }
  return { kind: 'other', text: shorten(text) };
}

/**
 * Makes a clean Status out of a value that claims to be one, dropping fields of the wrong type; undefined for
 * anything that is no `Status` with `status: Failure`.
 */
export function statusOf(value: unknown): Status | undefined {
  if (!isJsonObject(value) || value.status !== 'Failure') return undefined;
  // Servers from before v1 sent no kind; anything with another kind only looks alike.
  if (value.kind !== undefined && value.kind !== 'Status') return undefined;
  return {
    apiVersion: 'v1',
    kind: 'Status',
    metadata: isJsonObject(value.metadata) ? value.metadata : {},
    status: 'Failure',
    ...withoutEcho(pick(value, 'message', isString)),
    ...pick(value, 'reason', isString),
    ...pick(value, 'code', isNumber),
    ...(isJsonObject(value.details) && { details: detailsOf(value.details) }),
  };
}

function detailsOf(details: JsonObject): StatusDetails {
  return {
    ...pick(details, 'name', isString),
    ...pick(details, 'group', isString),
    ...pick(details, 'kind', isString),
    ...pick(details, 'uid', isString),
    ...(Array.isArray(details.causes) && { causes: details.causes.filter(isJsonObject).map(causeOf) }),
    ...pick(details, 'retryAfterSeconds', isNumber),
  };
}

function causeOf(cause: JsonObject): StatusCause {
  const message = withoutEcho(pick(cause, 'message', isString));
  return { ...pick(cause, 'reason', isString), ...message, ...pick(cause, 'field', isString) };
}

/** A server behind the API server may show the headers that it got. */
function withoutEcho({ message }: { readonly message?: string }): { readonly message?: string } {
  return message === undefined ? {} : { message: redactHeaders(message) };
}

function pick<K extends string, T>(
  from: JsonObject,
  key: K,
  is: (value: unknown) => value is T,
): { readonly [P in K]?: T } {
  const value = from[key];
  return (is(value) ? { [key]: value } : {}) as { readonly [P in K]?: T };
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number';
}

function tryParse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };

function textOfHtml(html: string): string {
  return html
    .slice(0, 65_536)
    .replace(/<!--.*?(-->|$)/gs, ' ')
    .replace(/<(script|style)\b.*?(<\/\1\s*>|$)/gis, ' ')
    .replace(/<[^>]*(>|$)/g, ' ')
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => entities[name] ?? ' ');
}

function isBinary(text: string): boolean {
  const sample = text.slice(0, 1024);
  const odd = sample.match(/(?!\s)\p{Cc}|\uFFFD/gu)?.length ?? 0;
  return odd > sample.length / 20;
}

function shortened(text: string, before = ''): string {
  const line = before + redactText(text.slice(0, 65_536).replace(/\s+/g, ' ').trim());
  return line.length <= maxTextLength ? line : `${line.slice(0, maxTextLength)}… [${line.length - maxTextLength} more]`;
}
