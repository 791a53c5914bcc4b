import type { ChildProcess, StdioOptions } from 'node:child_process';
import { writeToStandardError } from '../../runtime/log/write-to-standard-error.js';
import { onAbort } from '../../runtime/signals.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import { errorCode, fileProblem } from '../config/config-error.js';
import { ExecPluginError } from './exec-plugin-error.js';
import { pluginCommand } from './plugin-command.js';

export interface PluginRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Shares the terminal with the plugin: it may ask the user something. */
  readonly interactive: boolean;
  /** 0 = none. */
  readonly timeoutMs: number;
  readonly clock: Scheduler;
  readonly signal: AbortSignal;
  /** Shown when the command does not exist. */
  readonly installHint?: string;
  /** Takes what is secret out of what the plugin wrote to stderr. */
  readonly redact: (text: string) => string;
}

const stdoutLimit = 1024 * 1024;
/** Kept of stderr, and shown of that: a secret cut in two could not be recognised, so more is kept than shown. */
const stderrKept = 64 * 1024;
const stderrShown = 2048;
/** Between the end of a plugin and that of its pipes, which something that it left running may hold open for long. */
const lateOutputMs = 1_000;
/** Between asking a plugin to stop and stopping it. */
const killAfterMs = 2_000;

/**
 * Runs the command and resolves to what it wrote to stdout. No shell is between, but for batch files on Windows, which
 * only `cmd.exe` can run.
 */
export async function runPlugin(run: PluginRun): Promise<string> {
  const [{ spawn }, { statSync }] = await Promise.all([import('node:child_process'), import('node:fs')]);
  run.signal.throwIfAborted();
  const stdio: StdioOptions = [run.interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'];
  return new Promise<string>((resolve, reject) => {
    const isFile = (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
    const { file, args, verbatim } = pluginCommand({ ...run, platform: process.platform, isFile });
    const child = started(run.command, () =>
      spawn(file, args, { env: run.env, stdio, windowsHide: true, windowsVerbatimArguments: verbatim }),
    );
    const stdout: Buffer[] = [];
    let size = 0;
    let stderr = '';
    const fail = (problem: string, hint?: string) =>
      new ExecPluginError(run.command, problem, { stderr: cleanTail(run.redact(stderr)), hint });
    const stop = (error: unknown) => {
      reject(error);
      end(child, run.clock);
    };

    const aborting = onAbort(run.signal, () => stop(run.signal.reason));
    const late = () => stop(fail(`gave no answer within ${run.timeoutMs} ms and was stopped`));
    let timer = run.timeoutMs > 0 ? run.clock.after(run.timeoutMs, late, { background: true }) : undefined;
    const settled = () => {
      aborting[Symbol.dispose]();
      timer?.cancel();
    };

    child.stdout?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > stdoutLimit) stop(fail(`wrote more than ${stdoutLimit} bytes to stdout; that is no ExecCredential`));
      else stdout.push(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      // The user has to see a prompt when it comes, not in an error later.
      if (run.interactive) writeToStandardError(chunk);
      stderr = (stderr + chunk.toString('utf8')).slice(-stderrKept);
    });
    child.on('error', (error) => {
      settled();
      const missing = errorCode(error) === 'ENOENT';
      reject(
        missing
          ? fail('the executable was not found; install it, or correct the command or PATH', run.installHint)
          : fail(`cannot be run: ${fileProblem(error)}`),
      );
    });
    const ended = (code: number | null, killedBy: NodeJS.Signals | null) => {
      settled();
      if (code === 0) resolve(Buffer.concat(stdout).toString('utf8'));
      else reject(fail(code === null ? `was ended by ${killedBy}` : `failed with exit code ${code}`));
    };
    child.on('close', ended);
    child.on('exit', (code, killedBy) => {
      const take = () => {
        ended(code, killedBy);
        letGo(child);
      };
      timer?.cancel();
      timer = run.clock.after(lateOutputMs, take, { background: true });
    });
  });
}

/** Node's immediate errors may quote an argument or a variable, that is a secret: reported in other words. */
function started(command: string, spawn: () => ChildProcess): ChildProcess {
  try {
    return spawn();
  } catch (error) {
    const code = errorCode(error);
    if (code === 'E2BIG' || code === 'ENAMETOOLONG') {
      throw new ExecPluginError(
        command,
        `its arguments and environment are too long for this system (${code}); with provideClusterInfo, they hold ` +
          'the whole of the certificate authority: leave that out, or use a shorter bundle',
      );
    }
    const problem =
      code === 'ERR_INVALID_ARG_VALUE'
        ? 'its command is empty, or an argument or environment variable holds a NUL character'
        : fileProblem(error);
    throw new ExecPluginError(command, `cannot be run: ${problem}`);
  }
}

function end(child: ChildProcess, clock: Scheduler): void {
  letGo(child);
  child.kill('SIGTERM');
  const timer = clock.after(killAfterMs, () => child.kill('SIGKILL'), { background: true });
  child.once('exit', () => timer.cancel());
  child.unref();
}

/** A grandchild may hold the pipes open for long: they are no longer read. */
function letGo(child: ChildProcess): void {
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/** Text fit for a message: no colours or cursor movements, no blank ends. */
function cleanTail(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what has to go
  const plain = text.replace(/\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]/g, '').trim();
  return plain.length > stderrShown ? `…${plain.slice(-stderrShown)}` : plain;
}
