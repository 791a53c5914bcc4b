import { badRequest } from '../status/refusal.js';

/** What is written to a name must have that name. */
export function checkName(sent: string, asked: string): void {
  if (sent === '') {
    throw badRequest(`the name of the object (${asked} based on URL) was undeterminable: name must be provided`);
  }
  if (sent === asked) return;
  throw badRequest(`the name of the object (${sent}) does not match the name on the URL (${asked})`);
}

/** What is sent to a namespace is of that namespace, if it says so at all. */
export function checkNamespace(asked: string, sent: string): void {
  if (sent === '' || sent === asked) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}
