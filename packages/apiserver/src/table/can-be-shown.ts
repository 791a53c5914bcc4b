import type { Resource, Subresource } from '../resource/resource.js';

/** Resources that have a table, but whose status subresource has none. */
const hiddenStatus = [
  'apiextensions.k8s.io/customresourcedefinitions',
  'apiregistration.k8s.io/apiservices',
  'resource.k8s.io/resourceclaims',
];

/** Whether what a path gives can be shown as a Table at all: not what is only ever created, nor most subresources. */
export function canBeShown(resource: Resource, subresource: Subresource | undefined): boolean {
  if (subresource === undefined) return resource.verbs.includes('get');
  if (subresource.name === 'status') return !hiddenStatus.includes(resource.table);
  return subresource.kind === 'Scale';
}
