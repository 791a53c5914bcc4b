// @ts-check
/**
 * Cases of controller-runtime's suites that do not pass on the embedded server, each with the reason.
 * @type {Readonly<Record<string, string>>}
 */
export const knownFailures = {};
