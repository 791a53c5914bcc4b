import {
  ApplyError,
  applyStrategicMergePatch,
  isJsonObject,
  type JsonObject,
  type KindVersion,
  type KindVersions,
  mergeTypeFromSchema,
  splitApiVersion,
} from 'riata/object';
import { builtInPatchSchema, builtInSchema } from '../../schema/built-in/built-in-schema.js';
import { decodeTyped, decodeTypedSteps, IllTypedError } from '../../schema/built-in/decode-typed.js';
import { fromUnstructured } from '../../schema/built-in/from-unstructured.js';
import type { SchemaNode } from '../../schema/built-in/schema-node.js';
import { strictComplaints } from '../../schema/strict-fields.js';
import type { FieldError } from '../../status/field-error.js';
import type { Steps } from '../../steps.js';
import { versionConversions } from '../custom/version-conversions.js';
import { resetBy, statusApart, trackingOf } from '../fields/managed-fields.js';
import { UnreadableError } from '../read-object.js';
import type { ResourceRules, ResourceSchema } from '../resource.js';
import type { BuiltInResource } from './built-in-resources.js';
import { builtInRules } from './built-in-rules.js';

/** The schema of a built-in kind, or of a subresource with a kind of its own. */
export function schemaOfBuiltIn(
  entry: Pick<BuiltInResource, 'group' | 'version' | 'kind' | 'plural' | 'subresources'>,
  apiVersion: string,
): ResourceSchema {
  const { group, version, kind } = entry;
  const node = builtInSchema({ group, version, kind });
  if (node === undefined) throw new Error(`no schema for ${apiVersion} ${kind}`);
  const patchSchema = builtInPatchSchema({ group, version, kind });
  const unreadable = (error: unknown) =>
    error instanceof IllTypedError ? new UnreadableError(entry, error.message) : error;
  function* read(object: JsonObject) {
    const unknown: string[] = [];
    try {
      return { object: yield* decodeTypedSteps(object, node as SchemaNode, unknown), unknown };
    } catch (error) {
      throw unreadable(error);
    }
  }
  const hasStatus = entry.subresources.some((s) => s.name === 'status');
  const { resets, statusKeeps } = builtInRules(group, version, entry.plural);
  const empty = decodeTyped({ apiVersion, kind }, node);
  return {
    emptyStatus: isJsonObject(empty.status) ? empty.status : undefined,
    read,
    complaints: (text) => strictComplaints(text, node),
    withDefaults: (object) => object,
    validate: () => noErrors(),
    tracking: trackingOf({
      apiVersion,
      kind,
      type: mergeTypeFromSchema(node),
      versions: versionsOf(kind, apiVersion),
      empty,
      resetFields: resets === undefined ? statusApart(hasStatus, keptPaths(statusKeeps)) : resetBy(resets),
    }),
    fromStrategicPatch: (object) => {
      try {
        return fromUnstructured(object, node);
      } catch (error) {
        throw unreadable(error);
      }
    },
    strategicPatch: patchSchema && ((object, patch) => asObject(applyStrategicMergePatch(object, patch, patchSchema))),
  };
}

/** The versions of a kind that entries of managedFields may be in: their types may differ, and so may their fields. */
function versionsOf(kind: string, own: string): KindVersions {
  const known = new Map<string, KindVersion | undefined>();
  const find = (apiVersion: string): KindVersion | undefined => {
    const { group, version } = splitApiVersion(apiVersion);
    if (version.includes('/')) throw new ApplyError(500, `unexpected GroupVersion string: ${apiVersion}`);
    const node = group === splitApiVersion(own).group ? builtInSchema({ group, version, kind }) : undefined;
    if (node === undefined) return undefined;
    // Both ways: an apply prunes fields in the version that last owned them, and converts the rest back.
    const convert = (object: JsonObject): JsonObject =>
      versionConversions[object.apiVersion as string]?.[apiVersion]?.(object) ?? { ...object, apiVersion };
    return { type: mergeTypeFromSchema(node), convert };
  };
  return (apiVersion) => {
    if (!known.has(apiVersion)) known.set(apiVersion, find(apiVersion));
    return known.get(apiVersion);
  };
}

// biome-ignore lint/correctness/useYield: the rules of a built-in kind say it all.
function* noErrors(): Steps<readonly FieldError[]> {
  return [];
}

function keptPaths(keeps: ResourceRules['statusKeeps'] = 'all'): readonly (readonly string[])[] {
  return keeps === 'all' ? [['metadata']] : keeps.map((field) => ['metadata', field]);
}

function asObject(value: unknown): JsonObject {
  return value as JsonObject;
}
