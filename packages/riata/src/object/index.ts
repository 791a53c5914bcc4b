/**
 * Objects as plain data: kinds, metadata, keys, selectors, quantities, conditions, patches, server-side apply. Opens nothing.
 *
 * @module
 */
export { accessor, isKubeList, isKubeObject, listItems, type ObjectAccessor } from './accessor.js';
export { ApplyError } from './apply/apply-error.js';
export { type ApplyRequest, type ApplyResult, applyServerSide } from './apply/apply-server-side.js';
export { type Conflict, conflictStatus } from './apply/conflict-status.js';
export { extractFields, type FieldOwner } from './apply/extract-fields.js';
export type { FieldManagerRequest } from './apply/field-manager.js';
export { anyElement, excludeFields, type FieldFilter, includeFields } from './apply/fields/field-filter.js';
export { FieldSet } from './apply/fields/field-set.js';
export { type FieldsV1, formatFieldsV1, parseFieldsV1 } from './apply/fields/fields-v1.js';
export {
  FieldsV1Error,
  fieldElement,
  formatPath,
  indexElement,
  keyElement,
  type Path as FieldPath,
  type PathElement,
  valueElement,
} from './apply/fields/path-element.js';
export { keepTimes } from './apply/keep-times.js';
export type { KindVersion, KindVersions, ResetFields } from './apply/kind-versions.js';
export {
  decodeManagers,
  encodeManagers,
  ManagedFieldsError,
  type ManagedSet,
  type Managers,
} from './apply/managers.js';
export { fromScaleFields, type ScaleMapping, toScaleFields } from './apply/scale-fields.js';
export { type TrackUpdateRequest, trackUpdate } from './apply/track-update.js';
export { type Comparison, compareTyped } from './apply/typed/compare-typed.js';
export {
  atomicType,
  deducedType,
  type FieldType,
  type ListType,
  type MapType,
  type MergeType,
  type ScalarType,
} from './apply/typed/merge-type.js';
export {
  type MergeSchema,
  type MergeSchemaOptions,
  mergeTypeFromSchema,
} from './apply/typed/merge-type-from-schema.js';
export { mergeTyped } from './apply/typed/merge-typed.js';
export { extractItems, removeItems } from './apply/typed/remove-items.js';
export { toFieldSet } from './apply/typed/to-field-set.js';
export { formatProblems, type TypeProblem, validateTyped } from './apply/typed/validate-typed.js';
export { CelCompileError, isCelCompileError } from './cel/cel-compile-error.js';
export {
  and,
  type CelPatch,
  type CelPointer,
  cel,
  cidr,
  concat,
  duration,
  ip,
  jsonPatch,
  listOf,
  not,
  or,
  quantity,
  semver,
  timestamp,
  url,
  when,
} from './cel/cel-functions.js';
export { escapeFieldName } from './cel/cel-text.js';
export type {
  AnyCel,
  CelAuthorizer,
  CelBool,
  CelCidr,
  CelDecision,
  CelDuration,
  CelDynamic,
  CelFormat,
  CelGroupCheck,
  CelIntOrString,
  CelIp,
  CelList,
  CelMap,
  CelNumber,
  CelObject,
  CelOf,
  CelPathCheck,
  CelQuantity,
  CelResourceCheck,
  CelSemver,
  CelString,
  CelTest,
  CelTimestamp,
  CelUrl,
  Operand,
  Presence,
  PresentCel,
  ValueOf,
} from './cel/cel-types.js';
export { type KindRule, type RuleContext, type RuleOptions, rule } from './cel/kind-rules.js';
export { compareKubeVersions } from './compare-kube-versions.js';
export { compareResourceVersions } from './compare-resource-versions.js';
export {
  type ConditionUpdate,
  findCondition,
  isCondition,
  isConditionFalse,
  isConditionTrue,
  removeCondition,
  setCondition,
} from './conditions.js';
export {
  type AddedStatus,
  type DefinedKind,
  type DefinedObject,
  type DefinedWrite,
  defineKind,
  type KindDefinition,
  type NoVersions,
  type OtherVersion,
  type VersionDefinition,
} from './define-kind.js';
export { type Duration, durationMs } from './duration.js';
export { encodeJson } from './encode-json.js';
export { addFinalizer, containsFinalizer, finalizerProblems, isDeleting, removeFinalizer } from './finalizers.js';
export { formatGoDuration, parseGoDuration } from './go-duration.js';
export { goJson, goQuote } from './go-text.js';
export {
  apiVersionOf,
  equalGvk,
  equalGvr,
  formatGroupKind,
  formatGroupResource,
  formatGvk,
  formatGvr,
  type GroupKind,
  type GroupResource,
  type GroupVersion,
  type GroupVersionKind,
  type GroupVersionResource,
  gvkOf,
  parseApiVersion,
  parseGroupKind,
  parseGroupResource,
  parseKindArg,
  parseResourceArg,
  setGvk,
  splitApiVersion,
} from './gvk.js';
export { isJsonObject, type Json, type JsonObject } from './json.js';
export {
  type ClusterKey,
  clusterKey,
  equalKeys,
  formatKey,
  keyId,
  keyOf,
  type ObjectKey,
  objectKey,
  parseKeyId,
  splitKey,
} from './key.js';
export {
  builderOf,
  type ClusterMeta,
  type Embedded,
  type FilledIn,
  type KeyFor,
  type Kind,
  type KindOf,
  type KindRef,
  type KindSpec,
  type ListMap,
  type MetadataOnly,
  makeKind,
  metadataOnly,
  type NamespacedMeta,
  type New,
  type Placed,
  type RESTMapping,
  type ReadOf,
  type Scope,
  type WriteOf,
  type WriteTypeOf,
} from './kind.js';
export type {
  Condition,
  KubeList,
  KubeObject,
  LabelSelector,
  LabelSelectorRequirement,
  ListMeta,
  ManagedFieldsEntry,
  ObjectMeta,
  OwnerReference,
  Status,
  StatusCause,
  StatusDetails,
  TypeMeta,
  WriteMeta,
} from './meta.js';
export {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isQualifiedName,
  labelValueProblems,
  qualifiedNameProblems,
} from './names.js';
export {
  AlreadyOwnedError,
  controllerOf,
  hasControllerReference,
  hasOwnerReference,
  isAlreadyOwned,
  isControlledBy,
  type Owner,
  type OwnerReferenceOptions,
  removeControllerReference,
  removeOwnerReference,
  setControllerReference,
  setOwnerReference,
} from './owner-references.js';
export { applyJsonPatch } from './patch/apply-json-patch.js';
export { applyStrategicMergePatch } from './patch/apply-strategic-merge-patch.js';
export { createStrategicMergePatch } from './patch/create-strategic-merge-patch.js';
export { createThreeWayMergePatch, type ThreeWayOptions } from './patch/create-three-way-merge-patch.js';
export { createJsonPatch, type JsonPatch, type JsonPatchOperation } from './patch/json-patch.js';
export { formatPointer, parsePointer } from './patch/json-pointer.js';
export { applyMergePatch, createMergePatch, createThreeWayJsonMergePatch } from './patch/merge-patch.js';
export { isPatchError, PatchError, type PatchErrorReason } from './patch/patch-error.js';
export {
  type PatchNode,
  type PatchRef,
  type PatchSchema,
  type PatchStrategy,
  patchSchema,
} from './patch/patch-schema.js';
export { parseQuantity, Quantity, type QuantityLike } from './quantity/quantity.js';
export type { QuantityFormat } from './quantity/quantity-parser.js';
export { type DecodeOptions, decodeObject, type FramedObject, type ObjectDecoder } from './scan/decode-object.js';
export { unsafeNumbers } from './scan/unsafe-numbers.js';
export type {
  CrdConversion,
  CrdManifest,
  CrdVersion,
  PrinterColumn,
  ScaleSubresource,
} from './schema/crd-manifest.js';
export type {
  AnySchema,
  DeepReadonly,
  FromSchema,
  JsonSchema,
  SchemaInput,
  SchemaOutput,
  SchemaSource,
} from './schema/infer-schema.js';
export { pluralOf } from './schema/kind-names.js';
export { isSchemaError, SchemaError, type SchemaProblem } from './schema/schema-error.js';
export { conditionSchema } from './schema/status-schema.js';
export { structuralProblems } from './schema/structural-problems.js';
export type {
  CelRule,
  KubernetesExtensions,
  SchemaExtension,
  StructuralSchema,
  StructuralType,
  ValueValidation,
} from './schema/structural-schema.js';
export { type AddToScheme, kindOf, Scheme } from './scheme.js';
export {
  escapeFieldValue,
  type FieldRequirement,
  type FieldSelector,
  type Fields,
  fieldSelectorFrom,
  parseFieldSelector,
} from './selector/field-selector.js';
export {
  formatRequirement,
  type LabelOperator,
  type LabelRequirement,
  labelRequirement,
  matchesRequirement,
} from './selector/label-requirement.js';
export {
  everything,
  type Labels,
  nothing,
  parseSelector,
  type Selector,
  selectorFrom,
  selectorFromLabels,
  selectorOf,
} from './selector/label-selector.js';
export { formatMicroTime, formatTime, parseTime } from './time.js';
export { clone } from './value/clone.js';
export { edit } from './value/edit.js';
export { equal } from './value/equal.js';
export { freeze, isFrozenDeep } from './value/freeze.js';
export {
  isLossyObjectError,
  type Loss,
  type LossReason,
  type LossRecord,
  LossyObjectError,
  lossOf,
  markLossy,
  refuseLossy,
} from './value/lossy.js';
export type { Mutable } from './value/mutable.js';
export { share } from './value/share.js';
export { valueAt } from './value/value-at.js';
export { ConversionError, isConversionError } from './version/conversion-error.js';
export { fillDefaults } from './version/fill-defaults.js';
export { isMissingConversion, missingConversion } from './version/missing-conversion.js';
export type { ConvertedParts, ConvertedVersion, ObjectConverter } from './version/object-converter.js';
export type { JsonText, VersionSide } from './version/version-side.js';
export {
  type Converted,
  type VersionConversion,
  type VersionObject,
  type VersionWrite,
  withVersion,
} from './version/with-version.js';
export type { AnyMeta, WithMetadata } from './with-metadata.js';
