import type { DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice } from 'riata/kinds';
import { ageColumn, nameColumn, printer, texts } from './table-printer.js';

const named = printer<DeviceClass | ResourceClaimTemplate>([nameColumn, ageColumn], ({ metadata }, ages) => [
  metadata.name,
  ages.since(metadata.creationTimestamp),
]);

const claims = printer<ResourceClaim>([nameColumn, ...texts('State'), ageColumn], (claim, ages) => [
  claim.metadata.name,
  claimState(claim),
  ages.since(claim.metadata.creationTimestamp),
]);

function claimState({ metadata, status }: ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined;
  const isReserved = (status?.reservedFor ?? []).length > 0;
  if (!status?.allocation) return isDeleted ? 'deleted' : 'pending';
  return [...(isDeleted ? ['deleted'] : []), 'allocated', ...(isReserved ? ['reserved'] : [])].join(',');
}

const slices = printer<ResourceSlice>(
  [nameColumn, ...texts('Node', 'Driver', 'Pool'), ageColumn],
  ({ metadata, spec }, ages) => [
    metadata.name,
    spec?.nodeName ?? '',
    spec?.driver ?? '',
    spec?.pool.name ?? '',
    ages.since(metadata.creationTimestamp),
  ],
);

/** Devices and claims to them, by where it is stored. */
export const deviceTables = {
  'resource.k8s.io/deviceclasses': named,
  'resource.k8s.io/resourceclaimtemplates': named,
  'resource.k8s.io/resourceclaims': claims,
  'resource.k8s.io/resourceslices': slices,
};
