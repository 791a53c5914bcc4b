import type { JsonObject } from 'riata/object';
import { declaredObject, matchedKinds, resourceOf } from '../admission/policy/check-policy-types.js';
import { AdmissionCompiler, type ExpressionNames } from '../cel/admission/admission-compiler.js';
import { boolType, type CelType, nullType, stringType } from '../cel/language/cel-type.js';
import { estimateCost } from '../cel/language/estimate-cost.js';
import { applyConfigurationType, jsonPatchesType } from '../cel/library/patches.js';
import { type DeclaredType, sizeAt } from '../cel/rules/declared-type.js';
import { isGiven, recordOf, recordsOf, textOf } from '../resource/metadata.js';
import { servedKinds } from './served-kinds.js';

/** What was found about one expression of a policy, for one of the kinds that the policy matches. */
export interface ExpressionReport {
  /** Where it stands: `spec.validations[0].expression`. */
  readonly path: string;
  readonly expression: string;
  /** The kind that it was checked for: `apps/v1, Kind=Deployment`; undefined if the policy names no kind that is known. */
  readonly kind: string | undefined;
  /** Why a server would refuse it, or warn about it, with the place in the text; undefined if it is fine. */
  readonly problem: string | undefined;
  /** The least and the most that it can cost; undefined if it has a problem. */
  readonly cost: { readonly min: number; readonly max: number } | undefined;
  /** The cost at which a server stops. */
  readonly limit: number;
}

/** The cost limit of one expression when it is computed. */
const perCall = 1_000_000;

interface Source {
  readonly path: string;
  readonly expression: string;
  readonly results: readonly CelType[];
  readonly names: Partial<ExpressionNames>;
  /** Set for what others can name as `variables.…`. */
  readonly variable?: string;
}

/**
 * Checks the types of every expression of a ValidatingAdmissionPolicy or MutatingAdmissionPolicy, as the server does, and
 * estimates their cost. Unlike the server, it does not complain about fields that exist and whose type CEL has no word for,
 * such as the limits of a container, which are quantities. `definitions` are the CustomResourceDefinitions of the kinds and params that it names.
 */
export async function checkPolicy(
  policy: object,
  options: { readonly definitions?: readonly object[] } = {},
): Promise<readonly ExpressionReport[]> {
  const served = await servedKinds(options.definitions);
  const spec = recordOf((policy as JsonObject).spec);
  const { apiVersion, kind } = recordOf(spec.paramKind);
  const params = isGiven(spec.paramKind);
  const paramsResource = params ? resourceOf(textOf(apiVersion), textOf(kind), served) : undefined;
  const paramsType = paramsResource && declaredObject(paramsResource, paramsResource.kind, true);
  const kinds = matchedKinds(spec, served).map((resource) => {
    const name = `${resource.apiVersion}, Kind=${resource.kind}`;
    return { name, object: declaredObject(resource, resource.kind, true) };
  });
  const sources = sourcesOf(spec);
  return (kinds.length === 0 ? [{ name: undefined, object: undefined }] : kinds).flatMap(({ name, object }) => {
    const compiler = new AdmissionCompiler(true);
    // The server compiles policies without knowing what they match, and refuses what does not compile so.
    const untyped = new AdmissionCompiler(true);
    const base = { params, authorizer: true, objectType: object?.type, paramsType: paramsType?.type };
    const roots = { object, oldObject: object, params: paramsType };
    return sources.map((source) => {
      const { expression, results, variable } = source;
      const names = { params, authorizer: true, ...source.names };
      const refused = untyped.check(expression, results, names);
      if (variable !== undefined) untyped.declare(variable, expression, names);
      const found = report(compiler, source, { ...base, ...source.names }, roots, name);
      return 'problem' in refused && found.problem === undefined
        ? { ...found, problem: refused.problem, cost: undefined }
        : found;
    });
  });
}

function report(
  compiler: AdmissionCompiler,
  { path, expression, results, variable }: Source,
  names: ExpressionNames,
  roots: Readonly<Record<string, DeclaredType | undefined>>,
  kind: string | undefined,
): ExpressionReport {
  const checked = compiler.check(expression, results, names);
  if (variable !== undefined) compiler.declare(variable, expression, names);
  const base = { path, expression, kind, limit: perCall };
  if ('problem' in checked) return { ...base, problem: checked.problem, cost: undefined };
  const { min, max } = estimateCost(checked.expression, (at) => {
    const root = roots[at[0] ?? ''];
    return root && sizeAt(root, at);
  });
  const problem = min > perCall ? `costs at least ${min}, and the server stops at ${perCall}` : undefined;
  return { ...base, problem, cost: { min, max } };
}

/** All expressions, in the order in which they are compiled. */
function sourcesOf(spec: JsonObject): readonly Source[] {
  const withoutAuthorizer = { authorizer: false };
  const all = (field: string, make: (record: JsonObject, path: string) => readonly Source[]) =>
    recordsOf(spec[field]).flatMap((record, index) => make(record, `spec.${field}[${index}]`));
  const one = (path: string, source: unknown, results: readonly CelType[], names: Partial<ExpressionNames> = {}) =>
    textOf(source as never) === '' ? [] : [{ path, expression: textOf(source as never), results, names }];
  return [
    ...all('variables', ({ name, expression }, path) => [
      { path: `${path}.expression`, expression: textOf(expression), results: [], names: {}, variable: textOf(name) },
    ]),
    ...all('matchConditions', ({ expression }, path) => one(`${path}.expression`, expression, [boolType])),
    ...all('validations', ({ expression, messageExpression }, path) => [
      ...one(`${path}.expression`, expression, [boolType]),
      ...one(`${path}.messageExpression`, messageExpression, [stringType], withoutAuthorizer),
    ]),
    ...all('auditAnnotations', ({ valueExpression }, path) =>
      one(`${path}.valueExpression`, valueExpression, [stringType, nullType]),
    ),
    ...all('mutations', ({ jsonPatch, applyConfiguration }, path) => [
      ...one(`${path}.jsonPatch.expression`, recordOf(jsonPatch).expression, [jsonPatchesType], { patches: true }),
      ...one(
        `${path}.applyConfiguration.expression`,
        recordOf(applyConfiguration).expression,
        [applyConfigurationType],
        {
          patches: true,
        },
      ),
    ]),
  ];
}
