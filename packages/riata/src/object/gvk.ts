import type { TypeMeta } from './meta.js';
import { carryLoss } from './value/lossy.js';

/** A version of an API group (`schema.GroupVersion`). The core group is `''`. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** A kind whatever its version (`schema.GroupKind`). */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** A resource whatever its version (`schema.GroupResource`). */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** A kind's full name (`schema.GroupVersionKind`). The core group is `''`. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}
/** A resource's full name (`schema.GroupVersionResource`), as in a URL. */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/**
 * Reads `apps/v1`, or `v1` in the core group (`schema.ParseGroupVersion`). `''` and `/` are the empty group version.
 * Throws a `SyntaxError` when there is more than one slash.
 */
export function parseApiVersion(apiVersion: string): GroupVersion {
  const parsed = splitApiVersion(apiVersion);
  if (parsed.version.includes('/')) {
    throw new SyntaxError(`apiVersion "${apiVersion}" has more than one slash: expected "group/version" or "version"`);
  }
  return parsed;
}

/** As {@link parseApiVersion}, and never fails: of several slashes the first one counts. */
export function splitApiVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/');
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/** Writes `apps/v1`, or `v1` in the core group (`GroupVersion.String`). */
export function apiVersionOf(gv: GroupVersion): string {
  return gv.group === '' ? gv.version : `${gv.group}/${gv.version}`;
}

/**
 * The kind of an object (`schema.ObjectKind`: `GroupVersionKind`, `GetObjectKind`). Missing parts are `''`, as after
 * `setGvk(obj, undefined)`. Throws when `apiVersion` is malformed.
 */
export function gvkOf(obj: Partial<TypeMeta>): GroupVersionKind {
  const { group, version } = parseApiVersion(obj.apiVersion ?? '');
  return { group, version, kind: obj.kind ?? '' };
}

/**
 * A copy of `obj` with another kind (`schema.ObjectKind`: `SetGroupVersionKind`); `undefined` clears it, so that neither
 * `apiVersion` nor `kind` is there. Other fields are the same values in the same order; `obj` stays as it is.
 */
export function setGvk<T extends object>(obj: T, gvk: GroupVersionKind): T & TypeMeta;
export function setGvk<T extends object>(obj: T, gvk: undefined): Omit<T, 'apiVersion' | 'kind'>;
export function setGvk<T extends object>(
  obj: T,
  gvk: GroupVersionKind | undefined,
): (T & TypeMeta) | Omit<T, 'apiVersion' | 'kind'>;
export function setGvk(obj: object, gvk: GroupVersionKind | undefined): object {
  const copy = gvk === undefined ? withoutType(obj) : withType(obj, { apiVersion: apiVersionOf(gvk), kind: gvk.kind });
  carryLoss(obj, copy);
  return copy;
}

function withType(obj: object, type: TypeMeta): object {
  // The leading spread only fixes the order: fields that were not there stand first, as a server would write them.
  const inPlace = Object.hasOwn(obj, 'apiVersion') && Object.hasOwn(obj, 'kind');
  return inPlace ? { ...obj, ...type } : { ...type, ...obj, ...type };
}

function withoutType(obj: Partial<TypeMeta>): object {
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = obj;
  return rest;
}

/** Writes `apps/v1, Kind=Deployment`, in the core group `/v1, Kind=Pod` (`GroupVersionKind.String`). */
export function formatGvk(gvk: GroupVersionKind): string {
  return `${gvk.group}/${gvk.version}, Kind=${gvk.kind}`;
}

/** Writes `apps/v1, Resource=deployments` (`GroupVersionResource.String`). */
export function formatGvr(gvr: GroupVersionResource): string {
  return `${gvr.group}/${gvr.version}, Resource=${gvr.resource}`;
}

/** Writes `Deployment.apps`, in the core group `Pod` (`GroupKind.String`). */
export function formatGroupKind(gk: GroupKind): string {
  return gk.group === '' ? gk.kind : `${gk.kind}.${gk.group}`;
}

/** Writes `deployments.apps`, in the core group `pods` (`GroupResource.String`). */
export function formatGroupResource(gr: GroupResource): string {
  return gr.group === '' ? gr.resource : `${gr.resource}.${gr.group}`;
}

/** Reads `Deployment.apps` or `Pod` (`schema.ParseGroupKind`). Never fails. */
export function parseGroupKind(text: string): GroupKind {
  const [kind, group] = cutAtDot(text);
  return { group, kind };
}

/** Reads `deployments.apps` or `pods` (`schema.ParseGroupResource`). Never fails. */
export function parseGroupResource(text: string): GroupResource {
  const [resource, group] = cutAtDot(text);
  return { group, resource };
}

/**
 * Parses the name of a kind as people type it, `Deployment.v1.apps` or `Deployment.apps` (`schema.ParseKindArg`). The
 * text alone is ambiguous, so both readings are returned; `gvk` only where there are two dots or more.
 */
export function parseKindArg(text: string): { readonly gvk?: GroupVersionKind; readonly groupKind: GroupKind } {
  const groupKind = parseGroupKind(text);
  if (!groupKind.group.includes('.')) return { groupKind };
  const [version, group] = cutAtDot(groupKind.group);
  return { gvk: { group, version, kind: groupKind.kind }, groupKind };
}

/** As {@link parseKindArg} for resources: `deployments.v1.apps` or `deployments.apps` (`schema.ParseResourceArg`). */
export function parseResourceArg(text: string): {
  readonly gvr?: GroupVersionResource;
  readonly groupResource: GroupResource;
} {
  const groupResource = parseGroupResource(text);
  if (!groupResource.group.includes('.')) return { groupResource };
  const [version, group] = cutAtDot(groupResource.group);
  return { gvr: { group, version, resource: groupResource.resource }, groupResource };
}

/** True when both name the same kind in the same version. */
export function equalGvk(a: GroupVersionKind, b: GroupVersionKind): boolean {
  return a.kind === b.kind && a.version === b.version && a.group === b.group;
}

/** True when both name the same resource in the same version. */
export function equalGvr(a: GroupVersionResource, b: GroupVersionResource): boolean {
  return a.resource === b.resource && a.version === b.version && a.group === b.group;
}

function cutAtDot(text: string): [before: string, after: string] {
  const dot = text.indexOf('.');
  return dot < 0 ? [text, ''] : [text.slice(0, dot), text.slice(dot + 1)];
}
