/** The newest minor version of Kubernetes 1 whose kinds Riata knows. */
export const newestMinor = 36;
/** The first with stable CEL rules in CustomResourceDefinitions, which those of `defineKind` may have. */
export const oldestMinor = 29;
