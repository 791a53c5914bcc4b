// @ts-check
// One running control plane: its servers' flags, how each is known to be ready, and what can be done to it.

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientCertificate } from './client-certificate.mjs';
import { plainUser } from './configuration.mjs';
import { compactEtcd, etcdMemberNames } from './etcd.mjs';
import { finalizeNamespaces } from './finalize-namespaces.mjs';
import { tailOf } from './log-tail.mjs';
import { freePorts } from './ports.mjs';
import { statusOf } from './probe.mjs';

/**
 * The facts about a running control plane: plain data, all paths absolute.
 * @typedef {object} ControlPlaneFacts
 * @property {string} url The API server, https on 127.0.0.1; its certificate also names localhost.
 * @property {string} kubeconfig The kubeconfig's text, certificates inline: contexts `admin` (current) and `plain`.
 * @property {string} kubeconfigPath
 * @property {string} ca The authority of the API server's certificate, PEM.
 * @property {string} caFile
 * @property {string} caKeyFile
 * @property {string} clientCaFile The authority whose client certificates the API server accepts.
 * @property {string} clientCaKeyFile
 * @property {string} token A bearer token in system:masters: everything is allowed.
 * @property {string} plainUser A user without rights of its own, for RBAC refusals …
 * @property {string} plainToken … and its bearer token.
 * @property {string} etcdUrl
 * @property {string} auditLogPath One JSON line per answered request, level Metadata; writes to Leases with contents.
 * @property {string} kubectlPath
 * @property {string} dir The temporary folder of it all; `logs/` inside holds what the servers print.
 *
 * @typedef {object} ControlPlaneActions
 * @property {(options?: RestartOptions) => Promise<void>} restartApiServer Same port, same data; resolves when ready.
 * @property {(options?: RestartOptions) => Promise<void>} stopApiServer Until `startApiServer`, its port refuses.
 * @property {() => Promise<void>} startApiServer Resolves when it is ready; nothing happens if it runs already.
 * @property {(options?: ControllerManagerOptions) => Promise<void>} startControllerManager Nothing happens if one with
 *   the same controllers runs; one with others is stopped first.
 * @property {() => Promise<void>} stopControllerManager
 * @property {(revision?: number) => Promise<number>} compact See `compactEtcd`: to be followed by a restart for a 410.
 * @property {(user: string, groups?: string[], validity?: Validity) => import('./x509.mjs').Identity} clientCertificate
 *
 * @typedef {object} RestartOptions
 * @property {boolean} [graceful] SIGTERM, which ends requests in order, or SIGKILL. Default true.
 *
 * @typedef {object} ControllerManagerOptions
 * @property {string[]} [controllers] Default: namespace, garbagecollector and those of the workloads.
 *
 * @typedef {{ notBefore?: Date, notAfter?: Date }} Validity
 * @typedef {ControlPlaneFacts & ControlPlaneActions} ControlPlaneHandle
 */

export const defaultControllers = [
  'namespace',
  'garbagecollector',
  'deployment',
  'replicaset',
  'replicationcontroller',
  'statefulset',
  'daemonset',
  'job',
  'cronjob',
  'disruption',
  'endpointslice',
];

/** Another process took a port between its choice and its use. */
export class PortClash extends Error {}

/** @implements {ControlPlaneActions} */
export class ControlPlane {
  /** @type {ControlPlaneFacts} */
  facts;
  #keeper;
  #binaries;
  #configuration;
  #ports;
  #options;
  /** What runs and is meant to; an end of one of these is reported. @type {Set<string>} */
  #expected = new Set();
  /** Of the kube-controller-manager that was started last. @type {string} */
  #controllers = '';
  /** The last of the actions, which run one after the other. @type {Promise<unknown>} */
  #turn = Promise.resolve();

  /**
   * @param {import('./keeper.mjs').Keeper} keeper
   * @param {import('./build.mjs').Binaries} binaries
   * @param {import('./configuration.mjs').Configuration} configuration
   * @param {{ etcd: number, etcdPeer: number, apiServer: number }} ports
   * @param {{ readyTimeoutMs: number, apiServerArgs: string[], fsync?: boolean, log: (line: string) => void }} options
   */
  constructor(keeper, binaries, configuration, ports, options) {
    this.#keeper = keeper;
    this.#binaries = binaries;
    this.#configuration = configuration;
    this.#ports = ports;
    this.#options = options;
    const { url, kubeconfig, kubeconfigPath, ca, caFile, caKeyFile, clientCaFile, clientCaKeyFile } = configuration;
    const { token, plainToken, auditLogPath } = configuration;
    this.facts = {
      ...{ url, kubeconfig, kubeconfigPath, ca, caFile, caKeyFile, clientCaFile, clientCaKeyFile },
      ...{ token, plainUser, plainToken, auditLogPath },
      etcdUrl: `http://127.0.0.1:${ports.etcd}`,
      kubectlPath: binaries.kubectl,
      dir: keeper.dir,
    };
    mkdirSync(join(keeper.dir, 'logs'), { recursive: true });
  }

  async startEtcd() {
    const { etcdUrl, dir } = this.facts;
    const peerUrl = `http://127.0.0.1:${this.#ports.etcdPeer}`;
    const name = `etcd-${this.facts.token.slice(0, 16)}`;
    const args = [
      `--name=${name}`,
      `--data-dir=${join(dir, 'etcd')}`,
      `--listen-client-urls=${etcdUrl}`,
      `--advertise-client-urls=${etcdUrl}`,
      `--listen-peer-urls=${peerUrl}`,
      `--initial-advertise-peer-urls=${peerUrl}`,
      `--initial-cluster=${name}=${peerUrl}`,
      // The data is thrown away anyway.
      ...(this.#options.fsync ? [] : ['--unsafe-no-fsync']),
    ];
    // By name, since a stranger's etcd may answer on this port while ours fails to get it.
    await this.#launch('etcd', this.#binaries.etcd, args, async () => (await etcdMemberNames(etcdUrl)).includes(name));
  }

  startApiServer() {
    return this.#inTurn(() => this.#startApiServer());
  }

  /** @param {RestartOptions} [options] */
  stopApiServer({ graceful = true } = {}) {
    return this.#inTurn(() => this.#stop('kube-apiserver', graceful ? 'SIGTERM' : 'SIGKILL'));
  }

  /** @param {RestartOptions} [options] */
  restartApiServer({ graceful = true } = {}) {
    return this.#inTurn(async () => {
      await this.#stop('kube-apiserver', graceful ? 'SIGTERM' : 'SIGKILL');
      await this.#startApiServer();
    });
  }

  /** @param {ControllerManagerOptions} [options] */
  startControllerManager({ controllers = defaultControllers } = {}) {
    return this.#inTurn(async () => {
      const name = 'kube-controller-manager';
      const command = this.#binaries.kubeControllerManager;
      if (!command) throw new Error(`there is no ${name} in KUBEBUILDER_ASSETS; unset it to have one built`);
      const asked = controllers.join(',');
      if (this.#expected.has(name)) {
        if (this.#controllers === asked) return;
        await this.#stop(name, 'SIGTERM');
      }
      this.#controllers = asked;
      if (controllers.includes('namespace')) await finalizeNamespaces(this.#configuration);
      const { kubeconfigPath, servingCertFile, servingKeyFile, serviceAccountKeyFile, ca } = this.#configuration;
      const { clientCaFile, clientCaKeyFile } = this.#configuration;
      /** @param {number} port */
      const argsOn = (port) => [
        `--kubeconfig=${kubeconfigPath}`,
        `--controllers=${asked}`,
        `--service-account-private-key-file=${serviceAccountKeyFile}`,
        `--cluster-signing-cert-file=${clientCaFile}`,
        `--cluster-signing-key-file=${clientCaKeyFile}`,
        '--use-service-account-credentials=false',
        '--leader-elect=false',
        '--bind-address=127.0.0.1',
        `--secure-port=${port}`,
        `--tls-cert-file=${servingCertFile}`,
        `--tls-private-key-file=${servingKeyFile}`,
        '--kube-api-qps=500',
        '--kube-api-burst=1000',
      ];
      for (let tries = 1; ; tries++) {
        const [port = 0] = await freePorts(1);
        const isReady = async () => (await statusOf(`https://127.0.0.1:${port}/healthz`, { ca })) === 200;
        try {
          return await this.#launch(name, command, argsOn(port), isReady);
        } catch (error) {
          if (!(error instanceof PortClash) || tries === 5) throw error;
        }
      }
    });
  }

  stopControllerManager() {
    return this.#inTurn(() => this.#stop('kube-controller-manager', 'SIGTERM'));
  }

  /** @param {number} [revision] */
  compact(revision) {
    return this.#inTurn(() => compactEtcd(this.facts.etcdUrl, revision));
  }

  /** @param {string} user @param {string[]} [groups] @param {Validity} [validity] */
  clientCertificate(user, groups, validity) {
    return clientCertificate(this.facts, user, groups, validity);
  }

  /**
   * Starts a program of the caller's, on this process's own input and outputs; it ends with the control plane at last.
   * @param {{ command: string, args: string[], env: NodeJS.ProcessEnv }} launch
   */
  async startCommand({ command, args, env }) {
    const { exited } = await this.#keeper.start({ name: 'command', command, args, env, cwd: process.cwd() });
    /** @param {NodeJS.Signals} signal @param {number} graceMs */
    const stop = (signal, graceMs) => this.#keeper.stop('command', { signal, graceMs });
    return { exited, stop };
  }

  /** Writes a file into the temporary folder, readable for this user only. @param {string} name @param {string} text */
  writeFile(name, text) {
    const path = join(this.facts.dir, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  /** Ends every process, removes the folder, and waits for both. Calling it again does nothing. */
  async stop() {
    this.#expected.clear();
    await this.#keeper.end();
  }

  async #startApiServer() {
    if (this.#expected.has('kube-apiserver')) return;
    const { url, ca, token } = this.#configuration;
    /** @param {string} path */
    const isOk = async (path) => (await statusOf(url + path, { ca, token })) === 200;
    // /readyz says ok a moment before the first namespaces are there, and its own Service, whose address is taken then.
    const own = '/api/v1/namespaces/default/services/kubernetes';
    const isReady = async () =>
      (await isOk('/readyz')) && (await isOk('/api/v1/namespaces/default')) && (await isOk(own));
    for (let tries = 1; ; tries++) {
      try {
        return await this.#launch('kube-apiserver', this.#binaries.kubeApiserver, this.#apiServerArgs(), isReady);
      } catch (error) {
        // Once its address is known to others it cannot be given another one: wait for the port.
        const isFirstStart = statSync(this.facts.auditLogPath).size === 0;
        if (!(error instanceof PortClash) || isFirstStart || tries === 30) throw error;
        await sleep(1_000);
      }
    }
  }

  #apiServerArgs() {
    const files = this.#configuration;
    const enabled = this.#options.apiServerArgs.filter((arg) => arg.startsWith('--enable-admission-plugins='));
    const enablesAccounts = enabled.some((arg) => /[=,]ServiceAccount\b/.test(arg));
    return [
      `--etcd-servers=${this.facts.etcdUrl}`,
      '--etcd-compaction-interval=0', // tests compact when they need to
      '--shutdown-watch-termination-grace-period=2s', // without it, a SIGTERM waits a minute for open watches
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1', // without it, a machine without a default route cannot start one
      '--endpoint-reconciler-type=none', // loopback is no legal endpoint
      `--secure-port=${this.#ports.apiServer}`,
      `--tls-cert-file=${files.servingCertFile}`,
      `--tls-private-key-file=${files.servingKeyFile}`,
      `--client-ca-file=${files.clientCaFile}`,
      `--token-auth-file=${files.tokenFile}`,
      '--authorization-mode=RBAC',
      // The accounts that it requires are never created, unless a test enables it.
      ...(enablesAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']),
      '--allow-privileged=true',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${files.serviceAccountPublicKeyFile}`,
      `--service-account-signing-key-file=${files.serviceAccountKeyFile}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      `--audit-policy-file=${files.auditPolicyFile}`,
      `--audit-log-path=${files.auditLogPath}`,
      '--audit-log-maxsize=4096', // in MB; the default of 100 would make it start over in the middle of a test
      ...this.#options.apiServerArgs,
    ];
  }

  /** @param {string} name @param {string} command @param {string[]} args @param {() => Promise<boolean>} isReady */
  async #launch(name, command, args, isReady) {
    const logFile = join(this.facts.dir, 'logs', `${name}.log`);
    const logStart = sizeOf(logFile);
    const { exited } = await this.#keeper.start({ name, command, args, logFile, background: true });
    /** @type {string | undefined} */
    let ended;
    void exited.then(({ code, signal }) => {
      ended = `ended with ${signal ?? `exit code ${code}`}`;
      if (this.#expected.delete(name)) this.#options.log(`control plane: ${name} ${ended}\n${tailOf(logFile)}`);
    });
    const { readyTimeoutMs } = this.#options;
    const deadline = Date.now() + readyTimeoutMs;
    while (!ended && !(await isReady())) {
      if (Date.now() > deadline) {
        await this.#keeper.stop(name, { signal: 'SIGKILL' });
        throw new Error(
          `${name} was not ready after ${readyTimeoutMs / 1000} s; its log ends with\n${tailOf(logFile)}`,
        );
      }
      await sleep(50);
    }
    if (ended) {
      const isClash = readFileSync(logFile).subarray(logStart).includes('address already in use');
      const message = `${name} ${ended} before it was ready; its log ends with\n${tailOf(logFile)}`;
      throw isClash ? new PortClash(message) : new Error(message);
    }
    this.#expected.add(name);
  }

  /** @param {string} name @param {NodeJS.Signals} signal */
  async #stop(name, signal) {
    this.#expected.delete(name);
    // A SIGTERM is to end in order, however slow the machine is just now.
    await this.#keeper.stop(name, { signal, graceMs: 60_000 });
  }

  /** @template T @param {() => Promise<T>} action @returns {Promise<T>} */
  #inTurn(action) {
    const result = this.#turn.then(action);
    this.#turn = result.catch(() => {});
    return result;
  }
}

/** @param {string} path */
const sizeOf = (path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
