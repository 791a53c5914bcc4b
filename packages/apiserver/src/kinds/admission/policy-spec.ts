import { equal, type JsonObject } from 'riata/object';
import type { AdmissionCompiler, CompiledExpression, ExpressionNames } from '../../cel/admission/admission-compiler.js';
import { isGiven, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { dns1035Label, dnsSubdomain } from '../../schema/name-rules.js';
import { type FieldError, internalError, invalid, required } from '../../status/field-error.js';
import { checkEnum } from '../checks/basic-checks.js';
import { checkMatchConditions } from '../cluster/webhook-configuration.js';
import { checkMatchResources } from './match-resources.js';

/** The parts of the specs that both kinds of policies share. */
export function checkPolicyHead(spec: JsonObject, before: JsonObject | undefined): FieldError[] {
  const { paramKind, matchConstraints, matchConditions } = spec;
  const old = before && recordOf(before.spec);
  const sameConditions =
    old !== undefined &&
    equal(paramKind ?? null, old.paramKind ?? null) &&
    equal(recordsOf(matchConditions), recordsOf(old.matchConditions));
  return [
    ...(isGiven(spec.failurePolicy)
      ? checkEnum(spec.failurePolicy, ['Fail', 'Ignore'], 'spec.failurePolicy')
      : [required('spec.failurePolicy')]),
    ...(isGiven(paramKind) ? checkParamKind(recordOf(paramKind), 'spec.paramKind') : []),
    ...(isGiven(matchConstraints)
      ? checkMatchResources(matchConstraints, 'spec.matchConstraints')
      : [required('spec.matchConstraints')]),
    ...(isGiven(matchConstraints) && recordsOf(recordOf(matchConstraints).resourceRules).length === 0
      ? [required('spec.matchConstraints.resourceRules')]
      : []),
    ...(sameConditions
      ? []
      : checkMatchConditions(recordsOf(matchConditions), 'spec.matchConditions', isGiven(paramKind))),
  ];
}

function checkParamKind({ apiVersion, kind }: JsonObject, path: string): FieldError[] {
  return [...checkApiVersion(textOf(apiVersion), `${path}.apiVersion`), ...checkKind(textOf(kind), `${path}.kind`)];
}

function checkApiVersion(text: string, path: string): FieldError[] {
  if (text === '') return [required(path)];
  const parts = text === '/' ? ['', ''] : text.split('/');
  if (parts.length > 2) return [invalid(path, text, `unexpected GroupVersion string: ${text}`)];
  const [version = '', group = ''] = parts.reverse();
  const groupProblems = group === '' ? [] : dnsSubdomain(group);
  const versionProblems = version === '' ? [] : dns1035Label(version);
  return [
    ...(groupProblems.length === 0 ? [] : [invalid(path, group, groupProblems.join(','))]),
    ...(version === '' ? [invalid(path, text, 'version must be specified')] : []),
    ...(versionProblems.length === 0 ? [] : [invalid(path, version, versionProblems.join(','))]),
  ];
}

function checkKind(kind: string, path: string): FieldError[] {
  if (kind === '') return [required(path)];
  const problems = dns1035Label(kind.toLowerCase());
  if (problems.length === 0) return [];
  return [invalid(path, kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}

const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** Checks the variables of a policy, and declares them to the compiler. */
export function checkVariables(spec: JsonObject, compiler: AdmissionCompiler, names: ExpressionNames): FieldError[] {
  return recordsOf(spec.variables).flatMap(({ name: givenName, expression }, i) => {
    const path = `spec.variables[${i}]`;
    const [name, source] = [textOf(givenName), textOf(expression)];
    const isIdentifier = /^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) && !reserved.has(name);
    return [
      ...(name.trim() === ''
        ? [required(`${path}.name`, 'name is not specified')]
        : isIdentifier
          ? []
          : [invalid(`${path}.name`, name, 'must be a valid CEL identifier')]),
      ...(source.trim() === ''
        ? [required(`${path}.expression`, 'expression is not specified')]
        : expressionErrors(compiler.declare(name, source, names), `${path}.expression`)),
    ];
  });
}

/** The problems of an expression; none, if it compiles. */
export function expressionErrors(compiled: CompiledExpression, path: string, shown = compiled.source): FieldError[] {
  if (!('problem' in compiled)) return [];
  return [compiled.isInternal ? internalError(path, compiled.problem) : invalid(path, shown, compiled.problem)];
}
