import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Credentials, Pem } from '../config/rest-config.js';
import { basic, bearer } from './authorization-source.js';
import { tlsMaterial } from './tls-material.js';

/** The parts of {@link staticCredentials}; without any, requests are anonymous (`system:anonymous`). */
export interface StaticCredentialsOptions {
  /** A bearer token. Not together with `basic`. */
  readonly token?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  /** Certificates to trust the server by. @default the system's */
  readonly ca?: Pem;
  /** A client certificate; requires `key`. */
  readonly cert?: Pem;
  readonly key?: Pem;
}

export const staticCredentialsOptionNames = optionNames<StaticCredentialsOptions>({
  token: true,
  basic: true,
  ca: true,
  cert: true,
  key: true,
});

const inspectCustom = Symbol.for('nodejs.util.inspect.custom');

/** Credentials that never change. They print without their secrets. */
export function staticCredentials(options: StaticCredentialsOptions): Credentials {
  refuseUnknownOptions('staticCredentials', options, staticCredentialsOptionNames);
  const { token, ca, cert, key } = options;
  if (token !== undefined && options.basic !== undefined) {
    throw new TypeError('staticCredentials: set either token or basic, got both');
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw new TypeError(
      `staticCredentials: cert and key go together, ${cert === undefined ? 'cert' : 'key'} is missing`,
    );
  }
  const header =
    token !== undefined ? bearer(token) : options.basic && basic(options.basic.username, options.basic.password);
  const material = tlsMaterial({ ca, cert, key });
  const hand = { authorization: header, tls: material };
  const shown = () => ({
    ...Object.fromEntries(Object.keys(material).map((name) => [name, '[inline]'])),
    authorization: token !== undefined ? 'token' : options.basic === undefined ? 'none' : 'basic',
  });
  return Object.defineProperties(
    {
      authorization: async () => header,
      tls: async () => material,
      tryCached: () => hand,
      refresh: async () => false,
    },
    {
      toJSON: { value: shown },
      toString: { value: () => `Credentials ${JSON.stringify(shown())}` },
      [inspectCustom]: { value: shown },
    },
  );
}

/** No credentials: the server sees `system:anonymous`, if it lets such requests in at all. */
export const anonymous: Credentials = Object.freeze(staticCredentials({}));
