import type { PolicyRule } from 'riata/patterns';

/** A Go type that a controller names: `&batchv1.CronJob{}`. */
export interface GoType {
  /** `CronJob` */
  readonly kind: string;
  /** The path of its package: `k8s.io/api/batch/v1`. */
  readonly importPath: string;
}

/** A controller, as its builder describes it. */
export interface GoController {
  /** `BackupReconciler`; the file's name if the builder is in no method. */
  readonly name: string;
  /** Relative to the operator. */
  readonly path: string;
  /** Where its Reconcile starts; where its builder is, if that is elsewhere. */
  readonly line: number;
  readonly for?: GoType;
  readonly owns: readonly GoType[];
  readonly watches: readonly GoType[];
}

/** A webhook of a marker. */
export interface GoWebhook {
  readonly path: string;
  readonly line: number;
  readonly isMutating: boolean;
  readonly resources: readonly string[];
}

/** What a Go file says about the operator, found by patterns. */
export interface GoFacts {
  readonly controllers: readonly GoController[];
  readonly rules: readonly PolicyRule[];
  readonly webhooks: readonly GoWebhook[];
}

/** Reads a Go file. Finds what kubebuilder and people commonly write; whatever else there is stays unseen. */
export function goFacts(path: string, text: string): GoFacts {
  const markers = [...text.matchAll(/^[ \t]*\/\/[ \t]*\+kubebuilder:(rbac|webhook):(.*)$/gm)].map((match) => ({
    kind: match[1],
    line: lineAt(text, match.index),
    fields: markerFields(match[2] as string),
  }));
  const listOf = (fields: ReadonlyMap<string, readonly string[]>, name: string) => fields.get(name) ?? [];
  return {
    controllers: goControllers(path, text),
    rules: markers
      .filter(({ kind }) => kind === 'rbac')
      .map(({ fields }) => ({
        apiGroups: fields.has('groups') ? listOf(fields, 'groups') : [''],
        resources: listOf(fields, 'resources'),
        verbs: listOf(fields, 'verbs'),
      }))
      .filter(({ resources }) => resources.length > 0),
    webhooks: markers
      .filter(({ kind }) => kind === 'webhook')
      .map(({ fields, line }) => ({
        ...{ path, line, resources: listOf(fields, 'resources') },
        isMutating: listOf(fields, 'mutating')[0] === 'true',
      })),
  };
}

/** `groups="",verbs=get;list` as lists. */
function markerFields(text: string): ReadonlyMap<string, readonly string[]> {
  const fields = text.split(',').map((field): [string, string[]] => {
    const [name = '', value = ''] = field.trim().split(/=(.*)/s);
    return [name, value.split(';').map((each) => each.replace(/^"|"$/g, ''))];
  });
  return new Map(fields);
}

function goControllers(path: string, source: string): GoController[] {
  const text = withoutComments(source);
  const imports = goImports(text);
  return [...text.matchAll(/\bNewControllerManagedBy\(/g)].map(({ index }) => {
    const chain = text.slice(index).split(/\.\s*(?:Complete|Build)\(/, 1)[0] as string;
    const calls = [...chain.matchAll(/\.\s*(For|Owns|Watches|WatchesMetadata|WatchesRawSource)\(/g)].map((call) => ({
      method: call[1] as string,
      type: firstType(
        chain.slice(call.index + call[0].length).split(/\.\s*(?:For|Owns|Watches\w*|Named|With\w+)\(/, 1)[0] as string,
        imports,
      ),
    }));
    const typesOf = (pattern: RegExp) =>
      calls.flatMap(({ method, type }) => (pattern.test(method) && type !== undefined ? [type] : []));
    const receivers = [...text.slice(0, index).matchAll(/\bfunc \(\w+ \*?(\w+)\)/g)];
    const name = receivers.at(-1)?.[1] ?? path.replace(/^.*\//, '');
    const reconcile = text.search(new RegExp(`\\bfunc \\(\\w+ \\*?${name}\\) Reconcile\\(`));
    const [root] = typesOf(/^For$/);
    return {
      ...{ name, path, line: lineAt(text, reconcile < 0 ? index : reconcile) },
      ...(root && { for: root }),
      ...{ owns: typesOf(/^Owns$/), watches: typesOf(/^Watches/) },
    };
  });
}

/** The first `&alias.Type{` or `new(alias.Type)` of a call's arguments. */
function firstType(text: string, imports: ReadonlyMap<string, string>): GoType | undefined {
  const [, alias, kind, newAlias, newKind] =
    /&(\w+)\.(\w+)\{|\bnew\((\w+)\.(\w+)\)/.exec(text.replace(/&source\.Kind\{/g, '')) ?? [];
  const name = kind ?? newKind;
  return name === undefined ? undefined : { kind: name, importPath: imports.get(alias ?? newAlias ?? '') ?? '' };
}

function goImports(text: string): ReadonlyMap<string, string> {
  const blocks = [...text.matchAll(/^import\s+(?:\(([\s\S]*?)\)|(.*))$/gm)].map(
    ([, block, line]) => block ?? line ?? '',
  );
  const found = blocks.flatMap((block) => [...block.matchAll(/(?:([\w.]+)[ \t]+)?"([^"]+)"/g)]);
  return new Map(found.map(([, alias, path]) => [alias ?? (path as string).replace(/^.*\//, ''), path as string]));
}

/** With spaces in the place of comments, so that lines stay where they are. */
function withoutComments(text: string): string {
  return text.replace(/"(?:[^"\\\n]|\\.)*"|`[^`]*`|\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (part) =>
    part.startsWith('/') ? part.replace(/[^\n]/g, ' ') : part,
  );
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
