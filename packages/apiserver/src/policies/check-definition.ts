import type { JsonObject } from 'riata/object';
import { checkSchemaRules } from '../cel/rules/check-schema-rules.js';
import { recordOf, recordsOf, textOf } from '../resource/metadata.js';
import { atOnce } from '../steps.js';

/** Something about a rule that a server refuses. */
export interface RuleProblem {
  /** Where it stands: `spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule`. */
  readonly path: string;
  /** The version of the kind. */
  readonly version: string;
  readonly message: string;
}

/**
 * The problems of the rules (`x-kubernetes-validations`) of a CustomResourceDefinition: types, and costs that exceed what a
 * server allows.
 */
export function checkDefinition(definition: object): readonly RuleProblem[] {
  const versions = recordsOf(recordOf((definition as JsonObject).spec).versions);
  return versions.flatMap(({ name, schema }, index) => {
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    const root = recordOf(recordOf(schema).openAPIV3Schema);
    return atOnce(checkSchemaRules(root as never, path)).map((error) => ({
      ...{ path: error.field, version: textOf(name), message: error.body },
    }));
  });
}
