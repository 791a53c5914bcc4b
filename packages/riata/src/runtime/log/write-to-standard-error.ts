import process from 'node:process';

/**
 * Writes to the standard error of this process, verbatim and without a line end. For the console logger and for text
 * that a person at the terminal must see at once, such as the prompt of a login plugin; everything else is logged. If
 * the reader has closed the stream, the text is lost; Node would end the process for that.
 */
export function writeToStandardError(text: string | Uint8Array): void {
  process.stderr.write(text, outliveFailure);
}

/** The stream reports the failure again after this, as an event that must have a listener. */
function outliveFailure(error?: Error | null): void {
  if (error && process.stderr.listenerCount('error') === 0) process.stderr.once('error', () => {});
}
