import type { RestConfig } from 'riata';
import type { CommandIo } from '../command/command-io.js';
import { givenToken } from './open-endpoints.js';

/** The token of the person at this machine: a given one, else that of the kubeconfig. Undefined for client certificates. */
export function viewerToken(
  io: CommandIo,
  options: { readonly tokenFile?: string },
  config: Pick<RestConfig, 'credentials' | 'impersonate'>,
): () => Promise<string | undefined> {
  const given = givenToken(io, options);
  return async () => {
    const token = await given();
    // A token does not carry who its user acts as: it would show and do more than was asked for.
    if (token !== undefined || config.impersonate !== undefined) return token;
    const authorization = await config.credentials?.authorization({ signal: io.signal });
    return /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
  };
}
