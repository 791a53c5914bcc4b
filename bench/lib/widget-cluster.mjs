import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { createInterface } from 'node:readline';
import { startControlPlane } from '../../tools/control-plane/start.mjs';
import { cpuMsOf, rssMbOf } from './process-cost.mjs';

const GROUP = '/apis/bench.riata.dev/v1';
const LIMIT_MS = 180_000;
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** Wall time in µs, as the operators take it. */
const nowUs = () => Math.round((performance.timeOrigin + performance.now()) * 1000);

/** A real kube-apiserver with Widgets, on which operators run as processes, one after the other. */
export class WidgetCluster {
  #plane;
  #kubeconfig;
  #agent = new Agent({ keepAlive: true, maxSockets: 20 });
  #watchers = new Agent();
  #children = new Set();
  #runs = 0;

  static async start(kubeconfig) {
    const cluster = new WidgetCluster();
    cluster.#plane = await startControlPlane();
    cluster.#kubeconfig = kubeconfig(cluster.#plane.kubeconfig);
    await cluster.define('bench.riata.dev', ['Widget']);
    return cluster;
  }

  stop() {
    for (const child of this.#children) child.kill('SIGKILL');
    this.#agent.destroy();
    this.#watchers.destroy();
    return this.#plane.stop();
  }

  /** Makes kinds with a status, and waits until all are served. */
  async define(group, kinds) {
    const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    for (const kind of kinds) {
      const [singular, plural] = [kind.toLowerCase(), `${kind.toLowerCase()}s`];
      const openAPIV3Schema = { type: 'object', properties: { spec: schema, status: schema } };
      const version = { name: 'v1', served: true, storage: true, subresources: { status: {} } };
      await this.#call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${plural}.${group}` },
        spec: {
          ...{ group, scope: 'Namespaced', names: { kind, singular, plural, listKind: `${kind}List` } },
          versions: [{ ...version, schema: { openAPIV3Schema } }],
        },
      });
    }
    for (const kind of kinds) {
      const path = `/apis/${group}/v1/${kind.toLowerCase()}s?limit=1`;
      while (!(await this.#call('GET', path).then(Boolean, () => false))) await sleep(100);
    }
  }

  /** A new namespace with so many Widgets. */
  async fill(count) {
    const namespace = `bench-${this.#runs++}`;
    await this.#call('POST', '/api/v1/namespaces', { metadata: { name: namespace } });
    await this.add(namespace, 0, count);
    return namespace;
  }

  /** Adds Widgets `from` up to, not including, `to`. */
  async add(namespace, from, to) {
    const path = `${GROUP}/namespaces/${namespace}/widgets`;
    const meta = { apiVersion: 'bench.riata.dev/v1', kind: 'Widget' };
    const one = (size) => this.#call('POST', path, { ...meta, metadata: { name: `w-${size}` }, spec: { size } });
    await Promise.all(Array.from({ length: to - from }, (_, at) => one(from + at)));
  }

  /** Starts an operator: `command` with the kubeconfig, the namespace, its user agent and what it is to do. */
  startOperator({ command, before = [], env = {} }, namespace, mode) {
    const userAgent = `operator-of-${namespace}`;
    const child = spawn(command, [...before, this.#kubeconfig, namespace, userAgent, mode], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#children.add(child);
    const ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        this.#children.delete(child);
        resolve(code ?? signal);
      });
    });
    let output = '';
    child.stdout.on('data', (text) => {
      output += text;
    });
    return {
      cpuMs: () => cpuMsOf([child.pid]),
      rssMb: () => rssMbOf([child.pid]),
      /** Gives what it has said. */
      stop: async () => {
        child.kill('SIGTERM');
        const code = await ended;
        if (code !== 0) throw new Error(`${command} ${before.join(' ')} ended with ${code}`);
        return JSON.parse(output || '[]');
      },
    };
  }

  /** Resolves when so many Widgets are ready. */
  async ready(namespace, count) {
    const ready = new Set();
    await this.#watch(namespace, ({ object: { metadata, spec, status } }) => {
      const isReady = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True');
      if (isReady && status.size === spec.size) ready.add(metadata.name);
      return ready.size === count;
    });
  }

  /** Changes Widgets one after the other, so many a second, whatever the server does; operators measure what has a time. */
  async change(namespace, { count, perSecond, events, isMeasured = true }) {
    const from = performance.now();
    const pending = [];
    for (let at = 0; at < events; at++) {
      const wait = from + (at * 1000) / perSecond - performance.now();
      if (wait > 0) await sleep(wait);
      const path = `${GROUP}/namespaces/${namespace}/widgets/w-${at % count}`;
      pending.push(this.#call('PATCH', path, { spec: isMeasured ? { at: nowUs() } : { warmUp: at } }));
    }
    await Promise.all(pending);
  }

  /** What an operator has asked for, as the server's audit log has it, once it has ended. */
  async requestsOf(namespace) {
    await sleep(500);
    const found = { all: 0, refused: 0, verbs: {} };
    const seen = new Set();
    const log = readFileSync(this.#plane.auditLogPath, 'utf8');
    for (const line of log.split('\n').filter((text) => text.includes(namespace))) {
      const { auditID, userAgent = '', verb, objectRef = {}, responseStatus } = JSON.parse(line);
      // client-go asks for leases in a name of its own. Libraries add words to the name. Watches are told of twice.
      const isLease = objectRef.resource === 'leases' && objectRef.namespace === namespace;
      const isIts = isLease || userAgent.split(/[/ ]/, 1)[0] === `operator-of-${namespace}`;
      if (!isIts || seen.has(auditID)) continue;
      seen.add(auditID);
      const what = `${verb} ${objectRef.resource ?? 'paths'}${objectRef.subresource ? `/${objectRef.subresource}` : ''}`;
      found.verbs[what] = (found.verbs[what] ?? 0) + 1;
      found.all += 1;
      if (responseStatus?.code >= 400) found.refused += 1;
    }
    return found;
  }

  #headers(body) {
    const { token } = this.#plane;
    const type = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body ?? '') };
    return { authorization: `Bearer ${token}`, 'user-agent': 'bench', ...(body !== undefined && type) };
  }

  #call(method, path, object) {
    const body = object && JSON.stringify(object);
    const headers = this.#headers(body);
    if (method === 'PATCH') headers['content-type'] = 'application/merge-patch+json';
    return new Promise((resolve, reject) => {
      const { url, ca } = this.#plane;
      const sent = request(new URL(path, url), { method, headers, ca, agent: this.#agent }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => {
          if (response.statusCode < 300) resolve(text);
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
        });
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }

  /** Until `isDone` says so. */
  #watch(namespace, isDone) {
    const { url, ca } = this.#plane;
    const path = `${GROUP}/namespaces/${namespace}/widgets?watch=1`;
    return new Promise((resolve, reject) => {
      const options = { headers: this.#headers(), ca, agent: this.#watchers };
      const sent = request(new URL(path, url), options, (response) => {
        const lines = createInterface({ input: response });
        // Also when it is left.
        lines.on('error', reject);
        lines.on('line', (line) => {
          if (!isDone(JSON.parse(line))) return;
          clearTimeout(limit);
          resolve();
          sent.destroy();
        });
      });
      const limit = setTimeout(() => {
        reject(new Error(`Widgets in ${namespace} were not ready after ${LIMIT_MS / 1000} s`));
        sent.destroy();
      }, LIMIT_MS);
      sent.on('error', reject);
      sent.end();
    });
  }
}
