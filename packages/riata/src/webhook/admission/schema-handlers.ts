import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { DefinedKind } from '../../object/define-kind.js';
import { isJsonObject } from '../../object/json.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { equal } from '../../object/value/equal.js';
import { getOwn, setOwn } from '../../object/value/own.js';
import type { AdmissionContext } from './admission-context.js';
import type { AdmissionHandler } from './admission-entry.js';
import type { AdmissionCallRules } from './admission-options.js';
import type { Mutator, Validator } from './admission-rules.js';
import { pathOf, stepOf } from './field-path.js';

type Result = StandardSchemaV1.Result<unknown>;
type WithSpec = KubeObject & { readonly spec?: unknown };

/**
 * Handlers that run the schema of a kind's spec on each create and update: one adds the defaults that it computes and
 * rewrites what it rewrites, such as blanks at the ends; the other denies what it refuses.
 */
export function schemaHandlers(
  shown: string,
  kind: KindRef,
  mutating: AdmissionCallRules,
  validating: AdmissionCallRules,
): readonly AdmissionHandler[] {
  const validate = validateOf(shown, kind);
  const isMeant = ({ kind: { group, kind: name } }: AdmissionContext<WithSpec>): boolean =>
    group === kind.group && name === kind.kind;
  const fill: Mutator<WithSpec> = (draft, context) => {
    if (!isMeant(context) || draft.spec === undefined) return;
    const take = (result: Result): void => {
      // What is refused here is denied later, when other mutations had their turn.
      if (result.issues === undefined) fillIn(draft, 'spec', result.value);
    };
    const result = validate(draft.spec);
    return result instanceof Promise ? result.then(take) : take(result);
  };
  const check: Validator<WithSpec> = (context) => {
    const { object, old, deny } = context;
    // An object that became invalid by a new schema can still lose its finalizers and labels.
    if (!isMeant(context) || (old !== undefined && equal(old.spec, object.spec))) return;
    const report = ({ issues = [] }: Result): void => {
      for (const { path, message } of issues) deny(fieldPathOf(path ?? []), message);
    };
    const result = validate(object.spec);
    return result instanceof Promise ? result.then(report) : report(result);
  };
  const common = { on: ['create', 'update'], subresource: '', name: undefined, path: undefined } as const;
  return [
    { type: 'mutating', ...common, rules: mutating, run: { as: 'mutator', call: fill as never } },
    {
      type: 'validating',
      ...common,
      rules: validating,
      run: { as: 'validator', call: check as never },
    },
  ];
}

function validateOf(shown: string, kind: KindRef): (value: unknown) => Result | Promise<Result> {
  const spec = (kind as Partial<DefinedKind>).source?.spec as Partial<StandardSchemaV1> | undefined;
  if (spec === undefined) throw new TypeError(`${shown}: schema requires a kind from defineKind, got ${kind.kind}`);
  const standard = spec['~standard'];
  if (typeof standard?.validate !== 'function') {
    throw new TypeError(
      `${shown}: schema requires a spec of zod, arktype, valibot or another Standard Schema; the API server itself ` +
        'enforces all that a JSON Schema can say',
    );
  }
  return (value) => standard.validate(value);
}

/** Adds to `holder[name]` what the schema put out: fields that are missing, and other scalars. Nothing is taken out. */
function fillIn(holder: object, name: string, output: unknown): void {
  if (output === undefined) return;
  const input = getOwn(holder, name);
  if (input === output) return;
  if (isJsonObject(input) && isJsonObject(output)) {
    for (const [key, value] of Object.entries(output)) fillIn(input, key, value);
  } else if (Array.isArray(input) && Array.isArray(output) && input.length === output.length) {
    for (const [index, value] of output.entries()) fillIn(input, String(index), value);
  } else {
    setOwn(holder, name, output);
  }
}

function fieldPathOf(path: NonNullable<StandardSchemaV1.Issue['path']>) {
  const steps: ReturnType<typeof stepOf>[] = ['spec'];
  for (const part of path) {
    const key = typeof part === 'object' ? part.key : part;
    steps.push(typeof key === 'number' ? key : stepOf(steps, String(key)));
  }
  return pathOf(steps);
}
