import type { Json, JsonObject } from 'riata/object';
import { recordOf, textOf } from '../../../resource/metadata.js';
import { byteLength, dnsSubdomain } from '../../../schema/name-rules.js';
import { type FieldError, invalid, pointer } from '../../../status/field-error.js';
import { checkText } from '../../checks/basic-checks.js';

const maxSpecKiB = 64;
const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsPart = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const dnsName = new RegExp(`^${dnsPart}(?:\\.${dnsPart})*$`);

/** The problems of the options of a security context that are for Windows. */
export function checkWindowsOptions(given: Json | undefined, path: string): FieldError[] {
  if (given === undefined) return [];
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName: user } = recordOf(given);
  const errors = name === undefined ? [] : checkText(dnsSubdomain, textOf(name), `${path}.gmsaCredentialSpecName`);
  if (spec !== undefined) {
    const size = byteLength(textOf(spec));
    const at = `${path}.gmsaCredentialSpec`;
    if (size === 0) errors.push(invalid(at, pointer(spec), 'gmsaCredentialSpec cannot be an empty string'));
    if (size > maxSpecKiB * 1024) {
      errors.push(invalid(at, pointer(spec), `gmsaCredentialSpec size must be under ${maxSpecKiB} KiB`));
    }
  }
  if (user === undefined) return errors;
  const at = `${path}.runAsUserName`;
  return [...errors, ...userProblems(textOf(user)).map((problem) => invalid(at, pointer(user), problem))];
}

function userProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if ([...name].some((char) => char < ' ' || char === '\x7f'))
    return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const user = parts.at(-1) as string;
  const domain = parts.length === 2 ? (parts[0] as string) : undefined;
  const rules: readonly (readonly [boolean, string])[] = [
    [byteLength(domain ?? '') >= 256, "runAsUserName's Domain length must be under 256 characters"],
    [
      domain !== undefined && !netBios.test(domain) && !dnsName.test(domain),
      "runAsUserName's Domain doesn't match the NetBios nor the DNS format",
    ],
    [user === '', "runAsUserName's User cannot be empty"],
    [byteLength(user) > 104, "runAsUserName's User length must not be longer than 104 characters"],
    [/^[. ]+$/.test(user), "runAsUserName's User cannot contain only periods or spaces"],
    [
      /["/\\:;|=,+*?<>@[\]]/.test(user),
      'runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]',
    ],
  ];
  return rules.flatMap(([broken, problem]) => (broken ? [problem] : []));
}

const hostProcessOf = ({ securityContext }: JsonObject) =>
  recordOf(recordOf(securityContext).windowsOptions).hostProcess;

/** Containers that are processes of the host: all of a Pod's, or none. */
export function checkHostProcess(
  spec: JsonObject,
  containers: readonly (readonly [JsonObject, string])[],
  path: string,
): FieldError[] {
  const ofPod = hostProcessOf(spec);
  const errors = containers.flatMap(([container, at]) => {
    const own = hostProcessOf(container);
    if (ofPod === undefined || own === undefined || own === ofPod) return [];
    const detail = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
    return [invalid(`${at}.securityContext.windowsOptions.hostProcess`, own, detail)];
  });
  const count = containers.filter(([container]) => (hostProcessOf(container) ?? ofPod) === true).length;
  if (count === 0) return errors;
  if (count !== containers.length) {
    const detail = 'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    errors.push(invalid(path, '', detail));
  }
  if (spec.hostNetwork !== true) {
    const detail = 'hostNetwork must be true if pod contains any hostProcess containers';
    errors.push(invalid(`${path}.hostNetwork`, false, detail));
  }
  return errors;
}
