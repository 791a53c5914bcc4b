import { type Authority, systemRandom } from 'riata/runtime';
import { TokenSigner } from './authentication/token-signer.js';
import { newAuthority } from './server-authority.js';

/** What clients know a server by. It outlives the process where data does. */
export interface ServerIdentity {
  /** The administrator's token. */
  readonly token: string;
  /** What signs the server's certificate, and those of clients. */
  readonly authority: Authority;
  /** What signs tokens of ServiceAccounts. */
  readonly signer: TokenSigner;
}

export function newIdentity(): ServerIdentity {
  return { token: newToken(), authority: newAuthority(), signer: new TokenSigner() };
}

/** A token that cannot be guessed. */
export function newToken(): string {
  return systemRandom.uuid().replaceAll('-', '');
}
