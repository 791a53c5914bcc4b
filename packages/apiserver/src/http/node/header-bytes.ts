import { Buffer } from 'node:buffer';
import type { ReplyHeaders } from '../reply.js';

/** Node takes one byte per character: other characters than ASCII are sent as UTF-8, as kube-apiserver does. */
export function headerBytes(headers: ReplyHeaders): Record<string, string | string[]> {
  const sent = Object.entries(headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? asBytes(value) : value.map(asBytes),
  ]);
  return Object.fromEntries(sent) as Record<string, string | string[]>;
}

function asBytes(value: string): string {
  return Buffer.from(value, 'utf8').toString('latin1');
}
