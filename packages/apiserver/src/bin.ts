#!/usr/bin/env node
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ApiServer } from './api-server.js';
import { adminKubeconfig } from './http/admin-kubeconfig.js';

const usage = `Usage: riata-apiserver [options]

Runs a Kubernetes API server that keeps its objects in memory.

  --host HOST         address to listen on (default 127.0.0.1)
  --port PORT         port to listen on, 0 for a free one (default 6443)
  --kubeconfig FILE   write a kubeconfig for the administrator
  --token TOKEN       what requests must carry (default: a new one)
  --no-tls            plain HTTP, over which kubectl and the like send no token
  --help              this text
`;

interface Settings {
  readonly host: string;
  readonly port: number;
  readonly kubeconfig: string | undefined;
  readonly token: string | undefined;
  readonly tls: boolean;
}

function settingsFrom(args: string[]): Settings | undefined {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: {
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
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : Number.NaN;
  if (!(port <= 65_535)) throw new TypeError(`--port wants a number from 0 to 65535, got "${values.port}"`);
  if (token === '') throw new TypeError('--token wants a text, got an empty one');
  return { host, port, kubeconfig, token, tls: !values['no-tls'] };
}

async function run({ host, port, kubeconfig, token, tls }: Settings): Promise<void> {
  const stopAsked = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  const server = await ApiServer.start({ token });
  try {
    const { url, ca } = await server.listen({ host, port, tls });
    if (kubeconfig !== undefined) {
      await writeFile(kubeconfig, adminKubeconfig({ url, token: server.token, ca }), { mode: 0o600 });
    }
    process.stdout.write(`riata-apiserver is ready at ${url}\n`);
    await stopAsked;
  } finally {
    await server.stop();
  }
}

async function main(args: string[]): Promise<number> {
  let settings: Settings | undefined;
  try {
    settings = settingsFrom(args);
  } catch (error) {
    process.stderr.write(`riata-apiserver: ${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  if (settings === undefined) {
    process.stdout.write(usage);
    return 0;
  }
  try {
    await run(settings);
    return 0;
  } catch (error) {
    process.stderr.write(`riata-apiserver: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
