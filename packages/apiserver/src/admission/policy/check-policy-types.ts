import { type GroupVersionKind, type JsonObject, splitApiVersion } from 'riata/object';
import { AdmissionCompiler } from '../../cel/admission/admission-compiler.js';
import { openApiDeclared } from '../../cel/admission/open-api-type.js';
import type { CelType } from '../../cel/language/cel-type.js';
import type { DeclaredType } from '../../cel/rules/declared-type.js';
import { customKind } from '../../openapi/custom-definitions.js';
import { Definitions } from '../../openapi/definitions.js';
import { isGiven, recordOf, recordsOf, stringsOf, textOf } from '../../resource/metadata.js';
import type { Resource } from '../../resource/resource.js';
import type { ResourceTable } from '../../resource/resource-table.js';

/** An expression that does not fit the types of some matched objects. */
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

const maxTypes = 10;

/**
 * Compiles the validations of a policy against the types of the objects that it matches (`validating.TypeChecker`).
 * `stamp` keeps the types of different checks apart.
 */
export function checkPolicyTypes(policy: JsonObject, served: ResourceTable, stamp: number): ExpressionWarning[] {
  const spec = recordOf(policy.spec);
  const typeOf = (resource: Resource | undefined) => resource && objectType(resource, `${resource.kind}${stamp}`);
  const params = isGiven(spec.paramKind);
  const { apiVersion, kind } = recordOf(spec.paramKind);
  const paramsType = params ? typeOf(resourceOf(textOf(apiVersion), textOf(kind), served)) : undefined;
  const matched = matchedKinds(spec, served).flatMap((resource) => {
    const type = typeOf(resource);
    return type === undefined ? [] : [{ gvk: resource, objectType: type }];
  });
  const warningOf = (source: string): string =>
    matched
      .flatMap(({ gvk, objectType }) => {
        const names = { params, authorizer: true, withoutRequestResource: true, objectType, paramsType };
        const compiler = new AdmissionCompiler(true);
        for (const { name, expression } of recordsOf(spec.variables)) {
          compiler.declare(textOf(name), textOf(expression), names);
        }
        const problem = compiler.typeProblem(source, names);
        return problem === undefined ? [] : [`${named(gvk)}: ${problem}\n`];
      })
      .join('\n');
  return recordsOf(spec.validations).flatMap(({ expression, messageExpression }, i) =>
    Object.entries({ expression, messageExpression }).flatMap(([field, source]) => {
      const warning = textOf(source) === '' ? '' : warningOf(textOf(source));
      return warning === '' ? [] : [{ fieldRef: `spec.validations[${i}].${field}`, warning }];
    }),
  );
}

function named({ group, version, kind }: GroupVersionKind): string {
  return `${group}/${version}, Kind=${kind}`;
}

export function resourceOf(apiVersion: string, kind: string, served: ResourceTable): Resource | undefined {
  const { group, version } = splitApiVersion(apiVersion);
  return served.resources(group, version).find((resource) => resource.kind === kind);
}

/** The type of the objects of a resource, and the sizes that their parts can have; `fills` as for `openApiDeclared`. */
export function declaredObject(resource: Resource, name: string, fills = false): DeclaredType | undefined {
  const definitions = new Definitions('v3');
  const schema = resource.builtIn ? definitions.kind(resource) : customKind(definitions, 'v3', resource);
  return openApiDeclared(schema, definitions.all(), name, fills);
}

function objectType(resource: Resource, name: string): CelType | undefined {
  return declaredObject(resource, name)?.type;
}

/** The kinds that rules name, wildcards left out; the first ten of a rule that names many. */
export function matchedKinds(spec: JsonObject, served: ResourceTable): readonly Resource[] {
  const found = new Map<string, Resource>();
  const sorted = () =>
    [...found.values()].sort((a, b) => order(a.group, b.group) || order(a.version, b.version) || order(a.kind, b.kind));
  for (const rule of recordsOf(recordOf(spec.matchConstraints).resourceRules)) {
    const plain = (field: string) => {
      const list = stringsOf(rule[field]);
      return list.some((text) => text.includes('*')) ? [] : [...list].sort();
    };
    const resources = stringsOf(rule.resources).filter((text) => !/[*/]/.test(text));
    let count = 0;
    for (const group of plain('apiGroups')) {
      for (const version of plain('apiVersions')) {
        for (const plural of [...resources].sort()) {
          for (const resource of resourcesOf(group, version, plural, served)) {
            found.set(named(resource), resource);
            count += 1;
            if (count === maxTypes) return sorted();
          }
        }
      }
    }
  }
  return sorted();
}

/** To upstream's RESTMapper the core group means any. */
function resourcesOf(group: string, version: string, plural: string, served: ResourceTable): readonly Resource[] {
  const groups = group === '' ? served.groups().map(({ name }) => name) : [group];
  return groups.flatMap((name) => served.find(name, version, plural) ?? []);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
