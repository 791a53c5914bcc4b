#!/usr/bin/env node
import { writeFile } from 'node:fs/promises';
import { nodeProblem, parseCommandLine, type Settings, usage } from './command-line.js';

async function run({ host, port, kubeconfig, token, controllers, tls }: Settings): Promise<void> {
  const stopAsked = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  // The package's own entry, so that it is one file.
  const { ApiServer, adminKubeconfig } = await import('./index.js');
  const server = await ApiServer.start({ token, controllers });
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
  const problem = nodeProblem(process.versions.node);
  if (problem !== undefined) {
    process.stderr.write(`riata-apiserver: ${problem}\n`);
    return 1;
  }
  let settings: Settings | undefined;
  try {
    settings = parseCommandLine(args);
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
