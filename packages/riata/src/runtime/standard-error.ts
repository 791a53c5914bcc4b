/**
 * Writes to the standard error of this process, as it is and without a line end. For the console logger and for what
 * a person at the terminal has to see at once, such as the prompt of a login plugin; everything else is logged.
 */
export function writeToStandardError(text: string | Uint8Array): void {
  process.stderr.write(text);
}
