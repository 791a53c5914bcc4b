import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startControlPlane } from '../../tools/control-plane/start.mjs';
import { pidsWith } from './process-cost.mjs';

/** A server that is measured: where it is, and the processes that it consists of. */

/**
 * `riata-apiserver` over HTTPS, as a process of its own with a probe of its event loop; with `dataDir`, on a data
 * directory.
 */
export async function startEmbedded(home, folder, { dataDir } = {}) {
  const kubeconfig = join(folder, 'embedded.kubeconfig');
  const from = performance.now();
  const child = fork(
    join(home, 'node_modules/@riata/apiserver/dist/bin.js'),
    ['--port=0', `--kubeconfig=${kubeconfig}`, '--token=bench-token', ...(dataDir ? [`--data-dir=${dataDir}`] : [])],
    { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], execArgv: ['--import', join(home, 'subjects/apiserver/probe.mjs')] },
  );
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const url = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const ready = /ready at (\S+)\n/.exec(text);
      if (ready) resolve(ready[1]);
    });
    void exited.then((code) => reject(new Error(`riata-apiserver ended with ${code} before it was ready`)));
  });
  const readyMs = performance.now() - from;
  const ca = Buffer.from(
    /certificate-authority-data"?: "?([^\s",]+)/.exec(readFileSync(kubeconfig, 'utf8'))[1],
    'base64',
  ).toString();
  /** Asks the process about itself. */
  const ask = (what) =>
    new Promise((resolve) => {
      child.once('message', resolve);
      child.send(what);
    });
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  return { name: 'embedded', url, ca, token: 'bench-token', pids: [String(child.pid)], readyMs, ask, stop };
}

/** kube-apiserver and etcd without audit log, and without fsync unless it is asked for. */
export async function startReal({ fsync = false } = {}) {
  const from = performance.now();
  const plane = await startControlPlane({ apiServerArgs: ['--audit-policy-file=', '--audit-log-path='], fsync });
  const { url, ca, token, etcdUrl } = plane;
  const pids = [...pidsWith(`--listen-client-urls=${etcdUrl}`), ...pidsWith(`--secure-port=${new URL(url).port}`)];
  if (pids.length !== 2) throw new Error(`expected the processes of etcd and kube-apiserver, found ${pids.length}`);
  return { name: 'kube-apiserver', url, ca, token, pids, readyMs: performance.now() - from, stop: () => plane.stop() };
}
