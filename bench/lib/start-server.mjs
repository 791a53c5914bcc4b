import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAuthority, issueCertificate } from '../../tools/control-plane/x509.mjs';

/** A watch sends these again and again. */
const DISTINCT_EVENTS = 5000;

/**
 * Starts the server process in `folder`, and writes a kubeconfig for it with a CA and a token. `stop` ends it.
 * @param {{ node: string, folder: string, pods: number }} options
 */
export async function startServer({ node, folder, pods }) {
  const distinct = Math.min(pods, DISTINCT_EVENTS);
  const events = Math.ceil(pods / distinct) * distinct;
  const issuer = createAuthority('bench');
  const leaf = issueCertificate({ commonName: 'server', ipAddresses: ['127.0.0.1'], usages: ['server'], issuer });
  const file = (name, text = '') => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const itemsFile = file('items.ndjson');
  const settings = {
    cert: file('server.crt', leaf.cert),
    key: file('server.key', leaf.key),
    itemsFile,
    pods,
    events,
    distinct,
  };
  const child = fork(fileURLToPath(new URL('./server.mjs', import.meta.url)), [JSON.stringify(settings)], {
    execPath: node,
  });
  const stopped = new Promise((resolve) => child.once('exit', resolve));
  const stop = async () => {
    child.kill();
    await stopped;
  };
  const ready = await Promise.race([
    new Promise((resolve) => child.once('message', resolve)),
    stopped.then((code) => {
      throw new Error(`the server ended with ${code} before it was ready`);
    }),
  ]);
  const { port, ...sizes } = /** @type {{ port: number }} */ (ready);
  const kubeconfig = (encoding) =>
    file(
      `${encoding}.kubeconfig`,
      `apiVersion: v1
kind: Config
current-context: bench
clusters:
- name: bench
  cluster:
    server: https://127.0.0.1:${port}/${encoding}
    certificate-authority-data: ${Buffer.from(issuer.cert).toString('base64')}
users:
- name: bench
  user:
    token: bench-token
contexts:
- name: bench
  context: { cluster: bench, user: bench, namespace: default }
`,
    );
  return { events, kubeconfigs: { plain: kubeconfig('plain'), gzip: kubeconfig('gzip') }, itemsFile, sizes, stop };
}
