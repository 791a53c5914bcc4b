import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { RestConfig } from 'riata';
import { clusterConfig } from '../command/cluster-options.js';
import type { CommandIo } from '../command/command-io.js';
import { numberOf, portOf } from './number-option.js';

/** The cluster that an operator is developed in. */
export interface DevCluster extends AsyncDisposable {
  readonly config: RestConfig;
  readonly isSandbox: boolean;
}

/** Options by which {@link openCluster} finds it. */
export interface DevClusterOptions {
  readonly context?: string;
  readonly kubeconfig?: string;
  readonly nodes?: string;
  readonly port?: string;
}

/** Connects to the cluster that the options name, or starts a sandbox that kubectl reaches. `folder`: that of the project. */
export async function openCluster(io: CommandIo, folder: string, options: DevClusterOptions): Promise<DevCluster> {
  const { context, kubeconfig } = options;
  if (context === undefined && kubeconfig === undefined) return startSandbox(io, folder, options);
  const config = await clusterConfig(io, { ...(context && { context }), ...(kubeconfig && { kubeconfig }) });
  io.out(`cluster ${config.server}`);
  return { config, isSandbox: false, [Symbol.asyncDispose]: async () => {} };
}

async function startSandbox(io: CommandIo, folder: string, options: DevClusterOptions): Promise<DevCluster> {
  const nodes = numberOf('--nodes', options.nodes ?? '3');
  const port = portOf('--port', options.port ?? '0');
  const { Sandbox } = await import('@riata/sandbox');
  const sandbox = await Sandbox.start({ nodes });
  try {
    const { url, ca } = await sandbox.listen({ port });
    const path = join(folder, 'node_modules/.cache/riata/kubeconfig');
    const admin = sandbox.server.as({ user: 'admin', groups: ['system:masters'] });
    await mkdir(dirname(path), { recursive: true });
    await rm(path, { force: true });
    await writeFile(path, admin.kubeconfig({ url, ca }), { mode: 0o600 });
    io.out(`sandbox ${url}, ${nodes} nodes`);
    io.out(`export KUBECONFIG=${path}`);
    return {
      config: sandbox.server.connect({ name: 'operator' }),
      isSandbox: true,
      [Symbol.asyncDispose]: async () => {
        await rm(path, { force: true });
        await sandbox.stop();
      },
    };
  } catch (error) {
    await sandbox.stop();
    throw error;
  }
}
