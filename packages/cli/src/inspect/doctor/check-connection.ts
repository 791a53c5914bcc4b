import { connect } from 'node:tls';
import type { RestConfig } from 'riata';
import { describeError, type Scheduler } from 'riata/runtime';
import { newestMinor, oldestMinor } from '../../command/kubernetes-versions.js';
import { certificateFindings } from './certificate-findings.js';
import { type CheckedCluster, type Finding, ok, problem, warning } from './finding.js';

/** Whether the server answers, by which certificate, and whether its version fits. */
export async function checkConnection({ client, config, clock, signal }: CheckedCluster): Promise<readonly Finding[]> {
  let version: { readonly major: string; readonly minor: string; readonly gitVersion: string };
  try {
    version = await client.discovery.serverVersion({ signal });
  } catch (error) {
    signal.throwIfAborted();
    return [
      problem(`${config.server}: ${describeError(error)}`, 'check the server, the context (--context) and the network'),
    ];
  }
  return [
    ok(`${config.server} answers: Kubernetes ${version.gitVersion}`),
    ...versionFindings(Number.parseInt(version.minor, 10), version.gitVersion),
    ...(await tlsFindings(config, clock)),
  ];
}

function versionFindings(minor: number, version: string): Finding[] {
  if (minor > newestMinor) {
    return [
      warning(
        `Kubernetes ${version} is newer than 1.${newestMinor}, the newest that this riata knows`,
        'upgrade riata',
      ),
    ];
  }
  if (minor < oldestMinor) {
    return [
      warning(
        `Kubernetes ${version} is older than 1.${oldestMinor}: features that riata uses may be missing`,
        'upgrade the cluster',
      ),
    ];
  }
  return [];
}

async function tlsFindings(config: RestConfig, clock: Pick<Scheduler, 'now' | 'after'>): Promise<Finding[]> {
  // In-process: nothing goes over the network.
  if (config.transport !== undefined) return [];
  const url = new URL(config.server);
  if (url.protocol === 'http:') {
    return [warning('the connection is not encrypted', 'use an https server outside of your own machine')];
  }
  const findings = config.insecureSkipTlsVerify
    ? [
        warning(
          'the certificate of the server is not verified',
          'give certificate-authority-data in the kubeconfig instead of insecure-skip-tls-verify',
        ),
      ]
    : [];
  // Behind a proxy the server can be reached by requests alone.
  if (config.proxyUrl !== undefined) return findings;
  const expires = await peerExpiry(url, clock);
  return expires === undefined
    ? findings
    : [...findings, ...certificateFindings('the certificate of the server', [expires], clock.now())];
}

/** When the certificate of a server expires; undefined if it cannot be read. Whether it is trusted, the request has found out. */
function peerExpiry({ hostname, port }: URL, clock: Pick<Scheduler, 'after'>): Promise<Date | undefined> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false }, () => {
      const { valid_to: until } = socket.getPeerCertificate();
      socket.destroy();
      resolve(until === undefined ? undefined : new Date(until));
    });
    const timer = clock.after(5_000, () => socket.destroy());
    socket.on('error', () => resolve(undefined));
    socket.on('close', () => {
      timer.cancel();
      resolve(undefined);
    });
  });
}
