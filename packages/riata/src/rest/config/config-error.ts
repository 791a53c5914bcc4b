/** Why no usable configuration came out. */
export type ConfigErrorReason = 'Empty' | 'ContextNotFound' | 'NotInCluster' | 'Invalid';

/** Which spot of which configuration is meant; the message of a {@link ConfigError} starts with it. */
export interface ConfigPlace {
  /** Where the configuration came from: `kubeconfig /home/me/.kube/config`, `in-cluster configuration`. */
  readonly source: string;
  readonly context?: string;
  /** Such as `users[dev].user.client-certificate`. */
  readonly field?: string;
}

const brand = Symbol.for('riata.ConfigError');

/**
 * A configuration that is missing or malformed. The message names source, context and field, the expected and the given
 * value; it never quotes a secret. `reason` distinguishes what clientcmd checks with `IsEmptyConfig`,
 * `IsContextNotFound` and `IsConfigurationInvalid`, and `rest.ErrNotInCluster`.
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly reason: ConfigErrorReason;
  readonly source: string | undefined;
  readonly context: string | undefined;
  readonly field: string | undefined;

  constructor(problem: string, options: Partial<ConfigPlace> & { readonly reason?: ConfigErrorReason } = {}) {
    super(placed(problem, options));
    this.reason = options.reason ?? 'Invalid';
    this.source = options.source;
    this.context = options.context;
    this.field = options.field;
  }

  get [brand](): true {
    return true;
  }
}

/** Whether `error` is a {@link ConfigError}, also one made by another copy of this library. */
export function isConfigError(error: unknown): error is ConfigError {
  return typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true;
}

function placed(problem: string, { source, context, field }: Partial<ConfigPlace>): string {
  const where = context === undefined ? source : `${source ?? 'kubeconfig'} (context "${context}")`;
  return [where, field, problem].filter((part) => part !== undefined).join(': ');
}

const words: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of its path is not a directory',
  ELOOP: 'its symbolic links go round in a circle',
};

/** The meaning of a failed file system call, in words. */
export function fileProblem(error: unknown): string {
  const code = errorCode(error);
  return words[code] ?? (code === '' ? 'unknown reason' : code);
}

/** The `code` of a Node error, or an empty string. */
export function errorCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}
