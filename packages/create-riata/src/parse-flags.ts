import { type ParseArgsConfig, parseArgs } from 'node:util';
import { usageError } from './create-error.js';
import { type CiService, ciServices, type Template, templates } from './project-files.js';

/** What the user typed. What is missing is asked for, or has a default. */
export interface CreateFlags {
  /** The folder of the new project; its last part names the project. */
  readonly folder?: string;
  readonly template?: Template;
  readonly kind?: string;
  readonly group?: string;
  readonly ci?: CiService;
  readonly install?: boolean;
  /** Asks nothing. */
  readonly yes: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

// node:util parses: npm downloads this package for each new project, and five options need no library.
const options = {
  template: { type: 'string', short: 't' },
  kind: { type: 'string' },
  group: { type: 'string' },
  ci: { type: 'string' },
  install: { type: 'boolean' },
  'no-install': { type: 'boolean' },
  yes: { type: 'boolean', short: 'y' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const satisfies ParseArgsConfig['options'];

/** The help text. */
export const help = `Usage: npm create riata@latest [folder] -- [options]

Creates a Kubernetes operator in TypeScript: a kind, its controller and a test. Asks for what is
missing if there is a terminal.

Options:
  -t, --template <name>  ${Object.entries(templates)
    .map(([name, text]) => `${name}: ${text}`)
    .join(`\n${' '.repeat(25)}`)}
                         (default: minimal)
  --kind <Kind>          the kind that the operator is for (default: Site)
  --group <domain>       the API group of the kind, a domain of yours (default: example.com)
  --ci <service>         writes a workflow: github or none (default: none)
  --no-install           doesn't install the dependencies
  -y, --yes              asks nothing, takes defaults
  -h, --help             shows this help
  -v, --version          shows the version

Example:
  npm create riata@latest backup-operator -- --template webhook --kind Backup --group backups.example.com`;

/** Reads the arguments of the command. Throws a usage error that names the nearest option. */
export function parseFlags(args: readonly string[]): CreateFlags {
  const { values, positionals } = parse(args);
  const [folder, ...more] = positionals;
  if (more.length > 0) {
    throw usageError(
      `unexpected argument "${more[0]}"; npm takes options before "--" for its own, so write: npm create riata@latest ${folder} -- --template webhook`,
    );
  }
  const { template, ci, kind, group } = values;
  return {
    ...(folder !== undefined && { folder }),
    ...(template !== undefined && { template: oneOf('template', template, templates) }),
    ...(ci !== undefined && { ci: oneOf('ci', ci, ciServices) }),
    ...(kind !== undefined && { kind }),
    ...(group !== undefined && { group }),
    ...(values['no-install'] ? { install: false } : values.install && { install: true }),
    yes: values.yes === true,
    help: values.help === true,
    version: values.version === true,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
      const [, given = ''] = /'(-[^' ]*)'/.exec(message) ?? [];
      const known = nearest(given.replace(/^-+/, '').replace(/=.*$/, ''), Object.keys(options));
      throw usageError(`unknown option ${given}; ${known === undefined ? 'see --help' : `did you mean --${known}?`}`);
    }
    throw usageError(`${message.split(/[.\n]/)[0]}; see --help`);
  }
}

function oneOf<T extends string>(option: string, given: string, known: Readonly<Record<T, unknown>>): T {
  if (Object.hasOwn(known, given)) return given as T;
  const names = Object.keys(known);
  const meant = nearest(given, names);
  throw usageError(
    `--${option} must be one of ${names.join(', ')}, got "${given}"${meant === undefined ? '' : `; did you mean ${meant}?`}`,
  );
}

/** The name that differs by the fewest letters, if there are few. */
function nearest(given: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: editDistance(given, name) }))
    .sort((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= Math.max(1, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
