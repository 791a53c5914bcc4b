#!/usr/bin/env node
import { writeFile } from 'node:fs/promises';
import { nodeProblem, parseCommandLine, type Settings, usage } from './command-line.js';

async function run({ host, port, kubeconfig, token, tls, nodes }: Settings): Promise<void> {
  const stopAsked = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  const { Sandbox } = await import('./index.js');
  const { adminKubeconfig } = await import('@riata/apiserver');
  await using sandbox = await Sandbox.start({ nodes, ...(token && { token }) });
  const { url, ca } = await sandbox.listen({ host, port, tls });
  if (kubeconfig !== undefined) {
    await writeFile(kubeconfig, adminKubeconfig({ url, token: sandbox.server.token, ca }), { mode: 0o600 });
  }
  process.stdout.write(`riata-sandbox is ready at ${url}\n`);
  await stopAsked;
}

async function main(args: string[]): Promise<number> {
  const problem = nodeProblem(process.versions.node);
  if (problem !== undefined) {
    process.stderr.write(`riata-sandbox: ${problem}\n`);
    return 1;
  }
  let settings: Settings | undefined;
  try {
    settings = parseCommandLine(args);
  } catch (error) {
    process.stderr.write(`riata-sandbox: ${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
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
    process.stderr.write(`riata-sandbox: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
