/** A data directory cannot be used. The message names the directory or file, the problem and the remedy. */
export class DataDirectoryError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'DataDirectoryError';
  }
}

/** The message of an error from the operating system or the store. */
export function ioProblem(error: unknown): string {
  const messages: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) messages.push(cause.message);
  const text = messages.join(': ');
  if (/ENOSPC|No space left/i.test(text)) return 'no space left on the disk';
  if (/EDQUOT|quota exceeded/i.test(text)) return 'disk quota exceeded';
  if (/EROFS|Read-only file system/i.test(text)) return 'the file system is read-only';
  if (/EACCES|EPERM|Permission denied|not permitted/i.test(text)) return 'permission denied';
  return messages.at(-1) ?? String(error);
}
