import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Kubeconfig } from './kubeconfig.js';
import type { Pem } from './rest-config.js';

/** The contents of a {@link kubeconfigFor}. */
export interface KubeconfigForOptions {
  readonly server: string;
  /** PEM of the CA, put inline. */
  readonly ca?: Pem;
  readonly token?: string;
  readonly basic?: { readonly username: string; readonly password: string };
  /** PEM of a client certificate and key, put inline. */
  readonly cert?: Pem;
  readonly key?: Pem;
  readonly namespace?: string;
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly proxyUrl?: string;
  /** The name of cluster, user and context. @default 'default' */
  readonly name?: string;
}

export const kubeconfigForOptionNames = optionNames<KubeconfigForOptions>({
  server: true,
  ca: true,
  token: true,
  basic: true,
  cert: true,
  key: true,
  namespace: true,
  tlsServerName: true,
  insecureSkipTlsVerify: true,
  proxyUrl: true,
  name: true,
});

/**
 * A kubeconfig with one context, for kubectl and others: `JSON.stringify` of it is a kubeconfig file. It holds its
 * secrets in the clear: give the file mode 0600 and do not log it.
 */
export function kubeconfigFor(options: KubeconfigForOptions): Kubeconfig {
  refuseUnknownOptions('kubeconfigFor', options, kubeconfigForOptionNames);
  const { name = 'default', server, namespace } = options;
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [
      {
        name,
        cluster: {
          server,
          ...given('certificate-authority-data', base64(options.ca)),
          ...given('tls-server-name', options.tlsServerName),
          ...given('insecure-skip-tls-verify', options.insecureSkipTlsVerify || undefined),
          ...given('proxy-url', options.proxyUrl),
        },
      },
    ],
    users: [
      {
        name,
        user: {
          ...given('token', options.token),
          ...given('username', options.basic?.username),
          ...given('password', options.basic?.password),
          ...given('client-certificate-data', base64(options.cert)),
          ...given('client-key-data', base64(options.key)),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name, ...given('namespace', namespace) } }],
  };
}

function given(key: string, value: string | boolean | undefined): Record<string, string | boolean> {
  return value === undefined ? {} : { [key]: value };
}

function base64(pem: Pem | undefined): string | undefined {
  return pem === undefined ? undefined : Buffer.from(pem as string).toString('base64');
}
