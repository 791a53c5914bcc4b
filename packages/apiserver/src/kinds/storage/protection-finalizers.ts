/** The finalizers that keep storage while it is in use, by the table of the objects. */
export const protectionFinalizers = {
  '/persistentvolumeclaims': 'kubernetes.io/pvc-protection',
  '/persistentvolumes': 'kubernetes.io/pv-protection',
  'storage.k8s.io/volumeattributesclasses': 'kubernetes.io/vac-protection',
} as const;
