import { badRequest } from '../status/refusal.js';

/** Requires the object's name to match the name in the path. */
export function checkName(sent: string, asked: string): void {
  if (sent === '') {
    throw badRequest(`the name of the object (${asked} based on URL) was undeterminable: name must be provided`);
  }
  if (sent === asked) return;
  throw badRequest(`the name of the object (${sent}) does not match the name on the URL (${asked})`);
}

/** Requires the object's namespace, if set, to match the namespace in the path. */
export function checkNamespace(asked: string, sent: string): void {
  if (sent === '' || sent === asked) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}
