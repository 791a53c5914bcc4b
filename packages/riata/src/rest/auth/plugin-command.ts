import { win32 } from 'node:path';
import { ExecPluginError } from './exec-plugin-error.js';

/** A plugin, and where to run it. */
export interface PluginCommandOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** As `process.platform` has it. */
  readonly platform: string;
  readonly isFile: (path: string) => boolean;
}

/** The process to spawn. */
export interface PluginCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether `args` are quoted already, which only means something on Windows. */
  readonly verbatim: boolean;
}

/** Extensions that are tried where PATHEXT is not set. */
const defaultExtensions = '.COM;.EXE;.BAT;.CMD';
/** The characters that `cmd.exe` can handle. */
const longestLine = 8_191;

/**
 * How to start a plugin. Windows finds only `.exe` and `.com` without help, and Node refuses to start batch files
 * without a shell (their arguments used to be a way to run anything): there, a name is looked up with the extensions of
 * PATHEXT, in PATH but not in the working directory, and a `.cmd` or `.bat` is run by `cmd.exe` with every argument
 * quoted. Elsewhere, and for everything else, the command stays as it is.
 */
export function pluginCommand(options: PluginCommandOptions): PluginCommand {
  const { command, args, platform } = options;
  const file = platform === 'win32' ? (findOnWindows(options) ?? command) : command;
  if (platform !== 'win32' || !/\.(cmd|bat)$/i.test(file)) return { file, args, verbatim: false };
  const line = [quoted(win32.normalize(file)), ...args.map((arg, i) => argument(arg, i, command))].join(' ');
  if (line.length > longestLine) {
    throw new ExecPluginError(command, `its command line is longer than the ${longestLine} characters of a batch file`);
  }
  // No autorun commands, extensions on for what stands for a percent sign, off for what an exclamation mark would do.
  // With /s, exactly the outermost quotes are taken away.
  return {
    file: commandProcessor(options.env),
    args: ['/d', '/e:on', '/v:off', '/s', '/c', `"${line}"`],
    verbatim: true,
  };
}

function findOnWindows({ command, env, isFile }: PluginCommandOptions): string | undefined {
  const bare = win32.basename(command) === command;
  const folders = bare ? (variable(env, 'PATH') ?? '').split(';').map((folder) => folder.replaceAll('"', '')) : [''];
  const extensions = (variable(env, 'PATHEXT') || defaultExtensions).split(';').filter((extension) => extension !== '');
  const named = win32.extname(command) === '' ? extensions : ['', ...extensions];
  for (const folder of folders) {
    if (bare && folder === '') continue;
    for (const extension of named) {
      const path = win32.join(folder, command + extension);
      if (isFile(path)) return path;
    }
  }
  return undefined;
}

function commandProcessor(env: PluginCommandOptions['env']): string {
  const root = variable(env, 'SystemRoot');
  return root ? win32.join(root, 'System32', 'cmd.exe') : 'cmd.exe';
}

/** Names of variables know no case there. */
function variable(env: PluginCommandOptions['env'], name: string): string | undefined {
  const key = Object.keys(env).find((each) => each.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : env[key];
}

/** The argument itself stays out of messages: it may be a secret. */
function argument(text: string, index: number, command: string): string {
  if (/[\r\n\0]/.test(text)) {
    throw new ExecPluginError(command, `args[${index}] holds a line break, which cannot be handed to a batch file`);
  }
  return /^[\w#$*+\-./:?@\\]+$/.test(text) && !text.endsWith('\\') ? text : quoted(text);
}

/**
 * Within quotes, nothing means anything to `cmd.exe` but a percent sign and the quote itself. A quote is doubled, as the
 * program behind the batch file reads it, and so are backslashes before one. A percent sign is followed by no part of
 * the current folder, so that it cannot be the beginning of a variable.
 */
function quoted(text: string): string {
  const inner = text.replace(/(\\*)("|$)/g, '$1$1$2$2').replaceAll('%', '%%cd:~,%');
  return `"${inner}"`;
}
