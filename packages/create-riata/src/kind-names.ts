import { kindProblem } from './name-problems.js';

/** The names that files and variables of a kind have. */
export interface KindNames {
  /** `CronBackup` */
  readonly kind: string;
  /** `CronBackups`, in prose */
  readonly kinds: string;
  /** `cronBackup`, a variable */
  readonly variable: string;
  /** `cronBackups`, the variable of its controller */
  readonly variables: string;
  /** `cron-backup`, its module */
  readonly file: string;
  /** `cron-backups`, the module of its controller */
  readonly files: string;
  /** `cronbackups`, in paths of the API */
  readonly resource: string;
}

/** The names of a kind in PascalCase. */
export function kindNames(kind: string): KindNames {
  const kinds = pluralWord(kind);
  return {
    ...{ kind, kinds, variable: camelCase(kind), variables: camelCase(kinds) },
    ...{ file: kebabCase(kind), files: kebabCase(kinds), resource: kinds.toLowerCase() },
  };
}

/** As `pluralOf` of riata, which names the resource by the same rule; without a dependency on it. */
function pluralWord(word: string): string {
  if (/[^aeiou]y$/i.test(word)) return `${word.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh)$/i.test(word) ? `${word}es` : `${word}s`;
}

/** `HTTPRoute` → `httpRoute` */
function camelCase(name: string): string {
  return name.replace(/^[A-Z]+(?![a-z])|^[A-Z]/, (start) => start.toLowerCase());
}

/** `HTTPRoute` → `http-route` */
function kebabCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase();
}

const reservedWords =
  'arguments async await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null of package private protected public return static super switch this throw true try typeof undefined var void while with yield';

/** Names that the files of a kind use themselves, or that modules have from the start. */
const usedNames =
  'Addable Apply Array Boolean Controllers Date Error JSON KindOf Map Math Number Object Promise Record Set SharedControllerFactory String Symbol TestEnvironment Write admit apply clients caches collectRbac control controllers conversion defineKind definitions deny deployment deploymentFor deployments env example expect factory handlers isConditionTrue isMain key labels manager metadata name object old operator options path process run signal spec status stored test warn withVersion z';

/** Kinds that the files of a project import from `riata/kinds`. */
const importedKinds = 'Deployment';

/** Why files of a kind would not compile, or take each other's place: its names collide with others. */
function kindNameCollision({ kind, variable, variables, file, files }: KindNames): string | undefined {
  const used = new Set(`${reservedWords} ${usedNames} ${importedKinds}`.split(' '));
  const taken = [kind, variable, variables].find((name) => used.has(name));
  if (taken !== undefined) {
    return `kind "${kind}" would give a variable the name "${taken}", which is taken; choose another, e.g. "My${kind}"`;
  }
  const isMainModule = file === 'main' || files === 'main';
  return isMainModule ? `kind "${kind}" would replace src/main.ts; choose another, e.g. "My${kind}"` : undefined;
}

/** Why a kind cannot be used in a project. Undefined if it can. */
export function kindRefusal(kind: string): string | undefined {
  return kindProblem(kind) ?? kindNameCollision(kindNames(kind));
}
