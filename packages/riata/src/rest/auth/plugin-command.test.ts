import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pluginCommand } from './plugin-command.js';

const env = { Path: 'C:\\bin;"C:\\Program Files\\tools";', PathExt: '.COM;.EXE;.CMD', SystemRoot: 'C:\\Windows' };
const cmd = 'C:\\Windows\\System32\\cmd.exe';
const switches = ['/d', '/e:on', '/v:off', '/s', '/c'];

function onWindows(command: string, args: readonly string[] = [], files: readonly string[] = [command]) {
  const known = new Set(files.map((file) => file.toLowerCase()));
  const isFile = (path: string) => known.has(path.toLowerCase());
  return pluginCommand({ command, args, env, platform: 'win32', isFile });
}

/** What is between the outer quotes. */
const lineFor = (...args: string[]) => onWindows('C:\\p.cmd', args).args.at(-1)?.slice(1, -1);

describe('what is started', () => {
  test.each(['linux', 'darwin'])('on %s the command as it is', (platform) => {
    const options = { command: 'plugin.cmd', args: ['a b', '%x%'], env, platform, isFile: () => true };
    expect(pluginCommand(options)).toEqual({ file: 'plugin.cmd', args: ['a b', '%x%'], verbatim: false });
  });

  test('on Windows a program, found by PATH and PATHEXT, in their order', () => {
    const args = ['a b'];
    const exe = 'C:\\Program Files\\tools\\plugin.EXE';
    expect(onWindows('plugin', args, [exe, 'C:\\bin\\plugin.bat'])).toEqual({ file: exe, args, verbatim: false });
    expect(onWindows('plugin.exe', args, ['C:\\bin\\plugin.exe']).file).toBe('C:\\bin\\plugin.exe');
    expect(onWindows('C:\\x\\plugin', args, ['C:\\x\\plugin.exe']).file).toBe('C:\\x\\plugin.EXE');
    // Not in the working directory, and not found at all: Windows gets the name, and says that there is no such thing.
    expect(onWindows('plugin', args, ['plugin.exe'])).toEqual({ file: 'plugin', args, verbatim: false });
  });

  test.each([
    ['plugin', 'C:\\bin\\plugin.CMD'],
    ['plugin.cmd', 'C:\\bin\\plugin.cmd'],
    ['C:\\my folder\\plugin.BAT', 'C:\\my folder\\plugin.BAT'],
    ['C:/my folder/plugin.bat', 'C:\\my folder\\plugin.bat'],
  ])('on Windows a batch file by cmd.exe: %s', (command, file) => {
    expect(onWindows(command, ['get-token'], [file])).toEqual({
      file: cmd,
      args: [...switches, `""${file}" get-token"`],
      verbatim: true,
    });
  });

  test('without SystemRoot, cmd.exe is looked up', () => {
    const options = { command: 'C:\\p.cmd', args: [], env: {}, platform: 'win32', isFile: () => true };
    expect(pluginCommand(options).file).toBe('cmd.exe');
  });
});

describe('arguments of a batch file', () => {
  test.each([
    ['--region=eu', '"--region=eu"'],
    ['plain-1.2', 'plain-1.2'],
    ['', '""'],
    ['a b', '"a b"'],
    ['a&calc', '"a&calc"'],
    ['"&calc&"', '"""&calc&"""'],
    ['C:\\dir\\', '"C:\\dir\\\\"'],
    ['a\\"b', '"a\\\\""b"'],
    ['%PATH%', '"%%cd:~,%PATH%%cd:~,%"'],
  ])('%s is %s', (arg, expected) => {
    expect(lineFor(arg)).toBe(`"C:\\p.cmd" ${expected}`);
  });

  test('whatever they are, they reach the program as they were, and nothing else is run', () => {
    const wild = fc.string({ unit: fc.constantFrom(...'ab \t"\\%^&|<>()!,;=\'`~é') });
    fc.assert(
      fc.property(fc.array(fc.oneof(wild, fc.string().map(printable))), (args) => {
        const line = expandPercents(lineFor(...args) ?? '');
        expect(unquoted(line)).not.toMatch(/[&|<>^()!%]/);
        expect(programArguments(line)).toEqual(['C:\\p.cmd', ...args]);
      }),
      { numRuns: 500 },
    );
  });

  test.each(['a\nb', 'a\rb', 'a\0b'])('%j is refused, without being shown', (secret) => {
    expect(() => onWindows('C:\\p.cmd', ['ok', secret])).toThrow(
      'exec plugin C:\\p.cmd: args[1] holds a line break, which cannot be handed to a batch file',
    );
  });

  test('more than cmd.exe can take is refused', () => {
    expect(() => onWindows('C:\\p.cmd', ['x'.repeat(8_200)])).toThrow('longer than the 8191 characters');
  });
});

const printable = (text: string) => text.replace(/\p{Cc}/gu, '');

/** What cmd.exe makes of percent signs: `%cd:~,%` is no character of the current folder; all other uses would show. */
function expandPercents(line: string): string {
  return line.replaceAll('%%cd:~,%', '\0').replaceAll('%', '<expanded>').replaceAll('\0', '%');
}

/** What cmd.exe sees outside quotes. */
function unquoted(line: string): string {
  return line
    .split('"')
    .filter((_, i) => i % 2 === 0)
    .join('');
}

/** How a Windows program takes its command line apart. */
function programArguments(line: string): string[] {
  const args: string[] = [];
  let arg: string | undefined;
  let inQuotes = false;
  for (let i = 0; i < line.length; i++) {
    const slashes = /^\\*/.exec(line.slice(i))?.[0].length ?? 0;
    if (slashes > 0) {
      const beforeQuote = line[i + slashes] === '"';
      arg = (arg ?? '') + '\\'.repeat(beforeQuote ? slashes / 2 : slashes);
      i += slashes - 1;
    } else if (line[i] === '"') {
      arg ??= '';
      if (inQuotes && line[i + 1] === '"') {
        arg += '"';
        i++;
      } else inQuotes = !inQuotes;
    } else if (!inQuotes && /[ \t]/.test(line[i]!)) {
      if (arg !== undefined) args.push(arg);
      arg = undefined;
    } else arg = (arg ?? '') + line[i];
  }
  return arg === undefined ? args : [...args, arg];
}
