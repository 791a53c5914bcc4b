import { Pod } from '../../kinds/generated/groups/core/v1.js';
import type { ExecOptions } from '../stream/exec-options.js';
import { commandProtocols } from '../stream/remote-command.js';
import type { Operation } from './operation.js';

/** Runs a command in a container, or attaches to its process if `command` is undefined. */
export function commandOperation(
  pod: { readonly namespace?: string; readonly name: string },
  command: readonly string[] | undefined,
  { container, stdin = false, tty = false, stdout = true, stderr = !tty, ...call }: ExecOptions,
): Operation<'stream'> {
  const { namespace, name } = pod;
  const flags = { stdin: stdin !== false, stdout, stderr, tty };
  const params: Record<string, string> = container === undefined ? {} : { container };
  for (const [flag, value] of Object.entries(flags)) if (value) params[flag] = 'true';
  return {
    ...{ verb: 'stream', kind: Pod, namespace, name, subresource: command === undefined ? 'attach' : 'exec' },
    ...{ params, repeatedParams: command?.map((word) => ['command', word] as const) ?? [] },
    ...{ protocols: commandProtocols, signal: call.signal, maxRetries: call.maxRetries, span: call.span },
  };
}
