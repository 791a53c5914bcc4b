import type { JsonObject } from 'riata/object';
import { recordOf, textOf } from '../../resource/metadata.js';
import { byteLength, dnsLabel } from '../../schema/name-rules.js';
import { checkImmutable } from '../../schema/object-meta.js';
import { type FieldError, forbidden, notSupported, required, tooLong } from '../../status/field-error.js';
import { checkText } from '../checks/basic-checks.js';
import { checkDomainPath } from '../checks/domain-names.js';
import type { KindRules } from '../kind-rules.js';
import { checkReference } from './ingress.js';

const maxController = 250;

export const ingressClassRules: KindRules = {
  defaults: { 'spec.parameters.scope': 'Cluster' },
  validate(object) {
    const { controller, parameters } = recordOf(object.spec);
    const name = textOf(controller);
    return [
      ...(byteLength(name) > maxController ? [tooLong('spec.controller', maxController)] : []),
      ...checkDomainPath(name, 'spec.controller'),
      ...(parameters === undefined ? [] : checkParameters(recordOf(parameters), 'spec.parameters')),
    ];
  },
  validateUpdate(object, before) {
    const controller = (of: JsonObject) => textOf(recordOf(of.spec).controller);
    return checkImmutable(controller(object), controller(before), 'spec.controller');
  },
};

function checkParameters(parameters: JsonObject, path: string): FieldError[] {
  const { scope, namespace } = parameters;
  const errors = checkReference(parameters, path);
  if (scope !== 'Namespace' && scope !== 'Cluster') {
    return [...errors, notSupported(`${path}.scope`, scope, ['Cluster', 'Namespace'])];
  }
  if (scope === 'Cluster') {
    if (namespace === undefined) return errors;
    return [...errors, forbidden(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'")];
  }
  if (namespace !== undefined) return [...errors, ...checkText(dnsLabel, textOf(namespace), `${path}.namespace`)];
  return [...errors, required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'")];
}
