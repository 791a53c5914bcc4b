import { Buffer } from 'node:buffer';

/** The contents of a kubeconfig. */
export interface KubeconfigParts {
  readonly url: string;
  readonly token: string;
  /** PEM; none for plain HTTP. */
  readonly ca?: string | undefined;
}

/** The text of a kubeconfig for the administrator. JSON is YAML: every tool reads it. */
export function adminKubeconfig({ url, token, ca }: KubeconfigParts): string {
  const name = 'riata';
  const trust = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, ...trust } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
