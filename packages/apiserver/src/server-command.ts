import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Listening } from './api-server.js';
import type { ListenOptions } from './api-server-options.js';

/** What every such command takes. */
export interface CommonSettings {
  readonly host: string;
  readonly port: number;
  readonly kubeconfig: string | undefined;
  readonly token: string | undefined;
  readonly tls: boolean;
}

/** An option that only one command has: a number, a text, a list with commas, or a switch that turns its setting into the opposite. */
export interface OwnOption {
  /** How it is written, e.g. `--nodes COUNT`. */
  readonly written: string;
  readonly help: string;
  /** For a text, `''`: it was not given. */
  readonly default: number | boolean | '' | readonly string[];
  /** The largest number. @default 65535 */
  readonly most?: number;
}

type OwnOptions = Readonly<Record<string, OwnOption>>;

/** The options of a command. */
export type Settings<Own extends OwnOptions> = CommonSettings & {
  readonly [Name in keyof Own]: Own[Name]['default'] extends number
    ? number
    : Own[Name]['default'] extends readonly string[]
      ? readonly string[]
      : Own[Name]['default'] extends string
        ? string
        : boolean;
};

/** A program that serves a Kubernetes API until it gets a signal. */
export interface ServerCommand<Own extends OwnOptions> {
  readonly name: string;
  /** What it does, a paragraph of the usage. */
  readonly about: string;
  /** By the names of their settings. */
  readonly options: Own;
  /** Starts the server; no client can reach it yet. */
  readonly start: (settings: Settings<Own>) => Promise<StartedServer>;
}

/** What {@link runServerCommand} has to know of a server. */
export interface StartedServer {
  /** What the administrator shows. */
  readonly token: string;
  listen(options: ListenOptions): Promise<Listening>;
  stop(): Promise<void>;
}

const commonRows = [
  { written: '--host HOST', help: 'address to listen on (default 127.0.0.1)' },
  { written: '--port PORT', help: 'port to listen on, 0 for a free one (default 6443)' },
  { written: '--kubeconfig FILE', help: 'write a kubeconfig for the administrator' },
  { written: '--token TOKEN', help: 'what requests must carry (default: a new one)' },
  { written: '--no-tls', help: 'plain HTTP, over which kubectl and the like send no token' },
];

/** The options of a command as its help lists them, its own ones first. */
export function serverOptions<Own extends OwnOptions>({
  options,
}: ServerCommand<Own>): readonly Pick<OwnOption, 'written' | 'help'>[] {
  return [...Object.values(options), ...commonRows];
}

/** What `--help` prints. */
export function usageOf<Own extends OwnOptions>(command: ServerCommand<Own>): string {
  const { name, about } = command;
  const rows = [...serverOptions(command), { written: '--help', help: 'this text' }];
  const width = Math.max(...rows.map(({ written }) => written.length)) + 2;
  const lines = rows.map(({ written, help }) => `  ${written.padEnd(width)}${help}\n`);
  return `Usage: ${name} [options]\n\n${about}\n\n${lines.join('')}`;
}

/** Reads the arguments of a command; undefined when help is asked for. Throws a `TypeError` for what it does not know. */
export function parseServerCommand<Own extends OwnOptions>(
  command: ServerCommand<Own>,
  args: readonly string[],
): Settings<Own> | undefined {
  const flags = serverOptions(command).map(({ written }) => {
    const [flag = '', value] = written.slice(2).split(' ');
    return [flag, { type: value === undefined ? ('boolean' as const) : ('string' as const) }] as const;
  });
  const help = { type: 'boolean', short: 'h', default: false } as const;
  const { values } = parseArgs({ args: [...args], options: { ...Object.fromEntries(flags), help } });
  return values.help ? undefined : serverSettings(command, values);
}

/**
 * The settings of a command from the values of its flags, by their names without the dashes: texts, and true for a
 * switch. Throws a `TypeError` for a malformed value.
 */
export function serverSettings<Own extends OwnOptions>(
  { options }: ServerCommand<Own>,
  given: Readonly<Record<string, string | boolean | undefined>>,
): Settings<Own> {
  const settings = Object.entries(options).map(([setting, option]) => {
    const [flag = ''] = option.written.slice(2).split(' ');
    const value = given[flag];
    if (typeof option.default === 'object') return [setting, listOf(value) ?? option.default];
    if (typeof option.default === 'boolean') return [setting, value === true ? !option.default : option.default];
    if (option.default === '') return [setting, textOf(flag, value) ?? ''];
    return [setting, numberOf(flag, value ?? String(option.default), option.most)];
  });
  const common: CommonSettings = {
    host: textOf('host', given.host) ?? '127.0.0.1',
    port: numberOf('port', given.port ?? '6443'),
    kubeconfig: textOf('kubeconfig', given.kubeconfig),
    token: textOf('token', given.token),
    tls: given['no-tls'] !== true,
  };
  return { ...common, ...(Object.fromEntries(settings) as Settings<Own>) };
}

function listOf(given: string | boolean | undefined): readonly string[] | undefined {
  return typeof given === 'string' ? given.split(',').filter((name) => name !== '') : undefined;
}

function textOf(flag: string, given: string | boolean | undefined): string | undefined {
  if (given === '') throw new TypeError(`--${flag} must not be empty`);
  return typeof given === 'string' ? given : undefined;
}

function numberOf(flag: string, given: string | boolean, most = 65_535): number {
  if (typeof given === 'string' && /^\d{1,5}$/.test(given) && Number(given) <= most) return Number(given);
  throw new TypeError(`--${flag} must be an integer from 0 to ${most}, got "${given}"`);
}

/** What is wrong with this Node, if it is too old: said before anything is imported that it does not have. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return undefined;
  return `needs Node 20.19 or newer, this is ${version}: install a newer one`;
}

/**
 * Runs a command: it says in one line where it serves once it does, and stops when the process gets SIGINT or SIGTERM, or
 * when the npm or npx that started it has ended.
 * Sets the exit code: 0 when it was stopped, 1 when it failed, 2 for arguments that it does not know.
 */
export async function runServerCommand<Own extends OwnOptions>(
  command: ServerCommand<Own>,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> {
  const complain = (code: number, text: string) => {
    process.stderr.write(`${command.name}: ${text}\n`);
    process.exitCode = code;
  };
  const problem = nodeProblem(process.versions.node);
  if (problem !== undefined) return complain(1, problem);
  let settings: Settings<Own> | undefined;
  try {
    settings = parseServerCommand(command, args);
  } catch (error) {
    return complain(2, `${messageOf(error)}\n\n${usageOf(command).trimEnd()}`);
  }
  try {
    if (settings === undefined) process.stdout.write(usageOf(command));
    else await serveUntilSignal(command, settings);
  } catch (error) {
    complain(1, messageOf(error));
  }
}

async function serveUntilSignal<Own extends OwnOptions>(
  command: ServerCommand<Own>,
  settings: Settings<Own>,
): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  await serve(command, settings, {
    signal: stop.signal,
    ready: (url) => process.stdout.write(`${command.name} is ready at ${url}\n`),
  });
}

/** Serves until the signal aborts, or the npm or npx that started the process has ended; then stops the server. */
export async function serve<Own extends OwnOptions>(
  command: ServerCommand<Own>,
  settings: Settings<Own>,
  { signal, ready }: { readonly signal: AbortSignal; readonly ready: (url: string) => void },
): Promise<void> {
  const { host, port, tls, kubeconfig } = settings;
  const stopAsked = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const stopping = new AbortController();
  const { watchNpm } = await import('./watch-npm.js');
  const [server, npm] = await Promise.all([command.start(settings), watchNpm(stopping.signal)]);
  try {
    const { url, ca } = await server.listen({ host, port, tls });
    if (kubeconfig !== undefined) {
      // The package's own entry, which is loaded already.
      const { adminKubeconfig } = await import('./index.js');
      await writeFile(kubeconfig, adminKubeconfig({ url, token: server.token, ca }), { mode: 0o600 });
    }
    ready(url);
    await Promise.race([stopAsked, npm.ended.catch(() => stopAsked)]);
  } finally {
    stopping.abort();
    await server.stop();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
