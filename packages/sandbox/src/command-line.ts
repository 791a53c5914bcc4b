import { parseArgs } from 'node:util';

export const usage = `Usage: riata-sandbox [options]

Runs a Kubernetes cluster without nodes: an API server that keeps its objects in memory, the controllers of workloads, a
scheduler, and a kubelet that pretends to run Pods.

  --nodes COUNT       how many nodes there are (default 3)
  --host HOST         address to listen on (default 127.0.0.1)
  --port PORT         port to listen on, 0 for a free one (default 6443)
  --kubeconfig FILE   write a kubeconfig for the administrator
  --token TOKEN       what requests must carry (default: a new one)
  --no-tls            plain HTTP, over which kubectl and the like send no token
  --help              this text
`;

/** What the command is told. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly kubeconfig: string | undefined;
  readonly token: string | undefined;
  readonly tls: boolean;
  readonly nodes: number;
}

/** Reads the arguments of the command; undefined when help is asked for. Throws a `TypeError` for what it does not know. */
export function parseCommandLine(args: readonly string[]): Settings | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      nodes: { ...text, default: '3' },
      host: { ...text, default: '127.0.0.1' },
      port: { ...text, default: '6443' },
      kubeconfig: text,
      token: text,
      'no-tls': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const { host, kubeconfig, token } = values;
  const number = (name: 'port' | 'nodes', most: number) => {
    const given = values[name];
    if (/^\d{1,5}$/.test(given) && Number(given) <= most) return Number(given);
    throw new TypeError(`--${name} wants a number from 0 to ${most}, got "${given}"`);
  };
  if (token === '') throw new TypeError('--token wants a text, got an empty one');
  return {
    ...{ host, kubeconfig, token, tls: !values['no-tls'] },
    ...{ port: number('port', 65_535), nodes: number('nodes', 5000) },
  };
}

/** What is wrong with this Node, if it is too old: said before anything is imported that it does not have. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return undefined;
  return `needs Node 20.19 or newer, this is ${version}: install a newer one`;
}
