/**
 * Throws if Node is older than Riata can do with, so that `npm create riata` says so, and not that some name is missing.
 *
 * @param version as in `process.versions.node`
 */
export function requireSupportedNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  const error = new Error(
    `Riata needs Node 20.19 or newer; this is ${version}. Install a newer one, e.g. from nodejs.org.`,
  );
  // With a place in it, Node would print that line of the built file above the message.
  error.stack = String(error);
  throw error;
}
