import type { JsonObject } from 'riata/object';
import { AdmissionCompiler } from '../../cel/admission/admission-compiler.js';
import type { CelType } from '../../cel/language/cel-type.js';
import { applyConfigurationType, jsonPatchesType } from '../../cel/library/patches.js';
import { isGiven, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { append } from '../../status/append.js';
import { type FieldError, invalid, notSupported, required } from '../../status/field-error.js';
import { checkRequiredEnum } from '../checks/basic-checks.js';
import type { KindRules } from '../kind-rules.js';
import { checkChangingOperations, matchDefaults } from './match-resources.js';
import { checkPolicyHead, checkVariables, expressionErrors } from './policy-spec.js';
import { staticNameWarnings } from './static-name-warnings.js';

export const mutatingPolicyRules: KindRules = {
  defaults: { 'spec.failurePolicy': 'Fail', ...matchDefaults('spec.matchConstraints') },
  validate: checkPolicy,
  warnings: staticNameWarnings,
};

function checkPolicy(policy: JsonObject, before: JsonObject | undefined): FieldError[] {
  const spec = recordOf(policy.spec);
  const compiler = new AdmissionCompiler(true);
  const names = { params: isGiven(spec.paramKind), authorizer: true };
  const mutations = recordsOf(spec.mutations);
  const errors = [
    ...checkPolicyHead(spec, before),
    ...checkChangingOperations(spec.matchConstraints, 'spec.matchConstraints'),
    ...checkVariables(spec, compiler, names),
    ...(mutations.length === 0 ? [required('spec.mutations', 'mutations must contain at least one item')] : []),
  ];
  const check = (part: JsonObject, result: CelType, path: string): FieldError[] => {
    const source = textOf(part.expression).trim();
    if (source === '') return [required(`${path}.expression`)];
    return expressionErrors(compiler.compile(source, [result], { ...names, patches: true }), `${path}.expression`);
  };
  for (const [i, mutation] of mutations.entries())
    append(errors, checkMutation(mutation, `spec.mutations[${i}]`, check));
  append(errors, checkRequiredEnum(spec.reinvocationPolicy, ['IfNeeded', 'Never'], 'spec.reinvocationPolicy'));
  return errors;
}

const forms: Readonly<Record<string, { readonly field: string; readonly other: string; readonly result: CelType }>> = {
  JSONPatch: { field: 'jsonPatch', other: 'applyConfiguration', result: jsonPatchesType },
  ApplyConfiguration: { field: 'applyConfiguration', other: 'jsonPatch', result: applyConfigurationType },
};

function checkMutation(
  mutation: JsonObject,
  path: string,
  check: (part: JsonObject, result: CelType, path: string) => FieldError[],
): FieldError[] {
  const type = textOf(mutation.patchType);
  if (type === '') return [required(`${path}.patchType`)];
  const form = forms[type];
  if (form === undefined) return [notSupported(`${path}.patchType`, type, Object.keys(forms).sort())];
  const { field, other, result } = form;
  return [
    ...(isGiven(mutation[field])
      ? check(recordOf(mutation[field]), result, `${path}.${field}`)
      : [required(`${path}.${field}`, `must be specified when patchType is ${type}`)]),
    ...(isGiven(mutation[other])
      ? [invalid(`${path}.${other}`, `{${other}}`, `must not be specified when patchType is ${type}`)]
      : []),
  ];
}
