import { privateKey } from '../../../rest/chain/own-secrets.js';
import { mask } from './masked.js';

/** `Bearer eyJ…`, `Basic dXNlcjpwYXNz`. */
const authorization = /\b(bearer|basic)\s+[\w.~+/=-]{6,}/gi;
/** The password in `https://user:password@host`. */
const userInfo = /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#@]+@/gi;
/** JSON web tokens, as those of service accounts are. */
const webToken = /\beyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*/g;
const secretName =
  '[\\w-]*(?:password|passwd|token|secret|credential|api[-_]?key|access[-_]?key|private[-_]?key)[\\w-]*';
/** `password=…`, and `"password": "…"` with quotes, also in a text that was cut: without, what follows a colon may be any
 * sentence. */
const assigned = new RegExp(`(${secretName}=)("[^"]*"|'[^']*'|[^\\s,;&"']+)`, 'gi');
const quoted = new RegExp(
  `(\\\\?["']?${secretName}\\\\?["']?\\s*:\\s*)(\\\\?"(?:[^"\\\\]|\\\\(?!"))*(?:\\\\?"|…$)|'[^']*(?:'|…$))`,
  'gi',
);
/** The data of a Secret in JSON, also in JSON within a string, and in YAML. */
const jsonData = /(\\?"(?:data|stringData)\\?"\s*:\s*\{)[^{}]*(\}|$)/g;
const yamlData = /^([ \t]*)(data|stringData):[ \t]*\n(?:\1[ \t]+.*(?:\n|$))+/gm;

/** A text without what looks like a secret: keys, tokens, passwords by their names, and the data of Secrets. */
export function maskText(text: string): string {
  return text
    .replace(privateKey, mask)
    .replace(yamlData, (_, indent: string, name: string) => `${indent}${name}: ${mask}\n`)
    .replace(jsonData, `$1${mask}$2`)
    .replace(quoted, `$1"${mask}"`)
    .replace(assigned, `$1${mask}`)
    .replace(authorization, `$1 ${mask}`)
    .replace(userInfo, `$1${mask}@`)
    .replace(webToken, mask);
}
