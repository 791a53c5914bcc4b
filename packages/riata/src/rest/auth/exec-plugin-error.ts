const brand = Symbol.for('riata.ExecPluginError');

/**
 * A credential plugin could not be run, failed, or answered with something else than credentials. The message holds the
 * command, the end of what it wrote to stderr and the configuration's install hint; never its arguments, environment
 * or stdout.
 */
export class ExecPluginError extends Error {
  override readonly name = 'ExecPluginError';
  /** The command as configured. */
  readonly command: string;

  constructor(command: string, problem: string, details: { readonly stderr?: string; readonly hint?: string } = {}) {
    const { stderr = '', hint } = details;
    const parts = [`exec plugin ${command}: ${problem}`];
    if (stderr !== '') parts.push(`it wrote: ${stderr}`);
    if (hint !== undefined) parts.push(hint);
    super(parts.join('\n'));
    this.command = command;
  }

  get [brand](): true {
    return true;
  }
}

/** Whether `error` is an {@link ExecPluginError}, also one made by another copy of this library. */
export function isExecPluginError(error: unknown): error is ExecPluginError {
  return typeof error === 'object' && error !== null && (error as { [brand]?: unknown })[brand] === true;
}
