import type { PolicyRule } from 'riata/patterns';
import type { RightsComparison } from './compare-rights.js';
import type { GoController, GoType } from './go-source.js';
import type { GoOperator } from './read-go-operator.js';

/** The input of {@link portingNotes}. */
export interface PortingFacts {
  readonly operator: GoOperator;
  /** The path of the Go operator, from the project. */
  readonly source: string;
  /** By the name of the kind: its module, and what to know about it. */
  readonly kinds: ReadonlyMap<string, { readonly path: string; readonly notes: readonly string[] }>;
  /** Controllers that have a module, with it. */
  readonly controllers: ReadonlyMap<GoController, { readonly path: string; readonly unknown: readonly string[] }>;
  readonly rights: RightsComparison;
}

/** The text of PORTING.md: what was imported, and what is left to do. */
export function portingNotes({ operator, source, kinds, controllers, rights }: PortingFacts): string {
  const { name, crds, webhooks, skipped } = operator;
  const sections = [
    `# Porting ${name}`,
    `Imported from \`${source}\` by \`riata import\`. The kinds are complete; the controllers watch what those in Go watch, and do nothing yet. Delete this file when everything is ported.`,
    '## Kinds',
    table(
      ['kind', 'definition', 'module'],
      crds.map(({ crd, path }) => [crd.spec.names.kind, code(path), code(kinds.get(crd.spec.names.kind)?.path ?? '—')]),
    ),
    list([...kinds].flatMap(([kind, { notes }]) => notes.map((note) => `${kind} ${note}.`))),
    'Compare the definitions before you replace the operator: `npx riata manifests --diff` shows what would change in a cluster.',
    '## Controllers',
    table(
      ['in Go', 'here', 'for', 'owns', 'watches'],
      operator.controllers.map((each) => [
        `${each.name}, ${code(`${each.path}:${each.line}`)}`,
        code(controllers.get(each)?.path ?? '—'),
        each.for?.kind ?? '—',
        kindsOf(each.owns),
        kindsOf(each.watches),
      ]),
    ),
    'For each of them:',
    list([
      'Port `Reconcile`. `object` is the object, and the reconciler is not called when it is gone; `client.find` replaces `Get` with `IgnoreNotFound`.',
      '`apply` replaces `CreateOrUpdate` and `SetControllerReference`; `status` replaces `Status().Update` and keeps `Ready`.',
      "A returned error becomes a thrown one, `RequeueAfter` becomes `return { requeueAfter: '10m' }`.",
      'Finalizers become `.finalize(…)`. Give it the name that the Go operator used, since objects have it already.',
      'Watches by map functions enqueue nothing yet: port them, or replace them by `referencedBy`.',
      'Predicates, indexes, `MaxConcurrentReconciles` and the like are not imported: see the options of `control`.',
    ]),
    list(
      [...controllers].flatMap(([{ name: controller }, { unknown }]) =>
        unknown.map(
          (each) => `${controller} also uses \`${each}\`: write its types with \`npx riata types\`, then add it.`,
        ),
      ),
    ),
    list(
      operator.controllers
        .filter((each) => !controllers.has(each))
        .map(
          (each) =>
            `${each.name} was left out: ${each.for === undefined ? 'the kind that it is for was not found' : `${each.for.kind} is neither defined nor built in, or has a controller already`}.`,
        ),
    ),
    '## Webhooks',
    webhooks.length === 0
      ? 'None were found.'
      : list(
          webhooks.map(
            ({ path, line, isMutating, resources }) =>
              `${isMutating ? 'Mutating' : 'Validating'}, for ${resources.join(', ')}: ${code(`${path}:${line}`)}. Start with \`npx riata add webhook\`.`,
          ),
        ),
    '## Rights',
    'The definitions of the new operator imply:',
    rulesTable(rights.rules),
    rights.missing.length === 0
      ? 'That is all that the Go operator had.'
      : `The Go operator also had these. They come with \`owns\`, \`watches\` and \`reads\`; name the rest as \`rights\` in \`riata.config.ts\`:\n\n${rulesTable(rights.missing)}`,
    ...(skipped.length === 0 ? [] : ['## Not read', list(skipped)]),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

const code = (text: string) => (text === '—' ? text : `\`${text}\``);
const list = (lines: readonly string[]) => lines.map((line) => `- ${line}`).join('\n');
const kindsOf = (types: readonly GoType[]) => types.map(({ kind }) => kind).join(', ') || '—';

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return 'None were found.';
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

function rulesTable(rules: readonly PolicyRule[]): string {
  const rows = rules.map(({ apiGroups, resources, verbs, ownNamespace }) => [
    apiGroups.map((group) => group || 'core').join(', '),
    `${resources.join(', ')}${ownNamespace ? ' (in its own namespace)' : ''}`,
    verbs.join(', '),
  ]);
  return table(['group', 'resources', 'verbs'], rows);
}
