import { Buffer } from 'node:buffer';
import type { JsonObject } from 'riata/object';
import { type Reply, sendBytes } from '../reply.js';

/** The keys by which others verify the tokens of service accounts. */
export interface OpenIdKeys {
  readonly issuer: string;
  /** The public key, as a JSON Web Key. */
  readonly key: JsonObject;
}

const headers = { 'cache-control': 'public, max-age=3600' };

/** Says where the keys are. */
export function serveOpenIdConfiguration(reply: Reply, { issuer }: OpenIdKeys, host: string): void {
  const document = {
    issuer,
    jwks_uri: `https://${host}/openid/v1/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  };
  const bytes = Buffer.from(JSON.stringify(document));
  sendBytes(reply, 200, { ...headers, 'content-type': 'application/json' }, bytes);
}

/** The keys themselves. */
export function serveOpenIdKeys(reply: Reply, { key }: OpenIdKeys): void {
  const bytes = Buffer.from(JSON.stringify({ keys: [key] }));
  sendBytes(reply, 200, { ...headers, 'content-type': 'application/jwk-set+json' }, bytes);
}
