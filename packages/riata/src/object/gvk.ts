/** A kind's full name (`schema.GroupVersionKind`). The core group is `''`. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}
/** A resource's full name (`schema.GroupVersionResource`): what stands in a URL. */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}
