import { parseArgs } from 'node:util';

export const usage = `Usage: riata-apiserver [options]

Runs a Kubernetes API server that keeps its objects in memory.

  --host HOST         address to listen on (default 127.0.0.1)
  --port PORT         port to listen on, 0 for a free one (default 6443)
  --kubeconfig FILE   write a kubeconfig for the administrator
  --token TOKEN       what requests must carry (default: a new one)
  --no-controllers    leave it to a kube-controller-manager to empty namespaces and to collect garbage
  --no-tls            plain HTTP, over which kubectl and the like send no token
  --help              this text
`;

/** What the command is told. */
export interface Settings {
  readonly host: string;
  readonly port: number;
  readonly kubeconfig: string | undefined;
  readonly token: string | undefined;
  readonly controllers: boolean;
  readonly tls: boolean;
}

/** Reads the arguments of the command; undefined when help is asked for. Throws a `TypeError` for what it does not know. */
export function parseCommandLine(args: readonly string[]): Settings | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      host: { ...text, default: '127.0.0.1' },
      port: { ...text, default: '6443' },
      kubeconfig: text,
      token: text,
      'no-controllers': { type: 'boolean', default: false },
      'no-tls': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return undefined;
  const { host, kubeconfig, token } = values;
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : Number.NaN;
  if (!(port <= 65_535)) throw new TypeError(`--port wants a number from 0 to 65535, got "${values.port}"`);
  if (token === '') throw new TypeError('--token wants a text, got an empty one');
  return { host, port, kubeconfig, token, controllers: !values['no-controllers'], tls: !values['no-tls'] };
}

/** What is wrong with this Node, if it is too old: said before anything is imported that it does not have. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return undefined;
  return `needs Node 20.19 or newer, this is ${version}: install a newer one`;
}
