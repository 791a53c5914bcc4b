import { boolType } from '../language/cel-type.js';
import { AdmissionCompiler } from './admission-compiler.js';

/** Why an expression cannot say which requests a webhook is for, in upstream's words; undefined if it can. */
export function matchConditionProblem(source: string, params = false): string | undefined {
  const compiled = new AdmissionCompiler(false).compile(source, [boolType], { params, authorizer: true });
  return 'problem' in compiled ? compiled.problem : undefined;
}
