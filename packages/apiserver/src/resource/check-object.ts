import { equal, type JsonObject } from 'riata/object';
import { checkManyLabels, checkMetaUpdate, checkNewMeta } from '../schema/object-meta.js';
import { plainNumbers } from '../schema/plain-numbers.js';
import { append } from '../status/append.js';
import type { FieldError } from '../status/field-error.js';
import { invalidObject } from '../status/refusal.js';
import type { Steps } from '../steps.js';
import { withConversions } from './custom/stored-conversions.js';
import { metaOf, withMeta } from './metadata.js';
import { homeOf, type Resource } from './resource.js';

/** An object to validate before it is stored. */
export interface Candidate {
  readonly object: JsonObject;
  readonly before: JsonObject | undefined;
  readonly name: string;
  readonly subresource: string;
  /** Computes managedFields; undefined if the object already has them. */
  readonly managedFields: (() => unknown) | undefined;
}

/** Validates the object and returns it with managedFields. Throws 422. */
export function* checkObject(resource: Resource, candidate: Candidate): Steps<JsonObject> {
  const { object, before, name, subresource, managedFields } = candidate;
  const track = managedFields && (() => withMeta(object, { managedFields: managedFields() }));
  const sent = metaOf(object).managedFields;
  // Sent managedFields may be invalid, so check them. Otherwise compute them for valid metadata only: a refused
  // object may have a hundred thousand fields.
  const tracksLater = sent === undefined || (before !== undefined && equal(sent, metaOf(before).managedFields));
  let whole = tracksLater || track === undefined ? object : yield* withConversions(track);
  const was = plainNumbers(before);
  const labelErrors = yield* checkManyLabels(metaOf(object));
  const errors = checkMeta(resource, plainNumbers(whole), was, labelErrors);
  if (tracksLater && errors.length === 0) {
    whole = track === undefined ? object : yield* withConversions(track);
    yield;
  }
  const now = plainNumbers(whole);
  append(errors, yield* resource.schema.validate(now, was, subresource));
  append(errors, resource.rules.check?.(now, was, subresource) ?? []);
  if (resource.rules.checkInSteps !== undefined) {
    append(errors, yield* resource.rules.checkInSteps(now, was, subresource));
  }
  if (errors.length > 0) throw invalidObject(homeOf(resource), name, errors);
  return whole;
}

function checkMeta(
  resource: Resource,
  object: JsonObject,
  before: JsonObject | undefined,
  labelErrors: readonly FieldError[] | undefined,
): FieldError[] {
  const {
    scope,
    builtIn,
    rules: { nameRule },
  } = resource;
  const rules = { namespaced: scope === 'Namespaced', nameRule, builtIn, labelErrors };
  return before === undefined
    ? checkNewMeta(metaOf(object), rules)
    : checkMetaUpdate(metaOf(object), metaOf(before), { builtIn, labelErrors });
}
