import { isJsonObject } from '../json.js';

/** Where a converter's hook leaves what the library would otherwise drop without a word. */
export const refusalKey = 'x-riata-refused';

/** A feature of a schema that JSON Schema can't express. */
export type Refusal =
  | { readonly is: 'refinement'; readonly what: string }
  | { readonly is: 'transform'; readonly what: string }
  /** A transform whose result is of the same type, and its own result. */
  | { readonly is: 'rewrite'; readonly what: string }
  | { readonly is: 'type'; readonly what: string };

/**
 * Options for a library's converter (`libraryOptions` of the Standard JSON Schema) that make it note refinements,
 * transforms and types without JSON form in place, instead of dropping them or failing without a path. An unknown
 * library gets none: what it drops goes unnoticed.
 */
export function refusalOptions(vendor: string): Record<string, unknown> | undefined {
  if (vendor === 'zod') return { unrepresentable: 'any', override: noteZod };
  if (vendor === 'arktype') return { fallback: { default: noteArktype } };
  if (vendor === 'valibot') return { errorMode: 'ignore', overrideAction: noteValibot, overrideSchema: noteValibot };
  return undefined;
}

/** The refusals that were noted on one node. */
export function refusalsOf(node: object): readonly Refusal[] {
  const noted: unknown = (node as Record<string, unknown>)[refusalKey];
  return Array.isArray(noted) ? noted : [];
}

function noted(schema: object, ...refusals: readonly Refusal[]): object {
  return { ...schema, [refusalKey]: [...refusalsOf(schema), ...refusals] };
}

const zodOnlyTypes: ReadonlySet<string> = new Set(
  'date bigint map set symbol undefined void nan function file promise custom success'.split(' '),
);

function zodDef(schema: unknown): Readonly<Record<string, unknown>> {
  const internals =
    isJsonObject(schema) || typeof schema === 'object' ? (schema as { _zod?: unknown } | null)?._zod : undefined;
  const def: unknown = typeof internals === 'object' ? (internals as { def?: unknown } | null)?.def : undefined;
  return typeof def === 'object' && def !== null ? (def as Record<string, unknown>) : {};
}

function noteZod(context: { readonly zodSchema: unknown; readonly jsonSchema: object }): void {
  const def = zodDef(context.zodSchema);
  const type = String(def.type);
  const refusals: Refusal[] = [];
  if (zodOnlyTypes.has(type)) refusals.push({ is: 'type', what: `z.${type}()` });
  if (type === 'catch') refusals.push({ is: 'transform', what: '.catch()' });
  if (type === 'transform') refusals.push({ is: 'transform', what: '.transform()' });
  if (def.coerce === true) refusals.push({ is: 'transform', what: `z.coerce.${type}()` });
  if (type === 'pipe') {
    if (typeof def.transform === 'function') refusals.push({ is: 'transform', what: 'a codec' });
    else if (zodDef(def.in).type === 'transform') refusals.push({ is: 'transform', what: 'z.preprocess()' });
    else if (zodDef(def.out).type === 'transform') refusals.push({ is: 'transform', what: '.transform()' });
  }
  const checks = Array.isArray(def.checks) ? def.checks.map(zodDef) : [];
  for (const check of [def, ...checks]) {
    if (check.check === 'custom' && type !== 'custom') refusals.push({ is: 'refinement', what: '.refine()' });
    if (check.check === 'overwrite') refusals.push({ is: 'rewrite', what: '.trim(), .toLowerCase() or the like' });
    if (check.pattern instanceof RegExp && /[ims]/.test(check.pattern.flags)) {
      refusals.push({ is: 'refinement', what: `a flag of ${String(check.pattern)}` });
    }
  }
  if (refusals.length > 0) Object.assign(context.jsonSchema, noted(context.jsonSchema, ...refusals));
}

interface ArktypeFallback {
  readonly code: string;
  readonly base: object;
  readonly pattern?: string;
  readonly domain?: string;
  readonly proto?: { readonly name?: string };
}

function noteArktype({ code, base, pattern, domain, proto }: ArktypeFallback): object {
  switch (code) {
    case 'predicate':
      return noted(base, { is: 'refinement', what: '.narrow()' });
    case 'morph':
      return noted(base, { is: 'transform', what: 'a morph' });
    case 'defaultValue':
      return noted({}, { is: 'type', what: 'a default that is not JSON' });
    case 'patternIntersection':
      return { ...base, allOf: [{ type: 'string', pattern }] };
    default:
      return noted(base, { is: 'type', what: `${domain ?? proto?.name ?? code}` });
  }
}

interface ValibotContext {
  readonly valibotAction?: { readonly kind: string; readonly type: string };
  readonly valibotSchema?: { readonly type: string; readonly fallback?: unknown };
  readonly jsonSchema: object;
  readonly errors?: readonly string[] | undefined;
}

function noteValibot({
  valibotAction: action,
  valibotSchema: schema,
  jsonSchema,
  errors,
}: ValibotContext): object | undefined {
  if (schema !== undefined && 'fallback' in schema) return noted(jsonSchema, { is: 'transform', what: 'v.fallback()' });
  if (errors === undefined) return undefined;
  if (action === undefined) return noted(jsonSchema, { is: 'type', what: `v.${schema?.type ?? 'unknown'}()` });
  const what = `v.${action.type}()`;
  if (action.kind !== 'transformation') return noted(jsonSchema, { is: 'refinement', what });
  return noted(jsonSchema, { is: valibotRewrites.has(action.type) ? 'rewrite' : 'transform', what });
}

const valibotRewrites: ReadonlySet<string> = new Set(
  'trim trim_start trim_end to_lower_case to_upper_case normalize'.split(' '),
);
