import { atOnce } from '../../steps.js';
import { CompileError } from '../language/cel-error.js';
import { type CelType, declaredName, dynType, sameType } from '../language/cel-type.js';
import type { Scope } from '../language/check-expression.js';
import type { Expression } from '../language/expression.js';
import type { Functions } from '../language/overload.js';
import { Program } from '../language/program.js';
import { authorization, authorizerType, resourceCheckType } from '../library/authorization.js';
import { library, typeNames, typeValues } from '../library/library.js';
import { patches, patchStructs } from '../library/patches.js';
import { checkedExpression, constantProblem } from '../rules/checked-expression.js';
import { namespaceType, requestType } from './admission-types.js';

/** The names that an admission expression may use beside the request and its objects. */
export interface ExpressionNames {
  readonly params: boolean;
  readonly authorizer: boolean;
  /** `Object{…}` and `JSONPatch{…}`. @default false */
  readonly patches?: boolean;
  /** The types of `object` and `oldObject`, and of `params`. @default anything */
  readonly objectType?: CelType | undefined;
  readonly paramsType?: CelType | undefined;
  /** Whether `authorizer.requestResource` is missing, as upstream's check of types has it. @default false */
  readonly withoutRequestResource?: boolean;
}

/** An expression that is ready to be computed, or what is wrong with it. */
export type CompiledExpression =
  | { readonly source: string; readonly program: Program; readonly type: CelType }
  | { readonly source: string; readonly problem: string; readonly isInternal: boolean };

/** An expression that was read and whose types fit, or what is wrong with it. */
export type CheckedExpression =
  | { readonly source: string; readonly expression: Expression; readonly type: CelType }
  | Extract<CompiledExpression, { readonly problem: string }>;

/** Compiles the expressions of one policy or webhook (`cel.CompositedCompiler`). */
export class AdmissionCompiler {
  readonly #types = new Map<string, CelType>();
  readonly #composes: boolean;
  /** The variables declared so far, computed on first use. */
  readonly variables = new Map<string, CompiledExpression>();

  /** `composes`: whether expressions may name `variables`. */
  constructor(composes: boolean) {
    this.#composes = composes;
  }

  /** Compiles an expression whose result has one of these types; any, if the list is empty. */
  compile(source: string, results: readonly CelType[], names: ExpressionNames): CompiledExpression {
    const checked = this.check(source, results, names);
    if ('problem' in checked) return checked;
    return { source, program: new Program(checked.expression, typeValues), type: checked.type };
  }

  /** As `compile`, without making the expression ready to be computed. */
  check(source: string, results: readonly CelType[], names: ExpressionNames): CheckedExpression {
    try {
      const { expression, type } = atOnce(checkedExpression(source, this.#scope(names)));
      if (results.length > 0 && !results.some((result) => sameType(result, type))) {
        const expected = results.map(declaredName);
        const one = expected.length === 1 ? expected[0] : `one of [${expected.join(' ')}]`;
        return { source, problem: `must evaluate to ${one} but got ${declaredName(type)}`, isInternal: false };
      }
      const hopeless = constantProblem(expression);
      if (hopeless !== undefined) {
        return { source, problem: `program instantiation failed: ${hopeless}`, isInternal: true };
      }
      return { source, expression, type };
    } catch (error) {
      if (!(error instanceof CompileError)) throw error;
      return { source, problem: `compilation failed: ${error.message}`, isInternal: false };
    }
  }

  /** What is wrong with the types in an expression, whatever it gives; undefined if they fit. */
  typeProblem(source: string, names: ExpressionNames): string | undefined {
    try {
      atOnce(checkedExpression(source, this.#scope(names)));
      return undefined;
    } catch (error) {
      if (error instanceof CompileError) return error.message;
      throw error;
    }
  }

  /** Compiles what is called `variables.name` from now on. */
  declare(name: string, source: string, names: ExpressionNames): CompiledExpression {
    const compiled = this.compile(source, [], names);
    this.#types.set(name, 'type' in compiled ? asVariable(compiled.type) : dynType);
    this.variables.set(name, compiled);
    return compiled;
  }

  #scope(names: ExpressionNames): Scope {
    const { params, authorizer, patches: withPatches = false, objectType, paramsType } = names;
    const variables = new Map<string, CelType>([
      ...typeNames,
      ['object', objectType ?? dynType],
      ['oldObject', objectType ?? dynType],
      ['request', requestType],
      ['namespaceObject', namespaceType],
    ]);
    if (params) variables.set('params', paramsType ?? dynType);
    if (authorizer) variables.set('authorizer', authorizerType);
    if (authorizer && names.withoutRequestResource !== true) {
      variables.set('authorizer.requestResource', resourceCheckType);
    }
    if (this.#composes) {
      variables.set('variables', { kind: 'object', name: 'kubernetes.variables', fields: this.#types });
    }
    return withPatches
      ? { variables, functions: withPatchFunctions, structs: patchStructs }
      : { variables, functions: withAuthorization };
  }
}

/** Upstream forgets the types that only objects have. */
function asVariable(type: CelType): CelType {
  switch (type.kind) {
    case 'list':
      return { kind: 'list', of: asVariable(type.of) };
    case 'map':
      return { kind: 'map', key: asVariable(type.key), of: asVariable(type.of) };
    case 'type':
    case 'optional':
    case 'opaque':
    case 'object':
      return dynType;
    default:
      return type;
  }
}

const withAuthorization = merged(library, authorization);
const withPatchFunctions = merged(withAuthorization, patches);

function merged(base: Functions, more: Functions): Functions {
  const added = Object.entries(more).map(([name, forms]) => [name, [...(base[name] ?? []), ...forms]] as const);
  return Object.assign(Object.create(null) as Record<string, never>, base, Object.fromEntries(added));
}
