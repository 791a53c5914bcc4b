import { Buffer } from 'node:buffer';
import { posix } from 'node:path';
import { goJsonError } from '../http/body/go-json-error.js';
import { badRequest } from '../status/refusal.js';

/** The position at which a page ended, and the revision of the list. */
export interface ContinueToken {
  /** Below zero: continue with the current state. */
  readonly revision: number;
  /** The next page starts after this key, relative to the prefix of the list. */
  readonly after: string;
}

const version = 'meta.k8s.io/v1';

/** Encodes a token as kube-apiserver does: the next page starts with the smallest key after the last one. */
export function writeContinueToken({ revision, after }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: version, rv: revision, start: `${after}\0` })).toString('base64url');
}

/** Decodes a token. Throws 400 for an invalid one. */
export function readContinueToken(text: string): ContinueToken {
  const { v, rv, start } = decode(text);
  if (v !== version) throw bad(`server does not recognize this encoded version ${v}`);
  if (rv === 0) throw bad(`incorrect encoded start resourceVersion (version ${version})`);
  if (start === '') throw bad(`encoded start key empty (version ${version})`);
  const key = start.startsWith('/') ? start : `/${start}`;
  // A forged token must not lead outside of the listed prefix.
  if (posix.normalize(key) !== key || (key !== '/' && key.endsWith('/'))) throw bad(start);
  return { revision: rv, after: before(key.slice(1)) };
}

/** The last key before `start`, so that continuing after it skips nothing. */
function before(start: string): string {
  if (start === '' || start.endsWith('\0')) return start.slice(0, -1);
  const last = start.length - 1;
  return `${start.slice(0, last)}${String.fromCharCode(start.charCodeAt(last) - 1)}\uffff`;
}

function decode(text: string): { readonly v: string; readonly rv: number; readonly start: string } {
  const wrong = /[^A-Za-z0-9_-]/.exec(text)?.index ?? (text.length % 4 === 1 ? text.length - 1 : -1);
  if (wrong >= 0) throw bad(`illegal base64 data at input byte ${wrong}`);
  const bytes = Buffer.from(text, 'base64url');
  let token: unknown;
  try {
    token = JSON.parse(bytes.toString('utf8'));
  } catch {
    throw bad(goJsonError(bytes.toString('latin1')));
  }
  if (token !== null && (typeof token !== 'object' || Array.isArray(token))) {
    throw bad(`json: cannot unmarshal ${jsonType(token)} into Go value of type storage.continueToken`);
  }
  const { v = '', rv = 0, start = '' } = (token ?? {}) as Record<string, unknown>;
  checkField('v', v, typeof v === 'string', 'string');
  checkField('rv', rv, Number.isInteger(rv), 'int64');
  checkField('start', start, typeof start === 'string', 'string');
  return { v: v as string, rv: rv as number, start: start as string };
}

function checkField(name: string, value: unknown, fits: boolean, type: string): void {
  if (fits || value === null) return;
  const shown = typeof value === 'number' && type === 'int64' ? `number ${value}` : jsonType(value);
  throw bad(`json: cannot unmarshal ${shown} into Go struct field continueToken.${name} of type ${type}`);
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

function bad(why: string) {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
