import process from 'node:process';

/**
 * Writes to the standard error of this process, as it is and without a line end. For the console logger and for what
 * a person at the terminal has to see at once, such as the prompt of a login plugin; everything else is logged. If nobody
 * reads it any more, it is lost: that is no reason to end the process, which Node would do.
 */
export function writeToStandardError(text: string | Uint8Array): void {
  process.stderr.write(text, outliveFailure);
}

/** The stream reports the failure once more after this, as an event that must have a listener. */
function outliveFailure(error?: Error | null): void {
  if (error && process.stderr.listenerCount('error') === 0) process.stderr.once('error', () => {});
}
