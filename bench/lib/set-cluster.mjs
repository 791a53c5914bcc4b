import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startControlPlane } from '../../tools/control-plane/start.mjs';

const run = promisify(execFile);
const LIMIT_MS = 180_000;
const nowUs = () => Math.round((performance.timeOrigin + performance.now()) * 1000);

/** A real kube-apiserver on which sets are applied, each to a namespace of its own. */
export class SetCluster {
  #plane;
  #folder;
  #kubeconfig;
  #runs = 0;

  static async start(folder) {
    const cluster = new SetCluster();
    cluster.#folder = folder;
    cluster.#plane = await startControlPlane();
    cluster.#kubeconfig = cluster.#file('sets.kubeconfig', cluster.#plane.kubeconfig);
    return cluster;
  }

  stop() {
    return this.#plane.stop();
  }

  async newNamespace() {
    const namespace = `sets-${this.#runs++}`;
    await this.#kubectl(['create', 'namespace', namespace]);
    return namespace;
  }

  /** Runs a program that applies `sets` one after the other, and gives what it says of each step. */
  async apply({ command, before = [], env = {} }, namespace, mode, sets) {
    const files = sets.map((set, at) => this.#file(`${namespace}-${at}.json`, JSON.stringify(set)));
    const args = [...before, this.#kubeconfig, namespace, `applier-of-${namespace}`, mode, ...files];
    const options = { env: { ...process.env, ...env }, timeout: LIMIT_MS, maxBuffer: 1 << 24 };
    const { stdout } = await run(command, args, options);
    return JSON.parse(stdout);
  }

  /** The same by kubectl, a process for each set. CPU time is not known. */
  async applyByKubectl(namespace, sets) {
    const steps = [];
    for (const [at, items] of sets.entries()) {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      const file = this.#file(`${namespace}-${at}.json`, list);
      const from = nowUs();
      const applySet = ['--prune', `--applyset=configmaps/bench-set`];
      await this.#kubectl(['apply', '--server-side', ...applySet, '-n', namespace, '-f', file]);
      steps.push({ from, to: nowUs(), cpuMs: Number.NaN });
    }
    return steps;
  }

  /** How many requests each step has made, by verb, as the server's audit log has it. */
  async requestsOf(steps) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const counts = steps.map(() => ({ all: 0, writes: 0, verbs: {} }));
    const seen = new Set();
    for (const line of readFileSync(this.#plane.auditLogPath, 'utf8').split('\n')) {
      if (!line.includes('"applier-of-') && !line.includes('"kubectl/')) continue;
      const { auditID, verb, objectRef = {}, requestReceivedTimestamp } = JSON.parse(line);
      const at = microseconds(requestReceivedTimestamp);
      const step = steps.findIndex(({ from, to }) => from <= at && at <= to);
      if (step < 0 || seen.has(auditID)) continue;
      seen.add(auditID);
      const count = counts[step];
      const what = `${verb} ${objectRef.resource ?? 'paths'}`;
      count.verbs[what] = (count.verbs[what] ?? 0) + 1;
      count.all += 1;
      if (!['get', 'list', 'watch'].includes(verb)) count.writes += 1;
    }
    return counts;
  }

  async #kubectl(args) {
    const env = { ...process.env, KUBECTL_APPLYSET: 'true' };
    const options = { env, timeout: LIMIT_MS, maxBuffer: 1 << 24 };
    await run(this.#plane.kubectlPath, ['--kubeconfig', this.#kubeconfig, ...args], options);
  }

  #file(name, text) {
    const path = join(this.#folder, name);
    writeFileSync(path, text);
    return path;
  }
}

/** Of `2026-01-01T00:00:00.123456Z`, since the epoch. */
function microseconds(time) {
  return Date.parse(`${time.slice(0, 19)}Z`) * 1000 + Number(time.slice(20, 26));
}
