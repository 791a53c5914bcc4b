import type { Scheduler } from '../../runtime/time/clock.js';
import { redactText } from '../errors/redact.js';
import type { AuthorizationSource, ClientCertificate, RefreshOptions } from './authorization-source.js';
import { type ExecCredential, readExecCredential } from './exec-credential.js';
import { ExecPluginError } from './exec-plugin-error.js';
import { runPlugin } from './run-plugin.js';
import { SharedRun } from './shared-run.js';

/** The versions of the protocol that are spoken. */
export const execApiVersions: readonly string[] = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
];

/** The cluster as passed to a plugin in KUBERNETES_EXEC_INFO, if it is configured to get it. */
export interface ExecCluster {
  readonly server: string;
  readonly 'tls-server-name'?: string;
  readonly 'insecure-skip-tls-verify'?: boolean;
  readonly 'certificate-authority-data'?: string;
  readonly 'proxy-url'?: string;
  readonly 'disable-compression'?: boolean;
  readonly config?: unknown;
}

export interface ExecPluginOptions {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Added to `baseEnv`. */
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  readonly installHint?: string;
  /** Called before each run; undefined = the plugin does not get the cluster. */
  readonly cluster?: () => Promise<ExecCluster>;
  readonly baseEnv: Readonly<Record<string, string | undefined>>;
  readonly clock: Scheduler;
  /** Longest wait for an answer, unless the plugin may ask the user; 0 = none. */
  readonly timeoutMs: number;
  /** Whether standard input is a terminal. */
  readonly terminal: boolean;
}

/** Credentials are renewed this long before they expire, or a tenth of their life if that is shorter. */
const longestMarginMs = 10_000;

/**
 * Credentials from a command (`exec` in a kubeconfig). The command is run when credentials are first needed, when they
 * are about to expire and after a 401: once, however many ask.
 */
export class ExecPlugin implements AuthorizationSource {
  readonly #options: ExecPluginOptions;
  readonly #runs = new SharedRun((signal) => this.#run(signal));
  #cached: ExecCredential | undefined;
  /** Outlives the cache: the same certificate again is the same object again, and the transport keeps its connections. */
  #certificate: ClientCertificate | undefined;
  #staleAt = Number.NEGATIVE_INFINITY;

  constructor(options: ExecPluginOptions) {
    this.#options = options;
  }

  async authorization(options: { readonly signal?: AbortSignal } = {}): Promise<string | undefined> {
    return (await this.#get(options.signal)).authorization;
  }

  async clientCertificate(options: { readonly signal?: AbortSignal } = {}): Promise<ClientCertificate | undefined> {
    return (await this.#get(options.signal)).certificate;
  }

  async refresh({ signal, rejected }: RefreshOptions = {}): Promise<boolean> {
    const before = this.#cached;
    // Another request met the same 401 earlier and has brought new credentials since.
    if (rejected !== undefined && before !== undefined && before.authorization !== rejected) return true;
    this.#cached = undefined;
    try {
      const after = await this.#get(signal);
      return after.authorization !== (rejected ?? before?.authorization) || after.certificate !== before?.certificate;
    } catch (error) {
      if (signal?.aborted) throw error;
      // The caller has the server's 401 in hand, which says more; the next request meets this error itself.
      return false;
    }
  }

  describe(): string {
    return `exec ${this.#options.command}`;
  }

  async #get(signal: AbortSignal | undefined): Promise<ExecCredential> {
    if (this.#cached !== undefined && this.#options.clock.now() < this.#staleAt) return this.#cached;
    return this.#runs.join(signal);
  }

  async #run(signal: AbortSignal): Promise<ExecCredential> {
    const { clock, command, args, installHint, timeoutMs } = this.#options;
    const interactive = this.#interactive();
    const stdout = await runPlugin({
      command,
      args,
      env: await this.#environment(interactive),
      interactive,
      timeoutMs: interactive ? 0 : timeoutMs,
      clock,
      signal,
      installHint,
      redact: (text) => this.#redact(text),
    });
    const fail = (problem: string) => new ExecPluginError(command, problem);
    return this.#keep(await readExecCredential(stdout, this.#options.apiVersion, fail));
  }

  #keep(answer: ExecCredential): ExecCredential {
    const now = this.#options.clock.now();
    const life = (answer.expiresAt ?? Number.POSITIVE_INFINITY) - now;
    this.#staleAt = now + life - Math.min(longestMarginMs, life / 10);
    const { cert, key } = answer.certificate ?? {};
    if (this.#certificate?.cert !== cert || this.#certificate?.key !== key) this.#certificate = answer.certificate;
    this.#cached = { ...answer, certificate: this.#certificate };
    return this.#cached;
  }

  #interactive(): boolean {
    const { command, interactiveMode, terminal } = this.#options;
    if (interactiveMode === 'Always' && !terminal) {
      throw new ExecPluginError(
        command,
        'its interactiveMode is Always, but standard input is not a terminal; run it from one, or use credentials ' +
          'that need no user',
      );
    }
    return interactiveMode !== 'Never' && terminal;
  }

  async #environment(interactive: boolean): Promise<Record<string, string | undefined>> {
    const { apiVersion, baseEnv, cluster, env } = this.#options;
    const spec = { cluster: await cluster?.(), interactive };
    return {
      ...baseEnv,
      ...Object.fromEntries(env.map(({ name, value }) => [name, value])),
      KUBERNETES_EXEC_INFO: JSON.stringify({ kind: 'ExecCredential', apiVersion, spec }),
    };
  }

  /** Secrets that were passed to the plugin, and texts that look like a token, are not repeated. */
  #redact(text: string): string {
    const { args, env } = this.#options;
    const secrets = [...env.map(({ value }) => value), ...secretArguments(args)].filter(({ length }) => length >= 6);
    const cut = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
    return redactText(cut).replace(/\beyJ[\w-]{8,}(\.[\w-]+){0,2}/g, '[redacted]');
  }
}

/** The values of `--client-secret=x` and `--password x`. */
function secretArguments(args: readonly string[]): string[] {
  return args.flatMap((arg, i) => {
    const [name = '', ...value] = arg.split('=');
    if (!/^-.*(secret|password|passwd|token|key)/i.test(name)) return [];
    return value.length > 0 ? [value.join('=')] : args.slice(i + 1, i + 2);
  });
}
