import { Buffer } from 'node:buffer';
import type { JsonObject } from 'riata/object';
import { AdmissionCompiler } from '../../cel/admission/admission-compiler.js';
import { boolType, nullType, stringType } from '../../cel/language/cel-type.js';
import { isGiven, metaOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { qualifiedName } from '../../schema/name-rules.js';
import { append } from '../../status/append.js';
import { duplicate, type FieldError, invalid, required } from '../../status/field-error.js';
import { checkEnum, checkText } from '../checks/basic-checks.js';
import { checkConditions } from '../checks/check-conditions.js';
import type { KindRules } from '../kind-rules.js';
import { matchDefaults } from './match-resources.js';
import { checkPolicyHead, checkVariables, expressionErrors } from './policy-spec.js';
import { staticNameWarnings } from './static-name-warnings.js';

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const maxAnnotations = 20;
const maxValueBytes = 5 * 1024;

export const validatingPolicyRules: KindRules = {
  defaults: { 'spec.failurePolicy': 'Fail', ...matchDefaults('spec.matchConstraints') },
  validate: checkPolicy,
  validateStatus: checkStatus,
  warnings: staticNameWarnings,
};

function checkPolicy(policy: JsonObject, before: JsonObject | undefined): FieldError[] {
  const spec = recordOf(policy.spec);
  const compiler = new AdmissionCompiler(recordsOf(spec.variables).length > 0);
  const names = { params: isGiven(spec.paramKind), authorizer: true };
  const errors = [...checkPolicyHead(spec, before), ...checkVariables(spec, compiler, names)];
  const [validations, annotations] = [recordsOf(spec.validations), recordsOf(spec.auditAnnotations)];
  if (validations.length === 0 && annotations.length === 0) {
    const missing = 'validations or auditAnnotations must contain at least one item';
    return [...errors, required('spec.validations', missing), required('spec.auditAnnotations', missing)];
  }
  for (const [i, validation] of validations.entries()) {
    append(errors, checkValidation(validation, compiler, names, `spec.validations[${i}]`));
  }
  if (annotations.length > maxAnnotations) {
    const shown = annotations.map(({ key, valueExpression }) => ({ Key: key, ValueExpression: valueExpression }));
    const detail = `must not have more than ${maxAnnotations} auditAnnotations`;
    errors.push(invalid('spec.auditAnnotations', shown, detail));
  }
  const keys = annotations.map(({ key }) => textOf(key));
  for (const [i, annotation] of annotations.entries()) {
    const path = `spec.auditAnnotations[${i}]`;
    append(errors, checkAnnotation(annotation, textOf(metaOf(policy).name), compiler, names, path));
    if (keys.indexOf(keys[i] as string) < i) errors.push(duplicate(`${path}.key`, keys[i]));
  }
  return errors;
}

type Names = { readonly params: boolean; readonly authorizer: boolean };

function checkValidation(validation: JsonObject, compiler: AdmissionCompiler, names: Names, path: string) {
  const source = textOf(validation.expression);
  const message = textOf(validation.message);
  const messageSource = textOf(validation.messageExpression);
  const errors: FieldError[] = [];
  if (source.trim() === '') errors.push(required(`${path}.expression`, 'expression is not specified'));
  else append(errors, expressionErrors(compiler.compile(source, [boolType], names), `${path}.expression`));
  if (messageSource !== '' && messageSource.trim() === '') {
    errors.push(invalid(`${path}.messageExpression`, messageSource, 'must be non-empty if specified'));
  } else if (messageSource !== '') {
    const compiled = compiler.compile(messageSource, [stringType], { ...names, authorizer: false });
    append(errors, expressionErrors(compiled, `${path}.messageExpression`));
  }
  if (message !== '' && message.trim() === '') {
    errors.push(invalid(`${path}.message`, message, 'must be non-empty if specified'));
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalid(`${path}.message`, message, 'must not contain line breaks'));
  }
  append(errors, checkEnum(validation.reason, reasons, `${path}.reason`));
  return errors;
}

function checkAnnotation(
  { key: givenKey, valueExpression }: JsonObject,
  policy: string,
  compiler: AdmissionCompiler,
  names: Names,
  path: string,
): FieldError[] {
  const [key, given] = [textOf(givenKey), textOf(valueExpression)];
  const source = given.trim();
  const errors =
    policy === ''
      ? [invalid(`${path}.key`, key, 'requires metadata.name be non-empty')]
      : checkText(qualifiedName, `${policy}/${key}`, `${path}.key`);
  const at = `${path}.valueExpression`;
  if (source === '') errors.push(required(at, 'valueExpression is not specified'));
  else if (Buffer.byteLength(source) > maxValueBytes) {
    errors.push(required(at, `must not exceed ${maxValueBytes} bytes in length`));
  } else append(errors, expressionErrors(compiler.compile(source, [stringType, nullType], names), at, given));
  return errors;
}

function checkStatus(policy: JsonObject): FieldError[] {
  const { typeChecking, conditions } = recordOf(policy.status);
  const path = 'status.typeChecking.expressionWarnings';
  return [
    ...recordsOf(recordOf(typeChecking).expressionWarnings).flatMap(({ warning, fieldRef }, i) => [
      ...(textOf(warning) === '' ? [required(`${path}[${i}].warning`)] : []),
      ...(textOf(fieldRef).trim() === '' ? [required(`${path}[${i}].fieldRef`)] : []),
    ]),
    ...checkConditions(conditions, 'status.conditions'),
  ];
}
