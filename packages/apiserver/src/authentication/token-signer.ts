import { Buffer } from 'node:buffer';
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { isJsonObject, type JsonObject } from 'riata/object';
import { RecentCache } from '../resource/recent-cache.js';

/** So many tokens are known again without checking their signatures. */
const rememberedTokens = 1_000;

/** Signs claims as JSON Web Tokens, and knows its own again. */
export class TokenSigner {
  readonly #privateKey: string | undefined;
  /** Claims by token. A signature that was good once stays so; it takes longer to check than most requests. */
  readonly #known = new RecentCache<string, JsonObject>(rememberedTokens, () => 1);
  #keys: { readonly pair: ReturnType<typeof newPair>; readonly id: string } | undefined;

  /** With a private key, PEM, or with one of its own that lives as long as it does. */
  constructor(privateKey?: string) {
    this.#privateKey = privateKey;
  }

  /** The private key of a new signer, PEM. */
  static newKey(): string {
    return newPair().privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  }

  sign(claims: JsonObject): string {
    const { pair, id } = this.#key();
    const content = [{ alg: 'ES256', kid: id }, claims].map(encoded).join('.');
    const signature = sign('sha256', Buffer.from(content), { key: pair.privateKey, dsaEncoding: 'ieee-p1363' });
    return `${content}.${signature.toString('base64url')}`;
  }

  /** The claims of a token that it has signed; undefined for any other text. */
  read(token: string): JsonObject | undefined {
    try {
      return this.#known.get(token, () => this.#check(token));
    } catch (error) {
      if (error instanceof ForeignTokenError) return undefined;
      throw error;
    }
  }

  #check(token: string): JsonObject {
    // Node skips invalid base64; others don't.
    const [, header = '', claims = '', signature = ''] = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(token) ?? [];
    if (signature === '') throw new ForeignTokenError();
    const key = { key: this.#key().pair.publicKey, dsaEncoding: 'ieee-p1363' as const };
    const content = Buffer.from(`${header}.${claims}`);
    if (!verify('sha256', content, key, Buffer.from(signature, 'base64url'))) {
      throw new ForeignTokenError();
    }
    const value: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
    if (!isJsonObject(value)) throw new ForeignTokenError();
    return value;
  }

  /** The key that others check its tokens by, as a JSON Web Key. */
  publicKey(): JsonObject {
    const { pair, id: kid } = this.#key();
    const { crv = '', x = '', y = '' } = pair.publicKey.export({ format: 'jwk' });
    return { use: 'sig', kty: 'EC', kid, crv, alg: 'ES256', x, y };
  }

  /** Made when first asked for: most servers never sign a token. */
  #key() {
    if (this.#keys === undefined) {
      const pair = this.#privateKey === undefined ? newPair() : pairOf(this.#privateKey);
      const spki = pair.publicKey.export({ type: 'spki', format: 'der' });
      this.#keys = { pair, id: createHash('sha256').update(spki).digest('base64url') };
    }
    return this.#keys;
  }
}

/** Thrown within: foreign tokens are not cached. */
class ForeignTokenError extends Error {}

function newPair() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

function pairOf(pem: string): ReturnType<typeof newPair> {
  const privateKey = createPrivateKey(pem);
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

function encoded(value: JsonObject): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
